"""The plugin ``logging``: one structured record for each event."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from tests.plugins.traces import Traces, failing

from react_plugins.logging import Logging
from react_run import ModelError, Run, hookimpl
from react_run.testing import agent_with, calls, run_agent, says


class Notes:
    """A guard."""

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        run.note("me", "here")


def test_a_file_gets_a_json_line_for_each_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    replies = [calls(("read", {"path": "a"}), text="Let me see."), says("done")]
    result = run_agent(replies, tools=Traces().tools(), plugins=[Logging(path=path), Notes()], name="reader")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["event"] for record in records] == [
        "run_started",
        "guard",
        "model_call",
        "tool_call",
        "model_call",
        "run_finished",
    ]
    assert {record["run"] for record in records} == {result.run_id}
    assert {record["agent"] for record in records} == {"reader"}
    assert records[2]["calls"] == ["read"]
    assert records[3]["arguments"] == '{"path": "a"}'
    assert records[3]["executed"] is True
    assert (records[-1]["answer"], records[-1]["success"]) == ("done", True)


def test_records_of_pythons_logging_carry_the_fields_and_a_level(caplog: pytest.LogCaptureFixture) -> None:
    flaky, _ = failing(ValueError("no"))
    with caplog.at_level(logging.DEBUG, "acme"):
        run_agent([calls(("flaky", {})), says("done")], tools=[flaky], plugins=[Logging(logger="acme", level="debug")])
        with pytest.raises(ModelError):
            run_agent([{"error": {"status": 400}}], plugins=[Logging(logger="acme")])
    levels = {record.__dict__["react_run"]["event"]: record.levelname for record in caplog.records}
    assert levels["tool_call"] == "WARNING"
    assert levels["run_finished"] == "DEBUG"
    assert levels["run_failed"] == "ERROR"
    assert all(json.loads(record.getMessage()) == record.__dict__["react_run"] for record in caplog.records)


def test_long_texts_are_cut_and_secrets_masked_even_at_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    agent = agent_with(
        [calls(("read", {"path": "a"})), says("done")],
        tools=Traces("x" * 15 + "hunter2hunter2" + "y" * 50_000).tools(),
        plugins=[Logging(path=path, characters=20)],
    )
    agent.config.masker.add("hunter2hunter2")
    agent.run_sync("the word is hunter2hunter2")
    text = path.read_text()
    assert "hunter" not in text
    (record,) = [json.loads(line) for line in text.splitlines() if '"tool_call"' in line]
    assert record["result"] == "x" * 15 + "***" + "yy… (50029 characters)"


def test_a_file_that_cannot_be_written_does_not_end_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    result = run_agent([says("done")], plugins=[Logging(path=tmp_path)])
    assert result.success
    assert "plugin 'logging' failed in event" in caplog.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_that_nobody_reads_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert run_agent([says("done")], plugins=[Logging(path=tmp_path / "pipe")]).answer == "done"
