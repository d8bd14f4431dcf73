"""The scorers ``tools_used``, ``tools_order`` and ``no_tool``: which tools were called."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from react_plugins.matching import matches
from react_run import Score, ScoredRun, Scorer


class ToolsUsed(Scorer):
    """Tools must have been called successfully; the score is the share of those that were."""

    kind: ClassVar[str] = "tools_used"

    tools: list[str] = Field(min_length=1)
    """Their names, or globs."""

    async def score(self, run: ScoredRun) -> Score:
        used = [step.action for step in run.result.steps if step.executed and not step.failed]
        missing = [tool for tool in self.tools if not any(matches(name, [tool]) for name in used)]
        reason = f"tools: {', '.join(missing)} not used with success; used: {', '.join(used) or 'none'}"
        return Score(value=1 - len(missing) / len(self.tools), reason=reason)


class ToolsOrder(Scorer):
    """Tools must have been called in this order."""

    kind: ClassVar[str] = "tools_order"

    tools: list[str]
    """Their names, or globs, in order."""
    others: bool = True
    """Whether other calls may come before, between and after."""

    async def score(self, run: ScoredRun) -> Score:
        called = [step.action for step in run.result.steps]
        if not self.others:
            fits = len(called) == len(self.tools) and all(map(_fits, called, self.tools))
        else:
            left = iter(called)
            fits = all(any(matches(name, [tool]) for name in left) for tool in self.tools)
        return Score(value=float(fits), reason=f"tools: expected {self.tools}, got {called}")


class NoTool(Scorer):
    """No tool, or none of these, may have been called."""

    kind: ClassVar[str] = "no_tool"

    tools: list[str] = Field(default=["*"])
    """Their names, or globs; all by default."""

    async def score(self, run: ScoredRun) -> Score:
        called = [step.action for step in run.result.steps if matches(step.action, self.tools)]
        return Score(value=float(not called), reason=f"tools: called {', '.join(called)}")


def _fits(name: str, pattern: str) -> bool:
    return matches(name, [pattern])
