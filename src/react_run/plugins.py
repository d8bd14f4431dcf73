"""The plugin manager of one agent: its plugins and their order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import FunctionType, MethodType, NoneType
from typing import get_args, get_origin

import pluggy

from react_run.components import Component
from react_run.components.errors import near
from react_run.components.kinds import kind_of_class
from react_run.errors import PluginError
from react_run.hooks import HookTable, IdentityProxy, Mask, check_form, hook_names
from react_run.hookspecs import Hooks
from react_run.messages import ModelResponse
from react_run.outcome import Observation, Signal, Verdict
from react_run.run import Iteration, RunResult
from react_run.wrappers.calling import unwrap


class Manager(pluggy.PluginManager):
    """Skips attributes of component classes that are not hooks: a class has a hundred, and inspecting them is slow."""

    _skipped: Collection[str] = ()

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register a plugin, as pluggy does."""
        self._skipped = _not_hooks(type(plugin)) if isinstance(plugin, Component) else ()
        return super().register(plugin, name)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return the hook options of one attribute, as pluggy does."""
        return None if name in self._skipped else super().parse_hookimpl_opts(plugin, name)


_BINDING = ("react_tool_permit", "react_ask")
"""The hooks whose answers also bind subagents: what they may do, and whom they ask."""
_OF_EVERY_COMPONENT = frozenset(dir(Component))
_MARK = "react_run_impl"
"""The attribute in which ``hookimpl`` stores its options."""
_BASES = frozenset(Component.__mro__)
_FUNCTIONS = (FunctionType, MethodType, classmethod, staticmethod)
"""The types that pluggy accepts as hooks."""
_BY_IDENTITY = (object.__eq__, Component.__eq__)

_NAMED = {kind.__name__: kind for kind in (Iteration, ModelResponse, Observation, RunResult, Signal, Verdict)}
"""The types of hook answers; the specification names them without importing them."""


def _answers(hook: str) -> tuple[type, ...]:
    """The types that a plugin may answer with, besides ``None``, according to the specification; any type if it does
    not say.
    """
    said: object = eval(getattr(Hooks, hook).__annotations__["return"], _NAMED)
    kinds = [get_origin(part) or part for part in get_args(said) or (said,) if part not in (None, NoneType)]
    return tuple(kind for kind in kinds if isinstance(kind, type)) or (object,)


ANSWERS: Mapping[str, tuple[type, ...]] = {hook: _answers(hook) for hook in hook_names()}
"""The answer types of each hook, besides ``None``."""


def _not_hooks(cls: type) -> frozenset[str]:
    """The attributes of a component's class that neither it nor any base class marks as a hook."""
    own = [vars(base) for base in cls.__mro__ if base not in _BASES]
    functions = ((name, value) for names in own for name, value in names.items() if isinstance(value, _FUNCTIONS))
    marked = {name for name, value in functions if hasattr(value, _MARK)}
    return _OF_EVERY_COMPONENT.union(*own) - marked


def hook_table(plugins: Iterable[object], mask: Mask = str) -> HookTable:
    """Register ``plugins``, outermost first, and compile their hooks; ``mask`` removes secrets from log records.

    Raises:
        PluginError: An implementation does not match its hook, names an unknown hook, or has an unsupported form.
    """
    manager = Manager("react_run")
    manager.add_hookspecs(Hooks)
    plugins = list(plugins)
    for position, plugin in enumerate(plugins):
        if any(plugin is earlier for earlier in plugins[:position]):
            raise PluginError(f"plugin {plugin_name(plugin)!r} ({_where(plugin)}) is listed twice (the same object)")
        _register(manager, plugin)
    return HookTable(manager, ANSWERS, mask)


def inherited_plugins(hooks: HookTable) -> list[object]:
    """The plugins behind ``hooks`` that also apply to subagents, outermost first (behaviour X1).

    A plugin declares this itself (:attr:`react_run.components.Plugin.inherited_by_subagents`, for a wrapper: its own);
    otherwise those that answer ``react_tool_permit`` or ``react_ask`` do.
    """
    return [plugin for plugin in hooks.plugins if _is_inherited(plugin)]


def _is_inherited(plugin: object) -> bool:
    declared = getattr(unwrap(plugin), "inherited_by_subagents", None)
    return any(hasattr(plugin, hook) for hook in _BINDING) if declared is None else bool(declared)


def _register(manager: pluggy.PluginManager, given: object) -> None:
    name = _free_name(manager, given)
    plugin = given if type(given).__eq__ in _BY_IDENTITY else IdentityProxy(given)
    try:
        manager.register(plugin, name)
    except pluggy.PluginValidationError as error:
        raise _refused(name, given, str(error)) from error
    callers = manager.get_hookcallers(plugin) or ()
    if not callers and not isinstance(given, Component):
        advice = (
            f"pass an instance: {given.__name__}()" if isinstance(given, type) else "it has no method marked @hookimpl"
        )
        raise _refused(name, given, advice)
    for caller in callers:
        if caller.spec is None:
            known = ", ".join(hook_names())
            raise _refused(
                name, given, f"unknown hook {caller.name!r}.{near(caller.name, hook_names())} Hooks: {known}"
            )
        for impl in caller.get_hookimpls():
            if impl.plugin is plugin:
                try:
                    check_form(impl, caller.name)
                except PluginError as error:
                    raise _refused(name, given, str(error)) from None


def _refused(name: str, plugin: object, why: str) -> PluginError:
    cls = _class_of(plugin)
    kind = kind_of_class("plugins", cls)
    upgrade = f"\nFix it, or install another version of {kind.distribution}." if kind is not None else ""
    return PluginError(f"plugin {name!r} ({_where(plugin)}): {why}{upgrade}")


def _free_name(manager: pluggy.PluginManager, plugin: object) -> str:
    name = plugin_name(plugin)
    number = 2
    free = name
    while manager.has_plugin(free):
        free, number = f"{name}#{number}", number + 1
    return free


def plugin_name(plugin: object) -> str:
    """The name of a plugin in messages: its kind, else the name of its class or module."""
    kind = getattr(plugin, "kind", "")
    if isinstance(kind, str) and kind:
        return kind
    name = getattr(plugin, "__name__", "") or type(plugin).__name__
    return str(name)


def _class_of(plugin: object) -> type:
    return plugin if isinstance(plugin, type) else type(plugin)


def _where(plugin: object) -> str:
    target = _class_of(plugin)
    kind = kind_of_class("plugins", target)
    if kind is not None:
        return f"{target.__qualname__} of {kind.origin}"
    return f"{target.__module__}.{target.__qualname__}"
