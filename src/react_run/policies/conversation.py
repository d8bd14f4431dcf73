"""Splits a conversation into its beginning and its iterations, each with its calls and results (behaviours H2, S7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from react_run.messages import Message
from react_run.policies.result_limit import offer_reading
from react_run.support.dataclasses import dataclass
from react_run.support.preview import head, size_of

if TYPE_CHECKING:
    from react_run.run import Run

SMALL = 512
"""Results up to this many bytes stay in the conversation."""
LEFT = 200
"""How many bytes of a moved result stay in the conversation."""
SUMMARY = "Summary of the work so far, which took the place of older iterations:\n\n{summary}"

Iteration = list[Message]


@dataclass
class Conversation:
    """The beginning of a run (system prompt, earlier turns, the user's request), and its iterations."""

    start: list[Message]
    iterations: list[Iteration]

    @classmethod
    def of(cls, messages: Sequence[Message], own: int) -> Self:
        """Split ``messages``, the first ``own`` of which existed when the run began."""
        iterations: list[Iteration] = []
        for message in messages[own:]:
            if message.role == "assistant" or not iterations:
                iterations.append([])
            iterations[-1].append(message)
        return cls(start=list(messages[:own]), iterations=iterations)

    @property
    def messages(self) -> list[Message]:
        """All of it, in order."""
        return [*self.start, *(message for part in self.iterations for message in part)]

    def move_out(self, mover: Mover, keep: int) -> None:
        """Replace long results with pointers, except in the last ``keep`` iterations."""
        self.start = [mover.moved(message) for message in self.start]
        for index, part in enumerate(self._before(keep)):
            self.iterations[index] = [mover.moved(message) for message in part]

    def older(self, keep: int) -> list[Message]:
        """The part that a summary may replace: everything but the users' messages and the last ``keep`` iterations."""
        start = [message for message in self.start if message.role in ("assistant", "tool")]
        return start + [message for part in self._before(keep) for message in part]

    def replace_older(self, keep: int, summary: str) -> None:
        """Replace :meth:`older` with ``summary``."""
        self.start = [message for message in self.start if message.role not in ("assistant", "tool")]
        kept = self.iterations[len(self._before(keep)) :]
        self.iterations = [[Message(role="user", content=SUMMARY.format(summary=summary))], *kept]

    def _before(self, keep: int) -> list[Iteration]:
        return self.iterations[: max(0, len(self.iterations) - keep)]


class Mover:
    """Moves results out of a conversation, into files of the run if it may have them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        handled = (call for iteration in run.iterations for call in iteration.calls)
        self._lasting = {call.request.id for call in handled if call.observation and call.observation.whole}

    def lasts(self, message: Message) -> bool:
        """Whether ``message`` is a result that stays, such as the instructions of a skill."""
        return message.role == "tool" and message.tool_request_id in self._lasting

    def _without_files(self, message: Message) -> str:
        """The text of a result, with the names of its images and files and the paths of their copies."""
        from react_run.engine.attachments import saved
        from react_run.parts import Part

        files = [saved(self._run, part) for part in message.content if isinstance(part, Part)]
        notes = [
            f"[{file.label}: no longer shown{f', saved as {file.saved_to}' * bool(file.saved_to)}]" for file in files
        ]
        return "\n".join([message.text, *notes])

    def moved(self, message: Message) -> Message:
        """Replace the long result in ``message`` with a pointer to a saved copy."""
        if message.role != "tool" or self.lasts(message):
            return message
        text, whole = message.text, message
        if not isinstance(message.content, str):
            message = replace(message, content=self._without_files(message))
            whole, text = message, message.text
        if size_of(text) <= SMALL:
            return whole
        where = self._pointer(text)
        return replace(message, content=f"{head(text, LEFT)}\n[{where}]")

    def _pointer(self, text: str) -> str:
        gone = "the rest of this older result was dropped to make room; call the tool again if you need it"
        from react_run.policies.spill import Spill

        if not self._run.agent.config.limits.spill:
            return gone
        try:
            saved = self._run.state(Spill).save(self._run.workspace, self._run.id, "older_result", text)
        except OSError:
            return gone
        offer_reading(self._run)
        return f"this older result was moved to {saved.path} to make room; read_result(name={saved.name!r}) shows it"
