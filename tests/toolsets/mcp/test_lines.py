"""Lines of any length: read in time that grows with them, and never more than we take."""

from __future__ import annotations

import asyncio
import codecs
import random
from pathlib import Path

import psutil
import pytest
from tests.toolsets.mcp.local_servers import agent_of, children, code_of, local, steps_of

from react_toolsets.mcp import McpWarning, lines

TEXT = "one\ntwo ä€😀\n\r\nthree\n" * 3 + "the rest €"


def decoder(errors: str = "strict") -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder(lines.ENCODING)(errors)


@pytest.mark.parametrize("seed", range(20))
def test_whole_lines_come_out_wherever_the_pieces_are_cut(seed: int) -> None:
    chance, data, found = random.Random(seed), TEXT.encode(), []
    ours = decoder()
    while data:
        size = chance.randint(1, 9)
        found.append(ours.decode(data[:size]))
        data = data[size:]
    assert all(text.endswith("\n") for text in found if text)
    assert "".join(found) == TEXT.removesuffix("the rest €")
    assert ours.decode(b"", final=True) == "the rest €"


def test_broken_bytes_are_replaced_and_do_not_swallow_the_end_of_a_line() -> None:
    assert decoder("replace").decode(b"a\xe2\x82\nb\xff\nc") == "a\ufffd\nb\ufffd\n"
    with pytest.raises(UnicodeDecodeError):
        decoder().decode(b"\xff\n")


def test_what_is_sent_is_plain_utf_8() -> None:
    assert "ä€😀".encode(lines.ENCODING) == "ä€😀".encode()


def test_a_line_that_is_too_long_is_told_once_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_MESSAGE", 10)
    told: list[str] = []
    token = lines.on_flood.set(lambda: told.append("flood"))
    try:
        ours = decoder()
    finally:
        lines.on_flood.reset(token)
    assert ours.decode(b"0123456789") == ""
    assert told == []
    assert ours.decode(b"\n0123456789") == "0123456789\n"
    assert ours.decode(b"x") == ""
    assert told == ["flood"]
    assert [ours.decode(b"more\n"), ours.decode(b"", final=True)] == ["", ""]
    assert told == ["flood"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_MESSAGE", 2**20)


FLOODS = """
import os
def call(name, arguments, request):
    if name == "flood":
        print("I cannot stop", file=sys.stderr, flush=True)
        while True:
            sys.stdout.write("x" * 65_536)
    return text("y" * 900_000) if name == "much" else text(str(os.getpid()))
serve([tool("flood"), tool("much"), tool("pid")], call)
"""


@pytest.mark.usefixtures("small")
def test_a_server_that_floods_is_ended_and_started_again_for_the_next_call(workspace: Path) -> None:
    toolset = local(workspace, FLOODS, read_only=["*"])  # and not asked again for what was too large
    names = ("pid", "much", "flood", "pid")
    first, much, flood, last = asyncio.run(steps_of(agent_of(workspace, [toolset], *((name, {}) for name in names))))
    assert code_of(much) == ""
    assert code_of(flood) == "too_large"
    assert "the MCP server demo sent a message of more than 1 MiB, which was not read" in flood.observation
    assert flood.observation.endswith("It wrote: I cannot stop")
    assert (workspace / ".react-run/logs/mcp-demo.log").read_text().count("I cannot stop") == 1
    assert int(last.observation) != int(first.observation)
    psutil.wait_procs(children(), timeout=10)
    assert children() == []


@pytest.mark.usefixtures("small")
def test_a_server_that_floods_before_it_is_ready_is_left_out_with_the_reason(workspace: Path) -> None:
    body = "serve(lambda request: {'tools': [tool('t', 'x' * 2_000_000)]})"
    with pytest.warns(McpWarning, match="demo is left out: the MCP server demo sent a message of more than 1 MiB"):
        assert local(workspace, body).tools() == []
