"""Nothing that reads a text of a model, a tool, a page or a file takes more than its length in time."""

from __future__ import annotations

import asyncio
import json
import threading
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast

import pytest
from tests.growth import EXPONENT, exponent

from react_offline.text import read as read_offline
from react_plugins.approval_rules import Rule
from react_run import Run, Tool, ToolCall, ToolRequest
from react_run.config import AgentFileError, load_config
from react_run.config.yaml.compose import compose
from react_run.config.yaml.problems import Report, Source
from react_run.journal.view.export import fenced
from react_run.journal.view.markup import block
from react_run.models.failures import failure
from react_run.models.sse import EventDecoder
from react_run.models.text_calls import read_calls
from react_run.questions.display import argument, warnings
from react_run.secrets import Masker, mask_line
from react_run.secrets.stream import StreamMasker
from react_run.skills.files import read_skills, visible
from react_run.support import in_thread
from react_run.support.render import render
from react_run.support.thinking import heard, split_thinking, without_tags
from react_run.support.visible_draft import VisibleDraft
from react_run.tools.arguments.decoding import decode_arguments
from react_run.tools.schemas.cleaning import clean_schema
from react_run.tools.schemas.docstrings import description_in, parameters_in
from react_run.workspace.patches.diff import PatchError
from react_run.workspace.patches.diff import parse as parse_patch
from react_toolsets.declared.templates import places
from react_toolsets.files.editing import replaced
from react_toolsets.files.trouble import FileTrouble
from react_toolsets.web.charset import decoded
from react_toolsets.web.extract import extract
from react_toolsets.web.fetch import Document
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import parse as parse_url

MASKER = Masker(["sk-secret-value-123456"])
SIZE = 6_000
PIECE = 7
"""Characters of a piece of what comes piece by piece."""


def carry_out(line: str) -> str:
    """Carry out a line."""
    return line


CARRIES_OUT = Tool.from_function(carry_out, runs_programs=True)
ACTIONS: tuple[Literal["allow"], Literal["deny"]] = ("allow", "deny")


def in_pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def masked_stream(text: str) -> None:
    stream = StreamMasker(MASKER)
    for piece in in_pieces(text):
        stream.add(piece)
    stream.rest()


def hearing(text: str) -> None:
    heard(text, lambda _text, _start: 0)


def draft(text: str) -> None:
    visible_draft = VisibleDraft()
    for piece in in_pieces(text):
        visible_draft.feed(piece)
    visible_draft.end()


def events(text: str) -> None:
    decoder = EventDecoder()
    for piece in in_pieces(text):
        decoder.feed(piece.encode())
    decoder.finish()


def yaml(text: str) -> None:
    compose(text, Source(name="a.yaml", lines=tuple(text.split("\n"))), Report())


def page(text: str) -> None:
    extract(Document(url="http://example.org/", media_type="text/html", charset="utf-8", body=text.encode()))


def edit(text: str) -> None:
    replaced(text, text[-30:], "y", everywhere=True, path="a.txt")


def permission(text: str) -> None:
    arguments: dict[str, object] = {"line": text}
    request = ToolRequest(id="1", name="carry_out", arguments=arguments)
    call = ToolCall(
        run=cast("Run", None),
        request=request,
        tool=CARRIES_OUT,
        prepared=CARRIES_OUT.prepare(arguments),
        arguments=arguments,
    )
    for action in ACTIONS:
        for glob in ("*a*b*a*b*[!c]d", "?*?*?*x", "*../*/..*/x", f"*{text[:8]}*{text[:8]}*x"):
            Rule(arguments={"line": glob}, action=action).applies(call)


