"""Resources that belong to an event loop: created on first use, released at the latest with the loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One resource per event loop.

    Args:
        make: Creates the resource, on first use.
        release: Releases it. The resource must not be an asynchronous generator: the loop closes those itself when it
            ends.
    """

    def __init__(self, make: Callable[[], T], release: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._release = release
        self._held: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T, None]]] = (
            WeakKeyDictionary()
        )

    async def get(self) -> T:
        """The resource of the running loop."""
        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is None:
            # The generator guarantees the release: a loop that ends closes its generators.
            lifetime = self._lifetime(loop)
            held = self._held[loop] = (await anext(lifetime), lifetime)
        return held[0]

    async def close(self) -> None:
        """Release the resource of the running loop; a later use creates a new one."""
        held = self._held.get(asyncio.get_running_loop())
        if held is not None:
            await held[1].aclose()

    async def _lifetime(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[T, None]:
        resource = self._make()
        try:
            yield resource
        finally:
            self._held.pop(loop, None)
            await self._release(resource)
