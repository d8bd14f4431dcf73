"""The base class of each group of components, as far as it was imported: the class says which it is the base of."""

from __future__ import annotations

from typing import Any

BASES: dict[str, Any] = {}
"""By group: a subclass of :class:`~react_run.components.Component`."""


def group_of(cls: type) -> str:
    """The group that ``cls`` is the base of; empty when it is the base of none."""
    return next((group for group, base in BASES.items() if base is cls), "")
