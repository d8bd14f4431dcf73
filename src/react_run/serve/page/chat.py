"""The chat page: a saved conversation, collapsible steps, and the answer as it streams."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from secrets import token_hex
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response, StreamingResponse

from react_run.errors import ReactError
from react_run.journal.view import formatting
from react_run.journal.view.markdown import markdown
from react_run.journal.view.markup import block, escaped
from react_run.journal.view.waterfall import brief
from react_run.serve.chat_api import STREAM_HEADERS
from react_run.serve.errors import ApiError, wrong
from react_run.serve.page.agents import NOBODY
from react_run.serve.page.approvals import card
from react_run.serve.page.frame import count, fragment, page
from react_run.serve.page.parts import badge, duration, money, short
from react_run.serve.page.run import Seen, draft_of, event
from react_run.serve.signals import Signal

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.journal.iterations import ToolUse
    from react_run.messages import Message
    from react_run.serve.page.site import Site

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_PAUSE = 0.15


async def show(site: Site, request: Request) -> Response:
    """``GET /chat``."""
    names = site.service.agents.names
    if not names:
        return page(site, request, "Chat", ['<div class="head"><h1>Chat</h1></div>', NOBODY], current="Chat")
    agent = request.query_params.get("agent", names[0])
    agent = agent if agent in names else names[0]
    session = request.query_params.get("session", "")
    if not _NAME.fullmatch(session):
        session = f"chat-{token_hex(4)}"
    return page(site, request, "Chat", _body(site, request, agent, session), current="Chat")


def _body(site: Site, request: Request, agent: str, session: str) -> Iterator[str]:
    options = "".join(
        f'<option value="{escaped(name)}"{" selected" if name == agent else ""}>{escaped(name)}</option>'
        for name in site.service.agents.names
    )
    yield '<div class="head narrow"><div class="grow"><h1>Chat</h1></div>'
    yield f'<form method="get" action="/chat"><select name="agent" aria-label="Agent" data-submit>{options}</select>'
    yield '<noscript><button class="btn">Choose</button></noscript></form>'
    yield f'<a class="btn" href="/chat?agent={escaped(agent)}">New</a></div>\n'
    yield '<div class="talk" id="talk" aria-live="polite">'
    yield from _earlier(site, agent, session, request.state.by)
    for job in site.service.jobs.live.values():
        if job.session == session and job.served.name == agent and job.by == request.state.by:
            yield _mine(job.prompt)
            yield _block(site, job.id)
    yield "</div>\n"
    yield _composer(site, agent, session)


def _earlier(site: Site, agent: str, session: str, by: str) -> Iterator[str]:
    try:
        messages = site.service.sessions.named(agent, session, by).read()
    except ReactError as error:
        yield f'<p class="notice">{escaped(str(error))}</p>'
        return
    results = {message.tool_request_id: message.text for message in messages if message.role == "tool"}
    for message in messages:
        if message.role == "user":
            yield _mine(message.text)
        elif message.role == "assistant":
            yield _theirs(agent, message, results)


def _mine(text: str) -> str:
    return f'<div class="me">{escaped(text)}</div>\n'


def _theirs(agent: str, message: Message, results: dict[str | None, str]) -> str:
    steps = "".join(
        _step("✓", request.name, brief(request.arguments), "", results.get(request.id, ""))
        for request in message.tool_requests
    )
    said = f'<div class="card">{markdown(message.text)}</div>' if message.text.strip() else ""
    return f'<div class="it"><div class="who">{escaped(agent)}</div>{steps}{said}</div>\n'


def _step(mark: str, name: str, arguments: str, beside: str, result: str) -> str:
    kind = {"✓": "good", "✗": "bad"}.get(mark, "soft")
    return (
        f'<details class="step"><summary><span class="{kind}">{mark}</span> <b>{escaped(name)}</b> '
        f'{escaped(arguments[:100])} <span class="soft">{escaped(beside)}</span></summary>'
        f"{block(result or '(nothing yet)')}</details>"
    )


def _composer(site: Site, agent: str, session: str) -> str:
    return (
        '<form class="card compose" action="/chat" method="post" hx-post="/chat" hx-target="#talk" hx-swap="beforeend">'
        f'{site.field()}<input type="hidden" name="agent" value="{escaped(agent)}">'
        f'<input type="hidden" name="session" value="{escaped(session)}">'
        '<textarea id="message" name="message" aria-label="Message" required autofocus '
        'placeholder="Ask something. Shift+Enter adds a new line."></textarea>'
        f'<div class="bar"><span class="soft small">session <b>{escaped(session)}</b> · saved</span>'
        '<span class="grow"></span><button class="btn primary">Send <kbd>⏎</kbd></button></div></form>\n'
    )


async def send(site: Site, request: Request) -> Response:
    """``POST /chat``: send one message."""
    fields = await site.form(request)
    text, session = fields.get("message", "").strip(), fields.get("session", "")
    if not text:
        raise wrong("the message is empty", "message")
    if not _NAME.fullmatch(session):
        raise wrong("the session's name is not valid", "session")
    service = site.service
    served = service.agent(fields.get("agent"))
    try:
        job = service.start(
            service.new_job(served, text, [], session=session, by=request.state.by, streams=True, detached=True)
        )
    except ApiError as error:
        if "hx-request" not in request.headers:
            raise
        return fragment(_mine(text), f'<p class="notice" role="alert">{escaped(error.message)}</p>')
    if "hx-request" not in request.headers:
        return RedirectResponse(f"/chat?agent={served.name}&session={session}", status_code=303)
    return fragment(_mine(text), _block(site, job.id))


def _block(site: Site, run_id: str) -> str:
    """The block of a run in the conversation; it fills while the run is in flight."""
    address = f"/chat/{run_id}/live?asked={len(site.service.approvals.of_run(run_id))}"
    return f'<div hx-sse:connect="{address}" hx-swap="none" hx-sse:close="end"></div>\n{_turn(site, run_id)}'


def _turn(site: Site, run_id: str, *, swaps: bool = False) -> str:
    """A run as a turn of the conversation."""
    oob = ' hx-swap-oob="true"' if swaps else ""
    seen = Seen(site, run_id)
    entry, job = seen.entry, seen.job
    stats = seen.journal.stats if seen.journal is not None else None
    said = [] if stats is None else [f"iteration {stats.iterations}", duration(entry.seconds)]
    if stats is not None and stats.usage.total_tokens:
        said += [f"{short(stats.usage.total_tokens)} tokens", money(stats.usage.cost)]
    stop = (
        f'<form action="/runs/{run_id}/stop" method="post" hx-post="/runs/{run_id}/stop" hx-swap="none">'
        f'{site.field()}<button class="btn no">Stop</button></form>'
        if job is not None
        else ""
    )
    head = (
        f'<div class="who">{escaped(entry.agent)} {badge(entry.status, success=entry.success)} '
        f'<span class="soft">{escaped(" · ".join(said))}</span> <a href="/runs/{run_id}">open the run</a>{stop}</div>'
    )
    uses = [use for found in seen.journal.iterations for use in found.tools] if seen.journal is not None else []
    steps = "".join(map(_of_use, uses))
    asked = "".join(card(site, approval) for approval in site.service.approvals.of_run(run_id))
    return f'<div class="it" id="turn-{run_id}"{oob}>{head}{steps}{asked}{_words(seen)}</div>\n'


def _of_use(use: ToolUse) -> str:
    if use.content is None:
        return _step("…", use.name, brief(use.arguments), "running", "")
    beside = formatting.seconds(use.taken)
    return _step("✗" if use.failed else "✓", use.name, brief(use.arguments), beside, use.content)


def _words(seen: Seen) -> str:
    if seen.job is not None:
        text = draft_of(seen.job)
        return f'<div class="card said draft">{escaped(text)}</div>' if text else ""
    footer = seen.journal.footer if seen.journal is not None else None
    if footer is None:
        return ""
    if footer.get("answer"):
        return f'<div class="card">{markdown(footer["answer"])}</div>'
    if "error" in footer:
        return f'<p class="card bad">✗ {escaped(formatting.error(footer["error"]))}</p>'
    return ""


async def live(site: Site, request: Request) -> Response:
    """``GET /chat/{id}/live``: stream one turn."""
    run_id = site.run_id(request)
    shown = request.query_params.get("asked", "")
    asked = int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 9 else -1
    return StreamingResponse(_updates(site, run_id, asked), media_type="text/event-stream", headers=STREAM_HEADERS)


async def _updates(site: Site, run_id: str, waiting: int) -> AsyncIterator[str]:
    """Yield the turn whenever it changes; ``waiting`` is how many questions are shown already."""
    before = ""
    while not site.service.jobs.draining:
        seen = Seen(site, run_id)
        # While a question waits, its card is not replaced: the user may be writing a note.
        asked = len(site.service.approvals.of_run(run_id))
        again = not (asked and asked == waiting)
        text = await asyncio.to_thread(_turn, site, run_id, swaps=True) if again else before
        yield event(text + count(site, swaps=True)) if text != before else ": waiting\n\n"
        before, waiting = text, asked
        if not seen.is_live:
            break
        changed = seen.job.changed if seen.job is not None else site.service.approvals.changed
        await changed.wait(1.0)
        await Signal().wait(_PAUSE)
    yield "event: end\ndata: end\n\n"
