"""The plugin ``retry``: calls that failed for a reason that may pass are tried again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.fired import Fired
from tests.plugins.traces import failing

from react_plugins.retry import Retry
from react_run import NoResult, Observation, Outcome, ReActToolset, ToolError, ToolFailed, hookimpl, tool
from react_run.testing import calls, run_agent, says

FLAKY = [calls(("flaky", {"x": 1})), says("done")]


@pytest.mark.parametrize(
    ("failures", "options", "attempts", "code"),
    [
        ([], {}, 1, None),
        ([ValueError()], {}, 2, None),
        ([ValueError(), OSError()], {}, 3, None),
        ([ValueError()] * 9, {}, 3, "execution_error"),
        ([ValueError()] * 9, {"attempts": 5}, 5, "execution_error"),
        ([ValueError()] * 9, {"attempts": 1}, 1, "execution_error"),
        ([ToolError("later", code="busy")], {}, 2, None),
        ([ToolError("later", code="busy")], {"codes": ["timeout", "execution_*"]}, 1, "busy"),
        ([ToolFailed("never")], {}, 1, "tool_failed"),
        ([NoResult("nothing")], {}, 1, "no_result"),
        ([ValueError()], {"tools": ["web_*"]}, 1, "execution_error"),
    ],
)
def test_retryable_failures_are_repeated_up_to_the_limit(
    failures: list[Exception], options: dict[str, Any], attempts: int, code: str | None
) -> None:
    flaky, made = failing(*failures)
    result = run_agent(FLAKY, tools=[flaky], plugins=[Retry(first_wait=0, **options)])
    assert len(made) == attempts
    assert result.steps[0].error_code == code


@pytest.mark.parametrize(
    ("flags", "options", "attempts"),
    [
        ({"read_only": True}, {}, 2),
        ({"read_only": None}, {}, 2),
        ({"read_only": False}, {}, 1),
        ({"read_only": False, "idempotent": True}, {}, 2),
        ({"read_only": False}, {"changing": ["fl*"]}, 2),
        ({"inline": True}, {}, 1),
    ],
)
def test_a_tool_that_changes_things_or_always_fails_alike_is_not_repeated(
    flags: dict[str, Any], options: dict[str, Any], attempts: int
) -> None:
    flaky, made = failing(ValueError(), **flags)
    run_agent(FLAKY, tools=[flaky], plugins=[Retry(first_wait=0, **options)])
    assert len(made) == attempts


def test_what_a_toolset_calls_retryable_is_repeated() -> None:
    class Service(ReActToolset):
        attempts: int = 0
        """So far."""

        @tool(read_only=True)
        def ask(self) -> str:
            """Ask."""
            self.attempts += 1
            return "busy" if self.attempts == 1 else "fine"

        def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome:
            return Outcome.retryable("busy", "busy") if result == "busy" else Outcome.success("fine")

    result = run_agent([calls(("ask", {})), says("fine")], toolsets=[Service()], plugins=[Retry(first_wait=0)])
    assert (result.steps[0].observation, result.success) == ("fine", True)


def test_wrong_arguments_and_refusals_are_not_repeated() -> None:
    class Never:
        times = 0

        @hookimpl
        def react_tool_permit(self) -> Observation:
            self.times += 1
            return Observation(content="no", outcome=Outcome.retryable("refused", "no"))

    never = Never()
    flaky, made = failing()
    replies = [calls(("flaky", {"x": "many"}), ("flaky", {"x": 1})), says("done")]
    run_agent(replies, tools=[flaky], plugins=[Retry(first_wait=0), never], failure_handling="legacy")
    assert (made, never.times) == ([], 1)


def test_waits_double_up_to_the_most_and_are_noted() -> None:
    retry = Retry(first_wait=1, max_wait=5)
    waits = [[retry._wait(failed) for _ in range(200)] for failed in (1, 2, 3, 4, 2000)]
    assert [round(max(tried)) for tried in waits] == [1, 2, 4, 5, 5]
    assert all(min(tried) >= 0.5 * max(tried) - 0.1 for tried in waits)
    flaky, _ = failing(ValueError())
    fired = Fired()
    run_agent(FLAKY, tools=[flaky], plugins=[Retry(first_wait=0), fired])
    assert fired.of("retry") == ["flaky: execution_error (attempt 1 of 3; again in 0.0 s)"]


def test_calls_of_one_reply_wait_at_the_same_time() -> None:
    failed: list[str] = []
    everybody = asyncio.Event()

    @tool
    async def meet(name: str) -> str:
        """Fail once, then wait until everybody has failed."""
        if name not in failed:
            failed.append(name)
            if len(failed) == 3:
                everybody.set()
            raise ValueError
        await everybody.wait()
        return "fine"

    replies = [calls(*[("meet", {"name": name}) for name in "abc"]), says("done")]
    result = run_agent(replies, tools=[meet], plugins=[Retry(first_wait=0)])
    assert [step.observation for step in result.steps] == ["fine"] * 3
    assert sorted(failed) == ["a", "b", "c"]
