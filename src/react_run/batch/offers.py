"""The rows that were handed to this process: those that wait for a worker, and those at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import Future

Key = tuple[str, int, int]
"""A row: the id of its batch, its position, and how often it was put into the queue anew."""


class Offers:
    """What there is to claim, and whom to tell when a row is over.

    A row may be handed out once more while it is at work here: this process was silent for a while, and was held to be
    gone. Then it goes on with the claim that it has; only when that turns out not to hold is the row claimed again.
    """

    def __init__(self) -> None:
        self._ready: deque[Key] = deque()
        self._told: dict[Key, list[Future[None]]] = {}
        self._claimed: dict[Key, int] = {}
        """How many there were to tell when a row was taken."""

    @property
    def waiting(self) -> int:
        """How many rows can be taken."""
        return len(self._ready)

    @property
    def keys(self) -> Collection[Key]:
        """All rows that are here."""
        return list(self._told)

    def add(self, key: Key, done: Future[None]) -> None:
        """A row was handed to this process; ``done`` is set when it is over."""
        told = self._told.setdefault(key, [])
        told.append(done)
        if len(told) == 1:
            self._ready.append(key)

    def take(self) -> Key:
        """The row whose turn it is."""
        key = self._ready.popleft()
        self._claimed[key] = len(self._told.get(key, ()))
        return key

    def put_back(self, keys: Sequence[Key]) -> None:
        """They could not be claimed: they are the next ones again."""
        for key in reversed(keys):
            self._claimed.pop(key, None)
            self._ready.appendleft(key)

    def wait(self, key: Key) -> None:
        """It is to be taken again, behind the others."""
        self._claimed.pop(key, None)
        if key in self._told:
            self._ready.append(key)

    def over(self, key: Key) -> None:
        """It has its result."""
        self._claimed.pop(key, None)
        _tell(self._told.pop(key, []))

    def lost(self, key: Key) -> None:
        """Another claim of it counts; when that was handed out to this process as well, it is taken from here."""
        told, before = self._told.pop(key, []), self._claimed.pop(key, 0)
        _tell(told[:before])
        if told[before:]:
            self._told[key] = told[before:]
            self._ready.append(key)

    def clear(self) -> None:
        """Forget all of them, and tell nobody."""
        self._ready.clear()
        self._told.clear()
        self._claimed.clear()


def _tell(told: list[Future[None]]) -> None:
    for done in told:
        if not done.done():
            done.set_result(None)
