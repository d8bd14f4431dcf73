"""The page of one run: questions, figures, timeline and the selected call; live while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cached_property
from time import monotonic, time
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response, StreamingResponse

from react_run.journal.reading import Journal
from react_run.journal.view import formatting
from react_run.journal.view.charts import costs, tokens
from react_run.journal.view.html import agent_details, iteration_details, opening_details
from react_run.journal.view.markdown import markdown
from react_run.journal.view.markup import Anchors, block, escaped
from react_run.journal.view.waterfall import legend, rows
from react_run.serve.chat_api import STREAM_HEADERS
from react_run.serve.errors import ApiError
from react_run.serve.listing import Entry, of_job, of_summary
from react_run.serve.page.approvals import card
from react_run.serve.page.changes import changes
from react_run.serve.page.frame import count, fragment, page
from react_run.serve.page.parts import badge, duration, facts, money, short, spans
from react_run.serve.page.tree import branches, tree

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.journal.summaries import Summary
    from react_run.serve.jobs import Job
    from react_run.serve.page.site import Site

TABS = {
    "timeline": "Timeline",
    "tree": "Tree",
    "messages": "Iterations",
    "changes": "Changes",
    "usage": "Tokens & cost",
    "agent": "Agent",
}
ROWS = 60
"""How many iterations are shown at once; earlier ones are loaded on request."""
_PAUSE = 0.4
"""The fewest seconds between two updates of a live page; a run that is slow to draw is updated less often."""


class Seen:
    """The current state of a run. Its journal is read only when needed.

    Args:
        site: The server's pages.
        id_: The id of the run.

    Raises:
        ApiError: There is no such run.
    """

    def __init__(self, site: Site, id_: str) -> None:
        self.site, self.id = site, id_
        self.job: Job | None = site.service.jobs.live.get(id_)
        self.summary: Summary | None = site.service.shelf.summary(id_)
        if self.job is None and self.summary is None:
            raise ApiError(404, f"there is no run {id_!r}", code="run_not_found")

    @cached_property
    def journal(self) -> Journal | None:
        """The journal, if there is one yet."""
        return self.site.service.shelf.read(self.id)

    @cached_property
    def entry(self) -> Entry:
        """The run as an entry of the list."""
        if self.job is not None:
            return of_job(self.job)
        assert self.summary is not None  # there is a job or a summary
        return of_summary(self.site.service.approvals, self.summary)

    @property
    def end(self) -> float:
        """The end of the timeline, in seconds since 1970."""
        assert self.journal is not None  # called only when there is one
        return time() if self.job is not None else float(self.journal.own[-1]["time"])

    @property
    def is_live(self) -> bool:
        """Whether the page may still change."""
        return self.job is not None or bool(self.site.service.approvals.of_run(self.id))


async def show(site: Site, request: Request) -> Response:
    """``GET /runs/{id}``."""
    run_id = site.run_id(request)
    if run_id != request.path_params["id"]:
        return RedirectResponse(f"/runs/{run_id}", status_code=303)
    seen = Seen(site, run_id)
    tab = request.query_params.get("tab", "timeline")
    tab = tab if tab in TABS else "timeline"
    title = formatting.one_line(seen.entry.prompt)[:80] or "Run"
    return page(site, request, title, _body(seen, tab), current="Runs")


def _body(seen: Seen, tab: str) -> Iterator[str]:
    entry = seen.entry
    title = formatting.one_line(entry.prompt)[:300] or "(no text)"
    yield f'<div class="head"><div class="grow"><h1>{escaped(title)}</h1>'
    yield f'<p class="soft">{badge(entry.status, success=entry.success, id_="badge")} <b>{escaped(entry.agent)}</b>'
    yield f" · {escaped(entry.model)} · run {seen.id[:8]} · began {escaped(formatting.moment(entry.started))}"
    if seen.summary is not None:
        yield f" · {escaped(str(seen.summary.header['workspace']))}"
    yield f"</p></div>{actions(seen)}</div>\n"
    if seen.is_live:
        address = f"/runs/{seen.id}/live?tab={tab}&amp;asked={','.join(asked(seen))}"
        yield f'<div hx-sse:connect="{address}" hx-swap="none" hx-sse:close="end"></div>\n'
    yield questions(seen)
    yield figures(seen)
    if seen.journal is None:
        yield '<div class="card empty" id="content">Waiting for its turn.</div>\n'
        return
    label = TABS[tab].replace("&", "and")
    yield f'<div class="split"><section class="card" aria-label="{label}">{_tabs(seen.id, tab)}'
    yield content(seen, tab)
    yield "</section>\n"
    chosen = side(seen, "") if tab == "timeline" else ""
    yield f'<aside class="stack">{outcome(seen)}{chosen}</aside></div>\n'


def _tabs(run_id: str, tab: str) -> str:
    links = "".join(
        f'<a href="/runs/{run_id}?tab={name}"{" aria-current=page" if name == tab else ""}>{escaped(text)}</a>'
        for name, text in TABS.items()
    )
    return f'<nav class="tabs" aria-label="Views of the run">{links}</nav>\n'


def actions(seen: Seen, *, swaps: bool = False) -> str:
    """Buttons for what can be done with the run now."""
    entry, oob = seen.entry, ' hx-swap-oob="true"' if swaps else ""
    served = seen.summary is not None and seen.site.service.agents.of_file(seen.summary.header["agent"]["file"])
    parts = []
    if entry.status in ("running", "queued", "waiting"):
        parts.append(_button(seen, "stop", "Stop"))
    elif served and entry.status in ("interrupted", "failed", "unfinished"):
        parts.append(_button(seen, "resume", "Resume"))
    elif served:
        parts.append(_button(seen, "replay", "Replay"))
    parts.append(f'<a class="btn" href="/compare?a={seen.id}">Compare</a>')
    parts.append(f'<a class="btn" href="/api/runs/{seen.id}/events" download="{seen.id[:12]}.txt">Export</a>')
    return f'<div class="acts" id="actions"{oob}>{"".join(parts)}</div>'


def _button(seen: Seen, do: str, text: str) -> str:
    return (
        f'<form action="/runs/{seen.id}/{do}" method="post">{seen.site.field()}'
        f'<button class="btn">{text}</button></form>'
    )


def asked(seen: Seen) -> list[str]:
    """The ids of the run's open questions."""
    return [approval.id for approval in seen.site.service.approvals.of_run(seen.id)]


