"""Tests look at the kinds of this project alone, whatever else is installed beside it."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, cast

OURS = "react-run"
EVERY = metadata.distributions
"""The standard library's, before the tests look at ours alone."""


def foreign() -> set[str]:
    """The names of other distributions that offer kinds."""
    found = set()
    for distribution in EVERY():
        groups = {point.group for point in distribution.entry_points}
        if distribution.name != OURS and any(group.startswith("react_run.") for group in groups):
            found.add(distribution.name)
    return found


def look_at_ours_alone() -> None:
    """Pass over the kinds of other distributions in this process; those that a test installs count."""
    others = foreign()

    def ours(**context: Any) -> Iterator[metadata.Distribution]:
        return (distribution for distribution in EVERY(**context) if distribution.name not in others)

    if others:
        cast("Any", metadata).distributions = ours


def packages_without_foreign(target: Path) -> Path:
    """``target`` with links to what is installed here, other distributions with kinds left out."""
    others = foreign()
    target.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.suffix != ".dist-info" or metadata.PathDistribution(path).name not in others:
            (target / path.name).symlink_to(path)
    return target
