"""What the adapters share: how a wrapper is named, awaited, and told that it returned something that it may not."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import TypeVar

from react_run.errors import PluginError
from react_run.wrappers.bases import MaybeAwaitable

T = TypeVar("T")


class Adapter:
    """A plugin that hands on to a wrapper, under whose name messages speak of it."""

    def __init__(self, wrapper: object) -> None:
        self.wrapper = wrapper
        self.kind: str = getattr(wrapper, "kind", "") or type(wrapper).__name__


def unwrap(plugin: object) -> object:
    """The wrapper that ``plugin`` hands on to, else the plugin itself."""
    return plugin.wrapper if isinstance(plugin, Adapter) else plugin


async def awaited(returned: MaybeAwaitable[T]) -> T:
    """What a method that may be ``async def`` returned."""
    if isawaitable(returned):
        waiting: Awaitable[T] = returned
        return await waiting
    return returned


def wrong(wrapper: object, method: str, returned: object, wanted: str) -> PluginError:
    """The error for a wrapper whose method returned something that it may not."""
    return PluginError(f"{type(wrapper).__name__}.{method} returned {type(returned).__name__}; return {wanted}")