def questions(seen: Seen, *, swaps: bool = False) -> str:
    """The run's open questions, as cards."""
    waiting = seen.site.service.approvals.of_run(seen.id)
    oob = ' hx-swap-oob="true"' if swaps else ""
    several = len(waiting) > 1
    cards = "".join(
        card(seen.site, approval, number=f"{number} of {len(waiting)}" if several else "")
        for number, approval in enumerate(waiting, 1)
    )
    return f'<div class="stack" id="questions" aria-live="polite"{oob}>{cards}</div>\n'


def figures(seen: Seen, *, swaps: bool = False) -> str:
    """The run's usage and limits."""
    entry = seen.entry
    if seen.journal is None:
        return facts({"time": (duration(entry.seconds), "in the queue")}, swaps=swaps)
    stats, header = seen.journal.stats, seen.journal.header
    limits = _limits(header)
    waited = sum(length for kind, _, length in spans(seen.journal, seen.end) if kind == "wait")
    failed = sum(tool.failed for tool in stats.tools.values())
    usage = stats.usage
    cached = f"{(usage.cached_tokens or 0) / usage.input_tokens:.0%} cached" if usage.input_tokens else ""
    seconds = entry.seconds if seen.job is not None else stats.seconds
    values = {
        "active time": (duration(max(0.0, seconds - waited)), f"+{duration(waited)} waited" if waited else ""),
        "iterations": (f"{stats.iterations:,}", f"of {header['max_iterations']}"),
        "tool calls": (f"{stats.tool_calls:,}", f"{failed} failed" if failed else ""),
        "tokens": (short(usage.total_tokens), cached),
        "cost": (money(usage.cost), f"of {money(limits)}" if limits is not None else ""),
        "guards": (str(sum(stats.guards.values())), ", ".join(stats.guards)[:60]),
    }
    return facts(values, swaps=swaps)


