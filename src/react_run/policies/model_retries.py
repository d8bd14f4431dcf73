"""Retries model calls after transient failures (behaviour S6)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.errors import ModelError
from react_run.hooks import late
from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.run import Iteration, Run


class ModelRetries(Policy):
    """Retries a model call that failed for a transient reason, with exponential backoff and jitter.

    Retry-After is honoured up to ``max_wait``: if the provider asks for a longer wait, the run ends at once.
    """

    kind: ClassVar[str] = "model_retries"
    inside: ClassVar[Mapping[str, str]] = {
        "reply_checks": "a reply is judged when no more attempts follow",
        "compaction": "an overflow is not transient, so a smaller request is made outside",
    }

    attempts: int = Field(default=4, ge=1)
    """Maximum number of attempts, including the first."""
    first_wait: float = Field(default=0.5, ge=0)
    """Seconds before the second attempt; doubled before each further one, with random jitter."""
    max_wait: float = Field(default=60.0, ge=0)
    """Maximum seconds to wait before an attempt."""

    @hookimpl
    @late(errors=ModelError)
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        failed = 0
        while True:
            try:
                return await proceed()
            except ModelError as error:
                failed += 1
                wait = self.wait(failed, error)
                if wait is None:
                    raise
                run.note(self.guard, f"{error} (attempt {failed} of {self.attempts}; again in {wait:.1f} s)")
            await asyncio.sleep(wait)

    def wait(self, failed: int, error: ModelError) -> float | None:
        """Seconds to wait after the ``failed``-th failure; ``None`` if retrying is pointless."""
        if not error.retryable:
            return None
        if failed >= self.attempts:
            if failed > 1:
                error.add_note(f"gave up after {failed} attempts")
            return None
        asked = error.retry_after
        if asked is not None and asked > self.max_wait:
            error.add_note(f"the provider asks to wait {asked:g} s, which is more than the {self.max_wait:g} s allowed")
            return None
        if error.recorded:
            return 0.0
        backed_off = self.first_wait * 2.0 ** min(failed - 1, 30) * random.uniform(0.5, 1.0)
        return max(min(backed_off, self.max_wait), asked or 0.0)
