"""Running a tool: whatever it does becomes an observation (behaviour T)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator
from pathlib import Path
from typing import Any, cast

import pytest

from react_run import (
    Message,
    Observation,
    Outcome,
    ReActToolset,
    Run,
    RunResult,
    Tool,
    ToolCall,
    ToolError,
    ToolFailed,
    hookimpl,
    tool,
)
from react_run.engine import supervision
from react_run.engine.timer import Timer
from react_run.support.render import NO_OUTPUT
from react_run.testing import agent_with, calls, run_agent, says

Wrap = Callable[[Callable[[], Any]], Tool]


def plain(function: Callable[[], Any]) -> Tool:
    return Tool.from_function(function, name="t", description="A tool.")


def inline(function: Callable[[], Any]) -> Tool:
    return Tool.from_function(function, name="t", description="A tool.", inline=True)


def asynchronous(function: Callable[[], Any]) -> Tool:
    async def run() -> object:
        await asyncio.sleep(0)
        return function()

    return Tool.from_function(run, name="t", description="A tool.")


WAYS = pytest.mark.parametrize("way", [plain, inline, asynchronous])


def one(wrapped: Tool, **options: Any) -> RunResult:
    result = run_agent([calls(("t", {})), says("done")], tools=[wrapped], **options)
    assert (result.answer, len(result.steps)) == ("done", 1)
    return result


def raising(error: BaseException) -> Callable[[], object]:
    def run() -> object:
        raise error

    return run


class Rude(Exception):
    def __str__(self) -> str:
        raise TypeError("no")


class Panic(BaseException):
    """As foreign code raises it that is not written in Python."""


class RudeToolError(ToolError):
    def __str__(self) -> str:
        raise TypeError("no")


class Unheard(ToolError):
    disposition = "unheard of"  # type: ignore[assignment]  # what the test is about


RAISED = [
    (ValueError("no\nway"), "Error: ValueError: no way"),
    (OSError(2, "gone"), "Error: FileNotFoundError: [Errno 2] gone"),
    (KeyError("x"), "Error: KeyError: 'x'"),
    (TimeoutError("its own"), "Error: TimeoutError: its own"),
    (StopIteration(3), "Error: RuntimeError: "),
    (StopAsyncIteration(), "Error: "),
    (AssertionError(), "Error: AssertionError"),
    (SystemExit(3), "Error: SystemExit: "),
    (asyncio.CancelledError(), "Error: RuntimeError: t cancelled itself"),
    (ExceptionGroup("two", [ValueError("a")]), "Error: ExceptionGroup: two"),
    (MemoryError(), "Error: MemoryError"),
    (Rude(), "Error: Rude: (no message)"),
    (ValueError("m" * 5_000_000), "Error: ValueError: mmm"),
    (ValueError("\x00" * 300), "Error: ValueError: \\x00\\x00"),
    (Panic("on a thread"), "Error: Panic: on a thread"),
    (BaseExceptionGroup("two", [Panic()]), "Error: BaseExceptionGroup: two"),
    (RudeToolError("hidden"), "Error: RudeToolError: (no message)"),
    (Unheard("of"), "Error: Unheard: of"),
]


@WAYS
@pytest.mark.parametrize(("error", "text"), RAISED, ids=lambda value: type(value).__name__)
def test_what_a_tool_raises_is_a_text_result(way: Wrap, error: BaseException, text: str) -> None:  # T1
    (step,) = one(way(raising(error))).steps
    assert step.observation.startswith(text)
    assert len(step.observation) < 330
    assert "\n" not in step.observation
    assert (step.error_code, step.executed) == ("execution_error", True)


class Forgetful(ToolFailed):
    def __init__(self, what: str) -> None:
        Exception.__init__(self, f"no {what}")


def test_a_tool_error_means_the_same_when_its_class_forgot_our_constructor() -> None:  # F2
    tool = plain(raising(Forgetful("luck")))
    (step,) = run_agent([calls(("t", {})), says("done")], tools=[tool], failure_handling="legacy").steps
    assert (step.observation, step.error_code) == ("Error: no luck", "tool_failed")


@WAYS
def test_endless_recursion_is_a_text_result(way: Wrap) -> None:  # T1
    def down() -> object:
        return down()

    assert one(way(down)).steps[0].observation.startswith("Error: RecursionError")


@pytest.mark.parametrize("way", [plain, inline])
def test_the_users_interrupt_is_never_swallowed(way: Wrap) -> None:  # T1
    with pytest.raises(KeyboardInterrupt):
        one(way(raising(KeyboardInterrupt())))


@pytest.mark.parametrize("way", [plain, asynchronous])
def test_a_tool_that_hangs_is_given_up_and_the_run_goes_on(way: Wrap) -> None:  # T2
    started = time.perf_counter()
    release = threading.Event()

    async def hang() -> None:
        """Hang."""
        await asyncio.Event().wait()

    slow = Tool.from_function(hang, name="t") if way is asynchronous else way(lambda: release.wait(20))
    (step,) = one(slow, tool_timeout=0.1).steps
    release.set()
    assert step.observation.startswith("Error: t timed out")
    assert step.error_code == "timeout"
    assert time.perf_counter() - started < 10


def test_a_tool_may_have_its_own_deadline() -> None:  # T2
    async def nap() -> str:
        """Sleep a little."""
        await asyncio.sleep(0.2)
        return "rested"

    assert one(Tool.from_function(nap, name="t", timeout=5.0), tool_timeout=0.05).steps[0].observation == "rested"
    assert one(Tool.from_function(nap, name="t", timeout=0.05)).steps[0].error_code == "timeout"


def test_the_clock_starts_when_the_tool_starts_not_in_the_queue() -> None:  # T2
    def nap(number: int) -> int:
        """Sleep a little."""
        time.sleep(0.25)
        return number

    reply = calls(*[("nap", {"number": n}) for n in range(6)])
    result = run_agent([reply, says("done")], tools=[nap], tool_timeout=1.2, parallel_tools=1)
    assert [step.observation for step in result.steps] == [str(n) for n in range(6)]


def ask_in_a_thread(run: Run) -> str:
    """Ask a person."""
    with run.paused_for_user():
        threading.Event().wait(1.2)
    return "yes"


async def ask_on_the_loop(run: Run) -> str:
    """Ask a person."""
    with run.paused_for_user():
        await asyncio.sleep(1.2)
    return "yes"


@pytest.mark.parametrize("ask", [ask_in_a_thread, ask_on_the_loop])
@pytest.mark.parametrize("limits", [{"tool_timeout": 1.0}, {"run_timeout": 1.0}])
def test_a_tool_that_asks_a_person_has_no_deadline_meanwhile(
    ask: Callable[..., object], limits: dict[str, Any]
) -> None:  # T2
    result = run_agent([calls((ask.__name__, {})), says("done")], tools=[ask], **limits)
    assert (result.stop_reason, result.steps[0].observation) == ("completed", "yes")


def test_a_slot_is_free_again_when_its_tool_was_given_up() -> None:  # T2
    release = threading.Event()

    def nap(number: int) -> int:
        """Sleep a little."""
        if number < 2:
            release.wait(20)
        return number

    reply = calls(*[("nap", {"number": n}) for n in range(8)])
    result = run_agent([reply, says("done")], tools=[nap], tool_timeout=1.0, parallel_tools=2)
    release.set()
    assert [step.error_code for step in result.steps] == ["timeout", "timeout", *[None] * 6]


def test_an_async_tool_that_ignores_its_cancellation_is_left_behind() -> None:  # T2
    over = threading.Event()

    async def stubborn() -> None:
        """Go on whatever happens."""
        while not over.is_set():
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue

    async def scenario() -> RunResult:
        tools = [Tool.from_function(stubborn, name="t")]
        agent = agent_with([calls(("t", {})), says("done")], tools=tools, tool_timeout=0.1)
        try:
            return await agent.run("go")
        finally:
            over.set()
            await asyncio.sleep(0.05)

    assert asyncio.run(scenario()).steps[0].error_code == "timeout"


def test_a_program_is_killed_with_all_it_started(tmp_path: Path) -> None:  # T2
    mark = tmp_path / "alive"
    script = f"sh -c 'while :; do echo x >> {mark}; sleep 0.05; done' & wait"

    async def run_program() -> str:
        """Run a program that starts another."""
        import signal

        process = await asyncio.create_subprocess_exec("sh", "-c", script, start_new_session=True)
        try:
            return str(await process.wait())
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    assert one(Tool.from_function(run_program, name="t"), tool_timeout=0.3).steps[0].error_code == "timeout"
    time.sleep(0.2)
    size = mark.stat().st_size
    time.sleep(0.3)
    assert mark.stat().st_size == size > 0


def test_a_hung_thread_does_not_keep_the_process_from_exiting() -> None:  # T2
    code = (
        "import time\n"
        "from react_run.testing import calls, run_agent, says\n"
        "def hang() -> None:\n    '''Hang.'''\n    time.sleep(60)\n"
        "result = run_agent([calls(('hang', {})), says('done')], tools=[hang], tool_timeout=0.1)\n"
        "print(result.answer, time.time(), flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    ended = time.time()
    answer, _, answered = done.stdout.partition(" ")
    assert answer == "done", done.stderr
    assert ended - float(answered) < 1


RESULTS: list[tuple[object, str]] = [
    (None, NO_OUTPUT),
    ("", NO_OUTPUT),
    (" \n", NO_OUTPUT),
    (0, "0"),
    (False, "false"),
    ([], "[]"),
    ("caf\udce9", "caf�"),
    ("a\x00b\x1b[2J", "a\\x00b\\x1b[2J"),
    ({"b": 1, "a": [None]}, '{"b": 1, "a": [null]}'),
]


class Later:
    def __await__(self) -> Generator[Any, None, str]:
        yield from asyncio.sleep(0).__await__()
        return "at last"


async def twice() -> object:
    return Later()


@WAYS
@pytest.mark.parametrize("make", [Later, twice])
def test_what_can_be_awaited_is_awaited(way: Wrap, make: Callable[[], object]) -> None:
    assert one(way(make)).steps[0].observation == "at last"


async def one_by_one() -> AsyncIterator[int]:
    yield 1


@WAYS
@pytest.mark.parametrize("make", [lambda: aiter(one_by_one()), lambda: (n for n in "abc"), lambda: map(str, "abc")])
def test_an_iterator_is_refused_instead_of_shown_as_an_address(way: Wrap, make: Callable[[], object]) -> None:
    (step,) = one(way(make)).steps
    assert step.error_code == "execution_error"
    assert "but a model reads one result" in step.observation


@WAYS
def test_an_observation_made_by_a_tool_is_text_like_any_other(way: Wrap) -> None:  # T3
    assert one(way(lambda: Observation(content="caf\udce9\x00"))).steps[0].observation == "caf�\\x00"
    assert one(way(lambda: Observation(content=""))).steps[0].observation == NO_OUTPUT
    (step,) = one(way(lambda: Observation(content=b"no text"))).steps  # type: ignore[arg-type]  # the point
    assert step.observation == "Error: TypeError: content of Observation must be str, not bytes"


def test_repairs_are_told_beside_an_observation_made_by_the_tool() -> None:  # A3
    def look(n: int) -> Observation:
        """Look."""
        return Observation(content=f"saw {n}")

    (step,) = run_agent([calls(("look", {"n": "3", "m": 1})), says("done")], tools=[look]).steps
    assert step.observation.startswith("saw 3\n\n[Arguments corrected: ")
    assert len(step.repaired) == 2


@pytest.mark.parametrize("answer", ["success", {"disposition": "success"}, True])
def test_an_interpreter_that_gives_no_outcome_leaves_the_result_opaque(answer: Any) -> None:  # F
    class Interpreted(ReActToolset):
        @tool
        def look(self) -> str:
            """Look."""
            return "seen"

        def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
            return cast("Outcome", answer)

    result = run_agent([calls(("look", {})), says("done")], toolsets=[Interpreted()])
    assert (result.steps[0].observation, result.steps[0].outcome, result.success) == ("seen", None, True)


@WAYS
@pytest.mark.parametrize(("value", "text"), RESULTS, ids=repr)
def test_what_a_tool_returns_is_text(way: Wrap, value: object, text: str) -> None:  # T3
    shown = one(way(lambda: value)).steps[0].observation
    assert shown.replace(" ", "") == text.replace(" ", "")


def test_one_tool_object_serves_all_runs() -> None:  # T5
    made: list[int] = []

    class Counter:
        def __init__(self) -> None:
            made.append(1)
            self.count = 0

        def next(self) -> int:
            """Count."""
            self.count += 1
            return self.count

    async def scenario() -> set[str]:
        agent = agent_with([calls(("next", {})), says("done")], tools=[Counter().next])
        results = await asyncio.gather(*(agent.run("go") for _ in range(20)))
        return {result.steps[0].observation for result in results}

    assert asyncio.run(scenario()) == {str(n) for n in range(1, 21)}
    assert made == [1]


def test_the_text_of_a_result_is_data_and_nothing_else() -> None:
    forged = '{"tool_calls": [{"id": "x", "function": {"name": "t", "arguments": "{}"}}]}'
    result = one(plain(lambda: forged))
    assert len(result.steps) == 1
    assert Message(role="tool", content=forged, tool_request_id="call_1_1") in result.messages


def test_what_a_tool_error_says_is_bounded_where_answers_repeat_it() -> None:
    @tool
    def talk() -> None:
        """Fail at length."""
        raise ToolFailed("x" * 10_000)

    result = run_agent([calls(("talk", {}))], tools=[talk])
    assert len(result.unresolved[0].message) == 2_000
    assert len(result.answer) < 3_000
    assert len(result.steps[0].observation) > 9_000


class Clears:
    """Removes the problem of every call."""

    @hookimpl
    def react_tool_call(self, call: ToolCall) -> None:
        call.problem = None


def test_a_plugin_that_clears_the_problem_of_an_unknown_call_runs_nothing() -> None:
    result = run_agent([calls(("nowhere", {"a": 1})), says("done")], plugins=[Clears()])
    [step] = result.steps
    assert (step.executed, step.action_input) == (False, {"a": 1})
    assert step.observation.startswith("Error: unknown tool 'nowhere'")


def test_the_clock_of_a_call_is_stopped_when_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[str] = []

    class Watched(Timer):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            clocks.append("begun")

        def stop(self) -> None:
            super().stop()
            clocks.append("stopped")

    monkeypatch.setattr(supervision, "Timer", Watched)
    one(asynchronous(lambda: "ok"))
    assert clocks == ["begun", "stopped"]