def _limits(header: dict[str, object]) -> float | None:
    agent = header["agent"]
    values = agent["values"] if isinstance(agent, dict) else {}
    limits = values.get("limits") if isinstance(values, dict) else None
    found = limits.get("max_cost") if isinstance(limits, dict) else None
    return float(found) if isinstance(found, (int, float)) else None


# -- the tabs ------------------------------------------------------------------------------------------------------


def content(seen: Seen, tab: str, *, swaps: bool = False) -> str:
    """The selected view."""
    journal, oob = seen.journal, ' hx-swap-oob="true"' if swaps else ""
    assert journal is not None  # shown only when there is one
    inner = {
        "timeline": _timeline,
        "tree": _tree,
        "messages": _iterations,
        "changes": _changes,
        "usage": _usage,
        "agent": _agent,
    }[tab](seen, journal)
    return f'<div id="content"{oob}>{inner}</div>\n'


def _timeline(seen: Seen, journal: Journal) -> str:
    found = journal.iterations
    first = max(0, len(found) - ROWS)
    earlier = _earlier(seen.id, "timeline", first) if first else ""
    return f"{legend()}{earlier}{timeline_rows(journal, first, len(found), seen.end)}"


def timeline_rows(journal: Journal, first: int, last: int, end: float) -> str:
    """The timeline rows of some iterations."""
    start = journal.header["time"]
    length, anchors = max(end - start, 1e-6), Anchors(journal)
    parts = []
    for found in journal.iterations[first:last]:
        name = f"Iteration {found.number}" if found.number else "Before the first iteration"
        inner = "".join(rows(found, anchors, start, length, link=_link(journal.run_id)))
        parts.append(f'<span class="iteration-head">{name}</span>{inner}' if inner else "")
    return "".join(parts)


def _link(run_id: str) -> Callable[[str], str]:
    def attributes(anchor: str) -> str:
        at = f"/runs/{run_id}/call?at={escaped(anchor)}"
        return (
            f'href="/runs/{run_id}?tab=messages#{escaped(anchor)}" data-item="{escaped(anchor)}" '
            f'hx-get="{at}" hx-target="#side" hx-swap="outerHTML"'
        )

    return attributes


def _earlier(run_id: str, tab: str, before: int) -> str:
    return (
        f'<button type="button" class="btn" hx-get="/runs/{run_id}/iterations?tab={tab}&amp;before={before}" '
        f'hx-swap="outerHTML">Show {min(before, ROWS)} of {before} earlier iterations</button>'
    )


def _iterations(seen: Seen, journal: Journal) -> str:
    found = journal.iterations
    first = max(0, len(found) - ROWS)
    parts = [opening_details(journal)]
    if first:
        parts.append(_earlier(seen.id, "messages", first))
    parts += [iteration_details(one, Anchors(journal), opened=len(found) <= 3) for one in found[first:]]
    return "".join(parts)


def _tree(seen: Seen, journal: Journal) -> str:
    first = max(0, len(journal.iterations) - ROWS)
    return (_earlier(seen.id, "tree", first) if first else "") + tree(journal, first)


def _changes(seen: Seen, journal: Journal) -> str:
    return changes(journal)


def _usage(seen: Seen, journal: Journal) -> str:
    return "".join((*tokens(journal), *costs(journal))) or '<p class="soft">The model reports no usage.</p>'


