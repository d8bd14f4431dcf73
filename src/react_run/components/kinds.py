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
"""Our distribution, whose kinds cannot be taken over by others."""
GROUPS = ("toolsets", "plugins", "models", "checks", "scorers")
"""The groups of kinds; each is the entry-point group ``react_run.<name>``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """An installed kind, as ``react-run list`` shows it."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    entry_point: metadata.EntryPoint
    rivals: tuple[Kind, ...] = field(default=(), compare=False, repr=False)
    """Kinds of the same name from other distributions."""

    @property
    def origin(self) -> str:
        """Distribution, version and entry point."""
        return f"{self.distribution or 'an unknown distribution'} {self.version} (entry point {self.target})"

    @property
    def clash(self) -> str:
        """The error if two other distributions declare the same name; empty if there is no clash."""
        if not self.rivals or self.distribution == OURS:
            return ""
        wanted = " and ".join(kind.origin for kind in (self, *self.rivals))
        return (
            f"{self.group[:-1]} {self.name!r} is offered by {wanted}. Uninstall one of them, or write "
            f"'kind: {self.target}' for the one you mean"
        )

    def load(self) -> object:
        """Import the target.

        Raises:
            PluginError: It cannot be imported, or another distribution declares the same name; the message names
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
    """The kinds of one group that installed distributions declare, by name; nothing is imported.

    Our own names take precedence. A name that two other distributions declare is an error only when it is used
    (:attr:`Kind.clash`).
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
    """The installed kind whose target is ``cls``, even if ``cls`` is defined elsewhere in the same package."""
    package = cls.__module__.partition(".")[0]
    for kinds in (_our_groups().__getitem__, installed):
        for kind in kinds(group).values():
            module, _, name = kind.target.partition(":")
            if name == cls.__qualname__ and module.partition(".")[0] == package:
                return kind
    return None


def every_installed(group: str) -> tuple[Kind, ...]:
    """All kinds of one group, including those with clashing names."""
    return _by_group().get(group, ())


def our_kinds(group: str) -> Mapping[str, Kind]:
    """The kinds of one group that this distribution itself offers; none if it is not installed."""
    return _our_groups()[group]


def kind_named(group: str, name: str) -> Kind | None:
    """The installed kind called ``name``; for our own kinds, no other distribution is read."""
    return _our_groups()[group].get(name) or installed(group).get(name)


def forget_installed() -> None:
    """Clear the caches after distributions were installed or removed in this process."""
    for kept in (installed, _by_group, _our_groups):
        kept.cache_clear()


@cache
def _by_group() -> Mapping[str, tuple[Kind, ...]]:
    """All kinds, cached, because every look at the entry points reads those of all distributions from disk."""
    return _grouped(_every_point())


def _every_point() -> Iterable[metadata.EntryPoint]:
    points: Any = metadata.entry_points()
    if sys.version_info < (3, 12):  # a dict of lists by group, whose own methods warn
        points = chain.from_iterable(dict.values(points))
    every: Iterable[metadata.EntryPoint] = points
    return every


@cache
def _our_groups() -> Mapping[str, Mapping[str, Kind]]:
    points: Iterable[metadata.EntryPoint]
    try:
        points = metadata.distribution(OURS).entry_points
    except metadata.PackageNotFoundError:  # not installed: we run from source
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
            about = dist.metadata  # parsed on every access
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
        kind: The kind in the agent file.
        directory: The directory of the agent file, whose modules can be named if it is trusted.
        trusted: Whether code in ``directory`` may be loaded.

    Raises:
        ConfigError: No such kind is installed, or the path points to nothing or into the standard library.
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
    own = "" if hint else f". Name your own by its path, such as my_code.{kind.title().replace('_', '')}"
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
"""Documented kinds of the comparable agent, so that its agent files work unchanged (agent-files.md)."""
