"""What failures leave in Python's log: tracebacks, but no secret, whoever raised (behaviour J2)."""

from __future__ import annotations

import logging

import pytest

from react_run import Plugin, ReActAgent, ReActToolset, Run, ScriptedModel, hookimpl, tool
from react_run.testing import calls, says

SECRET = "hunter2hunter2"


class Leaky(ReActToolset):
    @tool
    def fetch(self) -> str:
        """Fetch."""
        raise RuntimeError(f"refused with {SECRET}")

    @tool
    def read(self) -> str:
        """Read."""
        return "read"

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> None:
        raise ValueError(f"cannot tell {SECRET}")


class Listens(Plugin):
    @hookimpl
    def react_run_started(self, run: Run) -> None:
        raise LookupError(f"plain {SECRET}")

    @hookimpl
    async def react_run_finished(self, run: Run) -> None:
        raise LookupError(f"awaited {SECRET}")


def test_a_failure_is_logged_with_its_traceback_and_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedModel(replies=[calls(("fetch", {}), ("read", {})), says("done")])
    agent = ReActAgent(model=model, toolsets=[Leaky()], plugins=[Listens()])
    agent.config.masker.add(SECRET)
    with caplog.at_level(logging.DEBUG, "react_run"):
        agent.run_sync("go")
    assert SECRET not in caplog.text
    for said in ("refused with ***", "cannot tell ***", "plain ***", "awaited ***"):
        assert said in caplog.text
    assert caplog.text.count("Traceback (most recent call last)") == 4
