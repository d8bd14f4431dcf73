"""Charts of a run in plain HTML and SVG: tokens and cost per iteration, and a waterfall of all calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from react_run.journal.view import formatting
from react_run.journal.view.markup import Anchors, escaped
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.iterations import Asked, Iteration
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
    """Tokens per iteration: read, read from the provider's cache, written."""
    bars = [_token_bar(iteration) for iteration in journal.iterations if iteration.number]
    top = max((bar.height for bar in bars), default=0)
    if top:
        legend = {"input": "read", "cached": "read, cached", "output": "written"}
        yield from _chart("Tokens per iteration", bars, f"{top:,.0f}", legend)


def costs(journal: Journal) -> Iterator[str]:
    """Cost per iteration, where it is known."""
    bars = [_cost_bar(iteration) for iteration in journal.iterations if iteration.number]
    top = max((bar.height for bar in bars), default=0)
    if top:
        yield from _chart("Cost per iteration", bars, f"${top:.4f}", {"output": "USD"})


def _token_bar(iteration: Iteration) -> Bar:
    used = formatting.usage_of(iteration)
    if used is None or used.total_tokens is None:
        return Bar(title=f"Iteration {iteration.number}: n/a", parts=())
    read, cached, written = used.input_tokens or 0, used.cached_tokens or 0, used.output_tokens or 0
    title = f"Iteration {iteration.number}: {read:,} read ({cached:,} cached), {written:,} written"
    return Bar(title=title, parts=(("input", max(0, read - cached)), ("cached", cached), ("output", written)))


def _cost_bar(iteration: Iteration) -> Bar:
    used = formatting.usage_of(iteration)
    known = used.cost if used is not None else None
    return Bar(title=f"Iteration {iteration.number}: {formatting.cost(known)}", parts=(("output", known or 0.0),))


def _chart(title: str, bars: Sequence[Bar], top: str, legend: dict[str, str]) -> Iterator[str]:
    yield f'<section><h2>{title}</h2>\n<div class="card"><ul class="legend">'
    yield from (f'<li><i class="fill-{kind}"></i>{name}</li>' for kind, name in legend.items())
    yield f'</ul><div class="chart"><div class="axis"><span>{top}</span><span>0</span></div>'
    yield f'<svg viewBox="0 0 {len(bars) * 10} 100" preserveAspectRatio="none" role="img" aria-label="{title}">'
    highest = max(bar.height for bar in bars)
    for index, bar in enumerate(bars):
        yield f"<g><title>{escaped(bar.title)}</title>{_column(index, bar, highest)}</g>"
    yield f'</svg><div class="under"><span>iteration 1</span><span>iteration {len(bars)}</span></div>'
    yield "</div></div></section>\n"


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
    """All calls of a run along its time, iteration by iteration; each leads to its details."""
    start, end = journal.header["time"], journal.own[-1]["time"]
    length = max(end - start, 1e-6)
    yield f'<h2>Waterfall</h2>\n<div class="card waterfall">{legend()}'
    for iteration in journal.iterations:
        yield f'<div class="part">{"".join(rows(iteration, Anchors(journal), start, length))}</div>\n'
    yield "</div>\n"


def legend() -> str:
    """What the colours of a waterfall mean."""
    names = {"model": "model", "tool": "tool", "wait": "waits for a person", "bad": "failed"}
    items = "".join(f'<li><i class="fill-{kind}"></i>{name}</li>' for kind, name in names.items())
    return f'<ul class="legend">{items}</ul>\n'


def rows(
    iteration: Iteration, anchors: Anchors, start: float, length: float, link: Callable[[str], str] | None = None
) -> Iterator[str]:
    """The rows of one iteration in a waterfall.

    Args:
        iteration: The iteration.
        anchors: The places of its calls.
        start: When the run began, in seconds since 1970.
        length: Seconds that the whole width stands for.
        link: From a place to the attributes of a link to it; without, it is a place on the same page.
    """
    link = link or _on_this_page
    for call in iteration.model_calls:
        kind = "model" if call.error is None else "bad"
        taken = call.end["seconds"] if call.end else None
        label = f"{iteration.number} · model call {call.number}"
        parts = [(kind, call.request["time"] - start, taken or 0.0)]
        yield _row(link(anchors.of_call(call)), label, parts, taken, length)
    for use in iteration.tools:
        began, ended = use.span or (start, start)
        taken = None if use.span is None else ended - began
        parts = [("bad" if use.failed else "tool", began - start, taken or 0.0)]
        waits = [asked for asked in iteration.questions if asked.record.get("position") == use.position]
        parts += [_wait(asked, start, length) for asked in waits]
        mark = "✗ " if use.failed else ""
        label = f"{iteration.number} · {mark}{use.name} {brief(use.arguments)}"
        yield _row(link(anchors.of_tool(use)), label, parts, taken, length)
    for asked in iteration.questions:
        if "position" not in asked.record or not iteration.tools:
            part = _wait(asked, start, length)
            label = f"{iteration.number} · {asked.record.get('tool') or 'a question'}"
            yield _row(None, label, [part], part[2], length)


def brief(arguments: object) -> str:
    """Arguments in a few letters: the only value, or all of them."""
    if isinstance(arguments, dict) and len(arguments) == 1:
        arguments = str(next(iter(arguments.values())))
    return formatting.arguments(arguments)[:60]


def _on_this_page(anchor: str) -> str:
    return f'href="#{escaped(anchor)}"'


def _wait(asked: Asked, start: float, length: float) -> tuple[str, float, float]:
    began = asked.record["time"] - start
    return "wait", began, (asked.decided["time"] - start if asked.decided else length) - began


def _row(
    link: str | None, label: str, parts: Sequence[tuple[str, float, float]], taken: float | None, length: float
) -> str:
    """One row; its bars are drawn, not styled: pages that allow no inline styles have them, too."""
    bars = "".join(_bar(kind, 1000 * began / length, 1000 * lasted / length) for kind, began, lasted in parts)
    drawn = (
        '<svg class="track" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bed" width="1000" height="12"/>{bars}</svg>'
    )
    shown, tag = escaped(label), "a" if link else "div"
    return (
        f'<{tag} class="row" {link or ""} title="{shown}"><span class="label">{shown}</span>'
        f'{drawn}<span class="length">{formatting.seconds(taken)}</span></{tag}>\n'
    )


def _bar(kind: str, left: float, width: float) -> str:
    left = min(max(left, 0.0), 998.0)
    width = min(max(width, 2.0), 1000 - left)
    return f'<rect class="fill-{kind}" x="{left:.1f}" width="{width:.1f}" height="12"/>'
