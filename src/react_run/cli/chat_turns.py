"""The turns of a chat: what they used, and how to take the last one back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from react_run.cli.statuses import spent
from react_run.messages import NO_USAGE, Usage
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.messages import Message
    from react_run.parts import Part
    from react_run.results import RunResult

    Prompt = str | Sequence[str | Part]


@dataclass(kw_only=True)
class Turns:
    """The turns since the chat began."""

    asked: Prompt = ""
    """The last prompt, whatever became of it."""
    run_id: str = ""
    """The run of the last turn that came to an end."""
    _before: list[tuple[Prompt, list[Message]]] = field(default_factory=list)
    _usage: Usage = NO_USAGE
    _count: int = 0
    _tool_calls: int = 0
    _seconds: float = 0.0
    _failed: bool = False

    def begin(self, prompt: Prompt) -> None:
        """A turn begins; until it ends, it counts as failed."""
        self.asked, self._failed = prompt, True

    def end(self, result: RunResult, before: list[Message], *, tool_calls: int, seconds: float) -> None:
        """The turn is over; ``before`` is the conversation without it."""
        self._before.append((self.asked, before))
        self.run_id, self._failed = result.run_id, False
        self._usage = self._usage + result.usage
        self._count += 1
        self._tool_calls += tool_calls
        self._seconds += seconds

    def take_back(self) -> list[Message] | None:
        """The conversation without the last turn; ``None`` if this chat has none."""
        if not self._before:
            return None
        prompt, messages = self._before.pop()
        self.asked, self._failed = prompt, False
        return messages

    def forget(self) -> None:
        """Take back no turn any more: the conversation was reset."""
        self._before.clear()
        self.asked = ""

    @property
    def failed(self) -> bool:
        """Whether the last turn left nothing in the conversation."""
        return self._failed

    def used(self) -> str:
        """What all turns used, in one line."""
        turns = f"{self._count} turn{'' if self._count == 1 else 's'}"
        return " · ".join([turns, *spent(self._usage, self._tool_calls), f"{self._seconds:.1f} s"])
