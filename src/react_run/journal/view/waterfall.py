"""A waterfall chart of a run's calls in plain HTML and SVG; each row links to its details."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from react_run.journal.view import formatting
from react_run.journal.view.charts import shared
from react_run.journal.view.markup import Anchors, escaped

_HATCHED = (
    '<svg class="defs" width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="12" height="6" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="bed" width="12" height="6"/>'
    '<rect class="stripe" width="5" height="6"/></pattern></defs></svg>'
)
"""Stripes for time spent waiting for a person, which differs from work even without colours."""

if TYPE_CHECKING:
    from react_run.journal.iterations import Asked, Iteration
    from react_run.journal.reading import Journal


def waterfall(journal: Journal) -> Iterator[str]:
    """All calls of a run over time, iteration by iteration; each row links to its details."""
    start, end = journal.header["time"], journal.own[-1]["time"]
    length = max(end - start, 1e-6)
    anchors, groups = Anchors(journal), list(shared(journal.iterations))
    yield f'<h2>Waterfall</h2>\n<div class="card waterfall">{legend()}'
    if len(groups) < len(journal.iterations):
        yield f'<p class="soft">Each row is {len(groups[0])} iterations, with the time of each kind of call.</p>\n'
    for group in groups:
        yield '<div class="part">'
        if len(group) == 1:
            yield from rows(group[0], anchors, start, length)
        else:
            yield _together(group, anchors, start, length)
        yield "</div>\n"
    yield "</div>\n"


def _together(group: Sequence[Iteration], anchors: Anchors, start: float, length: float) -> str:
    """Several iterations as one row: their time span, divided by kinds of calls."""
    calls = [call for iteration in group for call in iteration.model_calls]
    uses = [use for iteration in group for use in iteration.tools]
    taken = dict.fromkeys(("model", "tool", "wait", "bad"), 0.0)
    for call in calls:
        taken["model" if call.error is None else "bad"] += call.end["seconds"] if call.end else 0.0
    for use in uses:
        taken["bad" if use.failed else "tool"] += use.taken or 0.0
    for asked in (asked for iteration in group for asked in iteration.questions):
        taken["wait"] += asked.waited
    began = group[0].started_at
    ends = [call.end["time"] for call in calls if call.end] + [use.span[1] for use in uses if use.span]
    whole = max([began, *ends]) - began
    scale, at, parts = whole / (sum(taken.values()) or 1.0), began - start, []
    for kind, seconds in taken.items():
        if seconds:
            parts.append((kind, at, seconds * scale))
            at += seconds * scale
    failed = sum(use.failed for use in uses)
    label = f"{group[0].number} to {group[-1].number} · {f'✗ {failed} of ' if failed else ''}{len(uses)} tool calls"
    link = _on_this_page(anchors.of_call(calls[0])) if calls else None
    return _row(link, label, parts, whole, length)


def legend() -> str:
    """The colours of a waterfall."""
    names = {"model": "model", "tool": "tool", "wait": "waiting for a person", "bad": "failed"}
    items = "".join(f'<li><i class="fill-{kind}"></i>{name}</li>' for kind, name in names.items())
    return f'{_HATCHED}<ul class="legend">{items}</ul>\n'


def rows(
    iteration: Iteration, anchors: Anchors, start: float, length: float, link: Callable[[str], str] | None = None
) -> Iterator[str]:
    """The rows of one iteration in a waterfall.

    Args:
        iteration: The iteration.
        anchors: The anchors of its calls.
        start: The start of the run, in seconds since 1970.
        length: The number of seconds that the full width represents.
        link: Makes the attributes of a link from an anchor; by default, a link on the same page.
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
    """Arguments in a few characters: the only value, or all of them."""
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
    """One row. Its bars are SVG, so they also work on pages that forbid inline styles."""
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
