"""The worst-case usage of a model call whose real usage is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.engine.usage import priced_at, spend
from react_run.messages import Usage

if TYPE_CHECKING:
    from react_run.errors import ModelError
    from react_run.messages import ModelRequest
    from react_run.run import Run

LONGEST_REPLY = 4_096
"""Assumed tokens of a reply if neither its length nor a limit is known."""
_NOTHING_GENERATED = frozenset({"auth", "quota", "context_overflow", "invalid_request", "not_found", "no_tools"})
_NOTHING = Usage(input_tokens=0, output_tokens=0, cost=0.0)


def spend_failed(run: Run, request: ModelRequest, error: ModelError) -> None:
    """Add the usage of a failed model call: nothing if it was rejected or never reached the provider, else the worst
    case. A request that was never made is no call.
    """
    if not error.sent:
        return
    if error.status is not None or not error.reached or error.code in _NOTHING_GENERATED:
        spend(run, _NOTHING)
    else:
        spend(run, Usage(), worst_case(run, request))


def worst_case(run: Run, request: ModelRequest) -> Usage:
    """The worst case of a model call: the request, and the longest reply allowed."""
    from react_run.engine.context import Gauge
    from react_run.models.prices import cost_of

    asked = round(Gauge().measure(request))
    limit = request.settings.get("max_tokens", getattr(run.agent.model, "max_tokens", None))
    most = limit if isinstance(limit, int) else LONGEST_REPLY
    usage = Usage(input_tokens=asked, output_tokens=most, cost=None)
    cost = priced_at(run, run.agent.model.name, usage)
    if cost is None:
        cost = cost_of(run.agent.model.name, usage)
    return Usage(input_tokens=asked, output_tokens=most, cost=cost or 0.0)
