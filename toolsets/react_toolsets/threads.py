"""Work in a thread that a caller need not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """Run a plain function in a daemon thread, which a cancelled caller leaves behind.

    asyncio's own executor would keep the process from exiting while a resolver or an HTML parser hangs.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

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
            result = function()
        except Exception as caught:  # handed to whoever waits
            error = caught
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="react-run-work", daemon=True).start()
    return await future
