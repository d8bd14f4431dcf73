"""The check ``tool_used``: an answer given without using a tool is refused."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from react_plugins.matching import matches
from react_run import Check, Run, Verdict


class ToolUsed(Check):
    """Tools must have been used successfully before an answer is accepted."""

    kind: ClassVar[str] = "tool_used"

    tool: str = "*"
    """The tool, as a name or glob; any tool by default."""
    times: int = Field(default=1, ge=1)
    """The minimum number of successful calls."""
    feedback: str = ""
    """The feedback for the model if the answer is refused."""

    async def check(self, run: Run, answer: str) -> Verdict:
        used = sum(
            step.executed and not step.failed and matches(step.action, [self.tool]) for step in run.outcome.steps
        )
        if used >= self.times:
            return Verdict(accepted=True)
        which = "a tool" if self.tool == "*" else self.tool
        often = "" if self.times == 1 else f" at least {self.times} times"
        text = f"The answer must rest on {which}: use it{often}, with success, before you answer (used so far: {used})."
        return Verdict(accepted=False, feedback=self.feedback or text)
