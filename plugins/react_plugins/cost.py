"""The plugin ``cost``: prices model calls from a local table."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from react_plugins.matching import first_match
from react_run import Plugin, Pricing, Run, RunResult, Usage, cost_of, hookimpl

MILLION = 1_000_000


class Price(BaseModel):
    """What a model costs, in USD per million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    """The price of input tokens."""
    output: float = Field(ge=0)
    """The price of output tokens."""
    cached: float | None = Field(default=None, ge=0)
    """The price of cached input tokens; by default the same as for other input."""

    def of(self, usage: Usage) -> float | None:
        """The cost of ``usage`` in USD; ``None`` if it is unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        price_cached = self.input if self.cached is None else self.cached
        tokens = (usage.input_tokens - cached) * self.input + cached * price_cached + usage.output_tokens * self.output
        return tokens / MILLION


class Cost(Plugin):
    """Prices model calls whose provider reports no cost, and notes the total at the end of a run.

    Your own prices come first, then LiteLLM's table. Otherwise, the price stays unknown.
    """

    kind: ClassVar[str] = "cost"

    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model; names may be globs, and the first match counts: `{my-model: {input: 0.1, output: 0.4}}`."""
    table: bool = True
    """Whether to look a model up in LiteLLM's table."""

    @hookimpl(tryfirst=True)
    def react_run(self, run: Run) -> None:
        run.state(Pricing).price = self.price

    def price(self, model: str, usage: Usage) -> float | None:
        """The cost of ``usage`` of ``model`` in USD; ``None`` if it is unknown."""
        own = first_match(model, self.prices)
        if own is not None:
            return own.of(usage)
        return cost_of(model, usage) if self.table else None

    @hookimpl
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        used = result.usage
        cost = "unknown" if used.cost is None else f"{used.cost:.6f} USD"
        tokens = "unknown" if used.total_tokens is None else used.total_tokens
        run.note(self.kind, f"{cost} for {used.requests} model calls, {tokens} tokens")
