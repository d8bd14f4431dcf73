"""An API with state, in the form of those of the data set."""

from __future__ import annotations

from typing import Any


class Basket:
    """Holds things until it is closed."""

    def __init__(self) -> None:
        self.items: dict[str, int] = {}
        self.closed = False

    def _load_scenario(self, scenario: dict[str, Any]) -> None:
        self.items = scenario["items"]

    def put(self, item: str, number: int = 1) -> dict[str, int]:
        """Put something in."""
        self._check_open()
        self.items[item] = self.items.get(item, 0) + number
        return {item: self.items[item]}

    def take(self, item: str) -> dict[str, int]:
        """Take something out."""
        self._check_open()
        if not self.items.get(item):
            raise ValueError(f"there is no {item}")
        self.items[item] -= 1
        return {item: self.items[item]}

    def close(self) -> str:
        """Close it."""
        self.closed = True
        return "closed"

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the basket is closed")
