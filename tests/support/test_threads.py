"""Work in threads: a caller that gives up leaves nothing behind that computes on."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from contextlib import suppress

import pytest

from react_run.support import in_thread, threads


class Endless:
    """Work that never ends by itself, like a parser on a hostile page."""

    def __init__(self) -> None:
        self.begun, self.ended, self.steps = threading.Event(), threading.Event(), 0

    def __call__(self) -> None:
        self.begun.set()
        try:
            while True:
                with suppress(Exception):  # as parsers do
                    self.steps += 1
        finally:
            self.ended.set()


async def given_up(work: Endless, *, stoppable: bool) -> None:
    task = asyncio.ensure_future(in_thread(work, stoppable=stoppable))
    await asyncio.to_thread(work.begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_work_that_can_be_stopped_ends_when_its_caller_does() -> None:
    work = Endless()
    asyncio.run(given_up(work, stoppable=True))
    assert work.ended.wait(10)


def test_a_caller_that_gives_up_just_as_the_work_ends_breaks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    async def raced() -> None:
        for pause in range(300):
            task = asyncio.ensure_future(in_thread(lambda: sum(range(50)), stoppable=True))
            for _ in range(pause % 7):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    asyncio.run(raced())
    assert "Traceback" not in capsys.readouterr().err


def test_results_and_errors_are_handed_over() -> None:
    assert asyncio.run(in_thread(lambda: 5, stoppable=True)) == 5
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(lambda: 1 // 0, stoppable=True))


def test_what_comes_after_its_caller_gave_up_goes_nowhere_in_silence() -> None:
    reported: list[object] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: reported.append(about))
        for fails in (False, True):
            begun, may_end, ended = threading.Event(), threading.Event(), asyncio.Event()

            def work(
                begun: threading.Event = begun,
                may_end: threading.Event = may_end,
                ended: asyncio.Event = ended,
                fails: bool = fails,
            ) -> None:
                begun.set()
                may_end.wait(60)
                loop.call_soon_threadsafe(loop.call_later, 0.05, ended.set)  # after the result
                if fails:
                    raise ValueError("late")

            task = asyncio.ensure_future(in_thread(work))
            await asyncio.to_thread(begun.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            may_end.set()
            await ended.wait()

    asyncio.run(scenario())
    assert reported == []


def test_a_thread_is_stopped_before_it_takes_up_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end, there = threading.Event(), threading.Event(), []
    stop = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def work() -> None:
        there.append(threading.current_thread())
        begun.set()
        may_end.wait(60)

    def late(*about: object) -> object:
        may_end.set()  # it ends just now, and would be free for other work
        for _ in range(20):
            if there[0] in threads._idle:
                break
            threading.Event().wait(0.01)
        return stop(*about)

    async def scenario() -> str:
        task = asyncio.ensure_future(in_thread(work, stoppable=True))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        while there[0] not in threads._idle:  # noqa: ASYNC110
            await asyncio.sleep(0.001)  # nothing tells us when a thread is free
        return await in_thread(lambda: "other work", seconds=10)

    monkeypatch.setattr(ctypes.pythonapi, "PyThreadState_SetAsyncExc", late)
    assert asyncio.run(scenario()) == "other work"
