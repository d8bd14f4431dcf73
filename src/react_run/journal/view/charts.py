"""Charts of a run in plain HTML and SVG: tokens and cost per round, and a waterfall of all calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from react_run.journal.view import formatting
from react_run.journal.view.markup import Anchors, escaped

if TYPE_CHECKING:
    from react_run.journal.iterations import Round
    from react_run.journal.reading import Journal


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One column: parts from the bottom up, each a class and a number, and what is said about it."""

    title: str
    parts: Sequence[tuple[str, float]]

    @property
    def height(self) -> float:
        """All parts together."""
        return sum(size for _, size in self.parts)


def tokens(journal: Journal) -> Iterator[str]:
    """Tokens per round: read, read from the provider's cache, written."""
    bars = [_token_bar(round_) for round_ in journal.rounds if round_.number]
    top = max((bar.height for bar in bars), default=0)
    if top:
        legend = {"input": "read", "cached": "read, cached", "output": "written"}
        yield from _chart("Tokens per round", bars, f"{top:,.0f}", legend)


def costs(journal: Journal) -> Iterator[str]:
    """Cost per round, where it is known."""
    bars = [_cost_bar(round_) for round_ in journal.rounds if round_.number]
    top = max((bar.height for bar in bars), default=0)
    if top:
        yield from _chart("Cost per round", bars, f"${top:.4f}", {"output": "USD"})


def _token_bar(round_: Round) -> Bar:
    used = formatting.usage_of(round_)
    if used is None or used.total_tokens is None:
        return Bar(title=f"Round {round_.number}: n/a", parts=())
    read, cached, written = used.input_tokens or 0, used.cached_tokens or 0, used.output_tokens or 0
    title = f"Round {round_.number}: {read:,} read ({cached:,} cached), {written:,} written"
    return Bar(title=title, parts=(("input", max(0, read - cached)), ("cached", cached), ("output", written)))


def _cost_bar(round_: Round) -> Bar:
    used = formatting.usage_of(round_)
    known = used.cost if used is not None else None
    return Bar(title=f"Round {round_.number}: {formatting.cost(known)}", parts=(("output", known or 0.0),))


def _chart(title: str, bars: Sequence[Bar], top: str, legend: dict[str, str]) -> Iterator[str]:
    yield f'<section><h2>{title}</h2>\n<div class="card"><ul class="legend">'
    yield from (f'<li><i class="fill-{kind}"></i>{name}</li>' for kind, name in legend.items())
    yield f'</ul><div class="chart"><div class="axis"><span>{top}</span><span>0</span></div>'
    yield f'<svg viewBox="0 0 {len(bars) * 10} 100" preserveAspectRatio="none" role="img" aria-label="{title}">'
    highest = max(bar.height for bar in bars)
    for index, bar in enumerate(bars):
        yield f"<g><title>{escaped(bar.title)}</title>{_column(index, bar, highest)}</g>"
    yield f'</svg><div class="under"><span>round 1</span><span>round {len(bars)}</span></div></div></div></section>\n'


def _column(index: int, bar: Bar, highest: float) -> str:
    made = [f'<rect x="{index * 10}" y="0" width="10" height="100" fill="transparent"/>']  # something to point at
    below = 100.0
    for kind, size in bar.parts:
        height = 100 * size / highest
        below -= height
        if height:
            made.append(
                f'<rect class="fill-{kind}" x="{index * 10 + 1}" y="{below:.2f}" width="8" height="{height:.2f}"/>'
            )
    return "".join(made)


def waterfall(journal: Journal) -> Iterator[str]:
    """All calls of a run along its time, round by round; each leads to its details."""
    start, end = journal.header["time"], journal.own[-1]["time"]
    length = max(end - start, 1e-6)
    yield '<h2>Waterfall</h2>\n<div class="card waterfall"><ul class="legend">'
    for kind, name in {"model": "model", "tool": "tool", "bad": "failed"}.items():
        yield f'<li><i class="fill-{kind}"></i>{name}</li>'
    yield "</ul>"
    for round_ in journal.rounds:
        yield f'<div class="part">{"".join(_rows(round_, Anchors(journal), start, length))}</div>\n'
    yield "</div>\n"


def _rows(round_: Round, anchors: Anchors, start: float, length: float) -> Iterator[str]:
    for call in round_.model_calls:
        kind = "model" if call.response else "bad"
        taken = call.end["seconds"] if call.end else None
        label = f"{round_.number} · model call {call.number}"
        yield _row(anchors.of_call(call), label, kind, (call.request["time"] - start) / length, taken, length)
    for use in round_.tools:
        began, ended = use.span or (start, start)
        kind = "bad" if use.failed else "tool"
        taken = None if use.span is None else ended - began
        yield _row(anchors.of_tool(use), f"{round_.number} · {use.name}", kind, (began - start) / length, taken, length)


def _row(anchor: str, label: str, kind: str, offset: float, taken: float | None, length: float) -> str:
    left = min(max(100 * offset, 0.0), 99.8)
    width = min(100 * (taken or 0.0) / length, 100 - left)
    bar = f'<b class="fill-{kind}" style="left:{left:.3f}%;width:{width:.3f}%"></b>'
    shown = escaped(label)
    return (
        f'<a class="row" href="#{escaped(anchor)}" title="{shown}"><span class="label">{shown}</span>'
        f'<span class="track">{bar}</span><span class="length">{formatting.seconds(taken)}</span></a>'
    )
