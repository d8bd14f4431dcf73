"""Kind (text in an agent file) → class: an entry point, an alias, or a dotted path."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

from react_run.components.errors import KindImportError, UnknownKind, install_hint, near
from react_run.errors import pass_on_interrupt
from react_run.support.dataclasses import dataclass

OURS = "react-run"
"""The distribution whose kinds nobody can take the names of."""
GROUPS = ("toolsets", "plugins", "models", "checks", "scorers")
"""What can be named by ``kind``; each is the entry-point group ``react_run.<name>``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One installed kind, as ``react-run list`` shows it."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    entry_point: metadata.EntryPoint
    rivals: tuple[Kind, ...] = field(default=(), compare=False, repr=False)
    """Kinds of other distributions that want the same name."""

    @property
    def origin(self) -> str:
        """Distribution, version and entry point."""
        return f"{self.distribution or 'an unknown distribution'} {self.version} (entry point {self.target})"

    @property
    def clash(self) -> str:
        """Why the name is nobody's: two distributions want it, and neither is ours; else nothing."""
        if not self.rivals or self.distribution == OURS:
            return ""
        wanted = " and of ".join(kind.origin for kind in (self, *self.rivals))
        return (
            f"{self.group[:-1]} {self.name!r} is a kind of {wanted}. Uninstall one of them, or write "
            f"'kind: {self.target}' for the one you mean"
        )

    def load(self) -> object:
        """Import the target.

        Raises:
            PluginError: It cannot be imported, or another distribution wants its name; the message names
                distribution, version and entry point.
        """
        if self.clash:
            raise KindImportError(self.clash)
        try:
            loaded: object = self.entry_point.load()
        except (Exception, SystemExit) as error:
            pass_on_interrupt(error)
            remedy = install_hint(error) or f"Reinstall or upgrade {self.distribution or 'its distribution'}."
            raise KindImportError(
                f"{self.group[:-1]} {self.name!r} of {self.origin} cannot be loaded: "
                f"{type(error).__name__}: {error}. {remedy}"
            ) from error
        return loaded


@cache
def installed(group: str) -> Mapping[str, Kind]:
    """The kinds of one group that installed distributions offer, by name; nothing is imported.

    A name of ours stays ours. One that two other distributions want is an error for whoever uses it
    (:attr:`Kind.clash`), and for nobody else.
    """
    found: dict[str, list[Kind]] = {}
    for kind in every_installed(group):
        found.setdefault(kind.name, []).append(kind)
    kinds = {}
    for name, wanted in found.items():
        first, *rivals = sorted(wanted, key=lambda kind: kind.distribution != OURS)
        kinds[name] = replace(first, rivals=tuple(rivals))
    return kinds


def kind_of_class(group: str, cls: type) -> Kind | None:
    """The installed kind that ``cls`` is the target of, be it there or somewhere else in the same package."""
    package = cls.__module__.partition(".")[0]
    for kinds in (_our_groups().__getitem__, installed):
        for kind in kinds(group).values():
            module, _, name = kind.target.partition(":")
            if name == cls.__qualname__ and module.partition(".")[0] == package:
                return kind
    return None


def every_installed(group: str) -> tuple[Kind, ...]:
    """Every kind of one group that an installed distribution offers, those that want the same name included."""
    return _by_group().get(group, ())


def our_kinds(group: str) -> Mapping[str, Kind]:
    """The kinds of one group that this distribution itself offers; none if it is not installed."""
    return _our_groups()[group]


def kind_named(group: str, name: str) -> Kind | None:
    """The installed kind of that name. For one of ours no other distribution is looked at: the name is ours."""
    return _our_groups()[group].get(name) or installed(group).get(name)


def forget_installed() -> None:
    """Look again at what is installed: distributions have come or gone in this process."""
    for kept in (installed, _by_group, _our_groups):
        kept.cache_clear()


@cache
def _by_group() -> Mapping[str, tuple[Kind, ...]]:
    """All kinds, read once: the entry points of every distribution are read from disk each time they are asked for."""
    return _grouped(_every_point())


