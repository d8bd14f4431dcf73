"""Helpers for testing toolsets and plugins: run an agent offline, with scripted replies.

from react_run.testing import calls, run_agent, says

def test_the_sum_is_asked_for() -> None:
    result = run_agent([calls(("add", {"a": 1, "b": 2})), says("3")], toolsets=[Sums()])
    assert result.answer == "3"
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from react_run.agent import ReActAgent
from react_run.errors import JournalError
from react_run.messages import ModelRequest
from react_run.models.scripted import ScriptedModel
from react_run.run import RunResult
from react_run.support.threads import run_blocking
from react_run.tools.tool import Tool, tool
from react_run.tools.toolset import ReActToolset


def says(text: str, **fields: object) -> dict[str, object]:
    """A scripted reply with an answer; ``fields`` such as ``usage=`` or ``finish_reason=`` are added."""
    return {"text": text, **fields}


def calls(*requests: tuple[str, Mapping[str, object] | str], text: str = "", **fields: object) -> dict[str, object]:
    """A scripted reply that calls tools: ``calls(("add", {"a": 1, "b": 2}))``."""
    wanted = [{"name": name, "arguments": arguments} for name, arguments in requests]
    return {"text": text, "tool_calls": wanted, **fields}


class Functions(ReActToolset):
    """Turns plain functions into a toolset."""

    functions: list[Any]

    def tools(self) -> list[Tool]:
        return [f if isinstance(f, Tool) else Tool.from_function(f) for f in self.functions]


def agent_with(
    replies: Sequence[object],
    *,
    tools: Iterable[Callable[..., object] | Tool] = (),
    toolsets: Iterable[ReActToolset] = (),
    plugins: Iterable[object] = (),
    **config: object,
) -> ReActAgent:
    """Build an agent with a scripted model; ``.model.requests`` has the requests that the model received.

    Raises:
        ValueError: There are no replies.
    """
    if not replies:
        raise ValueError('a scripted model needs at least one reply, such as "345" or calls(("add", {"a": 1}))')
    given = [Functions(functions=list(tools))] if tools else []
    model = ScriptedModel(replies=list(replies))
    return ReActAgent(config, model=model, toolsets=[*given, *toolsets], plugins=plugins)


def run_agent(replies: Sequence[object], prompt: str = "go", **options: Any) -> RunResult:
    """Run :func:`agent_with` on ``prompt`` and return the result."""
    return agent_with(replies, **options).run_sync(prompt)


def replayed(
    recording: str | PathLike[str], agent: ReActAgent, *, tools: Literal["recorded", "live"] = "live"
) -> RunResult:
    """Replay a recorded run through ``agent``, offline: a regression test (behaviour J3).

    If the recorded run failed, for example because of its provider, it has to fail again; the result so far is
    returned.

    Args:
        recording: The journal of the run.
        agent: The agent to test.
        tools: ``live`` runs the tools again, ``recorded`` answers their calls from the recording.

    Raises:
        ReplayMismatch: Something differs from the recording; the message says what.
        JournalError: The recording cannot be read, or does not end with a result.
    """
    from react_run.journal.reading import read_journal
    from react_run.journal.replay.replay import replay

    again = run_blocking(replay(read_journal(recording), agent, tools=tools))
    result: RunResult | None = again.result or getattr(again.error, "result", None)
    if result is None:
        raise JournalError(f"the run recorded in {recording} does not end with a result")
    return result


if "pytest" in sys.modules:  # only needed with pytest_plugins; pytest may not be installed elsewhere
    import pytest

    @pytest.fixture
    def replay_recording(request: pytest.FixtureRequest) -> Callable[..., RunResult]:
        """:func:`replayed`, with paths relative to the test file: ``pytest_plugins = ["react_run.testing"]``."""

        def beside(recording: str | PathLike[str], agent: ReActAgent, **options: Any) -> RunResult:
            return replayed(request.path.parent / recording, agent, **options)

        return beside


__all__ = ["Functions", "ModelRequest", "agent_with", "calls", "replayed", "run_agent", "says", "tool"]
