"""The Compare page: two runs side by side, from the first difference on, with equal parts collapsed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from starlette.responses import Response

from react_run.journal.reading import Journal
from react_run.journal.view import formatting
from react_run.journal.view.markup import escaped
from react_run.serve.errors import ApiError
from react_run.serve.page.frame import page
from react_run.serve.page.parts import duration, facts, money, short

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.journal.iterations import Iteration
    from react_run.serve.page.site import Site

_CHOICES = 60
_LONGEST = 4_000
"""The longest text, in characters, whose differences are marked one by one; longer ones are marked as a whole."""
_MOST = 200
"""How many iterations of each run are shown."""


async def show(site: Site, request: Request) -> Response:
    """``GET /compare``."""
    left, right = (_journal(site, request.query_params.get(name, "")) for name in ("a", "b"))
    return page(site, request, "Compare", _body(site, left, right), current="Compare")


def _journal(site: Site, name: str) -> Journal | None:
    if not name:
        return None
    journal = site.service.shelf.read(site.service.run_named(name))
    if journal is None:
        raise ApiError(404, f"run {name!r} has no journal yet", code="run_not_found")
    return journal


def _body(site: Site, left: Journal | None, right: Journal | None) -> Iterator[str]:
    if left is None or right is None:
        yield '<div class="head"><div class="grow"><h1>Compare two runs</h1></div></div>\n'
        yield _choose(site, left, right)
        return
    steps = list(zip_longest(_steps(left), _steps(right)))
    first = next((number for number, (one, other) in enumerate(steps) if one != other), None)
    same = "same prompt" if left.header["prompt"] == right.header["prompt"] else "different prompts"
    where = "no difference" if first is None else f"first difference: {_where(steps[first])}"
    yield '<div class="head"><div class="grow"><h1>Compare two runs</h1>'
    yield f'<p class="soft">{same} · <b>{where}</b></p></div>'
    if first is not None:
        yield '<a class="btn" href="#first">To the first difference</a>'
    yield "</div>\n"
    yield facts(_figures(left, right))
    yield '<div class="cmp">'
    yield _column(left, [(one, other) for one, other in steps], first, "left")
    yield _column(right, [(other, one) for one, other in steps], first, "right")
    yield "</div>\n"


def _choose(site: Site, left: Journal | None, right: Journal | None) -> str:
    def select(name: str, label: str, chosen: Journal | None) -> str:
        entries = list(islice(site.service.entries(), _CHOICES))
        options = "".join(
            f'<option value="{entry.id}"{" selected" if chosen is not None and chosen.run_id == entry.id else ""}>'
            f"{entry.id[:8]} · {escaped(entry.agent)} · {escaped(formatting.one_line(entry.prompt)[:80])}</option>"
            for entry in entries
        )
        return f'<label class="field">{label}<select name="{name}">{options}</select></label>'

    choices = f"{select('a', 'This run', left)}{select('b', 'with that one', right)}"
    button = '<div class="acts"><button class="btn primary">Compare</button></div>'
    return f'<form class="card" method="get" action="/compare">{choices}{button}</form>\n'


Step = tuple[str, str, str]
"""An iteration's number, a heading, and a text to compare."""


def _steps(journal: Journal) -> list[Step]:
    found: list[Step] = []
    for one in islice(journal.iterations, _MOST):
        found += _of_iteration(one)
    answer = (journal.footer or {}).get("answer") or ""
    return [*found, ("", "Answer", str(answer))]


def _of_iteration(found: Iteration) -> Iterator[Step]:
    for use in found.tools:
        shown = (
            use.arguments
            if isinstance(use.arguments, str)
            else json.dumps(use.arguments, ensure_ascii=False, sort_keys=True)
        )
        yield f"{found.number}", f"{use.name}, arguments", shown
        yield f"{found.number}", f"{use.name}, result", use.content or ""


def _where(pair: tuple[Step | None, Step | None]) -> str:
    step = pair[0] or pair[1]
    assert step is not None  # zip_longest never yields two Nones
    return escaped(f"iteration {step[0]}, {step[1]}" if step[0] else "the answer")


def _figures(left: Journal, right: Journal) -> dict[str, tuple[str, str]]:
    one, other = left.stats, right.stats
    pairs: dict[str, tuple[float | None, float | None, str, str]] = {
        "time": (one.seconds, other.seconds, duration(one.seconds), duration(other.seconds)),
        "tokens": (
            one.usage.total_tokens,
            other.usage.total_tokens,
            short(one.usage.total_tokens),
            short(other.usage.total_tokens),
        ),
        "cost": (one.usage.cost, other.usage.cost, money(one.usage.cost), money(other.usage.cost)),
        "tool calls": (one.tool_calls, other.tool_calls, str(one.tool_calls), str(other.tool_calls)),
        "iterations": (one.iterations, other.iterations, str(one.iterations), str(other.iterations)),
    }
    return {name: (f"{was} → {now}", _change(before, after)) for name, (before, after, was, now) in pairs.items()}


def _change(before: float | None, after: float | None) -> str:
    if not before or after is None or before == after:
        return ""
    return f"{(after - before) / before:+.0%}"


def _column(journal: Journal, steps: list[tuple[Step | None, Step | None]], first: int | None, side: str) -> str:
    parts = []
    for number, (mine, other) in enumerate(steps):
        place = ' id="first"' if number == first and side == "left" else ""
        if mine is None:
            parts.append(f'<p class="soft"{place}>(nothing here)</p>')
            continue
        same = mine == other
        head = escaped(f"{mine[0]} · {mine[1]}" if mine[0] else mine[1])
        parts.append(
            f'<details class="step{" same" if same else ""}"{place}{"" if same else " open"}><summary>{head}'
            f"{' <span class=soft>same</span>' if same else ''}</summary><pre>{_marked_text(mine, other)}</pre>"
            "</details>"
        )
    title = f"{journal.run_id[:8]} · {journal.header['model']} · {formatting.moment(journal.header['time'])}"
    return (
        f'<section class="card {side}"><h2><a href="/runs/{journal.run_id}">{escaped(title)}</a></h2>'
        f"{''.join(parts)}</section>\n"
    )


def _marked_text(mine: Step, other: Step | None) -> str:
    """A text in which everything that the other one lacks is marked."""
    text = mine[2][:20_000]
    if other is None or mine == other:
        return escaped(text) or "(empty)"
    theirs = other[2]
    if len(text) > _LONGEST or len(theirs) > _LONGEST:
        return f"<mark>{escaped(text)}</mark>"
    parts = []
    for kind, start, end, _, _ in SequenceMatcher(None, text, theirs, autojunk=False).get_opcodes():
        piece = escaped(text[start:end])
        parts.append(piece if kind == "equal" or not piece else f"<mark>{piece}</mark>")
    return "".join(parts) or "(empty)"
