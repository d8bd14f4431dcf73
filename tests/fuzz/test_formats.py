"""Everything that is read from outside, edited at random: a value or a typed error within a second.

``REACT_RUN_FUZZ`` is how many inputs there are of each format: 2,000 in CI, and by night as many as make a million.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.fuzz.mutators import documents, edited

from react_run import JournalError, ReactError, Tool, ToolError
from react_run.batch.inputs import read_rows
from react_run.config import load_config
from react_run.evals.suite import read_suite
from react_run.journal.canonical import canonical_records
from react_run.journal.reading import read_journals
from react_run.journal.validation import damage_in
from react_run.journal.view.html import page
from react_run.journal.view.tree import lines_of, tree_of
from react_run.models.sse import EventDecoder, EventTooLarge
from react_run.models.text_calls import read_calls
from react_run.skills.files import read_skills
from react_run.support.thinking import split_thinking
from react_run.support.visible_draft import VisibleDraft
from react_run.testing import agent_with, calls
from react_run.tools.schemas.docstrings import description_in, parameters_in
from react_run.workspace.patches.diff import parse
from react_toolsets.http import RequestFailed
from react_toolsets.openapi.document import SpecProblem

COUNT = int(os.environ.get("REACT_RUN_FUZZ", "2000"))
LONGEST = 1.0
"""Seconds of CPU time that one input may take."""


@dataclass(frozen=True)
class Format:
    """One format: texts that are right, what reads them, and the errors it may raise."""

    name: str
    seeds: Sequence[Any]
    read: Callable[[str, Path], object]
    errors: tuple[type[Exception], ...] = (ReactError,)
    is_json: bool = False

    def inputs(self, count: int) -> Iterator[str]:
        make = documents if self.is_json else edited
        return make(self.seeds, count, seed=sum(map(ord, self.name)))


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[str, Path], object]:
    def from_text(text: str, folder: Path) -> object:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return read(path)

    return from_text


def look(path: str, count: int = 1, words: list[str] | None = None, ratio: float = 0.5, deep: bool = False) -> str:
    """Look.

    Args:
        path: Where.
        count: How often.
    """
    return path


LOOK = Tool.from_function(look)
BY_SCHEMA = Tool(
    name="find",
    description="Find.",
    parameters={
        "type": "object",
        "properties": {
            "what": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "integer", "minimum": 0}]},
            "where": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
        },
        "required": ["what"],
    },
    function=look,
)
ARGUMENTS = [
    {"path": "a.txt", "count": 2, "words": ["a", "b"], "ratio": 0.25, "deep": True},
    {"arguments": {"path": "a", "count": "3"}},
    {"what": "abc", "where": [{"x": 1}, {"x": 2.5}]},
]


def _prepared(text: str, _: Path) -> None:
    for tool in (LOOK, BY_SCHEMA):
        for given in (text, _loaded(text)):
            prepared = tool.prepare(given)
            assert prepared.problem == "" or prepared.problem.startswith("Error")


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "string", "default": "x"}, "b": {"$ref": "#/$defs/B"}},
     "$defs": {"B": {"oneOf": [{"const": 1}, {"type": ["integer", "null"]}]}}, "required": ["a"]},
    {"allOf": [{"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}], "items": False}}},
               {"properties": {"t": {"$ref": "#"}}}], "additionalProperties": {"type": "number"}},
    {"type": "object", "properties": {"b": {"oneOf": [{"const": "x"}, False]}, "c": {"anyOf": [False, True]}}},
]  # fmt: skip


def _tool_of(text: str, folder: Path) -> None:
    tool = Tool(name="made", description="Made.", parameters=_loaded(text), function=look)  # type: ignore[arg-type]
    assert tool.wire["type"] == "function"
    tool.prepare({"a": "x", "b": 1})


def _sse(text: str, _: Path) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for size in (1, 7, 4_096):
        decoder = EventDecoder()
        for start in range(0, len(data), size):
            decoder.feed(data[start : start + size])
        decoder.finish()


def _reply(text: str, _: Path) -> None:
    read_calls(text, {"look", "find"})
    thinking, said = split_thinking(text)
    assert thinking + said.strip() in text or thinking + said == text
    draft = VisibleDraft()
    for piece in (text[:3], text[3:40], text[40:]):
        draft.feed(piece)
    draft.end()


def _page(text: str, _: Path) -> None:
    from react_toolsets.web.extract import extract
    from react_toolsets.web.fetch import Document

    body = text.encode("utf-8", "surrogatepass")
    extract(Document(url="https://example.org/a/", media_type="text/html", charset="", body=body))


def _openapi(text: str, _: Path) -> None:
    from react_toolsets.openapi.document import Document
    from react_toolsets.openapi.operations import operations
    from react_toolsets.openapi.schemas import Schemas

    document = Document.parse(text.encode("utf-8", "surrogatepass"), "api.yaml")
    operations(document, Schemas(document), lambda *_: True)


def _mcp_lock(path: Path) -> None:
    from react_toolsets.mcp.lock import Lock

    agent = path.parent / "agent.yaml"
    assert Lock.beside(agent) is not None, "the lock that was written is found"


def _mcp_result(text: str, _: Path) -> None:
    from mcp.types import CallToolResult
    from pydantic import ValidationError

    from react_toolsets.mcp.results import Told

    try:
        result = CallToolResult.model_validate_json(text)
    except ValidationError:
        return  # the library refuses it before we see it
    Told.of_result(result, lambda *_: "saved.bin")


def _journal(path: Path) -> None:
    """As the commands read one: what fails because the file is damaged is told as the damage."""
    try:
        for journal in read_journals(path):
            _ = journal.messages, journal.stats, list(lines_of(tree_of(journal)))
            page(journal)
            canonical_records(journal)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if damage := damage_in(path):
            raise JournalError(damage) from error
        raise


def _rows(form: str, path: Path) -> None:
    for row in read_rows(path, form=form, prompt="{question}", id_field="id", limit=None):
        assert row.index >= 0


def _recorded() -> list[str]:
    """The journal of a run with calls that work, fail and find nothing."""
    replies = [calls(("look", {"path": "a"}), text="First."), calls(("look", {"path": 1})), calls(("gone", {})), "done"]
    with TemporaryDirectory() as folder:
        agent_with(replies, tools=[look]).replace(journal=folder).run_sync("go")
        return [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.jsonl")]


AGENT = """\
version: 1
name: assistant
model: {kind: scripted, replies: [done]}
max_iterations: 8
toolsets: [math, {kind: files, root: ., include: ["read_*"]}]
plugins: [{kind: error_hints}]
permissions: [{tool: "write_*", action: ask}]
checks: [{kind: length, max: 300}]
limits: {max_cost: 0.25, run_timeout: 60}
"""
PAGE = """<!doctype html><html><head><title>Cats</title><base href="/b/"><meta charset="utf-8"></head><body>
<h1>Cats</h1><p>Cats are small animals that live with people and hunt mice, and they have done so for long.</p>
<table><tr><th>Cat</th><td>4 kg</td></tr></table><ul><li><a href="more.html">more</a></li></ul>
<script>var a = "</p>";</script><pre>code &lt;x&gt;</pre></body></html>"""
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://example.org/v1"}],
    "paths": {
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {"operationId": "item", "tags": ["shop"], "responses": {"200": {"description": "It."}}},
            "put": {
                "operationId": "change",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}},
                "responses": {},
            },
        }
    },
    "components": {
        "schemas": {"Item": {"type": "object", "properties": {"more": {"$ref": "#/components/schemas/Item"}}}}
    },
}
LOCK = {
    "version": 1,
    "servers": {
        "time": {
            "server": "time",
            "version": "1",
            "tools": [{"name": "now", "description": "Now.", "inputSchema": {"type": "object"}, "annotations": {}}],
        }
    },
}
RESULT = {
    "content": [
        {"type": "text", "text": "five"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/plain"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
    ],
    "structuredContent": {"a": 1},
    "isError": False,
}
PATCH = """\
--- a/one.txt
+++ b/one.txt
@@ -1,3 +1,3 @@
 a
