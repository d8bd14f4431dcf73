"""Messages that wrappers send along: kept for the caller, and told to the model where they are meant for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from react_run.hookspecs import hookimpl
from react_run.messages import Message

if TYPE_CHECKING:
    from react_run.results import RunResult
    from react_run.run import Iteration, Run

BEFORE_CALLS = -1
"""Where messages that belong to no tool call stand among those of a round."""


class Outbox:
    """What the wrappers of one run have sent along and nobody has taken yet."""

    def __init__(self) -> None:
        self.pending: list[tuple[int, object]] = []

    def put(self, messages: Iterable[object], position: int = BEFORE_CALLS) -> None:
        """Send ``messages`` along with the call at ``position``."""
        self.pending += [(position, message) for message in messages]

    def take(self) -> list[object]:
        """All of them, in request order, whenever they were sent."""
        taken = [message for _, message in sorted(self.pending, key=lambda entry: entry[0])]
        self.pending.clear()
        return taken


class Delivery:
    """The plugin that empties the outbox after each round and at the end."""

    kind: ClassVar[str] = "wrapper_messages"

    @hookimpl
    async def react_iteration(self, run: Run, proceed: Callable[[], Awaitable[Iteration]]) -> None:
        await proceed()
        sent = run.state(Outbox).take()
        run.emitted += sent
        if run.stop_reason is None:
            run.messages += [message for message in map(for_the_model, sent) if message is not None]

    @hookimpl(tryfirst=True)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> None:
        try:
            await proceed()
        finally:
            run.emitted += run.state(Outbox).take()


def for_the_model(message: object) -> Message | None:
    """``message`` as one of the conversation, when it is text or a message of the user."""
    if isinstance(message, str):
        return Message(role="user", content=message)
    if isinstance(message, Message):
        return message if message.role == "user" else None
    data = message.model_dump(exclude_none=True) if isinstance(message, BaseModel) else message
    if not isinstance(data, Mapping) or data.get("role") != "user":
        return None
    from react_run.chat import message_from_dict

    return message_from_dict(data)
