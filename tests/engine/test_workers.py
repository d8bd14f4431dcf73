"""Guides, sensors and checks that are plain functions run in threads, under deadlines (behaviour T2)."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from react_run import (
    Observation,
    PluginError,
    Run,
    RunResult,
    Signal,
    StopReason,
    ToolCall,
    Verdict,
    hookimpl,
    inline,
    tool,
)
from react_run.engine.workers import in_worker
from react_run.testing import agent_with, calls, run_agent, says

EVER = 30.0


@tool(read_only=True)
def look() -> str:
    """Look."""
    return "seen"


class Slow:
    """Does what a hook does, when it is let."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.entered = threading.Event()
        self.threads: list[str] = []

    def wait(self) -> None:
        self.threads.append(threading.current_thread().name)
        self.entered.set()
        self.go.wait(EVER)


class SlowGuide(Slow):
    @hookimpl
    def react_guide(self) -> None:
        self.wait()


class SlowSensor(Slow):
    @hookimpl
    def react_sense(self) -> None:
        self.wait()


class SlowCheck(Slow):
    @hookimpl
    def react_check_answer(self) -> None:
        self.wait()


REPLIES = [calls(("look", {})), says("done")]


@pytest.mark.parametrize("kind", [SlowGuide, SlowSensor, SlowCheck])
def test_what_hangs_does_not_outlive_the_run_timeout(kind: type[Slow]) -> None:
    slow = kind()
    began = time.perf_counter()
    result = run_agent(REPLIES, tools=[look], plugins=[slow], run_timeout=0.2)
    slow.go.set()
    assert (result.stop_reason, result.success) == (StopReason.TIMEOUT, False)
    assert time.perf_counter() - began < EVER / 2
    assert slow.threads == ["react-run-tool"]


def test_an_async_guide_is_bounded_by_the_run_timeout_too() -> None:
    class Guide:
        @hookimpl
        async def react_guide(self) -> str:
            await asyncio.sleep(EVER)
            return "late"

    result = run_agent([says("done")], plugins=[Guide()], run_timeout=0.1)
    assert (result.stop_reason, result.usage.requests) == (StopReason.TIMEOUT, 0)


@pytest.mark.parametrize("kind", [SlowGuide, SlowSensor, SlowCheck])
def test_what_hangs_holds_up_no_other_run(kind: type[Slow]) -> None:
    slow = kind()

    async def scenario() -> tuple[RunResult, RunResult]:
        slow_run = asyncio.ensure_future(agent_with(REPLIES, tools=[look], plugins=[slow]).run("go"))
        await asyncio.to_thread(slow.entered.wait, EVER)
        other = await agent_with([says("quick")]).run("go")
        assert not slow_run.done()
        slow.go.set()
        return await slow_run, other

    held, other = asyncio.run(scenario())
    assert (held.success, other.answer) == (True, "quick")


def test_a_check_that_runs_out_of_time_could_not_be_carried_out() -> None:
    slow = SlowCheck()
    result = run_agent([says("done")], plugins=[slow], tool_timeout=0.1)
    slow.go.set()
    assert (result.stop_reason, result.answer) == (StopReason.UNACCEPTED, "done")
    assert "could not be carried out" in result.messages[-1].text


def test_a_sensor_that_runs_out_of_time_has_not_let_anything_pass() -> None:
    slow = SlowSensor()
    result = run_agent(REPLIES, tools=[look], plugins=[slow], tool_timeout=0.1)
    slow.go.set()
    assert "this was not checked: SlowSensor could not be carried out" in result.messages[-2].text


def test_a_guide_that_runs_out_of_time_ends_the_run() -> None:
    slow = SlowGuide()
    with pytest.raises(PluginError, match="the guide 'SlowGuide' could not be carried out"):
        run_agent([says("done")], plugins=[slow], tool_timeout=0.1)
    slow.go.set()


def test_functions_of_one_run_take_turns() -> None:
    busy: list[int] = []
    most: list[int] = []

    class Sensor:
        @hookimpl
        def react_sense(self) -> None:
            busy.append(1)
            most.append(len(busy))
            time.sleep(0.002)
            busy.pop()

    run_agent([calls(*[("look", {})] * 1), *REPLIES], tools=[look], plugins=[Sensor(), Sensor()])
    assert max(most) == 1


