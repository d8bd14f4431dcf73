"""Shared by the adapters: naming a wrapper, awaiting its result, and reporting an invalid one."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import TypeVar

from react_run.errors import PluginError
from react_run.wrappers.bases import MaybeAwaitable

T = TypeVar("T")


class Adapter:
    """A plugin that delegates to a wrapper, and appears under the wrapper's name in messages."""

    def __init__(self, wrapper: object) -> None:
        self.wrapper = wrapper
        self.kind: str = getattr(wrapper, "kind", "") or type(wrapper).__name__


def unwrap(plugin: object) -> object:
    """The wrapper behind ``plugin``, or the plugin itself."""
    return plugin.wrapper if isinstance(plugin, Adapter) else plugin


async def awaited(returned: MaybeAwaitable[T]) -> T:
    """The value returned by a method that may be ``async def``."""
    if isawaitable(returned):
        waiting: Awaitable[T] = returned
        return await waiting
    return returned


def wrong(wrapper: object, method: str, returned: object, wanted: str) -> PluginError:
    """The error for a wrapper whose method returned an invalid value."""
    return PluginError(f"{type(wrapper).__name__}.{method} returned {type(returned).__name__}; return {wanted}")
