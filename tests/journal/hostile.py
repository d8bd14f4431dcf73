"""A journal in which every text tries to be more than text."""

from __future__ import annotations

from pathlib import Path

from tests.journal.recording import agent_of, recorded

from react_run import Plugin, Run, Tool, hookimpl
from react_run.journal.reading import Journal
from react_run.testing import calls, says

TAGS = "\"'><img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
ENDS = "</pre></details></script></style></title><!--"
LINKS = '<link rel=stylesheet href="{address}/a.css"><img src="{address}/b.png"><iframe src="{address}/c"></iframe>'
UNSEEN = "\x1b[31mred\x07\x00 \u202eesrever \ud800"


def hostile_texts(address: str) -> str:
    return f"{TAGS}{ENDS}{LINKS.format(address=address)}{UNSEEN}"


def hostile_journal(address: str, workspace: Path) -> Journal:
    """A run of which every part is hostile; what it loads would come from ``address``."""
    text = hostile_texts(address)

    class Guard(Plugin):
        @hookimpl
        def react_iteration(self, run: Run) -> None:
            run.note(text, text)

    def fail(value: str) -> str:
        raise ValueError(text)

    schema = {"type": "object", "properties": {"value": {"type": "string", "description": text}}}
    tools = [
        Tool(name="echo", description=text, parameters=schema, function=lambda value="": f"{text}{value}"),
        Tool(name="fail", description=text, parameters=schema, function=fail),
    ]
    replies = [
        calls(("echo", {"value": text}), ("fail", {"value": text}), (text, {text: text}), text=text),
        {"error": {"status": 500, "message": text}},
        says(text, extra={"reasoning": text}),
    ]
    agent = agent_of(replies, tools=tools, plugins=[Guard()], name=text, description=text, system_prompt=text)
    return recorded(agent, text, workspace, messages=[{"role": "user", "content": [{"type": "text", "text": text}]}])