def test_what_only_computes_may_stay_on_the_event_loop() -> None:
    where: list[threading.Thread] = []

    class Quick:
        @hookimpl
        @inline
        def react_guide(self) -> str:
            where.append(threading.current_thread())
            return "Be quick."

    run_agent([says("done")], plugins=[Quick()])
    assert where == [threading.main_thread()]


def test_a_hook_that_holds_up_the_loop_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Blocking:
        @hookimpl
        def react_settle(self) -> None:
            time.sleep(0.12)

    with caplog.at_level(logging.WARNING):
        run_agent(REPLIES, tools=[look], plugins=[Blocking()])
    assert any("plugin 'Blocking' took" in record.getMessage() for record in caplog.records)


def test_functions_that_a_file_names_run_in_threads_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "judge.py").write_text(
        "import threading\nSEEN = []\n"
        "def check(answer):\n    SEEN.append(threading.current_thread().name)\n    return True\n"
        "def sensor(call):\n    SEEN.append(threading.current_thread().name)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options: dict[str, Any] = {
        "checks": [{"kind": "python", "function": "judge:check"}],
        "plugins": [{"kind": "python_sensor", "function": "judge:sensor"}],
    }
    from react_run import ReActAgent, ScriptedModel
    from react_run.testing import Functions

    agent = ReActAgent(options, model=ScriptedModel(replies=REPLIES), toolsets=[Functions(functions=[look])])
    assert agent.run_sync("go").success
    import judge  # type: ignore[import-not-found]  # written above

    assert judge.SEEN == ["react-run-tool", "react-run-tool"]


def test_a_sensor_function_that_raises_ends_the_run_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # S6
    (tmp_path / "broken_sensor.py").write_text("def sensor(call):\n    return 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    from react_run import ReActAgent, ScriptedModel
    from react_run.errors import blamed, result_left
    from react_run.testing import Functions

    agent = ReActAgent(
        {"plugins": [{"kind": "python_sensor", "function": "broken_sensor:sensor"}]},
        model=ScriptedModel(replies=REPLIES),
        toolsets=[Functions(functions=[look])],
    )
    with pytest.raises(ZeroDivisionError) as failed:
        agent.run_sync("go")
    assert blamed(failed.value) == "plugin 'python_sensor' in react_sense"
    assert result_left(failed.value) is not None


def test_waiting_for_a_person_about_one_call_stops_no_other_clock() -> None:
    class Asks:
        @hookimpl
        async def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
            if call.name == "ask":
                with run.paused_for_user():
                    await asyncio.sleep(0.5)
            return None

    @tool(read_only=True, timeout=0.1)
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(EVER)
        return "never"

    @tool(read_only=True)
    async def ask() -> str:
        """Ask."""
        return "asked"

    result = run_agent([calls(("hang", {}), ("ask", {})), says("done")], tools=[hang, ask], plugins=[Asks()])
    hung, asked = result.steps
    assert (hung.error_code, asked.observation) == ("timeout", "asked")
    assert hung.seconds < 0.4


def test_a_verdict_of_a_plain_check_counts() -> None:
    class Check:
        @hookimpl
        def react_check_answer(self, answer: str) -> Verdict:
            return Verdict(accepted=answer == "yes", feedback="say yes")

    assert run_agent([says("no"), says("yes")], plugins=[Check()]).answer == "yes"


def test_a_signal_of_a_plain_sensor_counts() -> None:
    class Sensor:
        @hookimpl
        def react_sense(self) -> list[Signal]:
            return [Signal(severity="hint", message="better")]

    assert "[hint] better" in run_agent(REPLIES, tools=[look], plugins=[Sensor()]).messages[-2].text


def test_functions_of_one_run_take_turns_and_those_of_others_do_not_wait() -> None:
    together = threading.Barrier(2, timeout=EVER)

    @tool
    async def work(run: Run) -> str:
        """Have functions at work, five of this run, and one together with the other run's."""
        busy: list[str] = []

        def alone() -> None:
            busy.append("in")
            assert len(busy) == 1, "two functions of one run were at work at once"
            time.sleep(0.01)  # long enough for another thread to come in between
            busy.remove("in")

        await asyncio.gather(*(in_worker(run, alone) for _ in range(5)))
        return str(await in_worker(run, together.wait))

    async def scenario() -> list[RunResult]:
        agent = agent_with([calls(("work", {})), "done"], tools=[work])
        return list(await asyncio.gather(agent.run("go"), agent.run("go")))

    assert sorted(result.steps[0].observation for result in asyncio.run(scenario())) == ["0", "1"]