READERS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "masker": (MASKER.mask, ["://", "http://a:b@c ", "sk-secret", "c2stc2VjcmV0", "sk-secret-value-123456"]),
    "masked lines": (
        lambda text: MASKER.mask(f"{b64encode(b'sk-secret-value-123456').decode()[:24]} {text}"),
        ["\\", "\\r", "\\\\n", " ", "\t", "\r", "c2st\n"],
    ),
    "a line of a file": (mask_line, ["key: sk ", "a=", 'a="', "://a:b", "token-"]),
    "a masked stream": (masked_stream, ["a", "sk-secret", "sk-secret-value-123456", "://a:"]),
    "thinking": (split_thinking, ["<think>", "</think>", "<think>a</think>", "[THINK]", "\n</think> ", " "]),
    "thinking anywhere": (
        hearing,
        ["x<think>", "x</think>", "x<think>a</think>", "x[THINK]", "x<a:think>", "<think>", "<think>a"],
    ),
    "tags of thinking": (without_tags, ["<think>", "<think ", "</", "◁"]),
    "a draft": (draft, [" ", "\n", "<b>a</b>", "</", "<think>a", "<think></think>", "a\n", "<think ", "[/", "a"]),
    "text calls": (
        lambda text: read_calls(text, ["calc"]),
        ["<tool_call>", '{"name":"calc",', "[[", "```\n", "{a}", "x"],
    ),
    "events of a stream": (events, ["data: x\n", "data: x\n\n", "x", "\r", "\r\n", ":\n", "data:"]),
    "an error": (
        lambda text: failure(400, {"error": {"message": text, "code": text}}, {"retry-after": text}, provider="x"),
        ["eyJ-", "sk-", "Bearer ", "a ", "arguments", "1", "parameter "],
    ),
    "arguments": (decode_arguments, ['{"a":', "[", '"', "\\u0041", "1"]),
    "the same key at the end": (
        lambda text: decode_arguments("{" + "".join(f'"{at}":1,' for at in range(len(text))) + '"z":1,"z":1}'),
        ["x"],
    ),
    "a docstring": (
        lambda text: (description_in(text), parameters_in(text)),
        ["Args:\n", " Parameters", "a\n---\n", " "],
    ),
    "the body of a skill": (visible, ["<!--", "-->", "```", "`", "~~~\n", "<!--a-->"]),
    "a permission": (permission, ["a", "ab", "../", ".*", "x ../", "\ufdfa", "/", "\\", "'a' "]),
    "a result": (render, ["\x1b", "\r\n", "é\x00", "\ud800"]),
    "a question": (
        lambda text: (argument("a", text), list(warnings(text))),
        [" ", "\n", "\u0430 ", "\u3164", "\u0430"],
    ),
    "yaml": (yaml, ["- - ", "a: b\n", "[ a,", "&a ", "? ", "- a\n", "# a\n", "'"]),
    "a patch": (parse_patch, ["@@ -1 +1 @@\n", "--- a\n+++ b\n", "+a\n", "\n"]),
    "a page": (page, ["<p>", "<p>a</p>", "<table>", "<math>", "<a href='http://x'>a</a>", "<br>", "&amp;", "<think>a"]),
    "a charset": (
        lambda text: decoded(text.encode(), ""),
        ["<meta", "<meta charset = ", "<!--", "<?xml encoding="],
    ),
    "a URL": (lambda text: parse_url(f"http://a/{text}"), ["/", "%20", "a?", "#"]),
    "an edit": (edit, ["\n", "a\n", "a\r\n", " \n", "x", "\x1b\n"]),
    "a page for people": (lambda text: (block(text), list(fenced(text))), ["`", "```\n", "<", "\n"]),
    "places of a template": (lambda text: list(places(text)), ["{a}", "{", "{{", "}"]),
    "the offline model": (read_offline, ["'it's ", "“", "a@", "a.", "1,", "a+", "`", "12:30 "]),
}
REFUSALS = (Refused, PatchError, FileTrouble, RecursionError)


@pytest.mark.parametrize(("name", "unit"), [(name, unit) for name, (_, units) in READERS.items() for unit in units])
def test_reading_takes_no_longer_than_the_text(name: str, unit: str) -> None:
    reader, _ = READERS[name]

    def read(text: str) -> None:
        with suppress(*REFUSALS):  # that is an answer as well
            reader(text)

    assert exponent(read, ("", unit, ""), size=SIZE) <= EXPONENT


@pytest.mark.parametrize("depth", [8, 16, 24])
def test_references_that_double_are_read_once(depth: int) -> None:
    parts = {
        f"d{at}": {"properties": {"a": {"$ref": f"#/$defs/d{at + 1}"}, "b": {"$ref": f"#/$defs/d{at + 1}"}}}
        for at in range(depth)
    }
    schema = {"type": "object", "$defs": {**parts, f"d{depth}": {}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}
    assert len(json.dumps(clean_schema(schema))) < 1_000_000


def test_files_that_extend_each_other_twice_are_refused(tmp_path: Path) -> None:
    for at in range(20):
        (tmp_path / f"{at}.yaml").write_text(f"extends: [{at + 1}.yaml, {at + 1}.yaml]\n", encoding="utf-8")
    (tmp_path / "20.yaml").write_text("model: {kind: offline}\n", encoding="utf-8")
    with pytest.raises(AgentFileError, match="more than 200 files"):
        load_config(tmp_path / "0.yaml")


def test_comments_before_a_skill_that_never_end_are_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()

    def read(text: str) -> None:
        (folder / "SKILL.md").write_text(f"{text}\n---\nname: a\ndescription: b\n---\nc", encoding="utf-8")
        read_skills([tmp_path])

    assert exponent(read, ("", "<!--", ""), size=SIZE) <= EXPONENT


def test_a_page_that_takes_a_parser_too_long_does_not_compute_on() -> None:
    ended = threading.Event()

    def parse() -> None:
        try:
            while True:
                page("<p>a</p>" * 200)
        finally:
            ended.set()

    async def given_up() -> None:
        with pytest.raises(TimeoutError):
            await in_thread(parse, seconds=0.5, stoppable=True)

    asyncio.run(given_up())
    assert ended.wait(20)
