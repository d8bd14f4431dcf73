"""Everything configurable: a pydantic model whose fields are its YAML options, named by its kind.

    kind (text in an agent file) → class (entry point, alias or dotted path) → object (validated options)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict

from react_run.errors import ConfigError, PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("toolsets", "plugins", "models", "checks")
"""What can be named by ``kind``; each is the entry-point group ``react_run.<name>``."""


class Component(BaseModel):
    """A model, toolset, plugin, policy or check: its fields are its YAML options.

    Components compare and hash by identity: pluggy compares plugins with ``==``, and two entries with equal options
    are still two plugins.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True)

    kind: ClassVar[str] = ""
    """The name used in messages when the class was not found through an entry point."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    async def open(self) -> None:
        """Acquire what lives as long as the agent; called by ``async with agent:`` and before the first run."""

    async def close(self) -> None:
        """Release what :meth:`open` acquired."""


class Plugin(Component):
    """Base for plugins with options: add methods marked ``@hookimpl``. Any object with hook methods will do, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One installed kind, as ``react-run list`` shows it."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    entry_point: EntryPoint

    def load(self) -> object:
        """Import the target.

        Raises:
            PluginError: It cannot be imported; the message names distribution, version and entry point.
        """
        try:
            loaded: object = self.entry_point.load()
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"{self.group[:-1]} {self.name!r} of {self.distribution or 'an unknown distribution'} {self.version} "
                f"(entry point {self.target}) cannot be loaded: {type(error).__name__}: {error}. "
                f"Reinstall or upgrade {self.distribution or 'that distribution'}."
            ) from error
        return loaded


@cache
def installed(group: str) -> Mapping[str, Kind]:
    """The kinds of one group that installed distributions offer, by name; nothing is imported.

    The first distribution found wins when two offer one name, which ``list`` and ``doctor`` report.
    """
    return {kind.name: kind for kind in reversed(list(every_installed(group)))}


def every_installed(group: str) -> Iterator[Kind]:
    """Every entry point of one group, duplicates included."""
    from importlib.metadata import entry_points

    for point in entry_points(group=f"react_run.{group}"):
        dist = point.dist
        yield Kind(
            group=group,
            name=point.name,
            target=point.value,
            distribution=dist.name if dist else "",
            version=dist.version if dist else "",
            entry_point=point,
        )


T = TypeVar("T")


def near(name: str, names: Iterator[str] | list[str]) -> str:
    """`` Did you mean 'x'?`` when something near exists, else nothing."""
    match = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" Did you mean {match[0]!r}?" if match else ""


def resolve(group: str, kind: str) -> object:
    """The class (or other object) that ``kind`` names: an entry point, an alias, or a dotted path.

    Raises:
        ConfigError: Nothing of that name is installed, or the path leads nowhere or into the standard library.
        PluginError: It is installed, but cannot be imported.
    """
    kind = ALIASES.get(kind, kind)
    known = installed(group)
    if kind in known:
        return known[kind].load()
    if "." in kind or ":" in kind:
        return _import_path(kind)
    names = ", ".join(sorted(known)) or "none"
    raise ConfigError(f"unknown {group[:-1]} {kind!r}.{near(kind, list(known))} Installed: {names}")


def _import_path(path: str) -> object:
    module_name, separator, attribute = path.partition(":")
    if not separator:
        module_name, _, attribute = path.rpartition(".")
    parts = [*module_name.split("."), *attribute.split(".")]
    if not all(part.isidentifier() and not part.startswith("__") for part in parts):
        raise ConfigError(f"{path!r} is not a path such as package.module.Class")
    if parts[0] in sys.stdlib_module_names:
        raise ConfigError(f"{path!r} names the standard library; a kind must name a component of an installed package")
    try:
        target: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigError(f"cannot import {module_name!r} of kind {path!r}: {error}. Is its package installed?") from error
    except (Exception, SystemExit) as error:
        raise PluginError(f"importing {module_name!r} of kind {path!r} failed: {type(error).__name__}: {error}") from error
    for name in attribute.split("."):
        if not hasattr(target, name):
            raise ConfigError(f"module {module_name!r} has no {attribute!r}.{near(name, dir(target))}")
        target = getattr(target, name)
    return target


_RUSTIC = "rustic_ai.llm_agent.react"
ALIASES: Mapping[str, str] = {
    f"{_RUSTIC}.toolset.CompositeToolset": "composite",
    f"{_RUSTIC}.toolsets.math.MathToolset": "math",
    f"{_RUSTIC}.toolsets.temporal.TemporalToolset": "temporal",
    f"{_RUSTIC}.toolsets.mediawiki.MediaWikiToolset": "mediawiki",
    f"{_RUSTIC}.toolsets.duckduckgo.DuckDuckGoToolset": "duckduckgo",
    "rustic_ai.skills.toolset.SkillToolset": "skills",
}
"""Documented kinds of the comparable agent, so that its agent files run unchanged (agent-files.md)."""
