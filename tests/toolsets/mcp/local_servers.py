"""Servers of ours, and agents that use them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from react_run import ReActAgent, ReActStep
from react_run.testing import agent_with, calls, says
from react_toolsets.mcp import McpToolset

HERE = Path(__file__).parent
Call = tuple[str, Mapping[str, object]]


def script(directory: Path, body: str, name: str = "server") -> list[str]:
    """The command of a server by hand that does what ``body`` says."""
    path = directory / f"{name}.py"
    path.write_text(
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom stdio_server import *\n{textwrap.dedent(body)}"
    )
    return [sys.executable, "-S", str(path)]


def local(directory: Path, body: str = "serve([tool('ping')])", name: str = "demo", **options: Any) -> McpToolset:
    """A toolset of one server by hand; its tools have no prefix."""
    command, *args = script(directory, body, name)
    given = {"name": name, "prefix": "", "start_timeout": 20, **options}
    return McpToolset.model_validate({"command": command, "args": args, **given})


def agent_of(workspace: Path, toolsets: list[McpToolset], *iterations: Call | list[Call], **options: Any) -> ReActAgent:
    """An agent that makes the given calls, several at a time where there is a list of them, and answers."""
    replies: list[Any] = [calls(*([some] if isinstance(some, tuple) else some)) for some in iterations]
    options = {"max_iterations": len(replies) + 1, **options}
    agent = agent_with([*replies, says("done")], toolsets=toolsets, **options)
    agent.workspace = workspace
    return agent


async def steps_of(agent: ReActAgent) -> list[ReActStep]:
    """The steps of one run, the agent closed behind it."""
    async with agent:
        return list((await agent.run("go")).steps)


def code_of(step: ReActStep) -> str:
    """The code of a failed step."""
    return step.outcome.code if step.outcome is not None else ""


def children() -> list[psutil.Process]:
    """The processes that this one has started and that still run."""
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
