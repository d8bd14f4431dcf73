"""Agents for batches, and what their tools did to the world."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from react_run import ReActAgent, tool
from react_run.batch import RowResult
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says

USED = {"input_tokens": 10, "output_tokens": 5, "cost": 0.005}
ANSWERED = [calls(("add", {"a": 1, "b": 2}), usage=USED), says("3", usage=USED)]


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def adding(replies: Sequence[object] = ANSWERED, **config: Any) -> ReActAgent:
    """An agent whose every run adds once and answers 3, for 0.01 USD."""
    return ReActAgent(
        {"plugins": [{"kind": "model_retries", "attempts": 1}], **config},
        model=ScriptedModel(replies=list(replies)),
        toolsets=[Functions(functions=[add])],
    )


def writing(effects: Path, pause: float = 0.01) -> ReActAgent:
    """An agent whose every run has four effects that must not happen twice, each a line in ``effects``."""

    @tool
    async def append(token: str) -> str:
        """Write a token: a second time it would stand there twice."""
        await asyncio.sleep(pause)
        descriptor = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{token}\n".encode())
        os.close(descriptor)
        await asyncio.sleep(pause)
        return f"{token}: written"

    tokens = [calls(("append", {"token": f"{number}"})) for number in range(4)]
    replies = [*({"delay": pause, **reply} for reply in tokens), says("done")]
    return ReActAgent({}, model=ScriptedModel(replies=replies), toolsets=[Functions(functions=[append])])


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of an output."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def statuses(results: Sequence[RowResult]) -> list[str]:
    """What became of each row."""
    return [result.status for result in results]
