"""What the components of an agent hold: acquired once, by whoever comes first, and released in reverse."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import AsyncExitStack

from react_run.components import Component


class Lifetimes:
    """Opens and closes components, for any number of runs, event loops and threads at once."""

    def __init__(self, components: Iterable[Component]) -> None:
        self._components = list(dict.fromkeys(components))
        self._opened: list[Component] = []
        self._under_way: dict[Component, Future[None]] = {}

    @property
    def begun(self) -> bool:
        """Whether everything is open."""
        return len(self._opened) == len(self._components)

    async def begin(self) -> None:
        """Open what is not open; wait for what another run is opening. What failed to open is tried again next time."""
        for component in self._components:
            while component not in self._opened:
                await self._open(component)

    async def end(self) -> None:
        """Close what is open, last opened first, even when one fails; what may is closed at the same time."""
        opened, self._opened = self._opened, []
        async with AsyncExitStack() as stack:
            for component in opened:
                if component.closes_anywhere:
                    stack.push_async_callback(_over, asyncio.ensure_future(component.close()))
                else:
                    stack.push_async_callback(component.close)

    async def _open(self, component: Component) -> None:
        mine: Future[None] = Future()
        first = self._under_way.setdefault(component, mine)
        if first is not mine:
            await asyncio.shield(asyncio.wrap_future(first))
            return
        try:
            if component not in self._opened:  # another thread may have finished just now
                await component.open()
                self._opened.append(component)
        finally:
            del self._under_way[component]
            mine.set_result(None)


async def _over(closing: asyncio.Future[None]) -> None:
    await closing