def _every_point() -> Iterable[metadata.EntryPoint]:
    points: Any = metadata.entry_points()
    if sys.version_info < (3, 12):  # lists by group, and a warning from each of the dictionary's own methods
        points = chain.from_iterable(dict.values(points))
    every: Iterable[metadata.EntryPoint] = points
    return every


@cache
def _our_groups() -> Mapping[str, Mapping[str, Kind]]:
    points: Iterable[metadata.EntryPoint]
    try:
        points = metadata.distribution(OURS).entry_points
    except metadata.PackageNotFoundError:  # nothing is installed: this runs from its source
        points = ()
    return {group: {kind.name: kind for kind in kinds} for group, kinds in _grouped(points).items()}


def _grouped(points: Iterable[metadata.EntryPoint]) -> dict[str, tuple[Kind, ...]]:
    origins: dict[int, tuple[str, str]] = {0: ("", "")}
    kinds: dict[str, tuple[Kind, ...]] = dict.fromkeys(GROUPS, ())
    for point in points:
        group = point.group.removeprefix("react_run.")
        if group == point.group or group not in kinds:
            continue
        dist = point.dist
        key = id(dist) if dist else 0
        if dist and key not in origins:
            about = dist.metadata  # it is parsed each time it is asked for
            origins[key] = about["Name"], about["Version"]
        name, version = origins[key]
        kind = Kind(
            group=group, name=point.name, target=point.value, distribution=name, version=version, entry_point=point
        )
        kinds[group] += (kind,)
    return kinds


def resolve(group: str, kind: str, *, directory: Path | None = None, trusted: bool = True) -> object:
    """The class (or other object) that ``kind`` names: an entry point, an alias, or a dotted path.

    Args:
        group: One of :data:`GROUPS`.
        kind: What the agent file says.
        directory: Where the agent file is; modules beside it can be named when it is trusted.
        trusted: Whether code in ``directory`` may be loaded.

    Raises:
        ConfigError: Nothing of that name is installed, or the path leads nowhere or into the standard library.
        PluginError: It is installed, but cannot be imported.
    """
    kind = ALIASES.get(kind, kind)
    if (known := kind_named(group, kind)) is not None:
        return known.load()
    if "." in kind or ":" in kind:
        from react_run.components.dotted import import_path

        return import_path(kind, directory, trusted=trusted)
    names = installed(group)
    hint = _elsewhere(group, kind) or near(kind, names)
    own = "" if hint else f". One of your own is named by its path, such as my_code.{kind.title().replace('_', '')}"
    raise UnknownKind(f"unknown {group[:-1]} {kind!r}.{hint} Installed: {', '.join(sorted(names)) or 'none'}{own}")


def _elsewhere(group: str, kind: str) -> str:
    other = next((other for other in GROUPS if other != group and kind in installed(other)), "")
    return f" It is the name of a {other[:-1]}." if other else ""


_RUSTIC = "rustic_ai.llm_agent.react"
_DOCUMENTED = {
    "toolset.CompositeToolset": "composite",
    "toolsets.math.MathToolset": "math",
    "toolsets.temporal.TemporalToolset": "temporal",
    "toolsets.mediawiki.MediaWikiToolset": "mediawiki",
    "toolsets.mediawiki.MediaWikiSearchToolset": "mediawiki",
    "toolsets.duckduckgo.DuckDuckGoToolset": "duckduckgo",
    "toolsets.duckduckgo.DuckDuckGoInstantAnswerToolset": "duckduckgo",
}
ALIASES: Mapping[str, str] = {
    **{f"{_RUSTIC}.{path}": kind for path, kind in _DOCUMENTED.items()},
    **{f"{_RUSTIC}.{path.rpartition('.')[2]}": kind for path, kind in _DOCUMENTED.items()},
    "rustic_ai.skills.toolset.SkillToolset": "skills",
    "rustic_ai.skills.SkillToolset": "skills",
    **{f"react_run{path}CompositeToolset": "composite" for path in (".", ":", ".toolset.", ".toolset:")},
}
"""Documented kinds of the comparable agent, so that its agent files run unchanged (agent-files.md)."""
