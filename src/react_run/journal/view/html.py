"""A run as one self-contained page: no scripts or requests; answers are Markdown, and nothing recorded is HTML (J5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from react_run.journal.values import Record
from react_run.journal.view import formatting
from react_run.journal.view.charts import costs, tokens
from react_run.journal.view.markdown import markdown
from react_run.journal.view.markup import Anchors, block, details, escaped
from react_run.journal.view.reasons import code_in, in_words, spoken
from react_run.journal.view.subagents import Subagents
from react_run.journal.view.waterfall import waterfall
from react_run.parts import FilePart, ImagePart, Part

if TYPE_CHECKING:
    from react_run.journal.iterations import Iteration, ModelCall, ToolUse
    from react_run.journal.reading import Journal
    from react_run.messages import Message

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LARGEST_IMAGE = 4 * 2**20
"""The largest image, in bytes, to embed in the page; of a larger one, only the name is shown."""
_OPEN = 3
"""The most iterations that are expanded at first."""


def page(journal: Journal) -> str:
    """The whole page of a run."""
    title = f"{formatting.name(journal)} · run {journal.run_id[:12]}"
    style = (files(__package__) / "page.css").read_text(encoding="utf-8")
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<link rel="icon" href="data:,">\n<title>{escaped(title)}</title>\n<style>\n{style}</style>\n',
            "</head>\n<body>\n<main>\n",
            *_body(journal),
            "</main>\n</body>\n</html>\n",
        )
    )


def _body(journal: Journal) -> Iterator[str]:
    yield from _head(journal)
    yield f'<div class="two">{"".join((*tokens(journal), *costs(journal)))}</div>\n'
    yield from waterfall(journal)
    yield "<h2>Iterations</h2>\n"
    yield opening_details(journal)
    several = len(journal.iterations) > _OPEN
    subagents = Subagents(journal)
    anchors = Anchors(journal, subagents)
    for iteration in journal.iterations:
        yield iteration_details(iteration, anchors, opened=not several)
    yield from (_subagent(child, subagents) for child in subagents.others(journal))
    yield "<h2>Agent</h2>\n"
    yield from agent_details(journal)


def _subagent(child: Journal, subagents: Subagents) -> str:
    """A subagent with all its iterations, and its own subagents below their calls."""
    anchors = Anchors(child, subagents)
    inner = (
        *_head(child),
        *waterfall(child),
        *(iteration_details(iteration, anchors) for iteration in child.iterations),
        *(_subagent(other, subagents) for other in subagents.others(child)),
    )
    stats = child.own_stats
    about = (
        in_words(formatting.status(child))[0],
        formatting.seconds(stats.seconds),
        formatting.tokens(stats.usage.total_tokens),
        formatting.one_line((child.footer or {}).get("answer") or "no answer")[:80],
    )
    summary = f'Subagent: {escaped(formatting.name(child))} <span class="soft">{escaped(" · ".join(about))}</span>'
    return details("iteration", summary, "".join(inner), anchor=f"{child.run_id[:12]}-run")


def _head(journal: Journal) -> Iterator[str]:
    header, footer, stats = journal.header, journal.footer or {}, journal.stats
    mark = "good" if formatting.succeeded(journal) else "bad"
    words, code = in_words(formatting.status(journal))
    badge = f'<span class="badge {mark}">{escaped(words)}</span>{_code(code)}'
    yield f"<h1>{escaped(formatting.name(journal))} {badge}</h1>\n"
    about = f"{formatting.moment(header['time'])} · {header['model']} · run {journal.run_id}"
    yield f'<p class="soft">{escaped(about)}</p>\n<dl class="facts">'
    facts = {
        "time": formatting.seconds(stats.seconds),
        "iterations": f"{stats.iterations:,}",
        "model calls": _with_below(stats.model_calls, stats.model_calls_below),
        "tool calls": _with_below(stats.tool_calls, stats.tool_calls_below),
        "input tokens": _count(stats.usage.input_tokens),
        "output tokens": _count(stats.usage.output_tokens),
        "cost": formatting.cost(stats.usage.cost).removeprefix("cost "),
        "model time": formatting.seconds(stats.model_seconds),
        f"tool time{' (in parallel)' if stats.tool_seconds > stats.seconds else ''}": formatting.seconds(
            stats.tool_seconds
        ),
    }
    if stats.person_seconds:
        facts["waiting for a person"] = formatting.seconds(stats.person_seconds)
    yield from (
        f"<div><dt>{name}</dt><dd>{escaped(value)}</dd></div>" for name, value in facts.items() if value != "n/a"
    )
    yield "</dl>\n"
    if steps := formatting.plan(journal):
        yield f'<div class="card"><h3>Plan</h3>{block(chr(10).join(steps))}</div>\n'
    yield f'<div class="card answer"><h3>Answer</h3>{markdown(footer.get("answer") or "(none)")}'
    if footer.get("unverified_answer"):
        yield f"<h3>What the model claimed</h3>{markdown(footer['unverified_answer'])}"
    if "error" in footer:
        yield f'<p class="bad">{escaped(formatting.error(footer["error"]))}</p>{_traceback(footer["error"])}'
    yield f'</div>\n<div class="card"><h3>Prompt</h3>{block(header["prompt"])}</div>\n'


def _code(code: str) -> str:
    return f' <small class="soft">{escaped(code)}</small>' if code else ""


def _with_below(own: int, below: int) -> str:
    return f"{own + below:,}{f' ({below:,} by subagents)' if below else ''}"


def _count(number: int | None) -> str:
    return "n/a" if number is None else f"{number:,}"


def opening_details(journal: Journal) -> str:
    """The conversation at the start of a run."""
    opening = "".join(map(_message, journal.opening))
    return details("iteration", f'At the start <span class="soft">{len(journal.opening)} messages</span>', opening)


def iteration_details(iteration: Iteration, anchors: Anchors, *, opened: bool = False, only: str = "") -> str:
    """One iteration with all its contents.

    Args:
        iteration: The iteration.
        anchors: The anchors of its calls.
        opened: Whether it is expanded at first.
        only: The anchor of the only call to show, expanded; empty means all.
    """
    about = [*(use.name for use in iteration.tools)]
    if (used := formatting.usage_of(iteration)) is not None:
        about.append(formatting.tokens(used.total_tokens))
    marks = "".join(
        (
            f' <span class="bad">✗ {failed}</span>' if (failed := sum(use.failed for use in iteration.tools)) else "",
            f' <span class="guard">! {len(iteration.guards)}</span>' if iteration.guards else "",
        )
    )
    number = f"Iteration {iteration.number}" if iteration.number else "Before the first iteration"
    summary = f'{number} <span class="soft">{escaped(" · ".join(about))}</span>{marks}'
    if only:
        return "".join(_calls(iteration, anchors, only))
    return details("iteration", summary, "".join(_inside(iteration, anchors)), opened=opened)


def _calls(iteration: Iteration, anchors: Anchors, only: str = "") -> Iterator[str]:
    for call in iteration.model_calls:
        if (anchor := anchors.of_call(call)) == only or not only:
            yield _model_call(call, anchor)
    for use in iteration.tools:
        if anchors.of_tool(use) == only or not only:
            yield _tool_use(use, anchors, opened=bool(only))


def _inside(iteration: Iteration, anchors: Anchors) -> Iterator[str]:
    yield from _calls(iteration, anchors)
    for record in iteration.looks:
        yield details("message", f"recorded: {escaped(record['what'])}", block(_pretty(record["value"])))
    for asked in iteration.questions:
        yield details("message", f"asked: {escaped(asked.said)}", block(asked.record["text"]))
    for record in iteration.guards:
        detail = record["detail"]
        yield f'<p class="guard">! {escaped(record["guard"])}: {escaped(spoken(detail))}{_code(code_in(detail))}</p>\n'
    if iteration.feedback is not None:
        yield f'<p class="guard">Refused by checks:</p>{block(iteration.feedback)}'


def _model_call(call: ModelCall, anchor: str) -> str:
    written = zip(call.request["messages"], call.new, strict=True)
    inner = "".join(_message(message) for record, message in written if not _is_shown_elsewhere(record))
    reply = call.reply
    if reply is not None:
        inner += _message(reply, opened=not reply.tool_requests)  # the calls below show their own requests
    if call.error is not None and "traceback" in call.error["error"]:
        inner += _traceback(call.error["error"])
    kind = "bad" if call.response is None else "soft"
    summary = f'<span class="{kind}">{escaped(formatting.model_call(call))}</span>'
    return details("model", summary, inner, anchor=anchor, opened=True)


def _is_shown_elsewhere(record: Record) -> bool:
    """Whether the message is a reply or result that is shown with its own iteration."""
    return "response" in record or "result_of" in record


def _message(message: Message, *, opened: bool = False) -> str:
    text = message.text
    requests = ", ".join(request.name for request in message.tool_requests)
    head = formatting.one_line(text)[:120] or formatting.carried(message)
    head = head or (f"calls {requests}" if requests else "(empty)")
    inner = block(text) if text else ""
    for request in message.tool_requests:
        inner += f"<h3>calls {escaped(request.name)}</h3>{block(_pretty(request.arguments))}"
    if message.extra:
        inner += details("message", "provider fields", block(_pretty(dict(message.extra))))
    if not isinstance(message.content, str):
        inner += _parts(message.content)
    return details("message", f'<b>{message.role}</b> <span class="soft">{escaped(head)}</span>', inner, opened=opened)


def _parts(content: Sequence[Mapping[str, object]]) -> str:
    """Content parts other than plain text: ours in full, a provider's as data."""
    others = [part for part in content if not isinstance(part, Part) and part.get("type") != "text"]
    shown = "".join(_attachment(part) for part in content if isinstance(part, Part))
    return shown + (details("message", "content parts", block(_pretty(others))) if others else "")


