"""The plugin ``rate_limit``: limits the rate of tool and model calls."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import Annotated, ClassVar

from pydantic import Field, PrivateAttr

from react_plugins.matching import first_match
from react_run import Iteration, Plugin, Run, ToolCall, hookimpl

PerSecond = Annotated[float, Field(gt=0)]
MODEL = "(model)"


class Pace:
    """The time at which the next call of a series may start."""

    def __init__(self) -> None:
        self.next = 0.0

    def reserve(self, now: float, interval: float, burst: int) -> float:
        """Reserve the next slot, and return the seconds to wait for it."""
        due = max(self.next, now)
        self.next = due + interval
        return max(0.0, due - now - (burst - 1) * interval)


class RateLimit(Plugin):
    """Delays calls so that at most a given number start per second, across all runs of the agent.

    A waiting call does not occupy a slot of `parallel_tools`, but counts towards the time limit of the run.
    """

    kind: ClassVar[str] = "rate_limit"
    inherited_by_subagents: ClassVar[bool | None] = True

    tools: dict[str, PerSecond] = Field(default_factory=dict)
    """Calls per second by tool; names may be globs, the first match counts, and each tool is counted separately."""
    model: PerSecond | None = None
    """Model calls per second."""
    burst: int = Field(default=1, ge=1)
    """How many calls may start at once after a pause."""

    _paces: dict[str, Pace] = PrivateAttr(default_factory=dict)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def now(self) -> float:
        """Seconds on a clock that never goes back."""
        return monotonic()

    @hookimpl
    async def react_tool_call(self, run: Run, call: ToolCall) -> None:
        limit = first_match(call.name, self.tools)
        if limit is not None and call.problem is None:
            await self._wait(run, call.name, limit, f"{call.name} {call.key}")

    @hookimpl(trylast=True)  # next to the model, so that each attempt is paced
    async def react_model_call(self, run: Run, iteration: Iteration) -> None:
        if self.model is not None:
            await self._wait(run, MODEL, self.model, MODEL)

    async def _wait(self, run: Run, what: str, per_second: float, asking: str) -> None:
        async def reserve() -> float:
            with self._lock:  # an agent may be used from several threads
                pace = self._paces.setdefault(what, Pace())
                return pace.reserve(self.now(), 1 / per_second, self.burst)

        # Recorded, because other runs of the agent are outside of this one: a replay waits where the run did.
        seconds = await run.recorded(f"rate_limit {asking}", reserve)
        if seconds > 0:
            run.note(self.kind, f"{what}: waits {seconds:.2f} s")
            await asyncio.sleep(seconds)
