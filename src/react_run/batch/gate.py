"""Slows a batch down at a provider's request: pauses for all workers, and fewer concurrent rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from react_run.engine.state import EngineState
from react_run.errors import ModelError
from react_run.hookspecs import hookimpl

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.run import Iteration, Run

TOO_MANY = 429
_GROW = 60.0
"""Seconds after which one more row may run at once."""


class Gate:
    """Stands next to the model in every run of a worker.

    A reply of 429 halves the number of rows at once, which then grows again by one a minute; with ``Retry-After`` it
    also keeps every run from calling that model for so long. Waiting here counts towards no deadline.

    Args:
        width: How many rows may run at once.
        clock: Seconds that never go back.
        admit: Counts a request of a row, by the id of its run; seconds until it may be made.
    """

    inherited_by_subagents: ClassVar[bool] = True

    def __init__(
        self,
        width: int,
        *,
        clock: Callable[[], float] = monotonic,
        admit: Callable[[str], Awaitable[float]] | None = None,
    ) -> None:
        self.admit = admit
        self.full, self._width, self._clock = width, width, clock
        self._narrowed = clock()
        self._until: dict[str, float] = {}
        self._news: dict[str, float] = {}

    @property
    def width(self) -> int:
        """How many rows may run at once now."""
        return min(self.full, self._width + int((self._clock() - self._narrowed) / _GROW))

    @hookimpl
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        model = run.agent.model.name
        if not run.state(EngineState).replaying:
            await self._wait(run, model)
            if self.admit is not None:
                await _pause(run, await self.admit(_top(run).id))
        try:
            return await proceed()
        except ModelError as error:
            if error.status == TOO_MANY and not error.recorded:
                self.narrow(model, error.retry_after)
            raise

    async def _wait(self, run: Run, model: str) -> None:
        while (left := self._until.get(model, 0.0) - self._clock()) > 0:
            await _pause(run, left)

    def narrow(self, model: str, seconds: float | None) -> None:
        """The provider of a model has had enough: once per pause, however many calls were on their way."""
        now = self._clock()
        paused = self._until.get(model, 0.0) > now
        if not paused and (self._width == self.full or now - self._narrowed >= 1):
            self._width, self._narrowed = max(1, self.width // 2), now
        if seconds:
            self._until[model] = max(self._until.get(model, 0.0), now + seconds)
            self._news[model] = self._until[model]

    def news(self) -> Mapping[str, float]:
        """The pauses that other workers do not know of yet, in seconds; each is told once."""
        now, news = self._clock(), self._news
        self._news = {}
        return {model: until - now for model, until in news.items() if until > now}

    def learn(self, pauses: Mapping[str, float]) -> None:
        """Keep to the pauses of other workers."""
        now = self._clock()
        for model, seconds in pauses.items():
            self._until[model] = max(self._until.get(model, 0.0), now + seconds)

    def pauses(self) -> Mapping[str, float]:
        """Seconds that each model is left alone."""
        now = self._clock()
        return {model: until - now for model, until in self._until.items() if until > now}


async def _pause(run: Run, seconds: float) -> None:
    """Wait; it counts towards no deadline."""
    if seconds > 0:
        with run.paused_for_user():
            await asyncio.sleep(seconds)


def _top(run: Run) -> Run:
    """The run of the row."""
    while run.parent is not None:
        run = run.parent
    return run
