"""The settings of an agent that a request may override."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from react_run.serve.errors import wrong

if TYPE_CHECKING:
    from react_run.serve.agents import ServedAgent


def checked_overrides(
    served: ServedAgent, overrides: Mapping[str, object], allowed: Sequence[str]
) -> Iterable[tuple[str, object]]:
    """Yield a request's overrides as values of the agent file; limits can only be lowered.

    Raises:
        ApiError: An override is not allowed, or its value is not valid.
    """
    config = served.agent.config
    limits: dict[str, tuple[str, Callable[[object], bool], float | None]] = {
        "max_iterations": ("max_iterations", lambda value: type(value) is int and value >= 1, config.max_iterations),
        "max_cost": ("max_cost", lambda value: type(value) in (int, float) and value >= 0, config.limits.max_cost),  # type: ignore[operator]  # a number
    }
    for key, value in overrides.items():
        where = f"react_run.{key}"
        if key not in allowed:
            raise wrong(
                f"a request may not set {key} here: --allow-override {key} allows it", where, "override_not_allowed"
            )
        if key == "model":
            if not isinstance(value, str) or not value.strip():
                raise wrong("model must be the name of a model", where)
            yield key, value
            continue
        name, fits, limit = limits[key]
        if not fits(value):
            raise wrong(f"{key} must be a number", where)
        if limit is not None and value > limit:  # type: ignore[operator]  # a number, see above
            raise wrong(f"{key} can only be lowered: the agent's own is {limit:g}", where, "override_too_high")
        yield name, value
