"""Many runs from Python: order, going on, retries, limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.batch.batch_agents import ANSWERED, adding, statuses

from react_run import ConfigError, ModelError, ReActAgent, read_journal, tool
from react_run.batch import RowResult, run_batch
from react_run.batch.home import Home
from react_run.batch.running import BatchHalted
from react_run.journal.files import FileSink
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where batches are kept."""
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "data" / "batches"


def run(agent: ReActAgent, rows: Any, **options: Any) -> list[RowResult]:
    """The results of a batch."""

    async def results() -> list[RowResult]:
        return await run_batch(agent, rows, **options)

    return asyncio.run(results())


def test_results_come_in_the_order_of_the_rows() -> None:
    results = run(adding(), (f"sum {number}" for number in range(40)), concurrency=7)
    assert [result.index for result in results] == list(range(40))
    assert {(result.status, result.answer, result.cost, result.attempts) for result in results} == {
        ("ok", "3", 0.01, 1)
    }


def test_they_can_be_had_as_they_come() -> None:
    async def results() -> list[int]:
        return [result.index async for result in run_batch(adding(), ["x"] * 30, ordered=False)]

    assert sorted(asyncio.run(results())) == list(range(30))


def test_the_same_prompt_fifty_times_is_fifty_rows() -> None:
    assert len({result.run_id for result in run(adding(), ["the same"] * 50)}) == 50


def test_finished_rows_are_not_run_again_and_new_ones_are_added() -> None:
    first = run(adding(), ["a", "b"], name="sums")
    second = run(adding(), ["a", "b", "c"], name="sums")
    assert second[:2] == first
    assert len(second) == 3


@pytest.mark.parametrize(
    ("rows", "problem"), [(["a", "x"], r"row 2 is not what it was"), (["a"], r"1 rows, but .* started with 2")]
)
def test_a_changed_or_missing_row_is_refused(rows: list[str], problem: str) -> None:
    run(adding(), ["a", "b"], name="sums")
    with pytest.raises(ConfigError, match=problem):
        run(adding(), rows, name="sums")


def test_another_agent_is_refused_and_the_difference_named() -> None:
    run(adding(), ["a"], name="sums")
    with pytest.raises(ConfigError, match=r"max_iterations: now 3"):
        run(adding(max_iterations=3), ["a"], name="sums")


def test_a_bad_row_may_be_mended() -> None:
    rows: list[Any] = ["a", {"text": "b"}]
    assert statuses(run(adding(), rows, name="sums")) == ["ok", "error"]
    results = run(adding(), ["a", "b"], name="sums")
    assert [(result.status, result.attempts) for result in results] == [("ok", 1), ("ok", 1)]


def test_ids_must_differ_and_both_places_are_named() -> None:
    with pytest.raises(ConfigError, match=r"row 1: the id 'x' is that of row 0, too"):
        run(adding(), [{"prompt": "a", "id": "x"}, {"prompt": "b", "id": "x"}])


def test_a_begun_row_goes_on_from_its_journal(home: Path) -> None:
    replies = [calls(("add", {"a": 1, "b": 2})), {"error": {"status": 400, "message": "no"}}]
    (failed,) = run(adding(replies), ["a"], name="sums")
    assert (failed.status, failed.attempts) == ("error", 1)
    (kept,) = run(adding(), ["a"], name="sums")
    assert kept == failed
    (again,) = run(adding(), ["a"], name="sums", retry_errors=True)
    assert (again.status, again.attempts, again.run_id) == ("ok", 2, failed.run_id)
    journal = read_journal(home / "sums" / "runs" / f"{failed.run_id}.jsonl")
    assert [record["type"] for record in journal.own].count("tool_finished") == 1


def test_an_unsuccessful_answer_is_a_result_and_never_run_again() -> None:
    (result,) = run(adding([says("")]), ["a"], name="sums")
    assert result.status == "unsuccessful"
    (again,) = run(adding([says("")]), ["a"], name="sums", retry_errors=True)
    assert again == result


