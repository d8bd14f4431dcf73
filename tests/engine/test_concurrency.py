"""Ordered concurrency and threads that can be given up on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import suppress
from contextvars import ContextVar
from functools import partial

import pytest

from react_run.engine.concurrency import gather_ordered
from react_run.support.threads import in_thread, run_blocking

colour: ContextVar[str] = ContextVar("colour", default="none")


def test_results_come_in_request_order_whatever_finishes_first() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        gate, finished = asyncio.Event(), []

        async def slow() -> str:
            await gate.wait()
            finished.append("slow")
            return "slow"

        async def quick() -> str:
            finished.append("quick")
            gate.set()
            return "quick"

        return await gather_ordered([slow, quick], 2), finished

    assert asyncio.run(scenario()) == (["slow", "quick"], ["quick", "slow"])


def test_no_more_than_the_limit_run_at_once() -> None:
    async def scenario() -> int:
        running = most = 0

        async def job() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

        await gather_ordered([job] * 20, 3)
        return most

    assert asyncio.run(scenario()) == 3


def test_every_job_finishes_before_the_first_failure_in_order_is_raised() -> None:
    async def scenario() -> list[int]:
        done: list[int] = []

        async def job(number: int) -> None:
            if number in (1, 3):
                raise ValueError(number)
            await asyncio.sleep(0)
            done.append(number)

        with pytest.raises(ValueError, match="1"):
            await gather_ordered([lambda n=n: job(n) for n in range(5)], 5)  # type: ignore[misc]  # mypy: lambda default
        return done

    assert asyncio.run(scenario()) == [0, 2, 4]


def test_a_job_that_cancels_itself_fails_alone() -> None:
    async def scenario() -> list[int]:
        done: list[int] = []

        async def job(number: int) -> None:
            if number == 0:
                raise asyncio.CancelledError("of its own")
            done.append(number)

        with pytest.raises(asyncio.CancelledError, match="of its own"):
            await gather_ordered([partial(job, number) for number in range(3)], 1)
        return done

    assert asyncio.run(scenario()) == [1, 2]


def test_no_job_starts_after_cancellation_even_if_one_swallows_it() -> None:
    async def scenario() -> list[int]:
        begun: list[int] = []
        first = asyncio.Event()

        async def job(number: int) -> None:
            begun.append(number)
            first.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

        task = asyncio.ensure_future(gather_ordered([partial(job, number) for number in range(3)], 1))
        await first.wait()
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()
        return begun

    assert asyncio.run(scenario()) == [0]


def test_cancelling_the_gathering_cancels_every_job() -> None:
    async def scenario() -> int:
        cancelled = 0

        async def job() -> None:
            nonlocal cancelled
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1
                raise

        task = asyncio.ensure_future(gather_ordered([job] * 4, 4))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()
        return cancelled

    assert asyncio.run(scenario()) == 4


def test_a_plain_function_runs_off_the_loop_thread_with_the_callers_context() -> None:
    async def scenario() -> tuple[str, bool, str]:
        colour.set("blue")

        def work() -> tuple[str, bool]:
            seen = colour.get()
            colour.set("leaked")
            return seen, threading.current_thread() is threading.main_thread()

        return (*await in_thread(work), colour.get())

    assert asyncio.run(scenario()) == ("blue", False, "blue")


def test_what_a_thread_raises_is_raised_to_the_caller_even_stop_iteration() -> None:
    def stop() -> None:
        raise StopIteration("no more")

    with pytest.raises(RuntimeError, match="no more"):
        asyncio.run(in_thread(stop))


def test_idle_threads_are_used_again() -> None:
    async def scenario() -> int:
        for _ in range(50):
            await in_thread(int)
        return sum(thread.name == "react-run-tool" for thread in threading.enumerate())

    before = sum(thread.name == "react-run-tool" for thread in threading.enumerate())
    assert asyncio.run(scenario()) <= before + 2


def test_a_hung_thread_does_not_keep_the_process_from_exiting() -> None:
    script = (
        "import asyncio, threading\n"
        "from react_run.support.threads import in_thread, run_blocking\n"
        "async def main():\n"
        "    try:\n"
        "        async with asyncio.timeout(0.05):\n"
        "            await in_thread(threading.Event().wait)\n"
        "    except TimeoutError:\n"
        "        print('given up')\n"
        "run_blocking(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert done.stdout == "given up\n", done.stderr


def test_a_coroutine_runs_from_plain_code_and_inside_a_running_loop() -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    async def notebook() -> int:
        return run_blocking(double(21))

    assert run_blocking(double(2)) == 4
    assert asyncio.run(notebook()) == 42


def test_what_runs_in_a_notebook_ends_when_the_cell_is_interrupted() -> None:
    code = (
        "import asyncio, os, signal\n"
        "from react_run.support.threads import run_blocking\n"
        "async def work():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        await asyncio.Event().wait()\n"
        "    finally:\n"
        "        print('ended', flush=True)\n"
        "async def cell():\n"
        "    try:\n"
        "        run_blocking(work())\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', flush=True)\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_until_complete(cell())\n"
        "loop.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == ["ended", "interrupted"], done.stderr


def test_a_task_that_ignores_its_cancellation_is_left_behind() -> None:
    script = (
        "import asyncio\nfrom react_run.support.threads import run_blocking\n"
        "async def stubborn():\n"
        "    while True:\n"
        "        try:\n            await asyncio.Event().wait()\n"
        "        except asyncio.CancelledError:\n            continue\n"
        "async def main():\n    global task\n    task = asyncio.ensure_future(stubborn())\n    await asyncio.sleep(0)\n"
        "    return 'done'\n"
        "print(run_blocking(main()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert done.stdout == "done\n", done.stderr


def test_a_task_that_was_asked_to_stop_may_clean_up_with_a_task_of_its_own() -> None:
    cleaned: list[str] = []

    async def clean() -> None:
        cleaned.append("yes")

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.shield(asyncio.ensure_future(clean()))

    async def main() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        task.cancel()

    run_blocking(main())
    assert cleaned == ["yes"]
