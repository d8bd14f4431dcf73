"""The plugin ``console``: what happens, a line for each event, with nothing that steers a terminal."""

from __future__ import annotations

import re

import pytest
from tests.plugins.traces import Traces, failing

from react_plugins.console import Console
from react_run import ModelError, Run, hookimpl
from react_run.testing import agent_with, calls, run_agent, says

USAGE = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25}


def test_a_run_is_told_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    flaky, _ = failing(ValueError("no"))
    replies = [calls(("read", {"path": "a"}), ("flaky", {}), text="Let me see.", usage=USAGE), says("ok", usage=USAGE)]
    run_agent(replies, tools=[*Traces().tools(), flaky], plugins=[Console()], name="reader", failure_handling="legacy")
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = re.sub(r"\d+\.\d+ s", "0 s", captured.err).splitlines()
    assert lines[:2] == ["▶ reader: go", "  1/10 Let me see."]
    assert sorted(lines[2:6]) == sorted(
        [
            '  → read {"path": "a"}',
            "  → flaky {}",
            "  ✓ read 0 s a for the 1. time",
            "  ✗ flaky 0 s Error: ValueError: no",
        ]
    )
    assert lines[6:] == ["■ completed: 2 model calls, 2 tool calls, 30 tokens, 0.5000 USD, 0 s"]


def test_control_characters_are_shown_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[2J\x07\u202egnihtemos\r\nnext"
    replies = [calls(("read", {"path": hostile}), text=hostile), says(hostile)]
    run_agent(replies, "say " + hostile, tools=Traces(hostile).tools(), plugins=[Console(colour=False)])
    shown = capsys.readouterr().err
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(shown)
    assert shown.count("\n") == 5


def test_secrets_are_masked_and_lines_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    agent = agent_with(
        [calls(("read", {"path": "hunter2hunter2"})), says("done")],
        tools=Traces("x" * 30 + "hunter2hunter2" + "y" * 500).tools(),
        plugins=[Console(width=60)],
    )
    agent.config.masker.add("hunter2hunter2")
    agent.run_sync("hunter2hunter2")
    shown = capsys.readouterr().err
    assert "hunter" not in shown
    assert max(map(len, shown.splitlines())) <= 60


def test_options_choose_what_is_shown_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    class Notes:
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            run.note("me", "here")

    replies = [calls(("read", {"path": "a"}), text="Thinking."), says("done")]
    plugins = [Console(stream="stdout", thoughts=False, guards=False, colour=True), Notes()]
    run_agent(replies, tools=Traces().tools(), plugins=plugins)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "Thinking" not in captured.out
    assert "here" not in captured.out
    assert "\x1b[32m" in captured.out


def test_a_failed_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError):
        run_agent([{"error": {"status": 400, "message": "no"}}], plugins=[Console()])
    assert capsys.readouterr().err.splitlines()[-1] == "■ failed: ModelError: no"


def test_two_consoles_count_each_for_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    replies = [calls(("read", {"path": "a"})), says("done")]
    run_agent(replies, tools=Traces().tools(), plugins=[Console(), Console(stream="stdout")])
    captured = capsys.readouterr()
    assert ", 1 tool call, " in captured.err
    assert ", 1 tool call, " in captured.out