def test_only_what_may_pass_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_run.batch.row_run.waiting_time", lambda *_: 0.001)
    busy = {"error": {"status": 503, "message": "busy"}}
    passing = run(_with(_Passing(replies=[says("done")])), ["a"])[0]
    assert (passing.status, passing.attempts) == ("ok", 3)
    given_up = run(_with(ScriptedModel(replies=[busy])), ["a"], retries=1)[0]
    assert (given_up.status, given_up.attempts) == ("error", 2)
    assert "busy" in str(given_up.error)
    refused = run(_with(ScriptedModel(replies=[{"error": {"status": 400, "message": "bad"}}])), ["a"])[0]
    assert refused.attempts == 1


class _Passing(ScriptedModel):
    """Fails twice."""

    failures: int = 2

    async def complete(self, request: Any) -> Any:
        self.failures -= 1
        if self.failures >= 0:
            raise ModelError("busy", status=503, retryable=True)
        return await super().complete(request)


def _with(model: ScriptedModel) -> ReActAgent:
    return ReActAgent({"plugins": [{"kind": "model_retries", "attempts": 1}]}, model=model)


def test_ten_first_rows_that_fail_alike_end_the_batch() -> None:
    broken = [{"error": {"status": 401, "message": "bad key 0123456789abcdef"}}]
    with pytest.raises(BatchHalted, match=r"the first 10 rows all failed in the same way: .*bad key") as halted:
        run(adding(broken), ["a"] * 100, concurrency=2)
    assert (halted.value.exit_status, halted.value.progress.left > 80) == (3, True)
    assert statuses(run(adding(broken), ["a"] * 100, keep_going=True)) == ["error"] * 100


def test_the_limit_of_cost_counts_what_is_at_work() -> None:
    agent = adding(limits={"max_cost": 0.02})
    with pytest.raises(BatchHalted, match=r"the limit of \$0.05 was reached") as halted:
        run(agent, ["a"] * 50, concurrency=8, max_cost=0.05)
    progress = halted.value.progress
    assert progress.cost is not None
    assert 0.03 <= progress.cost <= 0.05 + 1e-9
    assert halted.value.exit_status == 5


def test_an_unknown_price_fails_closed() -> None:
    agent = adding([says("3", usage={"input_tokens": 10})])
    with pytest.raises(BatchHalted, match="an unknown sum spent"):
        run(agent, ["a"] * 50, concurrency=1, max_cost=0.05)


def test_an_interrupted_effect_is_unknown_and_so_the_row_is_unsuccessful(home: Path) -> None:
    effects: list[str] = []

    @tool
    def write(text: str) -> str:
        """Write something."""
        effects.append(text)
        return "written"

    def agent() -> ReActAgent:
        model = ScriptedModel(replies=[calls(("write", {"text": "x"})), says("done")])
        return ReActAgent({}, model=model, toolsets=[Functions(functions=[write])])

    (whole,) = run(agent(), ["a"], name="first")
    source = home / "first" / "runs" / f"{whole.run_id}.jsonl"
    queue = _begun_elsewhere(home, agent(), ["a"], name="second")
    lines = source.read_bytes().splitlines(keepends=True)
    cut = next(number for number, line in enumerate(lines, 1) if b'"tool_started"' in line)
    queue.write_bytes(b"".join(lines[:cut]).replace(str(whole.run_id).encode(), queue.stem.encode()))
    (result,) = run(agent(), ["a"], name="second")
    assert (result.status, effects) == ("unsuccessful", ["x"])
    assert "whether it took effect is unknown" in str(result.error)


def _begun_elsewhere(home: Path, agent: ReActAgent, rows: list[str], name: str) -> Path:
    """A batch whose only row was claimed by a process that is gone; the place of its journal."""
    from react_run.batch.inputs import rows_of
    from react_run.batch.running import open_queue

    async def begin() -> Path:
        queue = open_queue(Home.named(name), agent)
        await queue.add(rows_of(rows))
        (claim,) = await queue.take("gone", 1)
        path = (await queue.open(claim)).path
        await queue.close()
        return path

    return asyncio.run(begin())


