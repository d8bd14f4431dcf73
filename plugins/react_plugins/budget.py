"""The plugin ``budget``: limits tool calls per run, and the total usage of all runs of an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import ClassVar

from pydantic import Field, NonNegativeInt, PrivateAttr

from react_plugins.lineage import outermost
from react_plugins.matching import first_match
from react_run import Iteration, ModelResponse, Observation, Outcome, Plugin, Run, StopReason, ToolCall, Usage, hookimpl

MADE = "The budget of {limit} for {what} is used up in this run. Answer from what you have, and say what is missing."


class Made:
    """The tool calls of a run and its subagents: the number per tool, and the calls that were counted."""

    def __init__(self) -> None:
        self.by_tool: Counter[str] = Counter()
        self.by_call: Counter[ToolCall] = Counter()


class Spent:
    """What all runs have used since ``started``."""

    def __init__(self) -> None:
        self.started = monotonic()
        self.cost: float | None = 0.0
        self.tokens: int | None = 0

    def add(self, usage: Usage) -> None:
        """Add the usage of a model call; an unknown value makes the sum unknown."""
        self.cost = None if self.cost is None or usage.cost is None else self.cost + usage.cost
        tokens = usage.total_tokens
        self.tokens = None if self.tokens is None or tokens is None else self.tokens + tokens


class Budget(Plugin):
    """Limits the tool calls of a run (the model is told, and answers with what it has) and spending across runs.

    For the cost of a single run, use `limits: {max_cost: …}`; this plugin counts all runs of the agent since it was
    built. An unknown price or usage exhausts the budget concerned.
    """

    kind: ClassVar[str] = "budget"

    tool_calls: NonNegativeInt | None = None
    """Maximum tool calls of one run, including those of subagents and repeated ones."""
    tools: dict[str, NonNegativeInt] = Field(default_factory=dict)
    """Maximum calls of each tool in one run; names may be globs, and the first match counts."""
    cost: float | None = Field(default=None, ge=0)
    """Maximum cost of all runs together, in USD."""
    tokens: NonNegativeInt | None = None
    """Maximum input and output tokens of all runs together."""
    period: float | None = Field(default=None, gt=0)
    """Seconds after which the counts of cost and tokens start again; never by default."""

    _spent: Spent = PrivateAttr(default_factory=Spent)

    def _made(self) -> Made:
        """The state of this plugin, created by `run.state`; it is separate if the kind is listed twice."""
        return Made()

    @hookimpl
    def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        made = outermost(run).state(self._made)
        limit = first_match(call.name, self.tools)
        if limit is not None and made.by_tool[call.name] >= limit:
            return self._refusal(run, f"{limit} calls", call.name)
        if self.tool_calls is not None and made.by_tool.total() >= self.tool_calls:
            return self._refusal(run, f"{self.tool_calls} calls", "all tools")
        made.by_tool[call.name] += 1
        made.by_call[call] += 1
        return None

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall) -> None:
        made = outermost(run).state(self._made)
        counted = made.by_call.pop(call, 0)
        if not call.executed:  # another plugin refused it
            made.by_tool[call.name] -= counted

    def _refusal(self, run: Run, limit: str, what: str) -> Observation:
        text = MADE.format(limit=limit, what=what)
        run.note(self.kind, f"{what}: {limit} used up")
        return Observation(content=f"Error: {text}", outcome=Outcome.retryable("budget_exhausted", text))

    @hookimpl
    async def react_iteration(self, run: Run, iteration: Iteration) -> Iteration | None:
        if self.cost is None and self.tokens is None:
            return None
        # Recorded, because the usage of other runs is outside of this one: a replay ends where the run did.
        exhausted = await run.recorded("budget of all runs", self._exhausted)
        if exhausted is None:
            return None
        reason, text = exhausted
        run.note(self.kind, text)
        run.stop(StopReason(reason), text)
        iteration.skip()
        return iteration

    @hookimpl
    async def react_model_call(self, proceed: Callable[[], Awaitable[ModelResponse]]) -> ModelResponse:
        response = await proceed()
        self._spent.add(response.usage)
        return response

    async def _exhausted(self) -> tuple[StopReason, str] | None:
        if self.period is not None and monotonic() - self._spent.started >= self.period:
            self._spent = Spent()
        spent = self._spent
        if self.cost is not None and (spent.cost is None or spent.cost >= self.cost):
            used = "an unknown sum" if spent.cost is None else f"{spent.cost:g} USD"
            return StopReason.COST_LIMIT, f"The budget of {self.cost:g} USD for all runs is used up ({used} spent)."
        if self.tokens is not None and (spent.tokens is None or spent.tokens >= self.tokens):
            used = "an unknown number" if spent.tokens is None else str(spent.tokens)
            return StopReason.TOKEN_LIMIT, f"The budget of {self.tokens} tokens for all runs is used up ({used} used)."
        return None
