"""The Agents page: files, prompts, tools and hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from starlette.responses import Response

from react_run.journal.view.markup import block, details, escaped
from react_run.serve.page.frame import page

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.agents import ServedAgent
    from react_run.serve.page.site import Site


NOBODY = '<div class="card empty">No agent is served here: <code>react-run serve AGENT.yaml</code> starts one.</div>\n'


async def show(site: Site, request: Request) -> Response:
    """``GET /agents``."""
    return page(site, request, "Agents", _body(site), current="Agents")


def _body(site: Site) -> Iterator[str]:
    yield '<div class="head"><div class="grow"><h1>Agents</h1>'
    yield '<p class="soft">Each agent is a model of this API, under its name.</p></div></div>\n<div class="stack">'
    for served in site.service.agents:
        yield _agent(served)
    if not len(site.service.agents):
        yield NOBODY
    yield "</div>\n"


_known: WeakKeyDictionary[ServedAgent, dict[str, Any]] = WeakKeyDictionary()
"""Descriptions of the agents; they do not change while an agent is served."""


def _explained(served: ServedAgent) -> dict[str, Any]:
    from react_run.launch.explanation import explanation

    if served not in _known:
        _known[served] = served.mask(explanation(served.agent.replace()))  # without a journal, since nothing runs
    return _known[served]


def _agent(served: ServedAgent) -> str:
    explained: dict[str, Any] = _explained(served)
    tools = "".join(map(_tool, explained["tools"]))
    values = "".join(
        f"<tr><td><code>{escaped(str(row['key']))}</code></td><td>{escaped(str(row['shown'])[:300])}</td>"
        f'<td class="soft">{escaped(str(row["source"]))}</td></tr>'
        for row in explained["values"]
    )
    hooks = "".join(
        f"<tr><td><code>{escaped(hook)}</code></td><td>{escaped(' → '.join(plugins))}</td></tr>"
        for hook, plugins in explained["hooks"].items()
    )
    parts = (
        details("iteration", f"Tools ({len(explained['tools'])})", tools or "<p>none</p>"),
        details("iteration", "System prompt", "".join(map(block, explained["prompt"])) or "<p>none</p>"),
        details(
            "iteration",
            "Values, and where they come from",
            f'<div class="tablecard">{_table(served.name, "key value source", values)}</div>',
        ),
        details("iteration", "Hooks, outermost first", _table(served.name, "hook plugins", hooks)),
    )
    description = served.agent.config.description or ""
    return (
        f'<section class="card"><div class="head"><div class="grow"><h2>{escaped(served.name)}</h2>'
        f'<p>{escaped(str(served.mask(description)))}</p><p class="soft">{escaped(served.agent.model.name)} · '
        f'{escaped(served.file)}</p></div><a class="btn" href="/chat?agent={escaped(served.name)}">Chat</a></div>'
        f"{''.join(parts)}</section>\n"
    )


def _table(agent: str, heads: str, rows: str) -> str:
    cells = "".join(f"<th>{head}</th>" for head in heads.split())
    table = f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="tablecard" tabindex="0" role="region" aria-label="{escaped(agent)}: {heads}">{table}</div>'


def _tool(tool: dict[str, Any]) -> str:
    marks = ", ".join([*([tool["toolset"]] if tool["toolset"] else []), *tool["flags"]])
    summary = f'<b>{escaped(tool["name"])}</b> <span class="soft">{escaped(marks)}</span>'
    inner = (
        f"<p>{escaped(tool['description'])}</p>{block(json.dumps(tool['parameters'], ensure_ascii=False, indent=2))}"
    )
    return details("message", summary, inner)
