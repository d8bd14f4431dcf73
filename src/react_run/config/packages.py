"""Agents in installed packages: ``PACKAGE:AGENT`` is the file ``AGENT.yaml`` (or ``.md``) of a package.

A distribution declares the package with its files as an entry point of the group ``react_run.agents``:
``shopkit = "shopkit.agents"``. Finding and reading the files imports nothing. Installing a package means trusting its
code, so its files are trusted, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from react_run.components import near
from react_run.errors import ConfigError
from react_run.support.dataclasses import dataclass

GROUP = "react_run.agents"
ENDINGS = (".yaml", ".yml", ".md")
"""The extensions of agent files, in order of preference."""
_NAME = re.compile(r"(?P<package>[A-Za-z0-9][\w.-]+):(?P<agent>[A-Za-z0-9_][\w.-]*)")


@dataclass(frozen=True)
class Package:
    """The agents of one distribution."""

    name: str
    target: str
    """The package with the files, such as ``shopkit.agents``."""
    origin: str
    """The distribution and its version."""

    @property
    def folder(self) -> Path:
        """The directory of the files, found without importing anything.

        Raises:
            ConfigError: There is no such package, or it is not a directory.
        """
        top, *below = self.target.split(".")
        try:
            spec = find_spec(top)
        except (ImportError, ValueError):
            spec = None
        for place in (spec and spec.submodule_search_locations) or ():
            if (folder := Path(place, *below)).is_dir():
                return folder
        text = f"the agents of {self.name!r} ({self.origin}) cannot be found: there is no directory {self.target}"
        raise ConfigError(f"{text}. Reinstall {self.origin.partition(' ')[0]}.")

    def agents(self) -> dict[str, Path]:
        """The agents by name.

        Raises:
            ConfigError: As for :attr:`folder`.
        """
        files = sorted((path for path in self.folder.iterdir() if path.suffix in ENDINGS), key=_preferred)
        return {path.stem: path for path in files if path.suffix != ".md" or has_front_matter(path)}


def _preferred(path: Path) -> tuple[str, int]:
    return path.stem, -ENDINGS.index(path.suffix)


def packages() -> list[Package]:
    """All installed packages with agents, by name."""
    found = []
    for point in metadata.entry_points(group=GROUP):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
        found.append(Package(point.name, point.value.partition(":")[0], origin))
    return sorted(found, key=lambda package: (package.name, package.origin))


def is_packaged(name: str) -> bool:
    """Whether ``name`` has the form ``PACKAGE:AGENT`` and is not a file."""
    return _NAME.fullmatch(name) is not None and not Path(name).exists()


def packaged(name: str) -> Path:
    """The file of the agent ``PACKAGE:AGENT``.

    Raises:
        ConfigError: The package or the agent does not exist, or two distributions use the package's name.
    """
    found = _NAME.fullmatch(name)
    assert found is not None  # is_packaged() has checked it
    installed = packages()
    wanted = [package for package in installed if package.name == found["package"]]
    if not wanted:
        names = [package.name for package in installed]
        known = f" Installed: {', '.join(names)}." if names else " No installed package has agents."
        text = f"{name}: no installed package is called {found['package']!r}.{near(found['package'], names)}"
        raise ConfigError(f"{text}{known} react-run list agents shows them.")
    if len(wanted) > 1:
        origins = " and ".join(package.origin for package in wanted)
        raise ConfigError(
            f"{name}: {origins} both have a package of agents called {found['package']!r}. Uninstall one of them."
        )
    agents = wanted[0].agents()
    if found["agent"] not in agents:
        known = ", ".join(sorted(agents)) or "none"
        hint = near(found["agent"], agents)
        raise ConfigError(f"{name}: {wanted[0].origin} has no agent {found['agent']!r}.{hint} Its agents: {known}")
    return agents[found["agent"]]


def every_agent() -> Iterator[tuple[str, Path | None, str]]:
    """Every agent of a package: its name and file, or the reason why the package cannot be read."""
    for package in packages():
        try:
            yield from ((f"{package.name}:{name}", path, "") for name, path in sorted(package.agents().items()))
        except (ConfigError, OSError) as error:
            yield package.name, None, str(error)


def has_front_matter(path: Path) -> bool:
    """Whether a Markdown file begins like an agent file."""
    try:
        with path.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").splitlines()[:1] == [b"---"]
    except OSError:
        return False


def heading(path: Path) -> dict[str, str] | None:
    """Name and description in an agent file; ``None`` when it is some other file."""
    from react_run.config.yaml import Report
    from react_run.config.yaml.compose import compose
    from react_run.config.yaml.markdown import split
    from react_run.config.yaml.text import read_text

    report = Report()
    found = read_text(path, str(path), report)
    if found is not None and path.suffix == ".md":
        parts = split(*found, report)
        found = None if parts is None else (parts[0], found[1])
    tree = compose(*found, report) if found else None
    entries = tree.mapping if tree else {}
    if not report.problems and not {"model", "toolsets", "toolset", "properties", "system_prompt"} & set(entries):
        return None
    return {key: entries[key].raw if key in entries else "" for key in ("name", "description")}
