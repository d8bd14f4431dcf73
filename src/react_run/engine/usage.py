"""Adds up the usage and cost of model calls, for a run and its parent runs."""

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
    """The price of model calls whose response does not include it: ``run.state(Pricing).price = my_prices``.

    ``price`` takes the model's name and the usage, and returns USD, or ``None`` if unknown. It also applies to
    subagents of the run.
    """

    price: Callable[[str, Usage], float | None] | None = None


def priced_at(run: Run, model: str, usage: Usage) -> float | None:
    """The cost in USD of ``usage`` of ``model``, if a plugin of this run or of a parent knows it."""
    above: Run | None = run
    while above is not None:
        price = above.state(Pricing).price
        if price is not None:
            return price(model or run.agent.model.name, usage)
        above = above.parent
    return None


def priced(run: Run, response: ModelResponse) -> ModelResponse:
    """Return ``response`` with its cost, if a plugin of this run or of a parent knows it."""
    if response.usage.cost is not None:
        return response
    cost = priced_at(run, response.model, response.usage)
    return response if cost is None else replace(response, usage=replace(response.usage, cost=cost))


def spend(run: Run, usage: Usage, at_most: Usage | None = None) -> None:
    """Add the usage of a model call to ``run`` and to its parents (behaviours L8, X1).

    Args:
        run: The run that called the model.
        usage: The usage.
        at_most: The worst case, which counts towards limits if the usage is unknown (S4).
    """
    state = run.state(EngineState)
    as_counted = state.counted is run.usage and at_most is None  # nothing was unknown so far: one sum for both
    run.usage = run.usage + usage if run.usage is not NO_USAGE else usage
    state.counted = run.usage if as_counted else state.counted + (at_most or usage)
    if run.parent is not None:
        if state.parent_call is not None:
            state.parent_call.spent = state.parent_call.spent + usage
        spend(run.parent, usage, at_most)
