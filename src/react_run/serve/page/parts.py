"""Small parts of pages: badges, figures, times, and thumbnails of runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from react_run.errors import JournalError
from react_run.journal.reading import read_journal
from react_run.journal.view.markup import escaped
from react_run.journal.view.reasons import in_words
from react_run.support.display import usd

if TYPE_CHECKING:
    from react_run.journal.reading import Journal

_NAMES = {"waiting": "waiting for you"}
_REMEMBERED = 2_000
_WIDTH = 112
_shapes: OrderedDict[tuple[str, int, int], str] = OrderedDict()
"""Thumbnails of journals, by path, modification time and size."""


def badge(status: str, *, success: bool = False, id_: str = "", swaps: bool = False, spelled: bool = True) -> str:
    """The status of a run as a coloured badge: in words with the code as its title, or the other way round."""
    kind = {
        "running": "run",
        "queued": "off",
        "waiting": "ask",
        "interrupted": "off",
        "unfinished": "off",
    }.get(status, "ok" if success else "err")
    place = f' id="{id_}"' if id_ else ""
    oob = ' hx-swap-oob="true"' if swaps else ""
    words, code = in_words(status)
    shown, other = (words, code) if spelled or not code else (code, words)
    title = f' title="{escaped(other)}"' if other else ""
    return f'<span class="badge {kind}"{place}{title}{oob}>{escaped(_NAMES.get(shown, shown))}</span>'


def facts(values: Mapping[str, tuple[str, str]], *, id_: str = "facts", swaps: bool = False) -> str:
    """Figures in a row, each with a remark."""
    oob = ' hx-swap-oob="true"' if swaps else ""
    parts = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)} <small>{escaped(beside)}</small></dd></div>"
        for name, (value, beside) in values.items()
    )
    return f'<dl class="facts" id="{id_}"{oob}>{parts}</dl>\n'


def duration(seconds: float) -> str:
    """A duration, given in seconds."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3_600:
        return f"{int(seconds // 60)}:{int(seconds % 60):02}"
    return f"{int(seconds // 3_600)}:{int(seconds % 3_600 // 60):02}:{int(seconds % 60):02}"


def short(number: int | None) -> str:
    """A short form of a number of tokens."""
    if number is None:
        return "n/a"
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1_000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.2f} M"


def money(cost: float | None) -> str:
    """An amount in USD."""
    if cost is None:
        return "n/a"
    return f"${cost:.2f}" if cost >= 100 else f"${cost:.3f}" if cost >= 0.001 else usd(cost) if cost else "$0"


def ago(moment: float) -> str:
    """How long ago ``moment`` was."""
    seconds = max(0.0, time() - moment)
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return f"{int(seconds)} s ago"


def shape(path: Path | None) -> str:
    """The thumbnail of a run: model calls, tool calls and failures over time."""
    if path is None:
        return '<span class="spark"></span>'
    try:
        state = path.stat()
    except OSError:
        return '<span class="spark"></span>'
    key = (str(path), state.st_mtime_ns, state.st_size)
    if key not in _shapes:
        if state.st_size > 20_000_000:  # too slow to draw for a list
            return '<span class="spark"></span>'
        try:
            _shapes[key] = _draw_thumbnail(read_journal(path))
        except (JournalError, KeyError, TypeError, ValueError):
            _shapes[key] = '<span class="spark"></span>'
        if len(_shapes) > _REMEMBERED:
            _shapes.popitem(last=False)
    return _shapes[key]


def _draw_thumbnail(journal: Journal) -> str:
    start, end = journal.header["time"], journal.own[-1]["time"]
    length = max(end - start, 1e-6)
    bars = "".join(
        f'<rect class="fill-{kind}" x="{_WIDTH * (began - start) / length:.1f}" y="0" '
        f'width="{max(_WIDTH * taken / length, 1):.1f}" height="10"/>'
        for kind, began, taken in spans(journal, end)
    )
    return f'<svg class="spark" viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'


def spans(journal: Journal, end: float) -> Iterable[tuple[str, float, float]]:
    """Yield a kind, a start and a length in seconds for each span; whatever is unfinished lasts until ``end``."""
    for found in journal.iterations:
        for call in found.model_calls:
            taken = call.end["seconds"] if call.end else 0.0
            yield ("bad" if call.error else "model"), call.request["time"], taken
        for use in found.tools:
            if use.span is not None:
                yield ("bad" if use.failed else "tool"), use.span[0], use.span[1] - use.span[0]
        for asked in found.questions:
            decided = asked.decided["time"] if asked.decided else end
            yield "wait", asked.record["time"], decided - asked.record["time"]
