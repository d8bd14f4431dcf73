"""The Evals page: evaluations whose scores link to runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from react_run.errors import ConfigError
from react_run.evals.page import ROWS, about, figures, table, worst_first
from react_run.evals.results import FILE, Result, read_result
from react_run.evals.words import interval, percent, sentence
from react_run.journal.locate import evals_directory
from react_run.journal.view.markup import escaped
from react_run.serve.errors import ApiError
from react_run.serve.page.frame import page
from react_run.serve.page.parts import ago

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.page.site import Site

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MOST = 100
"""How many evaluations are listed."""
_EMPTY = (
    '<div class="card empty">No evaluation yet. <code>react-run eval AGENT.yaml CASES.yaml</code> starts one.</div>\n'
)


async def show(site: Site, request: Request) -> Response:
    """``GET /evals``."""
    return page(site, request, "Evals", _list(), current="Evals")


async def one(site: Site, request: Request) -> Response:
    """``GET /evals/{name}``."""
    name = request.path_params["name"]
    if not _NAME.fullmatch(name) or (result := _read(evals_directory() / name)) is None:
        raise ApiError(404, "there is no such evaluation")
    skip = request.query_params.get("skip", "0")
    return page(
        site, request, str(result["title"]), _body(name, result, int(skip) if skip.isdecimal() else 0), current="Evals"
    )


def _read(directory: Path) -> Result | None:
    try:
        return read_result(directory)
    except ConfigError:
        return None


def _finished_evals() -> list[Path]:
    """This user's evaluations that have a result, latest first."""
    found = [(path.stat().st_mtime, path.parent) for path in evals_directory().glob(f"*/{FILE}")]
    return [directory for _, directory in sorted(found, reverse=True)]


def _list() -> Iterator[str]:
    kept = _finished_evals()
    yield '<div class="head"><div class="grow"><h1>Evals</h1>'
    yield '<p class="soft">Evaluations of agents, latest first.</p></div></div>\n'
    rows = "".join(filter(None, map(_line, kept[:_MOST])))
    if not rows:
        yield _EMPTY
        return
    heads = '<th>evaluation</th><th>runs that pass</th><th class="hide">in words</th>'
    yield '<div class="eval"><div class="card tablecard" tabindex="0" role="region" aria-label="Evaluations"><table>'
    yield f'<thead><tr>{heads}<th class="r">when</th></tr></thead><tbody>{rows}</tbody></table></div></div>\n'


def _line(directory: Path) -> str:
    result = _read(directory)
    if result is None:
        return ""
    rates = "".join(f"<li><b>{_rate(one)}</b> {escaped(one['name'])}</li>" for one in result["variants"])
    finished = ago(result["finished"]) if result.get("finished") else ""
    state = "" if result.get("complete", True) else ' <span class="badge off">not complete</span>'
    link = f'<a href="/evals/{escaped(directory.name)}">{escaped(result["title"])}</a>{state}'
    size = f'<span class="id">{len(result["cases"])} cases x {result["repeat"]}</span>'
    said = escaped(sentence(result)[:240])
    return (
        f'<tr data-item="{escaped(directory.name)}"><td class="name">{link}{size}</td>'
        f'<td><ul class="rates">{rates}</ul></td><td class="why hide">{said}</td>'
        f'<td class="r num">{finished}</td></tr>\n'
    )


def _rate(measured: dict[str, Any]) -> str:
    found = measured["rate"]
    return "n/a" if found is None else escaped(f"{percent(found['value'])} {interval(found)}")


def _body(name: str, result: Result, skip: int) -> Iterator[str]:
    yield f'<div class="eval"><div class="head"><div class="grow"><h1>{escaped(result["title"])}</h1>'
    yield f'<p class="soft">{about(result)}</p></div></div>\n'
    if not skip:
        yield from figures(result)
    ordered = worst_first(result)
    yield table(result, ordered[skip : skip + ROWS], lambda run: f"/runs/{run}")
    links = []
    if skip:
        links.append(f'<a href="/evals/{escaped(name)}?skip={max(0, skip - ROWS)}">worse cases</a>')
    if skip + ROWS < len(ordered):
        links.append(f'<a href="/evals/{escaped(name)}?skip={skip + ROWS}">better cases</a>')
    if links:
        yield f'<p class="soft">{" · ".join(links)}</p>'
    yield "</div>\n"
