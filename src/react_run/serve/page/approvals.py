"""The Approvals page: questions that wait for a person, with everything needed to decide."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response

from react_run.journal.view.markup import block, escaped
from react_run.serve.errors import ApiError
from react_run.serve.page.frame import count, fragment, page
from react_run.serve.page.parts import ago

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.approvals import Approval
    from react_run.serve.page.site import Site

_WORDS = {"yes": "Allow once", "always": "Always exactly this", "no": "Decline"}
_KINDS = {"yes": "ok", "no": "no"}


async def show(site: Site, request: Request) -> Response:
    """``GET /approvals``."""
    if "part" in request.query_params:
        return fragment(_cards(site), count(site, swaps=True))
    return page(site, request, "Approvals", _body(site), current="Approvals")


def _body(site: Site) -> Iterator[str]:
    yield '<div class="head"><div class="grow"><h1>Approvals</h1>'
    yield '<p class="soft">Runs that wait for a person. Their timeouts are paused.</p></div></div>\n'
    yield _cards(site)
    yield '<p class="soft small"><kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> allow once · <kbd>d</kbd> decline</p>\n'


def _cards(site: Site) -> str:
    site.service.approvals.expire()
    waiting = list(site.service.approvals)
    cards = "".join(card(site, approval, link=True) for approval in waiting)
    inner = cards or '<div class="card empty">Nothing is waiting for you.</div>'
    # While there are any, nothing is replaced: the user may be writing a note.
    poll = "" if waiting else 'hx-get="/approvals?part=1" hx-trigger="every 3s" hx-swap="outerHTML"'
    return f'<div class="stack" id="approvals" {poll} aria-live="polite">{inner}</div>\n'


def card(site: Site, approval: Approval, *, link: bool = False, number: str = "") -> str:
    """One question and the ways to answer it."""
    question = approval.question
    about = [
        escaped(question.tool) if question.is_approval else "a question",
        f"asked {ago(approval.asked)}",
        "parked; continues with the answer" if approval.answered is None else "",
        number,
    ]
    title = f"May <b>{escaped(approval.agent)}</b> run this?" if question.is_approval else escaped(question.text)
    run = f'<a href="/runs/{approval.run_id}">run {approval.run_id[:8]}</a> · ' if link else ""
    return (
        f'<section class="card ask" data-approval="{escaped(approval.id)}" data-item="{escaped(approval.id)}" '
        f'aria-label="Question from {escaped(approval.agent)}"><h2>{title}</h2>'
        f'<p class="soft">{run}{" · ".join(part for part in about if part)}</p>'
        f"{_arguments_block(question.arguments) if question.is_approval else ''}"
        f"{f'<p>{escaped(question.hint)}</p>' if question.hint else ''}{_form(site, approval)}</section>\n"
    )


def _arguments_block(arguments: Mapping[str, object]) -> str:
    """The arguments in full: a lone text as is, anything else as JSON."""
    if len(arguments) == 1:
        name, value = next(iter(arguments.items()))
        if isinstance(value, str):
            return f"<h3>{escaped(name)}</h3>{block(value)}"
    return block(json.dumps(arguments, ensure_ascii=False, indent=2, default=str))


def _form(site: Site, approval: Approval) -> str:
    question = approval.question
    target = f'action="/approvals/{escaped(approval.id)}" method="post"'
    swap = f'hx-post="/approvals/{escaped(approval.id)}" hx-target="closest section" hx-swap="outerHTML"'
    if question.choices:
        buttons = "".join(
            f'<button class="btn {_KINDS.get(choice, "")}" name="answer" value="{escaped(choice)}">'
            f"{escaped(_WORDS.get(choice, choice) if question.is_approval else choice)}</button>"
            for choice in question.choices
        )
        note = (
            '<details><summary class="soft small">add a note</summary><label class="field">Note for the journal'
            '<input name="note" maxlength="2000"></label></details>'
        )
        hint = '<span class="hint"><kbd>a</kbd> allow · <kbd>d</kbd> decline</span>' if question.is_approval else ""
        return f'<form {target} {swap}>{site.field()}<div class="acts">{buttons}{note}{hint}</div></form>'
    inputs = _inputs(question.schema)
    return (
        f'<form {target} {swap}>{site.field()}{inputs}<div class="acts"><button class="btn primary">Answer</button>'
        "</div></form>"
    )


def _inputs(schema: Mapping[str, Any] | None) -> str:
    """An input for the answer, or one for each property of its schema."""
    properties: Mapping[str, Any] = (schema or {}).get("properties") or {}
    if not properties:
        return '<label class="field">Answer<textarea name="value" rows="3" required></textarea></label>'
    required = (schema or {}).get("required", ())
    parts = []
    for name, part in properties.items():
        label = f"{escaped(name)}{'' if name in required else ' (optional)'}"
        text = f": {escaped(str(part['description']))}" if part.get("description") else ""
        field = f'<input name="value.{escaped(name)}"{" required" if name in required else ""}>'
        if part.get("enum"):
            choices = "".join(f"<option>{escaped(str(value))}</option>" for value in part["enum"])
            field = f'<select name="value.{escaped(name)}">{choices}</select>'
        elif part.get("type") == "boolean":
            field = f'<select name="value.{escaped(name)}"><option>true</option><option>false</option></select>'
        parts.append(f'<label class="field">{label}{text}{field}</label>')
    return "".join(parts)


async def answer(site: Site, request: Request) -> Response:
    """``POST /approvals/{id}``: answer a question."""
    fields = await site.form(request)
    id_ = request.path_params["id"]
    approval = site.service.approvals.waiting.get(id_)
    try:
        value = _value(approval, fields)
        site.service.approvals.answer(id_, value, by=site.who(request), note=fields.get("note", "")[:2_000])
    except ApiError as error:
        if "hx-request" not in request.headers:
            raise
        again = card(site, approval) if approval is not None and error.status == 400 else ""
        return fragment(f'<p class="notice" role="alert">{escaped(error.message)}</p>', again, count(site, swaps=True))
    if "hx-request" not in request.headers:
        return RedirectResponse(f"/runs/{approval.run_id}" if approval else "/approvals", status_code=303)
    said = escaped(str(_WORDS.get(str(value), value) if approval and approval.question.is_approval else value))
    run = approval.run_id if approval is not None else ""
    return fragment(
        f'<p class="card" role="status">Answered: <b>{said}</b> · <a href="/runs/{run}">open the run</a></p>',
        count(site, swaps=True),
    )


def _value(approval: Approval | None, fields: Mapping[str, str]) -> object:
    """The answer in a submitted form."""
    if "answer" in fields:
        return fields["answer"]
    schema = approval.question.schema if approval is not None else None
    properties: Mapping[str, Any] = (schema or {}).get("properties") or {}
    if properties:
        given = {name: fields.get(f"value.{name}", "") for name in properties}
        return {name: _typed(text, properties[name]) for name, text in given.items() if text != ""}
    return _typed(fields.get("value", ""), schema or {"type": "string"})


def _typed(text: str, schema: Mapping[str, Any]) -> object:
    if schema.get("type") in (None, "string"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
