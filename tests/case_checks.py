"""Looking at what a case expects: every expectation has a check, and one that has none fails its case."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def look(checks: Mapping[str, Callable[..., None]], wanted: Mapping[str, object], *seen: object) -> None:
    """Have each expectation looked at by the check of its name."""
    assert wanted.keys() <= checks.keys(), f"nobody looks at {sorted(wanted.keys() - checks.keys())}"
    for name, value in wanted.items():
        checks[name](*seen, value)


def same(found: object, wanted: object) -> None:
    """That something is as it was expected to be."""
    assert found == wanted
