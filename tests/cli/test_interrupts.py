"""Driving one coroutine from the main thread, as the command line does."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from react_run.cli.exit import Interrupted
from react_run.cli.interrupts import drive

PATIENCE = 20.0
"""Seconds after which an interrupt counts as lost."""


def test_an_interrupt_that_another_thread_got_wakes_the_sleeping_loop() -> None:
    lost: list[str] = []

    async def sleep_until_somebody_comes() -> None:
        came = asyncio.Event()
        loop = asyncio.get_running_loop()

        def gets_it() -> None:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        def gives_up() -> None:
            lost.append("nobody woke the loop")
            loop.call_soon_threadsafe(came.set)

        watch = threading.Timer(PATIENCE, gives_up)
        watch.start()
        # Once the loop has nothing to do but to sleep.
        loop.call_soon(threading.Timer(0.1, gets_it).start)
        try:
            await came.wait()
        finally:
            watch.cancel()

    before = signal.getsignal(signal.SIGINT)
    with asyncio.Runner() as runner, pytest.raises(Interrupted) as ended:
        drive(sleep_until_somebody_comes(), runner=runner)
    assert (ended.value.status, lost) == (130, [])
    assert signal.getsignal(signal.SIGINT) is before
