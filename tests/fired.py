"""A listener that collects which guards and plugins intervened."""

from __future__ import annotations

from react_run import hookimpl


class Fired:
    """Collects which guards and plugins intervened, and why."""

    def __init__(self) -> None:
        self.details: list[tuple[str, str]] = []

    @hookimpl
    def react_guard_fired(self, guard: str, detail: str) -> None:
        self.details.append((guard, detail))

    @property
    def guards(self) -> list[str]:
        """The guards that intervened, in order."""
        return [guard for guard, _ in self.details]

    def of(self, guard: str) -> list[str]:
        """What ``guard`` had to say."""
        return [detail for name, detail in self.details if name == guard]
