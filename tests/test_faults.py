"""Faults at the N-th await, for every N: nothing is lost, nothing is left behind (behaviour H2).

The coroutine of a run is driven by hand: at its N-th suspension something else comes back than what it waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.driving import Driven, Faults, Streaming, Suspending, Watch, finished, read, wait

from react_run import (
    Message,
    ReActAgent,
    Run,
    RunResult,
    StopReason,
    read_journal,
    tool,
)
from react_run.models.protocol import ProtocolChecker
from react_run.policies.deadline import Deadline
from react_run.support.threads import busy_threads
from react_run.testing import Functions

CALLS: list[list[tuple[str, dict[str, object]]]] = [[("read", {}), ("wait", {}), ("write", {})], [("wait", {})]]


class Fault(Exception):
    """What is thrown in."""


@tool(read_only=False, serial=True, inline=True)
def write() -> str:
    """Write, at once."""
    return "written"


@dataclass
class Outcome:
    """How a driven run ended."""

    count: int
    result: RunResult | None
    error: BaseException | None
    run: Run | None
    ended: list[str]


def drive(number: int, fault: Callable[[Run | None], BaseException | None], *, stream: bool = False) -> Outcome:
    """Run the agent once, with a fault at the ``number``-th suspension."""

    async def scenario() -> Outcome:
        faults = Faults(number, fault)
        watch = Watch(faults)
        agent = ReActAgent(
            {"run_timeout": 600.0},
            model=Suspending(calls=CALLS),
            toolsets=[Functions(functions=[read, wait, write])],
            plugins=[watch, *([Streaming()] if stream else [])],
            journal=journal,
        )

        async def driven() -> RunResult:
            result: RunResult = await Driven(agent.run("go"), faults)
            return result

        before = asyncio.all_tasks()
        task = asyncio.ensure_future(driven())
        await finished(task, before)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        run = faults.runs[0] if faults.runs else None
        if run is not None:
            recorded = read_journal(journal)
            assert recorded.run_id == run.id
            assert recorded.footer is not None
        return Outcome(faults.count, None if error else task.result(), error, run, watch.ended)

    with TemporaryDirectory() as directory:
        journal = Path(directory, "run.jsonl")
        return asyncio.run(scenario())


def whole(run: Run) -> None:
    """Every request has one result, in order, and the next request would be valid."""
    checker = ProtocolChecker()
    checker.advance([*run.messages, Message(role="user", content="go on")])
    assert len(run.outcome.steps) == sum(message.role == "tool" for message in run.messages)


NUMBERS = range(1, 1 + max(drive(0, lambda run: None, stream=stream).count for stream in (False, True)))


def test_there_is_something_to_interrupt() -> None:
    outcome = drive(0, lambda run: None)
    assert outcome.result is not None
    assert (outcome.result.answer, outcome.result.success, len(outcome.result.steps)) == ("ok", True, 4)
    assert outcome.count > 15


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_an_exception_at_any_await_ends_the_run_with_a_valid_history(number: int, stream: bool) -> None:
    outcome = drive(number, lambda run: Fault("injected"), stream=stream)
    if outcome.error is not None:
        assert isinstance(outcome.error, Fault)
        assert outcome.ended == (["Fault"] if outcome.run is not None else [])
    else:
        assert outcome.result is not None  # it hit a tool, a listener, or the very end
    if outcome.run is not None:
        whole(outcome.run)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_cancellation_at_any_await_propagates_and_leaves_a_valid_history(number: int, stream: bool) -> None:
    def cancel(run: Run | None) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    outcome = drive(number, cancel, stream=stream)
    if outcome.run is not None:
        whole(outcome.run)
    if outcome.result is None:
        assert isinstance(outcome.error, asyncio.CancelledError)
        assert outcome.ended in ([], ["CancelledError"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_deadline_at_any_await_gives_a_result_with_everything_so_far(number: int, stream: bool) -> None:
    def expire(run: Run | None) -> None:
        if run is not None and run.state(Deadline).running:
            run.state(Deadline).expire()

    outcome = drive(number, expire, stream=stream)
    assert outcome.result is not None, outcome.error
    assert outcome.result.stop_reason in (StopReason.TIMEOUT, StopReason.COMPLETED)
    assert outcome.result.answer.strip()
    assert outcome.ended == ["finished"]
    assert outcome.run is not None
    whole(outcome.run)


def test_no_thread_is_left_at_work() -> None:
    before = busy_threads()
    for number in NUMBERS:
        drive(number, lambda run: Fault("injected"))
    patience = time.monotonic() + 60
    while busy_threads() > before:  # a thread that was given up ends when its tool returns
        assert time.monotonic() < patience
        time.sleep(0.01)
