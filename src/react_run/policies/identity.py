"""What makes two calls the same call (behaviour F4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from react_run.run import canonical


def identity(arguments: Mapping[str, object]) -> Hashable:
    """A value that is equal for equal arguments, whatever the order of their keys; 1 and 1.0 are equal."""
    try:
        found = frozenset(arguments.items())
        hash(found)
    except TypeError:  # lists and objects
        return canonical(arguments)
    for value in arguments.values():
        if value is True or value is False:  # to Python, they equal 1 and 0
            return canonical(arguments)
    return found