def _agent(seen: Seen, journal: Journal) -> str:
    return "".join(agent_details(journal))


async def more(site: Site, request: Request) -> Response:
    """``GET /runs/{id}/iterations``: the iterations before those already shown."""
    seen = Seen(site, site.run_id(request))
    text = request.query_params.get("before", "")
    if seen.journal is None or not (text.isascii() and text.isdigit() and len(text) < 9):
        raise ApiError(400, "`before` must be the number of an iteration", param="before")
    journal, before = seen.journal, int(text)
    first = max(0, before - ROWS)
    tab = request.query_params.get("tab", "")
    tab = tab if tab in ("messages", "tree") else "timeline"
    earlier = _earlier(seen.id, tab, first) if first else ""
    if tab == "timeline":
        return fragment(earlier, timeline_rows(journal, first, before, seen.end))
    if tab == "tree":
        return fragment(earlier, branches(journal, first, before))
    found = journal.iterations[first:before]
    return fragment(earlier, *(iteration_details(one, Anchors(journal)) for one in found))


# -- the side ------------------------------------------------------------------------------------------------------


def outcome(seen: Seen, *, swaps: bool = False) -> str:
    """The run's answer, or why there is none."""
    oob = ' hx-swap-oob="true"' if swaps else ""
    footer = seen.journal.footer if seen.journal is not None and seen.job is None else None
    parts = []
    if footer is not None:
        if footer.get("answer"):
            parts.append(f"<h2>Answer</h2>{markdown(footer['answer'])}")
        if footer.get("unverified_answer"):
            parts.append(f"<h3>What the model claimed</h3>{markdown(footer['unverified_answer'])}")
        if "error" in footer:
            parts.append(f'<p class="bad">✗ {escaped(formatting.error(footer["error"]))}</p>')
        if seen.journal is not None and (steps := formatting.plan(seen.journal)):
            parts.append(f"<h3>Plan</h3>{block(chr(10).join(steps))}")
    elif seen.job is not None and (text := draft_of(seen.job)):
        parts.append(f'<h2>Answer so far</h2><div class="said draft">{escaped(text)}</div>')
    inner = "".join(parts)
    return f'<section class="{"card" if inner else ""}" id="outcome"{oob}>{inner}</section>\n'


def draft_of(job: Job) -> str:
    """The text streamed since the model's last reply, with secrets masked."""
    from react_run.messages import TextDelta
    from react_run.run import ToolStarted

    parts: list[str] = []
    for event in reversed(job.events):
        if not isinstance(event, TextDelta):
            if parts or isinstance(event, ToolStarted):
                break
            return ""
        parts.append(event.text)
    text = "".join(reversed(parts))[-20_000:]
    masker = job.served.agent.config.masker
    return masker.mask(text[: max(0, len(text) - masker.longest)] if len(text) > masker.longest else "")


def side(seen: Seen, at: str) -> str:
    """The selected call, or the latest tool call if none is selected."""
    journal = seen.journal
    inner = '<p class="soft">Select a call to see its arguments and result.</p>'
    if journal is not None:
        anchors = Anchors(journal)
        for found in reversed(journal.iterations):
            uses = [anchors.of_tool(use) for use in found.tools]
            at = at or (uses[-1] if uses else "")
            if at and at in (*uses, *map(anchors.of_call, found.model_calls)):
                inner = iteration_details(found, anchors, only=at)
                break
    return f'<section class="card" id="side" aria-live="polite" aria-label="The selected call">{inner}</section>\n'


async def call(site: Site, request: Request) -> Response:
    """``GET /runs/{id}/call``: one call of a run."""
    return fragment(side(Seen(site, site.run_id(request)), request.query_params.get("at", "")))


# -- live ----------------------------------------------------------------------------------------------------------


