"""Charts of a run in plain HTML and SVG: tokens and cost per iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from react_run.journal.view import formatting
from react_run.journal.view.markup import escaped
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.iterations import Iteration
    from react_run.journal.reading import Journal

MOST_BARS = 300
"""The most bars of a chart. In a longer run, several iterations share a bar, since no screen can show more."""


_FEW = 12
"""Up to this many bars each have a label."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One column: parts from bottom to top, each a class and a number, and a tooltip."""

    title: str
    parts: Sequence[tuple[str, float]]

    @property
    def height(self) -> float:
        """The sum of all parts."""
        return sum(size for _, size in self.parts)


def shared(iterations: Sequence[Iteration]) -> Iterator[Sequence[Iteration]]:
    """Group iterations by bar: one per bar, or several in a long run."""
    size = -(-len(iterations) // MOST_BARS)
    return (iterations[at : at + size] for at in range(0, len(iterations), max(1, size)))


def tokens(journal: Journal) -> Iterator[str]:
    """The chart of tokens per iteration: input, cached input, output."""
    legend = {"input": "input", "cached": "cached input", "output": "output"}
    yield from _chart("Tokens per iteration", _numbered(journal), _token_bar, "{:,.0f}", legend)


def costs(journal: Journal) -> Iterator[str]:
    """The chart of cost per iteration, where known."""
    yield from _chart("Cost per iteration", _numbered(journal), _cost_bar, "${:.4f}", {"output": "USD"})


def _numbered(journal: Journal) -> list[Iteration]:
    return [iteration for iteration in journal.iterations if iteration.number]


def _token_bar(iterations: Sequence[Iteration]) -> Bar:
    found = map(formatting.usage_of, iterations)
    known = [used for used in found if used is not None and used.total_tokens is not None]
    if not known:
        return Bar(title=f"{_named(iterations)}: n/a", parts=())
    read = fmean(used.input_tokens or 0 for used in known)
    cached = fmean(used.cached_tokens or 0 for used in known)
    written = fmean(used.output_tokens or 0 for used in known)
    title = f"{_named(iterations)}: {read:,.0f} input ({cached:,.0f} cached), {written:,.0f} output"
    return Bar(title=title, parts=(("input", max(0.0, read - cached)), ("cached", cached), ("output", written)))


def _cost_bar(iterations: Sequence[Iteration]) -> Bar:
    found = map(formatting.usage_of, iterations)
    known = [used.cost for used in found if used is not None and used.cost is not None]
    mean = fmean(known) if known else None
    return Bar(title=f"{_named(iterations)}: {formatting.cost(mean)}", parts=(("output", mean or 0.0),))


def _named(iterations: Sequence[Iteration]) -> str:
    first, last = iterations[0].number, iterations[-1].number
    return f"Iteration {first}" if first == last else f"Iterations {first} to {last}, on average"


def _chart(
    title: str,
    iterations: Sequence[Iteration],
    bar_of: Callable[[Sequence[Iteration]], Bar],
    axis: str,
    legend: dict[str, str],
) -> Iterator[str]:
    groups = list(shared(iterations))
    bars = list(map(bar_of, groups))
    highest = max((bar.height for bar in bars), default=0)
    if not highest:
        return
    about = f'<p class="soft">Each bar is the mean of {len(groups[0])} iterations.</p>' if len(groups[0]) > 1 else ""
    yield f'<section><h2>{title}</h2>\n<div class="card">{about}<ul class="legend">'
    yield from (f'<li><i class="fill-{kind}"></i>{name}</li>' for kind, name in legend.items())
    yield f'</ul><div class="chart"><div class="axis"><span>{axis.format(highest)}</span><span>0</span></div>'
    columns = max(len(bars), _FEW)  # a few bars are not stretched over the whole width
    yield f'<svg viewBox="0 0 {columns * 10} 100" preserveAspectRatio="none" role="img" aria-label="{title}">'
    for index, bar in enumerate(bars):
        yield f"<g><title>{escaped(bar.title)}</title>{_column(index, bar, highest)}</g>"
    last = iterations[-1].number
    if len(bars) <= _FEW:
        labels = "".join(f"<span>{number}</span>" for number in range(1, len(bars) + 1))
        yield f'</svg><div class="under few">{labels}</div>'
    else:
        yield f'</svg><div class="under"><span>iteration 1</span><span>iteration {last}</span></div>'
    yield "</div></div></section>\n"


def _column(index: int, bar: Bar, highest: float) -> str:
    made = [f'<rect x="{index * 10}" y="0" width="10" height="100" fill="transparent"/>']  # a target for the tooltip
    below = 100.0
    for kind, size in bar.parts:
        height = 100 * size / highest
        below -= height
        if height:
            made.append(
                f'<rect class="fill-{kind}" x="{index * 10 + 1}" y="{below:.2f}" width="8" height="{height:.2f}"/>'
            )
    return "".join(made)
