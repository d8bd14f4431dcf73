"""The order of the plugins of an agent file: ``plugins:``, then the level lists, with each wrapper as a plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from react_run.components.building import has_hooks
from react_run.config.wrapper_levels import of_unknown_level
from react_run.errors import PluginError
from react_run.wrappers import RequestPreprocessor, ResponsePostprocessor, ToolCallWrapper
from react_run.wrappers.calling import Adapter

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig

LISTS = (
    "request_preprocessors",
    "response_postprocessors",
    "llm_request_wrappers",
    "iteration_preprocessors",
    "iteration_postprocessors",
    "iteration_wrappers",
    "tool_wrappers",
)
"""The level lists, outermost first: pre- and postprocessors surround the wrappers of their level."""


def plugin_order(given: Iterable[object], config: ReActAgentConfig) -> tuple[list[object], list[object]]:
    """The plugins passed from Python and those of an agent file, outermost first.

    Raises:
        PluginError: A wrapper is in a list that does not say what it surrounds.
    """
    outer, inner = list(_each(_anywhere, given)), list(_each(_anywhere, config.plugins))
    for level in LISTS:
        inner += _each(partial(_at, level), getattr(config, level))
    once = {id(plugin): plugin for plugin in inner}  # a plugin with hooks may be in several level lists
    inner = list(once.values())
    if any(isinstance(plugin, Adapter) for plugin in (*outer, *inner)):
        inner = [*_helpers(config), *inner]
    return outer, inner


def _each(place: Callable[[object], Iterator[object]], entries: Iterable[object]) -> Iterator[object]:
    for entry in entries:
        yield from place(entry)


def _helpers(config: ReActAgentConfig) -> list[object]:
    """The plugins that implement wrappers."""
    from react_run.wrappers.outbox import Delivery

    if not (config.request_preprocessors or config.llm_request_wrappers):
        return [Delivery()]
    from react_run.wrappers.whole_runs import ApplyRunOverrides

    return [Delivery(), ApplyRunOverrides()]


def _anywhere(entry: object) -> Iterator[object]:
    if misplaced := of_unknown_level(entry):
        raise PluginError(misplaced)
    if isinstance(entry, ToolCallWrapper):
        yield _around_tool_call(entry)
    if not isinstance(entry, ToolCallWrapper) or has_hooks(entry):
        yield entry


def _at(level: str, entry: object) -> Iterator[object]:
    made = _ADAPTERS[level](entry)
    if made is not None:
        yield made
    if made is None or has_hooks(entry):
        yield entry


def _around_tool_call(entry: object) -> object:
    from react_run.wrappers.tool_calls import AroundToolCall

    return AroundToolCall(entry) if isinstance(entry, ToolCallWrapper) else None


def _around_run(entry: object, *, before: bool = True, after: bool = True) -> object:
    from react_run.wrappers.whole_runs import AroundRun

    sides = _before(entry, before), _after(entry, after)
    return AroundRun(*sides) if any(sides) else None


def _around_model_call(entry: object, *, before: bool = True, after: bool = True) -> object:
    from react_run.wrappers.model_calls import AroundModelCall

    sides = _before(entry, before), _after(entry, after)
    return AroundModelCall(*sides) if any(sides) else None


def _before(entry: object, wanted: bool) -> RequestPreprocessor | None:
    return entry if wanted and isinstance(entry, RequestPreprocessor) else None


def _after(entry: object, wanted: bool) -> ResponsePostprocessor | None:
    return entry if wanted and isinstance(entry, ResponsePostprocessor) else None


_ADAPTERS: dict[str, Callable[[object], object]] = {
    "request_preprocessors": lambda entry: _around_run(entry, after=False),
    "response_postprocessors": lambda entry: _around_run(entry, before=False),
    "llm_request_wrappers": _around_run,
    "iteration_preprocessors": lambda entry: _around_model_call(entry, after=False),
    "iteration_postprocessors": lambda entry: _around_model_call(entry, before=False),
    "iteration_wrappers": _around_model_call,
    "tool_wrappers": _around_tool_call,
}
