"""The Runs page: a searchable list of runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median, quantiles
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from react_run.journal.view.formatting import one_line
from react_run.journal.view.markup import escaped
from react_run.serve.page.frame import count, fragment, page
from react_run.serve.page.parts import ago, badge, duration, facts, money, shape, short

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.listing import Entry
    from react_run.serve.page.site import Site

_A_PAGE = 50
_DAY = 86_400
_WHEN = {"": "any time", "1": "last day", "7": "last 7 days", "30": "last 30 days"}
_STATUSES = ("running", "waiting", "queued", "completed", "interrupted", "failed", "max_iterations", "cost_limit")


@dataclass(frozen=True)
class Wanted:
    """The search criteria."""

    text: str = ""
    agent: str = ""
    status: str = ""
    days: str = ""
    skip: int = 0

    @classmethod
    def of(cls, request: Request) -> Wanted:
        """Parse the query of a request."""
        query = request.query_params
        skip, days = query.get("skip", ""), query.get("days", "")
        return cls(
            text=query.get("q", "")[:500],
            agent=query.get("agent", ""),
            status=query.get("status", ""),
            days=days if days in _WHEN else "",
            skip=int(skip) if skip.isascii() and skip.isdigit() and len(skip) < 9 else 0,
        )

    def query(self, **changes: object) -> str:
        """The criteria as a query string, with some changes."""
        values = {"q": self.text, "agent": self.agent, "status": self.status, "days": self.days, "skip": self.skip}
        return urlencode({name: value for name, value in {**values, **changes}.items() if value})

    def entries(self, site: Site) -> Iterator[Entry]:
        """The matching runs, latest first."""
        since = time() - int(self.days) * _DAY if self.days else 0
        for entry in site.service.entries(agent=self.agent, status=self.status, text=self.text):
            if entry.started >= since:
                yield entry


async def runs(site: Site, request: Request) -> Response:
    """``GET /runs``."""
    wanted = Wanted.of(request)
    if "part" in request.query_params:
        return fragment(_table(site, wanted), count(site, swaps=True))
    return page(site, request, "Runs", _body(site, wanted), current="Runs")


def _body(site: Site, wanted: Wanted) -> Iterator[str]:
    today = site.today()
    going = sum(entry.is_live for entry in today)
    waiting = len(site.service.approvals)
    yield '<div class="head"><div class="grow"><h1>Runs</h1><p class="soft">'
    yield f"{going} running · {waiting} waiting for you · {len(today)} today</p></div>"
    yield '<a class="btn" href="/compare">Compare…</a>'
    if len(site.service.agents):
        yield '<a class="btn primary" href="/chat">New run</a>'
    yield "</div>\n"
    yield facts(_figures(today))
    yield _filters(site, wanted)
    yield _table(site, wanted)
    yield (
        '<p class="soft small"><kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> open · <kbd>x</kbd> mark two, '
        "<kbd>c</kbd> compare</p>\n"
    )


def _figures(today: list[Entry]) -> dict[str, tuple[str, str]]:
    ended = [entry for entry in today if not entry.is_live and entry.status != "waiting"]
    answered = sum(entry.success for entry in ended)
    seconds = [entry.seconds for entry in ended]
    known = [entry.tokens for entry in today if entry.tokens is not None]
    costs = [entry.cost for entry in today if entry.cost is not None]
    late = f"p95 {duration(quantiles(seconds, n=20)[-1])}" if len(seconds) > 1 else ""
    return {
        "runs today": (f"{len(today):,}", f"{answered / len(ended):.0%} answered" if ended else ""),
        "median time": (duration(median(seconds)) if seconds else "n/a", late),
        "tokens": (short(sum(known)), f"of {len(known)} known" if len(known) < len(today) else ""),
        "cost": (money(sum(costs)), f"of {len(costs)} known" if len(costs) < len(today) else ""),
        "interrupted": (str(sum(entry.status == "interrupted" for entry in today)), ""),
    }


def _filters(site: Site, wanted: Wanted) -> str:
    names = dict.fromkeys([*site.service.agents.names, *(entry.agent for entry in islice(site.today(), 200))])
    return (
        '<form class="filters" role="search" action="/runs" method="get" hx-get="/runs?part=1" hx-target="#runs" '
        'hx-swap="outerHTML" hx-sync="#runs:replace" '
        'hx-trigger="input changed delay:250ms from:#q, change, submit">'
        f'<input id="q" type="search" name="q" value="{escaped(wanted.text)}" aria-label="Search runs" '
        'placeholder="Search prompts and ids ( / )">'
        + _select("agent", "Agent", {"": "all agents", **{name: name for name in names}}, wanted.agent)
        + _select("status", "Status", {"": "any status", **{name: name for name in _STATUSES}}, wanted.status)
        + _select("days", "When", _WHEN, wanted.days)
        + '<button class="btn">Search</button></form>\n'
    )


def _select(name: str, label: str, options: dict[str, str], chosen: str) -> str:
    parts = "".join(
        f'<option value="{escaped(value)}"{" selected" if value == chosen else ""}>{escaped(text)}</option>'
        for value, text in options.items()
    )
    return f'<select name="{name}" aria-label="{label}">{parts}</select>'


def _table(site: Site, wanted: Wanted) -> str:
    found = list(islice(wanted.entries(site), wanted.skip, wanted.skip + _A_PAGE + 1))
    live = any(entry.is_live or entry.status == "waiting" for entry in found)
    again = f"/runs?part=1&amp;{escaped(wanted.query())}"
    poll = f' hx-get="{again}" hx-trigger="every {2 if live else 10}s" hx-swap="outerHTML"'
    if not found:
        text = (
            "No matching run." if wanted != Wanted() else "No run yet. Start one from Chat, or send a request to /v1."
        )
        return f'<div class="card empty" id="runs"{poll}>{text}</div>\n'
    rows = "".join(_row(site, entry) for entry in found[:_A_PAGE])
    heads = (
        '<th>status</th><th>agent</th><th>prompt</th><th class="hide">shape</th><th class="hide">model</th>'
        '<th class="r">time</th><th class="r hide">tokens</th><th class="r">cost</th>'
        '<th class="hide"><span class="soft">mark</span></th>'
    )
    return (
        f'<div id="runs"{poll}><div class="card tablecard" tabindex="0" role="region" aria-label="Runs">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"{_paging(wanted, len(found) > _A_PAGE)}</div>\n"
    )


def _paging(wanted: Wanted, more: bool) -> str:
    links = []
    if wanted.skip:
        links.append(f'<a href="/runs?{escaped(wanted.query(skip=max(0, wanted.skip - _A_PAGE)))}">newer</a>')
    if more:
        links.append(f'<a href="/runs?{escaped(wanted.query(skip=wanted.skip + _A_PAGE))}">older</a>')
    return f'<p class="soft">{" · ".join(links)}</p>' if links else ""


def _row(site: Site, entry: Entry) -> str:
    path = site.service.shelf.path_of(entry.id)
    prompt = escaped(one_line(entry.prompt)[:300] or "(no text)")
    return (
        f'<tr data-item="{entry.id}"><td>{badge(entry.status, success=entry.success, spelled=False)}</td>'
        f'<td><b>{escaped(entry.agent)}</b> <span class="id">{entry.id[:8]} · {ago(entry.started)}</span></td>'
        f'<td class="prompt"><a href="/runs/{entry.id}">{prompt}</a></td><td class="hide">{shape(path)}</td>'
        f'<td class="soft hide model">{escaped(entry.model)}</td><td class="r num">{duration(entry.seconds)}</td>'
        f'<td class="r num hide">{short(entry.tokens)}</td><td class="r num">{money(entry.cost)}</td>'
        f'<td class="hide"><input type="checkbox" data-mark="{entry.id}" aria-label="Mark {entry.id[:8]}"></td></tr>\n'
    )
