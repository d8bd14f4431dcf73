"""Runs one coroutine from the main thread: the first Ctrl-C ends it cleanly, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

from react_run.cli.exit import Interrupted, end_if_interrupted
from react_run.support.threads import run_blocking

T = TypeVar("T")
GRACE = 0.8
"""Seconds a run may take to end cleanly after the first Ctrl-C."""


def drive(
    main: Coroutine[Any, Any, T],
    *,
    at_once: Callable[[], None] = lambda: None,
    runner: asyncio.Runner | None = None,
) -> T:
    """Run ``main`` until it finishes.

    Args:
        main: What to run.
        at_once: Called before the process exits without waiting any longer.
        runner: The runner whose loop to use; it continues afterwards, so only the second Ctrl-C exits without waiting.

    Raises:
        Interrupted: SIGINT or SIGTERM ended it; ``main`` was cancelled and has ended.
    """
    try:
        end_if_interrupted()
    except Interrupted:
        main.close()
        raise
    if runner is not None:
        return runner.run(_Drive(at_once, patient=True).guard(main))
    return run_blocking(_Drive(at_once, patient=False).guard(main))


class _Drive:
    def __init__(self, at_once: Callable[[], None], *, patient: bool) -> None:
        self.at_once, self.patient = at_once, patient
        self.status = self.heard = 0
        self.leaving = False
        self.task: asyncio.Task[Any] | None = None

    async def guard(self, main: Coroutine[Any, Any, T]) -> T:
        self.task = task = asyncio.ensure_future(main)
        with self._listening(task.get_loop()):
            try:
                return await task
            except asyncio.CancelledError:
                if self.status:
                    raise Interrupted(self.status) from None
                raise

    @contextmanager
    def _listening(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        before = {}
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            with suppress(ValueError, RuntimeError, NotImplementedError):  # not the main thread, or not POSIX
                # Lets a signal wake the loop, even if another thread received it or it came just before the loop slept.
                loop.add_signal_handler(number, lambda: None)
            with suppress(ValueError):  # only the main thread receives signals
                signal.signal(number, self._heard)
                before[number] = handler
        try:
            yield
        finally:
            for number, handler in before.items():
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _heard(self, number: int, _: FrameType | None) -> None:
        """A handler of the interpreter, not of the loop: it is called even while synchronous code blocks the loop."""
        self.heard += 1
        if self.heard == 1:
            self.status = 128 + number
            assert self.task is not None  # the handlers are set after it
            self.task.get_loop().call_soon_threadsafe(self.task.cancel)
            if not self.patient:
                self._leave_in(GRACE)
        elif self.heard == 2:
            self._leave_in(0)

    def _leave_in(self, seconds: float) -> None:
        watch = threading.Timer(seconds, self.leave)
        watch.daemon = True
        watch.start()

    def leave(self) -> NoReturn:
        """Exit without waiting for anything, not even for output that cannot be flushed."""
        if not self.leaving:
            self.leaving = True
            self.at_once()
        os._exit(self.status)
