"""The base class of each group of components; a class registers itself when it is imported."""

from __future__ import annotations

from typing import Any

BASES: dict[str, Any] = {}
"""By group: a subclass of :class:`~react_run.components.Component`."""


def group_of(cls: type) -> str:
    """The group whose base is ``cls``; empty if it is not a base."""
    return next((group for group, base in BASES.items() if base is cls), "")
