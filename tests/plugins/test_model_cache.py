"""The plugin ``model_cache``: the same question is paid for once, and an old reply changes nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import write
from tests.fired import Fired
from tests.models.stub_server import StubServer, completion
from tests.plugins.traces import Traces

from react_plugins.model_cache import ModelCache
from react_run import ConfigError, ReActAgent, RunResult, ScriptedModel, Tool, read_journal
from react_run.config import load_config
from react_run.journal.replay.replay import replay
from react_run.models.openai import OpenAIModel
from react_run.testing import calls, says

READ = [calls(("read", {"path": "a"}), usage={"input_tokens": 9, "output_tokens": 1, "cost": 0.5}), says("done")]


class Clock(ModelCache):
    """A cache whose time goes on when it is told to."""

    later: float = 0.0

    def now(self) -> float:
        return 1_000_000.0 + self.later


def tools(*names: str) -> list[Tool]:
    return [tool for tool in Traces("text").tools() if tool.name in (names or ("read",))]


def run(
    cache: object, *others: object, replies: list[Any] | None = None, prompt: str = "go", **given: Any
) -> tuple[RunResult, int]:
    """A run of a new agent: its result, and how often its model was asked."""
    model = given.pop("model", None) or ScriptedModel(replies=replies or READ)
    offered = given.pop("offered", tools())
    agent = ReActAgent(given, model=model, toolsets=offered, plugins=[cache, *others])
    result = agent.run_sync(prompt)
    return result, len(model.requests)


def test_the_same_request_is_answered_from_the_cache() -> None:
    cache, fired = ModelCache(), Fired()
    first, asked = run(cache)
    second, again = run(cache, fired)
    assert (asked, again) == (2, 0)
    assert first.answer == second.answer == "done"
    assert [step.observation for step in second.steps] == [step.observation for step in first.steps]
    assert (first.iterations, second.iterations) == (2, 2)
    assert (second.usage.cost, second.usage.requests) == (0.0, 0)
    assert fired.of("model_cache") == [f"iteration {n}: answered from the cache" for n in (1, 2)]


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "go on"},
        {"system_prompt": "Be brief."},
        {"replies": [*READ, says("more")]},
        {"offered": []},
        {"output_schema": {"type": "object"}, "max_check_attempts": 0},
    ],
)
def test_another_request_goes_to_the_model(other: dict[str, Any]) -> None:
    cache = ModelCache()
    run(cache)
    assert run(cache, **other)[1] > 0


@pytest.mark.parametrize("name", ["write", "other"])
def test_a_request_that_offers_more_than_reading_goes_to_the_model(name: str) -> None:
    cache = ModelCache()
    for _ in range(2):
        assert run(cache, offered=tools("read", name))[1] == 2


def test_a_reply_is_used_for_its_time_only() -> None:
    cache = Clock(ttl=60)
    run(cache)
    cache.later = 59
    assert run(cache)[1] == 0
    cache.later = 61
    assert run(cache)[1] == 2


@pytest.mark.parametrize(
    "reply", [{"text": "half of", "finish_reason": "length"}, {"text": "no", "finish_reason": "content_filter"}]
)
def test_what_is_not_whole_is_not_kept(reply: dict[str, Any]) -> None:
    cache = ModelCache()
    for _ in range(2):
        assert run(cache, replies=[reply], offered=[])[1] > 0


def test_an_error_is_not_kept() -> None:
    cache = ModelCache()
    failing = [{"error": {"message": "busy", "status": 503, "retryable": True, "retry_after": 0}}, says("done")]
    assert run(cache, replies=failing, offered=[])[0].answer == "done"
    assert run(cache, replies=failing, offered=[])[1] == 0


def test_a_file_outlives_the_process_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "replies.db"
    run(ModelCache(path=path))
    assert run(ModelCache(path=path))[1] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_secret_is_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "replies.db"
    for _ in range(2):
        agent = ReActAgent(model=ScriptedModel(replies=["hunter2hunter2"]), plugins=[ModelCache(path=path)])
        agent.config.masker.add("hunter2hunter2")
        agent.run_sync("go")
    assert b"hunter2" not in path.read_bytes()


@pytest.mark.parametrize("damage", ["not json", "{}", '{"requests": [1]}', "[" * 100_000])
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, damage: str) -> None:
    path, fired = tmp_path / "replies.db", Fired()
    run(ModelCache(path=path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE results SET text = ?", (damage,))
    result, asked = run(ModelCache(path=path), fired)
    assert (result.answer, asked) == ("done", 2)
    assert "a stored reply is damaged" in fired.of("model_cache")[0] or "cannot be used" in fired.of("model_cache")[0]


def test_a_file_that_cannot_be_used_is_warned_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = ModelCache(path=tmp_path)  # a directory
    assert [run(cache)[1], run(cache)[1]] == [2, 2]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"model_cache cannot use {tmp_path}, so the model is called: ")


def test_a_file_that_cannot_be_used_is_noted(tmp_path: Path) -> None:
    path, fired = tmp_path / "replies.db", Fired()
    path.write_bytes(b"this is no database at all" * 100)
    result, asked = run(ModelCache(path=path), fired)
    assert (result.answer, asked) == ("done", 2)
    assert fired.of("model_cache")[0].startswith("cannot be used: ")


def test_another_temperature_is_another_model() -> None:
    cache = ModelCache()
    with StubServer([completion("one"), completion("two")]) as server:
        for temperature, answer in ((0.0, "one"), (0.0, "one"), (0.5, "two")):
            model = OpenAIModel(model="m", base_url=server.url, api_key="sk-0123456789", temperature=temperature)
            assert ReActAgent(model=model, plugins=[cache]).run_sync("go").answer == answer
    assert len(server.requests) == 2


def test_a_run_answered_from_the_cache_replays(tmp_path: Path) -> None:
    cache = ModelCache()
    run(cache)
    model = ScriptedModel(replies=READ)
    agent = ReActAgent(model=model, toolsets=tools(), plugins=[cache])
    asyncio.run(agent.replace(journal=tmp_path / "run.jsonl").run("go"))
    assert not model.requests
    empty = ReActAgent(model=ScriptedModel(replies=READ), toolsets=tools(), plugins=[ModelCache()])
    done = asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), empty))
    assert done.complete
    assert done.result is not None
    assert done.result.answer == "done"


@pytest.mark.parametrize(
    ("line", "said"), [("ttl: 0", "must be more than 0"), ("max_entries: 0", "at least 1"), ("pth: x", "path")]
)
def test_a_wrong_option_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, f"model: offline\nplugins:\n  - kind: model_cache\n    {line}\n")
    with pytest.raises(ConfigError, match=r"agent\.yaml:4:\d+: ") as caught:
        load_config(tmp_path / "agent.yaml")
    assert said in str(caught.value)
