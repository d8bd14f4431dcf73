"""Readers that leave in the middle: nothing fails, nobody sees a traceback, and the journal is whole."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command_line import command, environment, write

from react_run import read_journal

pytestmark = pytest.mark.processes

AGENT = """\
model:
  kind: scripted
  replies:
    - {text: Let me see., tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}
    - {text: "The answer is 42.\\n\\nIt is a number."}
toolsets: [math]
"""
WAYS = {
    "text": [],
    "every step": ["-vv"],
    "one object": ["--json"],
    "events": ["--output-format", "stream-json"],
}


def cut(folder: Path, words: list[str], stream: str, after: int) -> subprocess.Popen[bytes]:
    """Run the agent, and close one of its outputs when ``after`` bytes of it have come."""
    process = subprocess.Popen(
        command("agent.yaml", "go", "--record", "run.jsonl", *words),
        cwd=folder,
        env=environment(folder / "home"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        leaving, staying = (process.stdout, process.stderr)[:: 1 if stream == "stdout" else -1]
        left = after
        while left and (piece := leaving.read1(left)):  # type: ignore[attr-defined]  # a buffered reader has it
            left -= len(piece)
        leaving.close()
        rest = staying.read()
        process.wait(60)
    assert b"Traceback" not in rest
    assert b"BrokenPipe" not in rest
    return process


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("way", WAYS)
def test_a_reader_that_leaves_at_any_time_breaks_nothing(
    tmp_path: Path, way: str, stream: str, record_property: Callable[[str, object], None]
) -> None:
    write(tmp_path, AGENT)
    moments = (0, 1, 20, 120)
    for after in moments:
        process = cut(tmp_path, WAYS[way], stream, after)
        assert process.returncode == 0, after
        journal = read_journal(tmp_path / "run.jsonl")
        assert journal.footer is not None
        assert journal.footer["answer"].startswith("The answer is 42."), after
        (tmp_path / "run.jsonl").unlink()
    record_property("faults", len(moments))


def test_an_error_that_nobody_reads_keeps_its_status(tmp_path: Path) -> None:
    assert cut(tmp_path, ["--max-iterations", "0"], "stderr", 0).returncode == 2
    write(tmp_path, AGENT)
    assert cut(tmp_path, ["--no-such-option"], "stderr", 0).returncode == 2


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_no_success_keeps_its_status_when_its_reader_leaves(tmp_path: Path, way: str) -> None:
    call = '{text: Look., tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}'
    write(tmp_path, f"model: {{kind: scripted, replies: [{call}, '']}}\ntoolsets: [math]\n")
    assert cut(tmp_path, WAYS[way], "stdout", 0).returncode == 1
    footer = read_journal(tmp_path / "run.jsonl").footer
    assert footer is not None
    assert footer["stop_reason"] == "empty_reply"
