"""Transient failures of the model (behaviour S6)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from react_run import ModelError, StopReason, TextDelta, TextDiscarded
from react_run.policies.model_retries import ModelRetries
from react_run.testing import agent_with, run_agent

FAST = ModelRetries(first_wait=0.001)


def failing(**error: object) -> dict[str, Any]:
    return {"error": {"message": "not now", **error}}


@pytest.mark.parametrize("status", [None, 408, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    result = run_agent([failing(status=status)] * 3 + ["hello"], plugins=[FAST])
    assert (result.answer, result.success) == ("hello", True)
    assert (result.iterations, result.usage.requests) == (1, 4)


def test_after_four_attempts_the_run_ends_with_what_it_had() -> None:
    with pytest.raises(ModelError, match="not now") as caught:
        run_agent([failing(status=503)] * 4 + ["hello"], plugins=[FAST])
    assert caught.value.result is not None
    assert (caught.value.result.stop_reason, caught.value.result.usage.requests) == (StopReason.MODEL_ERROR, 4)
    assert "gave up after 4 attempts" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_stays_wrong_is_not_tried_again(status: int) -> None:
    with pytest.raises(ModelError) as caught:
        run_agent([failing(status=status), "hello"], plugins=[FAST])
    assert caught.value.result is not None
    assert caught.value.result.usage.requests == 1


def test_retry_after_is_honoured() -> None:
    started = time.perf_counter()
    assert run_agent([failing(status=429, retry_after=0.2), "hello"], plugins=[FAST]).answer == "hello"
    assert 0.2 <= time.perf_counter() - started < 10


def test_a_provider_that_asks_for_too_much_patience_ends_the_run_at_once() -> None:
    started = time.perf_counter()
    with pytest.raises(ModelError) as caught:
        run_agent([failing(status=429, retry_after=86_400), "hello"], run_timeout=20)
    assert time.perf_counter() - started < 10
    assert "86400 s" in "".join(caught.value.__notes__)


def test_waits_grow_and_are_bounded() -> None:
    policy = ModelRetries(attempts=20, first_wait=1.0, max_wait=10.0)
    error = ModelError("not now", retryable=True)
    waits = [policy.wait(failed, error) for failed in range(1, 20)]
    bounds = [min(2.0**n, 10.0) for n in range(19)]
    assert all(wait is not None and bound / 2 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True))
    assert policy.wait(20, error) is None
    assert policy.wait(1, ModelError("no", retryable=False)) is None


def test_each_retry_is_told(fired: Any) -> None:
    run_agent([failing(status=503), "hello"], plugins=[FAST, fired])
    ((guard, detail),) = fired.details
    assert guard == "model_retries"
    assert "attempt 1 of 4" in detail


def test_the_draft_of_a_failed_stream_is_withdrawn() -> None:
    async def scenario() -> list[str]:
        chunk = {"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": None}]}
        agent = agent_with([{"stream": [chunk]}, "whole"], plugins=[FAST])
        kept = (TextDelta, TextDiscarded)
        return [type(event).__name__ async for event in agent.stream("go") if isinstance(event, kept)]

    assert asyncio.run(scenario())[-1] == "TextDelta"
