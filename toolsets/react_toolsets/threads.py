"""Work in a thread that a caller need not wait for, and that can be stopped."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class _Stopped(BaseException):
    """Nobody waits for this work any more. No library takes it for a failure of its own."""


async def in_thread(function: Callable[[], T], *, stoppable: bool = False) -> T:
    """Run a plain function in a daemon thread, which a cancelled caller leaves behind.

    asyncio's own executor would keep the process from exiting while a resolver or an HTML parser hangs.

    Args:
        function: What to run.
        stoppable: Stop it at its next step in Python when the caller is cancelled, so that a page which takes a parser
            minutes does not compute on behind the deadline. It must hold nothing that has to be given back.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    lock, finished = threading.Lock(), threading.Event()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # a result of T, since there is no error

    def work() -> None:
        result, error = None, None
        try:
            try:
                result = function()
            except Exception as caught:  # handed to whoever waits
                error = caught
            with lock:
                finished.set()
        except _Stopped:
            return
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    thread = threading.Thread(target=work, name="react-run-work", daemon=True)
    thread.start()
    try:
        return await future
    except asyncio.CancelledError:
        with lock:  # once it has finished, it must not be hit while it hands over its result
            if stoppable and not finished.is_set() and thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stopped))
        raise