def test_a_row_whose_worker_is_alive_is_left_to_it(home: Path) -> None:
    path = _begun_elsewhere(home, adding(), ["a"], name="sums")
    alive = FileSink(path)

    async def both() -> RowResult:
        batch = asyncio.ensure_future(_all(adding(), ["a"]))
        done, _ = await asyncio.wait((batch,), timeout=0.5)
        assert not done
        alive.close()
        return (await batch)[0]

    result = asyncio.run(both())
    assert (result.status, result.attempts) == ("ok", 2)


async def _all(agent: ReActAgent, rows: list[str]) -> list[RowResult]:
    return await run_batch(agent, rows, name="sums")


def test_a_row_that_ends_its_worker_every_time_ends_as_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_run.batch.row_run.MOST_ATTEMPTS", 1)
    _begun_elsewhere(home, adding(), ["a"], name="sums")
    (result,) = run(adding(), ["a"], name="sums")
    assert (result.status, result.error) == ("error", "it was started 1 times, and its worker died each time")


def test_a_second_batch_of_the_same_name_is_told_who_is_at_work() -> None:
    async def both() -> None:
        first = run_batch(adding(), ["a"] * 3, name="sums").__aiter__()
        await anext(first)
        with pytest.raises(ConfigError, match=r"batch sums .*process \d+ on .*, since .*, has it"):
            await run_batch(adding(), ["a"] * 3, name="sums")
        await first.aclose()

    asyncio.run(both())


def test_leaving_the_iteration_stops_the_rows_and_they_go_on_later() -> None:
    async def some() -> int:
        async for result in run_batch(adding(), ["a"] * 30, name="sums", concurrency=2):
            if result.index == 4:
                return result.index
        return -1

    assert asyncio.run(some()) == 4
    assert statuses(run(adding(), ["a"] * 30, name="sums")) == ["ok"] * 30


def test_what_a_plugin_breaks_is_that_rows_error() -> None:
    @tool(read_only=True)
    def odd(a: int) -> int:
        """Add."""
        return a

    agent = ReActAgent({}, model=_Breaking(replies=[says("fine")]), toolsets=[Functions(functions=[odd])])
    results = run(agent, ["good", "bad", "good"])
    assert statuses(results) == ["ok", "error", "ok"]
    assert "ZeroDivisionError" in str(results[1].error)


class _Breaking(ScriptedModel):
    async def complete(self, request: Any) -> Any:
        if request.messages[-1].text == "bad":
            raise ZeroDivisionError("oh")
        return await super().complete(request)


def test_a_lone_surrogate_and_secrets_do_no_harm() -> None:
    agent = adding([says("\ud800 hunter2hunter2")])
    agent.config.masker.add("hunter2hunter2")
    (result,) = run(agent, [{"prompt": "\ud800", "id": "\0\ud800"}])
    assert result.id == "\0\ud800"
    assert json.loads(result.line())["status"] == "ok"


def test_rows_are_read_as_they_are_needed_for_the_queue() -> None:
    def rows() -> Iterator[str]:
        yield from ("a", "b")

    assert statuses(run(adding(ANSWERED), rows())) == ["ok", "ok"]
    with pytest.raises(ConfigError, match="has no rows"):
        run(adding(), [])
    with pytest.raises(ConfigError, match=r"no row .*; the first: row 0: must be a text"):
        run(adding(), [3])


def test_a_provider_that_fails_tells_what_the_run_had_used() -> None:
    used = calls(("add", {"a": 1, "b": 2}), usage={"input_tokens": 7, "output_tokens": 1, "cost": 0.5})
    (result,) = run(adding([used, {"error": {"status": 400, "message": "no"}}]), ["a"])
    assert (result.status, result.cost) == ("error", 0.5)
