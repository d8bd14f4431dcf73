"""Coroutines of a run driven by hand: at the N-th suspension something else comes back than what was waited for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any

from react_run import Run


@dataclass
class Faults:
    """Counts the suspensions of everything that is driven by hand, and lets one of them go wrong."""

    number: int
    fault: Callable[[Run | None], BaseException | None]
    runs: list[Run] = field(default_factory=list)
    count: int = 0

    def at_suspension(self) -> BaseException | None:
        self.count += 1
        return self.fault(self.runs[0] if self.runs else None) if self.count == self.number else None


@dataclass
class Driven:
    """Awaits ``work``, step by step."""

    work: Coroutine[Any, Any, Any]
    faults: Faults

    def __await__(self) -> Generator[Any, Any, Any]:
        send: Any = None
        error: BaseException | None = None
        while True:
            try:
                waited_for = self.work.send(send) if error is None else self.work.throw(error)
            except StopIteration as stop:
                return stop.value
            send, error = None, self.faults.at_suspension()
            if error is not None:
                continue
            try:
                send = yield waited_for
            except BaseException as thrown:  # also cancellation, handed on to the run
                error = thrown
