"""Messages that wrappers send along: kept for the caller, and told to the model where they are meant for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from react_run.hookspecs import hookimpl
from react_run.messages import Message

if TYPE_CHECKING:
    from react_run.results import RunResult
    from react_run.run import Run

BEFORE_CALLS = -1
"""Where messages that belong to no tool call stand among those of an iteration."""


class Outbox:
    """What the wrappers of one run have sent along and nobody has taken yet."""

    def __init__(self) -> None:
        self.pending: list[tuple[int, object, Message | None]] = []

    def put(self, messages: Iterable[object], position: int = BEFORE_CALLS) -> None:
        """Send ``messages`` along with the call at ``position``."""
        self.pending += [(position, message, for_the_model(message)) for message in messages]

    def take(self, run: Run) -> None:
        """Hand everything over, in request order, whenever it was sent."""
        if not self.pending:
            return
        self.pending.sort(key=lambda entry: entry[0])
        run.outcome.emitted += [message for _, message, _ in self.pending]
        if run.outcome.stop_reason is None:
            run.messages += [ours for _, _, ours in self.pending if ours is not None]
        self.pending.clear()


class Delivery:
    """The plugin that empties the outbox after each iteration and at the end."""

    kind: ClassVar[str] = "wrapper_messages"

    @hookimpl
    def react_iteration_finished(self, run: Run) -> None:
        run.state(Outbox).take(run)

    @hookimpl(tryfirst=True)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> None:
        try:
            await proceed()
        finally:
            run.state(Outbox).take(run)


def for_the_model(message: object) -> Message | None:
    """``message`` as one of the conversation, when it is text or a message of the user."""
    if isinstance(message, str):
        return Message(role="user", content=message)
    if isinstance(message, Message):
        return message if message.role == "user" else None
    data = message.model_dump(exclude_none=True) if isinstance(message, BaseModel) else message
    if not isinstance(data, Mapping) or data.get("role") != "user":
        return None
    from react_run.models.stored import message_from_dict

    return message_from_dict(data)
