"""The limits of a run: cost, tokens and time (behaviours S2, S4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from react_run.engine.state import EngineState
from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.messages import NO_USAGE, Message, ModelResponse
from react_run.policies.deadline import Deadline
from react_run.policies.order import Policy
from react_run.results import RunResult, StopReason

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run

OnLimit = Literal["end", "ask"]
WITHHELD = ModelResponse(message=Message(role="assistant"), usage=NO_USAGE)
"""Stands in for the reply of a call that was not made."""


class Extra:
    """What a person has granted a run beyond its limits."""

    def __init__(self) -> None:
        self.cost = 0.0
        self.tokens = 0
        self.asking = asyncio.Lock()


class RunLimits(Policy):
    """Ends a run that has used up its budget of cost, tokens or time, with a result and without another model call.

    The usage of subagents counts towards their parents' limits, which also apply to them.
    """

    kind: ClassVar[str] = "limits"
    inside: ClassVar[Mapping[str, str]] = {"run_timeout": "nobody is asked for more money when the time is up"}
    inherited_by_subagents: ClassVar[bool | None] = True
    stacks: ClassVar[bool] = True  # a parent's limits apply in addition to a run's own

    max_cost: float | None = Field(default=None, ge=0)
    """Maximum cost in USD."""
    allow_unknown_cost: bool = False
    """Whether to continue despite `max_cost` if the price of the model is unknown."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    """Maximum input and output tokens."""

    on_limit: OnLimit = "end"
    """Whether a person is asked for more before the run ends."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        limits = config.limits
        if limits.max_cost is None and limits.max_total_tokens is None:
            return None
        return cls(
            max_cost=limits.max_cost,
            allow_unknown_cost=limits.allow_unknown_cost,
            max_total_tokens=limits.max_total_tokens,
            on_limit=limits.on_limit,
        )

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse | None:
        owner = self._owner(run)
        exceeded = self._exceeded(owner)
        if exceeded is None or await self._extended(run, owner):
            return None
        reason, text = exceeded
        if run.outcome.stop_reason is None:
            run.note(self.guard, text)
        run.stop(reason, text)
        if iteration.request.call > run.state(EngineState).model_calls:  # else one was made, and this is another
            iteration.skip()
        return WITHHELD

    def _exceeded(self, owner: Run) -> tuple[StopReason, str] | None:
        used, allowed = owner.state(EngineState).counted, owner.state(self._extra)
        if self.max_cost is not None:
            limit = self.max_cost + allowed.cost
            if used.cost is None:
                if not self.allow_unknown_cost:
                    text = f"The price of the model is unknown: the cost limit of {limit:g} USD cannot be kept."
                    return StopReason.COST_LIMIT, text
            elif used.cost >= limit:
                text = f"The cost limit of {limit:g} USD was reached ({used.cost:g} USD used)."
                return StopReason.COST_LIMIT, text
        if self.max_total_tokens is not None:
            most = self.max_total_tokens + allowed.tokens
            total = used.total_tokens
            if total is None:
                text = f"The tokens used are unknown: the limit of {most} tokens cannot be kept."
                return StopReason.TOKEN_LIMIT, text
            if total >= most:
                text = f"The limit of {most} tokens was reached ({total} used)."
                return StopReason.TOKEN_LIMIT, text
        return None

    async def _extended(self, run: Run, owner: Run) -> bool:
        """Whether a person has granted more than was used; one question at a time, for all subagents."""
        if self.on_limit == "end":
            return False
        from react_run.policies.more_iterations import SHARE, extended

        allowed = owner.state(self._extra)
        async with allowed.asking:
            while (exceeded := self._exceeded(owner)) is not None:
                reason, used = exceeded[0], owner.state(EngineState).counted
                if reason == StopReason.COST_LIMIT and self.max_cost and used.cost is not None:
                    more = self.max_cost / SHARE
                    if not await extended(run, f"{self.max_cost + allowed.cost:g} USD", f"{more:g} USD"):
                        return False
                    allowed.cost += more
                elif reason == StopReason.TOKEN_LIMIT and self.max_total_tokens and used.total_tokens is not None:
                    tokens = -(-self.max_total_tokens // SHARE)
                    if not await extended(run, f"{self.max_total_tokens + allowed.tokens} tokens", f"{tokens}"):
                        return False
                    allowed.tokens += tokens
                else:
                    return False  # the usage is unknown, so there is nothing to grant
        return True

    def _extra(self) -> Extra:
        """State in `run.state` for these limits only."""
        return Extra()

    def _owner(self, run: Run) -> Run:
        """The run that owns these limits: the outermost one that has them."""
        while run.parent is not None and _has(run.parent, self):
            run = run.parent
        return run


class RunTimeout(Policy):
    """Ends a run when its time is up, with a result of everything so far; what is still running is cancelled."""

    kind: ClassVar[str] = "run_timeout"
    inside: ClassVar[Mapping[str, str]] = {"grounding": "what a run found before its time was up is grounded, too"}
    outside: ClassVar[Mapping[str, str]] = {
        "last_answer": "the time limit includes the last answer",
        "acceptance": "the time limit includes the checks",
    }

    seconds: float = Field(gt=0)
    """Time limit for the whole run, not counting the time spent waiting for a person."""
    on_limit: OnLimit = "end"
    """Whether a person is asked for more before the run ends."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        limits = config.limits
        return None if limits.run_timeout is None else cls(seconds=limits.run_timeout, on_limit=limits.on_limit)

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> None:
        """Guides are part of the run, so its time starts before they are asked."""
        run.state(Deadline).start(run, self.seconds, self._more if self.on_limit == "ask" else None)

    @hookimpl
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        deadline = run.state(Deadline)
        if not deadline.started:
            deadline.start(run, self.seconds, self._more if self.on_limit == "ask" else None)
        try:
            if not deadline.expired:
                return await proceed()
        except asyncio.CancelledError:
            if not deadline.alone:
                raise
        finally:
            deadline.stop()
        text = f"The time limit of {self.seconds:g} s was reached."
        run.note(self.guard, text)
        run.stop(StopReason.TIMEOUT, text)
        return run.result()

    @hookimpl
    async def react_model_call(self, run: Run) -> None:
        """Check the clock before each call (S4), in case nothing in the run ever awaits."""
        deadline = run.state(Deadline)
        if deadline.overdue:
            await deadline.strike()
            await asyncio.sleep(0)  # where the cancellation arrives

    async def _more(self, run: Run, limit: float) -> float:
        """The seconds that a person grants beyond ``limit``."""
        from react_run.policies.more_iterations import SHARE, extended

        more = self.seconds / SHARE
        return more if await extended(run, f"{limit:g} s", f"{more:g} s", by_clock=True) else 0.0


def _has(run: Run, plugin: object) -> bool:
    return any(impl.plugin is plugin for impl in run.state(EngineState).hooks.react_model_call)
