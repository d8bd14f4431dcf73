"""The base class of policies, the built-in policies, and their order around a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from react_run.components import Plugin
from react_run.components.kinds import our_kinds
from react_run.errors import PluginError

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig


class Policy(Plugin):
    """A built-in plugin that watches over runs.

    The class declares everything about it: its guard, its position among the others, and which agents have one. A
    plugin with the same ``guard``, listed in the agent file or passed from Python, replaces the built-in policy in the
    same position.
    """

    model_config = ConfigDict(defer_build=True)  # few agents need all of them

    guard: ClassVar[str] = ""
    """The name of the guard; by default its ``kind``."""
    stacks: ClassVar[bool] = False
    """Whether another one works alongside the built-in one instead of replacing it."""
    inside: ClassVar[Mapping[str, str]] = {}
    """The guards that surround this one, each with the reason."""
    outside: ClassVar[Mapping[str, str]] = {}
    """The guards that this one surrounds, each with the reason."""

    def __init_subclass__(cls, group: str = "", **options: Any) -> None:
        super().__init_subclass__(group=group, **options)
        cls.guard = cls.guard or cls.kind

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        """The policy of an agent, or ``None`` if it needs none; by default, every agent has one.

        Args:
            config: The configuration of the agent.
            plugins: The plugins listed in its file or passed from Python.
        """
        return cls()


@cache
def built_in() -> tuple[type[Policy], ...]:
    """The policies of this distribution, outermost first.

    Only ours: other installed packages must not change what guards a run (decision 0034).
    """
    return outermost_first(_found())


def _found() -> list[type[Policy]]:
    """The policies of this package, imported through their entry points: it also has modules that few runs need."""
    room = f"{__package__}."
    kinds = [kind for kind in our_kinds("plugins").values() if kind.target.startswith(room)]
    for kind in kinds:
        kind.load()
    if not kinds:  # nothing is installed: this runs from its source
        from pkgutil import iter_modules

        for module in iter_modules(sys.modules[__package__].__path__, room):
            import_module(module.name)
    return [policy for policy in Policy.__subclasses__() if policy.__module__.startswith(room)]


def outermost_first(policies: Iterable[type[Policy]]) -> tuple[type[Policy], ...]:
    """``policies`` in the order that they ask for, and by name where none asks for any.

    Raises:
        PluginError: There is no such order.
    """
    waiting = {policy.guard: policy for policy in sorted(policies, key=lambda policy: policy.guard)}
    before = {guard: {*policy.inside} for guard, policy in waiting.items()}
    for guard, policy in waiting.items():
        for surrounded in policy.outside:
            before.setdefault(surrounded, set()).add(guard)
    placed = []
    while waiting:
        guard = next((guard for guard in waiting if before[guard].isdisjoint(waiting)), "")
        if not guard:
            raise PluginError(f"these guards have no order, because each is inside another: {', '.join(waiting)}")
        placed.append(waiting.pop(guard))
    return tuple(placed)


class _Guard:
    """The type of a guard's name: only the guards that there are."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema([policy.guard for policy in built_in()])


class Disable(Plugin):
    """Disables a built-in policy: ``{kind: disable, policy: compaction}``."""

    model_config = ConfigDict(defer_build=True)  # not before the policies are imported, which import this module
    kind: ClassVar[str] = "disable"

    policy: Annotated[str, _Guard]
    """The policy to disable."""


def order_policies(defaults: Iterable[Policy], plugins: Iterable[object]) -> list[object]:
    """``defaults``, in the order given, without those that ``plugins`` disable, and with replacements."""
    chosen: dict[str, object] = {}
    for plugin in plugins:
        if isinstance(plugin, Disable):
            chosen[plugin.policy] = None
        elif (guard := getattr(plugin, "guard", "")) and not getattr(plugin, "stacks", False):
            chosen[guard] = plugin
    places = [chosen.get(policy.guard, policy) for policy in defaults]
    return [policy for policy in places if policy is not None]