async def live(site: Site, request: Request) -> Response:
    """``GET /runs/{id}/live``: stream the parts of the page that change."""
    run_id = site.run_id(request)
    tab = request.query_params.get("tab", "timeline")
    tab = tab if tab in TABS else "timeline"
    shown = [id_ for id_ in request.query_params.get("asked", "").split(",") if id_]
    return StreamingResponse(_updates(site, run_id, tab, shown), media_type="text/event-stream", headers=STREAM_HEADERS)


async def _updates(site: Site, run_id: str, tab: str, shown: list[str]) -> AsyncIterator[str]:
    """Yield whatever has changed; questions only if they differ from those ``shown`` already.

    The user may be writing a note on one, or may have pressed a button whose request has not arrived yet.
    """
    service = site.service
    sent: dict[str, str] = {}
    while not service.jobs.draining:
        began = monotonic()
        seen = Seen(site, run_id)
        waiting = asked(seen)
        parts = await asyncio.to_thread(_parts, seen, tab)
        if waiting == shown:
            del parts["questions"]
        shown = waiting
        changed = "".join(text for name, text in parts.items() if sent.get(name) != text)
        sent = parts
        yield event(changed) if changed else ": waiting\n\n"
        if not seen.is_live:
            break
        await _change(site, seen, max(_PAUSE, 5 * (monotonic() - began)))
    yield "event: end\ndata: end\n\n"


def _parts(seen: Seen, tab: str) -> dict[str, str]:
    entry = seen.entry
    found = {
        "badge": badge(entry.status, success=entry.success, id_="badge", swaps=True),
        "actions": actions(seen, swaps=True),
        "questions": questions(seen, swaps=True),
        "facts": figures(seen, swaps=True),
        "outcome": outcome(seen, swaps=True),
        "count": count(seen.site, swaps=True),
    }
    if seen.journal is not None and tab in ("timeline", "tree", "usage"):
        found["content"] = content(seen, tab, swaps=True)
    return found


def event(html: str) -> str:
    """Format HTML as an event that htmx swaps in."""
    lines = "".join(f"data: {line}\n" for line in html.split("\n"))
    return f"{lines}\n"


async def _change(site: Site, seen: Seen, pause: float) -> None:
    """Wait until something may have changed, plus ``pause`` seconds, so that changes are sent together."""
    from react_run.serve.signals import Signal

    if seen.job is not None:
        await seen.job.changed.wait(1.0)
    else:
        await site.service.approvals.changed.wait(15.0)
    await Signal().wait(pause)


# -- actions -------------------------------------------------------------------------------------------------------


async def stop(site: Site, request: Request) -> Response:
    """``POST /runs/{id}/stop``."""
    await site.form(request)
    run_id = site.run_id(request)
    site.service.stop(run_id, by=site.who(request))
    return RedirectResponse(f"/runs/{run_id}", status_code=303)


async def resume(site: Site, request: Request) -> Response:
    """``POST /runs/{id}/resume``."""
    fields = await site.form(request)
    run_id = site.run_id(request)
    await site.service.resume(run_id, by=site.who(request), force=fields.get("force") == "yes")
    return RedirectResponse(f"/runs/{run_id}", status_code=303)


async def replay(site: Site, request: Request) -> Response:
    """``POST /runs/{id}/replay``."""
    await site.form(request)
    run_id = site.run_id(request)
    done = await site.service.replayed(run_id)

    def body() -> Iterator[str]:
        yield f'<div class="head"><div class="grow"><h1>Replay of run {run_id[:8]}</h1></div>'
        yield f'<a class="btn" href="/runs/{run_id}">Back to the run</a></div>\n'
        if done["identical"]:
            yield '<p class="card good">✓ Identical: the agent still does exactly what it did in this run.</p>'
        else:
            yield f'<div class="card"><h2 class="bad">✗ Different</h2>{block(str(done["difference"]))}</div>'

    return page(site, request, "Replay", body(), current="Runs")
