"""The Batches page: progress and rows of this machine's batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from react_run.batch.home import Home, find_home, homes
from react_run.batch.sqlite import SqliteEngine
from react_run.errors import ConfigError, ReactError
from react_run.journal.view.formatting import one_line
from react_run.journal.view.markup import escaped
from react_run.serve.errors import ApiError
from react_run.serve.page.frame import fragment, page
from react_run.serve.page.parts import duration, facts, money

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.batch.engine import Progress
    from react_run.batch.rows import RowResult
    from react_run.serve.page.site import Site

_MOST = 100
_A_PAGE = 50
_STATES = {"at work": "run", "finished": "ok", "stopped": "off", "at its limit": "err", "interrupted": "off"}
_ONLY = {"": "all rows", "ok": "ok", "unsuccessful": "unsuccessful", "error": "error"}
_ROW_BADGES = {"ok": "ok", "unsuccessful": "ask", "error": "err"}


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """How far a batch is; ``problem`` says why it cannot be read."""

    name: str
    progress: Progress | None = None
    holder: str | None = None
    output: str = ""
    problem: str = ""

    @classmethod
    def of(cls, home: Home) -> BatchState:
        """Read the state of a batch."""
        try:
            with _open_queue(home) as queue:
                return cls(
                    name=home.name,
                    progress=queue.progress_now(),
                    holder=home.holder(),
                    output=queue.get("output") or "",
                )
        except (ReactError, OSError) as error:
            return cls(name=home.name, problem=str(error))

    @property
    def state(self) -> str:
        """The state in one or two words."""
        return "damaged" if self.progress is None else self.progress.state(at_work=self.holder is not None)


@contextmanager
def _open_queue(home: Home) -> Iterator[SqliteEngine]:
    queue = SqliteEngine(home)
    try:
        yield queue
    finally:
        queue.close_now()


# -- all of them -----------------------------------------------------------------------------------------------------


async def show(site: Site, request: Request) -> Response:
    """``GET /batches``."""
    if "part" in request.query_params:
        return fragment(_table())
    return page(site, request, "Batches", _all(), current="Batches")


def _all() -> Iterator[str]:
    yield '<div class="head"><div class="grow"><h1>Batches</h1><p class="soft">Many runs of one agent, on this '
    yield "machine.</p></div></div>\n"
    yield _table()


def _table() -> str:
    found = [BatchState.of(home) for home in homes()[:_MOST]]
    if not found:
        return (
            '<div class="card empty" id="batches">No batch yet. <code>react-run batch AGENT.yaml rows.jsonl -o '
            "out.jsonl</code> begins one.</div>\n"
        )
    again = 2 if any(seen.holder for seen in found) else 10
    heads = (
        '<th>state</th><th>batch</th><th>done</th><th class="r">rows</th><th class="r">ok</th>'
        '<th class="r">unsuccessful</th><th class="r">failed</th><th class="r hide">running</th>'
        '<th class="r">cost</th><th class="hide">output</th>'
    )
    rows = "".join(map(_batch_row, found))
    return (
        f'<div id="batches" hx-get="/batches?part=1" hx-trigger="every {again}s" hx-swap="outerHTML">'
        '<div class="card tablecard" tabindex="0" role="region" aria-label="Batches"><table><thead>'
        f"<tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>\n"
    )


def _batch_row(seen: BatchState) -> str:
    link = f'<a href="/batches/{quote(seen.name)}"><b>{escaped(seen.name)}</b></a>'
    now = seen.progress
    if now is None:
        cells = f'<td colspan="8" class="bad">{escaped(seen.problem)}</td>'
    else:
        running = now.running if seen.holder else 0
        numbers = (now.total, now.ok, now.unsuccessful, now.error)
        cells = (
            f"<td>{_bar(now)}</td>"
            + "".join(f'<td class="r num">{number:,}</td>' for number in numbers)
            + f'<td class="r num hide">{running}</td><td class="r num">{money(now.cost)}</td>'
            f'<td class="soft hide model">{escaped(seen.output)}</td>'
        )
    return f'<tr data-item="{escaped(seen.name)}"><td>{_state(seen)}</td><td>{link}</td>{cells}</tr>\n'


def _state(seen: BatchState) -> str:
    return f'<span class="badge {_STATES.get(seen.state, "err")}">{escaped(seen.state)}</span>'


def _bar(now: Progress) -> str:
    """A bar of the rows that are done, by their status."""
    total, at, parts = max(1, now.total), 0.0, []
    for kind, number in (("tool", now.ok), ("wait", now.unsuccessful), ("bad", now.error)):
        width = 112 * number / total
        if number:
            parts.append(f'<rect class="fill-{kind}" x="{at:.1f}" y="0" width="{max(width, 1):.1f}" height="10"/>')
        at += width
    share = f"{now.done / total:.0%}"
    return (
        f'<svg class="spark" viewBox="0 0 112 10" preserveAspectRatio="none" role="img" aria-label="{share} done">'
        f"{''.join(parts)}</svg>"
    )


# -- one of them -----------------------------------------------------------------------------------------------------


async def one(site: Site, request: Request) -> Response:
    """``GET /batches/{name}``."""
    home = _home(request)
    query = request.query_params
    start, only = query.get("start", ""), query.get("only", "")
    at = int(start) if start.isascii() and start.isdigit() and len(start) < 12 else 0
    return page(site, request, home.name, _body(site, home, at, only if only in _ONLY else ""), current="Batches")


def _home(request: Request) -> Home:
    try:
        return find_home(str(request.path_params["name"]))
    except ConfigError as error:
        raise ApiError(404, str(error), code="batch_not_found") from None


def _body(site: Site, home: Home, start: int, only: str) -> Iterator[str]:
    seen = BatchState.of(home)
    now = seen.progress
    yield f'<div class="head"><div class="grow"><h1>{escaped(home.name)}</h1><p class="soft">{_state(seen)} '
    yield f"{escaped(seen.holder or '')}</p></div>"
    if now is not None and now.done < now.total and not now.stopped:
        yield f'<form action="/batches/{quote(home.name)}/stop" method="post">{site.field()}'
        yield '<button class="btn">Stop starting rows</button></form>'
    yield "</div>\n"
    if now is None:
        yield f'<div class="card bad">{escaped(seen.problem)}</div>\n'
        return
    yield facts(
        {
            "rows": (f"{now.total:,}", f"{now.done / max(1, now.total):.0%} done"),
            "ok": (f"{now.ok:,}", ""),
            "unsuccessful": (f"{now.unsuccessful:,}", ""),
            "failed": (f"{now.error:,}", ""),
            "running": (str(now.running if seen.holder else 0), ""),
            "cost": (money(now.cost), ""),
        }
    )
    if seen.output:
        yield f'<p class="soft">Results go to {escaped(seen.output)}</p>\n'
    yield _filter(home, only)
    yield _rows(home, start, only)


def _filter(home: Home, only: str) -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if value == only else ""}>{text}</option>'
        for value, text in _ONLY.items()
    )
    return (
        f'<form class="filters" action="/batches/{quote(home.name)}" method="get">'
        f'<select name="only" aria-label="Which rows">{options}</select><button class="btn">Show</button></form>\n'
    )


def _rows(home: Home, start: int, only: str) -> str:
    with _open_queue(home) as queue:
        found: list[RowResult] = []
        at = start
        while len(found) <= _A_PAGE and (some := queue.results_now(at, 500)):
            found += [result for result in some if only in ("", result.status)]
            at = some[-1].index + 1
    if not found:
        return '<div class="card empty">No row has such a result yet.</div>\n'
    shown, more = found[:_A_PAGE], found[_A_PAGE:]
    heads = (
        '<th class="r">row</th><th>result</th><th>answer</th><th class="r hide">attempts</th>'
        '<th class="r">time</th><th class="r">cost</th><th class="hide">run</th>'
    )
    links = [f'<a href="/batches/{quote(home.name)}?only={only}">first</a>'] if start else []
    if more:
        links.append(f'<a href="/batches/{quote(home.name)}?only={only}&amp;start={more[0].index}">more</a>')
    return (
        '<div class="card tablecard" tabindex="0" role="region" aria-label="Rows"><table><thead>'
        f"<tr>{heads}</tr></thead><tbody>{''.join(map(_row, shown))}</tbody></table></div>"
        f'<p class="soft">{" · ".join(links)}</p>\n'
    )


def _row(result: RowResult) -> str:
    text = one_line(result.answer or result.error or "")[:300] or "(no text)"
    why = f'<span class="bad">{escaped(one_line(result.error)[:300])}</span>' if result.error else ""
    said = why if not result.answer else f"{escaped(text)} {why}"
    run = result.run_id or ""
    link = f'<a href="/runs/{run}">{run[:8]}</a>' if run else ""
    name = f' <span class="id">{escaped(result.id)}</span>' if result.id is not None else ""
    kind = _ROW_BADGES[result.status]
    return (
        f'<tr data-item="{result.index}"><td class="r num">{result.index + 1}{name}</td>'
        f'<td><span class="badge {kind}">{result.status}</span></td><td class="prompt">{said or escaped(text)}</td>'
        f'<td class="r num hide">{result.attempts}</td><td class="r num">{duration(result.seconds)}</td>'
        f'<td class="r num">{money(result.cost)}</td><td class="hide">{link}</td></tr>\n'
    )


async def stop(site: Site, request: Request) -> Response:
    """``POST /batches/{name}/stop``: start no more rows."""
    await site.form(request)
    home = _home(request)
    with _open_queue(home) as queue:
        queue.set("stopped", 1)
    return RedirectResponse(f"/batches/{quote(home.name)}", status_code=303)
