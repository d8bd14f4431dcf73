"""Wakes tasks that wait for a change."""

from __future__ import annotations

import asyncio


class Signal:
    """Wakes all waiting tasks. To be used on the event loop's thread only."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[bool]] = set()

    def fire(self) -> None:
        """Wake all tasks that are waiting now."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(True)

    async def wait(self, seconds: float) -> bool:
        """Wait for the signal, at most ``seconds``; return whether it came."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        self._waiting.add(future)
        late = loop.call_later(seconds, _give_up, future)
        try:
            return await future
        finally:
            late.cancel()
            self._waiting.discard(future)


def _give_up(future: asyncio.Future[bool]) -> None:
    if not future.done():
        future.set_result(False)
