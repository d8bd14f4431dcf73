"""The plugin ``retry``: retries tool calls that failed for a transient reason."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import ClassVar

from pydantic import Field

from react_plugins.matching import matches
from react_run import Disposition, Observation, Plugin, Run, ToolCall, hookimpl


class Retry(Plugin):
    """Retries tool calls that failed with a retryable error, with exponential backoff and jitter.

    Calls that did not run (refused, wrong arguments) are never retried, nor are pure tools (`inline`: the same
    arguments would fail again), nor tools declared `read_only=False` unless they are `idempotent` or listed in
    `changing`. Permission is checked for each attempt.
    """

    kind: ClassVar[str] = "retry"

    attempts: int = Field(default=3, ge=1)
    """Maximum number of attempts, including the first."""
    first_wait: float = Field(default=0.5, ge=0)
    """Seconds before the second attempt; doubled before each further one, with random jitter."""
    max_wait: float = Field(default=30.0, ge=0)
    """Maximum seconds to wait before an attempt."""
    tools: list[str] = Field(default=["*"])
    """The tools it applies to, as globs; all by default."""
    codes: list[str] = Field(default=["*"])
    """The codes of failures it applies to, as globs: `timeout`, `execution_error`, …; all by default."""
    changing: list[str] = Field(default_factory=list)
    """Tools that change something but may still be retried, as globs."""

    @hookimpl
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        for attempt in range(1, self.attempts):
            observation = await proceed()
            outcome = observation.outcome
            if outcome is None or not self._may_repeat(call, observation):
                return observation
            wait = self._wait(attempt)
            again = f"attempt {attempt} of {self.attempts}; again in {wait:.1f} s"
            run.note(self.kind, f"{call.name}: {outcome.code} ({again})")
            await asyncio.sleep(wait)
        return await proceed()

    def _may_repeat(self, call: ToolCall, observation: Observation) -> bool:
        tool, outcome = call.tool, observation.outcome
        if tool is None or outcome is None or not call.executed or tool.inline:
            return False
        if outcome.disposition is not Disposition.RETRYABLE_ERROR or not matches(outcome.code, self.codes):
            return False
        harmless = tool.read_only is not False or tool.idempotent or matches(call.name, self.changing)
        return harmless and matches(call.name, self.tools)

    def _wait(self, failed: int) -> float:
        return min(self.max_wait, self.first_wait * 2.0 ** min(failed - 1, 30)) * random.uniform(0.5, 1.0)