-b
+c
 d
--- /dev/null
+++ b/two.txt
@@ -0,0 +1 @@
+new
"""
SSE = (
    'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n: ping\n\nevent: x\nid: 1\nretry: 10\n'
    "data: a\ndata: b\r\n\r\ndata: [DONE]\n\n"
)
REPLY = '<think>first</think>\n<tool_call>{"name": "look", "arguments": {"path": "a"}}</tool_call>\n```json\n[1]\n```'
SKILL = """\
---
name: reader
description: Reads files. Use it when a file is to be read.
allowed-tools: Read Bash(git:*)
metadata: {author: us, version: "1"}
---
# Reader

Read the file, then answer. See [more](more.md).
"""
DOCSTRING = """Look at a place.

Args:
    path: Where it is,
        relative to the root.
    count (int): How often.

Returns:
    What is there.

Raises:
    OSError: It is gone.
"""
CASES = (
    "agent: calculator.yaml\ncases:\n  - name: a\n    prompt: 15*23\n    expect: {answer: '345', tools: [calculate]}\n"
)
ROWS = '{"id": "a", "question": "15*23"}\n{"id": 2, "question": "2+2", "more": {"x": [1]}}\n"just text"\n'
TABLE = 'id,question,note\n1,15*23,"a, ""b"""\n2,"two\nlines",\n'

