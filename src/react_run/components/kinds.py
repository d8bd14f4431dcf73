"""Kind (text in an agent file) → class: an entry point, an alias, or a dotted path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from pathlib import Path

from react_run.components.errors import KindImportError, UnknownKind, install_hint, near

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
    for kind in installed(group).values():
        module, _, name = kind.target.partition(":")
        if name == cls.__qualname__ and module.partition(".")[0] == package:
            return kind
    return None


def every_installed(group: str) -> Iterator[Kind]:
    """Every entry point of one group, duplicates included."""
    for point in metadata.entry_points(group=f"react_run.{group}"):
        dist = point.dist
        yield Kind(
            group=group,
            name=point.name,
            target=point.value,
            distribution=dist.name if dist else "",
            version=dist.version if dist else "",
            entry_point=point,
        )


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
    known = installed(group)
    if kind in known:
        return known[kind].load()
    if "." in kind or ":" in kind:
        from react_run.components.dotted import import_path

        return import_path(kind, directory, trusted=trusted)
    names = ", ".join(sorted(known)) or "none"
    nearest = _elsewhere(group, kind) or near(kind, known)
    own = "" if nearest else f". One of your own is named by its path, such as my_code.{kind.title().replace('_', '')}"
    raise UnknownKind(f"unknown {group[:-1]} {kind!r}.{nearest} Installed: {names}{own}")


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
