"""Messages that wrappers add: collected for the caller, and passed to the model if they are meant for it."""

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
"""The position of messages that belong to no tool call of their iteration."""


class Outbox:
    """The messages that a run's wrappers have added and that were not delivered yet."""

    def __init__(self) -> None:
        self.pending: list[tuple[int, object, Message | None]] = []

    def put(self, messages: Iterable[object], position: int = BEFORE_CALLS) -> None:
        """Add ``messages`` for the call at ``position``."""
        self.pending += [(position, message, for_the_model(message)) for message in messages]

    def take(self, run: Run) -> None:
        """Deliver everything in request order, whatever the order of arrival."""
        if not self.pending:
            return
        self.pending.sort(key=lambda entry: entry[0])
        run.outcome.emitted += [message for _, message, _ in self.pending]
        if run.outcome.stop_reason is None:
            run.messages += [ours for _, _, ours in self.pending if ours is not None]
        self.pending.clear()


class Delivery:
    """A plugin that delivers the outbox after each iteration and at the end."""

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
    """Convert ``message`` to a message of the conversation, if it is text or a user message."""
    if isinstance(message, str):
        return Message(role="user", content=message)
    if isinstance(message, Message):
        return message if message.role == "user" else None
    data = message.model_dump(exclude_none=True) if isinstance(message, BaseModel) else message
    if not isinstance(data, Mapping) or data.get("role") != "user":
        return None
    from react_run.models.stored import message_from_dict

    return message_from_dict(data)