def _attachment(part: Part) -> str:
    label = escaped(part.label)
    if isinstance(part, ImagePart) and part.size <= _LARGEST_IMAGE:
        return f'<figure class="attached"><img src="{part.url}" alt="{label}"><figcaption>{label}</figcaption></figure>'
    if isinstance(part, FilePart) and part.text:
        return details("message", label, block(part.text))
    return f'<p class="soft">{label}</p>'


def _tool_use(use: ToolUse, anchors: Anchors, *, opened: bool = False) -> str:
    mark = '<span class="bad">✗</span>' if use.failed else '<span class="good">✓</span>'
    mark = mark if use.finished else '<span class="soft">…</span>'
    short = formatting.arguments(use.arguments)[:100]
    said = escaped(" · ".join(formatting.tool_use(use)))
    summary = f'{mark} <b>{escaped(use.name)}</b> {escaped(short)} <span class="soft">{said}</span>'
    whole = formatting.arguments(use.arguments)
    inner = f"<h3>Arguments</h3>{block(_pretty(use.arguments))}" if opened or len(whole) > len(short) else ""
    repaired = [text for record in use.results for text in record.get("repaired", ())]
    if repaired:
        inner += f'<p class="guard">Corrected: {escaped("; ".join(dict.fromkeys(repaired)))}</p>'
    inner += f"<h3>Result</h3>{block(use.content)}" if use.content is not None else '<p class="bad">no result</p>'
    inner += "".join(_attachment(anchors.attachment(said)) for said in use.parts)
    started = anchors.started(use)
    inner += "".join(_subagent(child, anchors.subagents) for child in started if anchors.subagents)
    for attempt in use.attempts:
        if attempt.finished is not None and "error" in attempt.finished:
            inner += _traceback(attempt.finished["error"])
    return details(
        f"tool{' failed' if use.failed else ''}",
        summary,
        inner,
        anchor=anchors.of_tool(use),
        opened=True,
    )


def _traceback(error: dict[str, str]) -> str:
    return details("message", "traceback", block(error["traceback"])) if "traceback" in error else ""


def agent_details(journal: Journal) -> Iterator[str]:
    """The agent of a run: file, values, versions, and the tools it was offered."""
    header = journal.header
    agent = header["agent"]
    if agent["text"] is not None:
        yield details("iteration", f"Agent file {escaped(str(agent['file']))}", block(agent["text"]))
    yield details("iteration", "Effective values", block(_pretty(agent["values"])))
    versions: Iterable[str] = (
        f"react-run {header['react_run']}, Python {header['python']}",
        *(f"{part['kind']} {part['version']}".strip() for group in ("toolsets", "plugins") for part in header[group]),
    )
    yield details("iteration", "Versions", block("\n".join(versions)))
    offered = [tool for record in journal.own if record["type"] == "tools" for tool in record["new"]]
    inner = "".join(details("message", escaped(tool["name"]), block(_pretty(tool))) for tool in offered)
    yield details("iteration", f"Tools offered ({len(offered)})", inner)


def _pretty(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
