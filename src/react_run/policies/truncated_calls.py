"""Ends runs whose calls are repeatedly cut off by the token limit (behaviour A5b)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy
from react_run.results import StopReason

if TYPE_CHECKING:
    from react_run.run import Iteration, Run

TOO_LONG = "The model's replies were cut off by its output token limit {count} times in a row, so no call could run."


class TruncatedCalls(Policy):
    """Ends a run whose tool calls are cut off by the token limit again and again."""

    kind: ClassVar[str] = "truncated_calls"
    inside: ClassVar[Mapping[str, str]] = {
        "failures": "a failure that ends the run is the reason, not the cut replies",
        "result_limit": "results are cut before their iteration is judged",
    }

    in_a_row: int = Field(default=3, ge=1)
    """After this many truncated replies in a row, the run ends."""

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        if iteration.response is None or iteration.response.finish_reason != "length":
            return  # the usual case
        last = run.iterations[-self.in_a_row :]
        if len(last) == self.in_a_row and all(map(is_cut, last)):
            run.note(self.guard, f"{self.in_a_row} cut replies in a row")
            run.stop(StopReason.OUTPUT_LIMIT, TOO_LONG.format(count=self.in_a_row))


def is_cut(iteration: Iteration) -> bool:
    """Whether the reply of ``iteration`` requested calls and was truncated."""
    response = iteration.response
    return response is not None and response.finish_reason == "length" and bool(iteration.calls)
