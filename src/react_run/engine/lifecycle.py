"""Opens the components of an agent once, on first use, and closes them in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import AsyncExitStack

from react_run.components import Component


class ComponentLifecycle:
    """Opens and closes components, for any number of concurrent runs, event loops and threads.

    Args:
        components: The components to open and close.
        shared: The lifecycle of another agent; shared components are opened there, once for both.
    """

    def __init__(self, components: Iterable[Component], shared: ComponentLifecycle | None = None) -> None:
        self._shared = shared
        elsewhere: Iterable[Component] = () if shared is None else shared.components
        self._components: list[Component] = [one for one in dict.fromkeys(components) if one not in elsewhere]
        self._opened: list[Component] = []
        self._under_way: dict[Component, Future[None]] = {}

    @property
    def components(self) -> tuple[Component, ...]:
        """The components that are opened here."""
        return tuple(self._components)

    @property
    def is_open(self) -> bool:
        """Whether everything is open."""
        return len(self._opened) == len(self._components) and (self._shared is None or self._shared.is_open)

    async def open(self) -> None:
        """Open everything that is not open; wait for components that another run is opening. A failure is retried next
        time.
        """
        if self._shared is not None:
            await self._shared.open()
        for component in self._components:
            while component not in self._opened:
                await self._open(component)

    async def close(self) -> None:
        """Close everything that is open, last opened first, even if one fails; components that allow it are closed
        concurrently.
        """
        opened, self._opened = self._opened, []
        async with AsyncExitStack() as stack:
            if self._shared is not None:
                stack.push_async_callback(self._shared.close)
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
