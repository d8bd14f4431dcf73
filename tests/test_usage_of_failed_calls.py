"""What model calls that failed or were cancelled count as (behaviours H3, S4)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from react_run import Iteration, ModelError, StopReason, hookimpl, tool
from react_run.cli.exit import ended
from react_run.errors import result_left
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.agents import AgentsToolset

USED: dict[str, Any] = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost": 0.01}}


@tool(read_only=True)
def look() -> str:
    """Look."""
    return "seen"


def test_a_cancelled_call_is_counted_and_what_it_used_is_unknown() -> None:  # H3
    result = run_agent([{"text": "late", "delay": 60}], run_timeout=0.1)
    assert result.stop_reason == StopReason.TIMEOUT
    assert (result.usage.requests, result.usage.total_tokens, result.usage.cost) == (1, None, None)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_a_call_that_was_refused_at_once_used_nothing(status: int) -> None:  # H3
    with pytest.raises(ModelError) as failed:
        run_agent([{"error": {"status": status, "message": "no", "retryable": False}}])
    left = result_left(failed.value)
    assert left is not None
    assert (left.usage.requests, left.usage.total_tokens, left.usage.cost) == (1, 0, 0.0)


@pytest.mark.parametrize("model", ["openai/gpt-5-mini", "anthropic/claude-sonnet-4-5", "groq/x"])
def test_a_call_that_was_never_made_is_none(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # H3
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GROQ_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path))
    agent = tmp_path / "a.yaml"
    agent.write_text(f"version: 1\nmodel: {model}\n")
    assert ended([str(agent), "hi"]) == 3
    told = capsys.readouterr().err
    assert "no model was called · " in told
    assert "$" not in told
    assert ended(["trace", "--last"]) == 0
    assert "0 model calls" in capsys.readouterr().out


def cut() -> dict[str, Any]:
    return {"error": {"message": "the stream was cut", "code": "incomplete", "retryable": True}}


def test_a_stream_that_was_cut_used_nobody_knows_what() -> None:  # H3
    result = run_agent([cut(), says("done", **USED)], plugins=[{"kind": "model_retries", "first_wait": 0}])
    assert (result.answer, result.usage.requests, result.usage.total_tokens) == ("done", 2, None)


def test_an_attempt_of_unknown_cost_counts_at_its_worst_and_does_not_end_the_run() -> None:  # S4
    replies = [calls(("look", {}), **USED), cut(), says("done", **USED)]
    options: dict[str, Any] = {"plugins": [{"kind": "model_retries", "first_wait": 0}], "max_cost": 1.0}
    result = run_agent(replies, tools=[look], **options)
    assert (result.answer, result.stop_reason, result.usage.cost) == ("done", StopReason.COMPLETED, None)
    result = run_agent(replies, tools=[look], **{**options, "max_total_tokens": 2_000, "max_cost": None})
    assert result.stop_reason == StopReason.TOKEN_LIMIT  # 4 096 tokens might have been written


def test_an_attempt_of_unknown_cost_counts_at_its_worst_in_the_run_above_too(tmp_path: Path) -> None:  # S4, X1
    model = {"kind": "scripted", "replies": [cut(), says("done", **USED)]}
    plugins = [{"kind": "model_retries", "first_wait": 0}]
    data = {"name": "helper", "description": "Helps.", "model": model, "plugins": plugins}
    (tmp_path / "helper.yaml").write_text(json.dumps(data), encoding="utf-8")
    replies = [calls(("helper", {"task": "look"}), **USED), says("done", **USED)]
    toolset = AgentsToolset(agents=[tmp_path / "helper.yaml"])
    result = run_agent(replies, toolsets=[toolset], max_total_tokens=2_000)
    assert result.stop_reason == StopReason.TOKEN_LIMIT  # 4 096 tokens might have been written
    assert "tokens used are unknown" not in result.answer


def test_a_price_that_is_unknown_still_fails_closed() -> None:  # S4
    replies = [calls(("look", {}), usage={"input_tokens": 1, "output_tokens": 1, "cost": None}), says("done")]
    assert run_agent(replies, tools=[look], max_cost=1.0).stop_reason == StopReason.COST_LIMIT


def test_what_a_cancelled_run_used_is_in_its_result() -> None:  # H3
    async def scenario() -> BaseException:
        replies = [calls(("look", {}), **USED), {"text": "late", "delay": 60}]
        asked = asyncio.Event()

        class Watch:
            @hookimpl
            def react_model_call_started(self, iteration: Iteration) -> None:
                if iteration.number == 2:
                    asyncio.get_running_loop().call_later(0.05, asked.set)

        agent = agent_with(replies, tools=[look], plugins=[Watch()])
        task = asyncio.ensure_future(agent.run("go"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        return cancelled.value

    left = result_left(asyncio.run(scenario()))
    assert left is not None
    assert (left.usage.requests, left.usage.total_tokens) == (2, None)
