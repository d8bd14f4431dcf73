"""What model calls use and cost, added up over a run and the runs above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.messages import NO_USAGE

if TYPE_CHECKING:
    from react_run.messages import ModelResponse, Usage
    from react_run.run import Run


class Pricing:
    """The price of a model call, where its response does not say: ``run.state(Pricing).price = my_prices``.

    ``price`` takes the model's name and the usage, and returns USD, or ``None`` when it does not know either. It holds
    for subagents of the run as well.
    """

    price: Callable[[str, Usage], float | None] | None = None


def priced(run: Run, response: ModelResponse) -> ModelResponse:
    """``response`` with its cost, where a plugin of this run or of a parent knows it."""
    if response.usage.cost is not None:
        return response
    above: Run | None = run
    while above is not None and above.state(Pricing).price is None:
        above = above.parent
    price = None if above is None else above.state(Pricing).price
    if price is None:
        return response
    cost = price(response.model or run.agent.model.name, response.usage)
    return replace(response, usage=replace(response.usage, cost=cost))


def spend(run: Run, usage: Usage) -> None:
    """Add what a model call used to ``run`` and to its parents (behaviours L8, X1)."""
    run.usage = run.usage + usage if run.usage is not NO_USAGE else usage
    if run.parent is not None:
        call = run.state(EngineState).parent_call
        if call is not None:
            call.spent = call.spent + usage
        spend(run.parent, usage)
