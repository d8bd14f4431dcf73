"""Running the tools of a toolset as a model would, in a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from react_run import ReActStep, ReActToolset, RunResult
from react_run.testing import agent_with, calls, says

Arguments = Mapping[str, object]


def run_in(workspace: Path, replies: list[Any], **options: Any) -> RunResult:
    """The result of a run in ``workspace``."""
    agent = agent_with(replies, **options)
    agent.workspace = workspace
    return agent.run_sync("go")


def steps(workspace: Path, toolset: ReActToolset, *requests: tuple[str, Arguments], **options: Any) -> list[ReActStep]:
    """The steps of a run that makes ``requests`` one after the other."""
    replies = [*(calls(request) for request in requests), says("done")]
    return list(run_in(workspace, replies, toolsets=[toolset], max_iterations=len(replies) + 1, **options).steps)


def step(workspace: Path, toolset: ReActToolset, tool: str, /, **arguments: object) -> ReActStep:
    """The step of a run that makes one call."""
    return steps(workspace, toolset, (tool, arguments))[0]
