"""Check that costs grow no faster than they should, and did not multiply: ``python -m benchmarks.gate``.

Every line is a ratio within one process, so the speed of the machine does not matter, and each limit leaves room for a
busy machine. It catches quadratic growth where growth was linear, and steps that became several times as expensive.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import iterations, scale
from benchmarks.measure import interleaved
from react_run import Tool


@dataclass(frozen=True)
class Ratio:
    """A ratio: its description, how to measure it, and its limit."""

    what: str
    take: Callable[[], float]
    limit: float


def _over_floor() -> float:
    taken = interleaved({"floor": iterations.floor(100), "ours": iterations.ours(100)}, 15)
    return taken["ours"] / taken["floor"]


def _longer() -> float:
    taken = interleaved({"short": iterations.ours(100), "long": iterations.ours(1_000)}, 5)
    return taken["long"] / taken["short"] / 10


def _with_tools() -> float:
    many = [Tool.from_function(function) for function in scale.functions(1_000)]
    taken = interleaved({"one": iterations.ours(100), "many": iterations.ours(100, others=many)}, 9)
    return taken["many"] / taken["one"]


def _catalogue() -> float:
    return scale.first_request(1_000) / scale.first_request(100) / 10


def _schemas() -> float:
    return scale.first_request_of_schemas(1_000) / scale.first_request(1_000)


def _wide() -> float:
    return scale.width(20) / scale.width(1)


def _leaves() -> float:
    return scale.growth(500)[0]


def _length(what: str) -> Callable[[], float]:
    def take() -> float:
        short, long = scale.length(150), scale.length(1_500)
        return long[what] / short[what]

    return take


RATIOS = (
    Ratio("an iteration over one of the floor, K = 100", _over_floor, 35),
    Ratio("an iteration at K = 1 000 over one at K = 100", _longer, 1.6),
    Ratio("an iteration with 1 000 tools over one with one", _with_tools, 1.6),
    Ratio("a tool of the first request: 1 000 over 100", _catalogue, 1.8),
    Ratio("a tool with a JSON Schema of its own over one made from a function: first request", _schemas, 0.8),
    Ratio("a call of twenty in a reply over one alone", _wide, 1.1),
    Ratio("objects that an ended run leaves without the collector", _leaves, 3),
    Ratio("a recorded iteration: K = 1 500 over K = 150", _length("recorded"), 1.8),
    Ratio("reading a journal, per iteration: K = 1 500 over K = 150", _length("read"), 4),
    Ratio("replay, per iteration: K = 1 500 over K = 150", _length("replay"), 2),
    Ratio("resume, per iteration: K = 1 500 over K = 150", _length("resume"), 2),
)


def main() -> int:
    """Print every ratio; the exit status is 1 if one exceeds its limit twice."""
    high = 0
    for ratio in RATIOS:
        found = ratio.take()
        if found > ratio.limit:  # once more: what is a square is one every time
            found = min(found, ratio.take())
        high += found > ratio.limit
        print(f"{'TOO HIGH' if found > ratio.limit else 'ok':<9}{found:8.2f}  (at most {ratio.limit:g})  {ratio.what}")
    return 1 if high else 0


if __name__ == "__main__":
    sys.exit(main())
