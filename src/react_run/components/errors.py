"""Errors about kinds, with advice: the nearest name, the package to install, how to trust a directory."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path

from react_run.errors import ConfigError, PluginError


class UnknownKind(ConfigError):
    """No such kind is installed, or the path is not allowed."""


class KindNotTrusted(ConfigError):
    """The path leads to code next to the agent file, whose directory is not trusted."""


class KindImportError(PluginError):
    """The target exists, but importing it failed."""


def how_to_trust(directory: Path | None) -> str:
    """The commands that trust a directory, quoted for a shell."""
    return f"react-run trust {shlex.quote(str(directory))}, or --trust for this run"


def install_hint(error: BaseException) -> str:
    """The command that installs the extra with the module that ``error`` misses; otherwise empty."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    wanted = _normal(error.name.partition(".")[0])
    for requirement in metadata.requires("react-run") or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"""extra\s*==\s*["']([\w.-]+)["']""", requirement)
        if name and extra and extra[1] != "dev" and _normal(name[0]) == wanted:
            return f"Install it with: pip install 'react-run[{extra[1]}]'"
    return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


NEAR = 0.65
"""The similarity (difflib's ratio) from which a name is suggested: `math` for `mth`, but not `openai` for `nope`."""


def near(name: str, names: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the most similar name; empty if none is similar enough."""
    by_plain = {_plain(known): known for known in names}
    match = get_close_matches(_plain(name), list(by_plain), n=1, cutoff=NEAR)
    return f" Did you mean {by_plain[match[0]]!r}?" if match else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