FORMATS = [
    Format("agent file", [AGENT], _in_file("agent.yaml", load_config)),
    Format("arguments", ARGUMENTS, _prepared, is_json=True),
    Format("schemas of tools", SCHEMAS, _tool_of, is_json=True),
    Format("server-sent events", [SSE], _sse, (EventTooLarge,)),
    Format("replies with calls in their text", [REPLY, "[THINK]a[/THINK] b", '{"name": "find"}'], _reply),
    Format("journals", _recorded(), _in_file("run.jsonl", _journal)),
    Format("skills", [SKILL], _in_file("reader/SKILL.md", lambda path: read_skills([path.parent.parent]))),
    Format("web pages", [PAGE, PAGE.replace("more", "mo\x1bre")], _page, (RequestFailed,)),
    Format("OpenAPI documents", [OPENAPI], _openapi, (SpecProblem,), is_json=True),
    Format("locks of MCP servers", [LOCK], _in_file("agent.mcp.lock", _mcp_lock), is_json=True),
    Format("results of MCP servers", [RESULT], _mcp_result, (ToolError,), is_json=True),
    Format("patches", [PATCH], lambda text, _: parse(text), (ToolError,)),
    Format("docstrings", [DOCSTRING], lambda text, _: (description_in(text), parameters_in(text)), ()),
    Format("cases", [CASES], _in_file("cases.yaml", read_suite)),
    Format("rows as JSON lines", [ROWS], _in_file("rows.jsonl", partial(_rows, "jsonl"))),
    Format("rows as CSV", [TABLE], _in_file("rows.csv", partial(_rows, "csv"))),
]


def _try(reader: Format, text: str, folder: Path) -> str:
    """What is wrong with how ``text`` is read; empty when it is well."""
    started = time.thread_time()
    try:
        reader.read(text, folder)
    except reader.errors:
        pass
    except Exception as error:  # whatever it is: it is none that a caller would expect
        return f"{type(error).__name__}: {error}"
    taken = time.thread_time() - started
    return f"it took {taken:.1f} s" if taken > LONGEST else ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", FORMATS, ids=lambda reader: reader.name)
def test_whatever_comes_is_read_or_refused(
    reader: Format, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    wrong: dict[str, str] = {}
    for text in reader.inputs(COUNT):
        if problem := _try(reader, text, tmp_path):
            wrong.setdefault(problem[:80], text)
    record_property("faults", COUNT)
    assert not wrong, "\n".join(f"{problem}\n    {text[:2_000]!r}" for problem, text in list(wrong.items())[:5])
