"""A thousand runs of one agent at once: each has its own messages, results and journal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from react_run import RunResult, hookimpl, tool
from react_run.testing import agent_with, calls, says

RUNS = 1_000
MARK = re.compile(r"mark-\d+")


@tool(read_only=True, inline=True)
def inline(mark: str) -> str:
    """Answer at once."""
    return f"inline {mark}"


@tool(read_only=True)
def threaded(mark: str) -> str:
    """Answer from a thread."""
    return f"threaded {mark}"


@tool(read_only=True)
async def suspended(mark: str) -> str:
    """Answer after a few turns of the event loop."""
    for _ in range(3):
        await asyncio.sleep(0)
    return f"suspended {mark}"


def talk(request: Any) -> object:
    mark = request.messages[1].text
    if request.call == 1:
        return calls(*((name, {"mark": mark}) for name in ("inline", "threaded", "suspended")))
    results = [message.text for message in request.messages if message.role == "tool"]
    return says(f"{mark}: {', '.join(results)}")


class Heard:
    """What listeners hear, by run."""

    def __init__(self) -> None:
        self.marks: dict[str, set[str]] = {}

    @hookimpl
    def react_text_delta(self, run: Any, text: str) -> None:
        self.marks.setdefault(str(run.prompt), set()).update(MARK.findall(text))


@pytest.mark.slow
def test_a_thousand_runs_of_one_agent_at_once_mix_nothing(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    heard = Heard()
    agent = agent_with([talk], tools=[inline, threaded, suspended], plugins=[heard]).replace(journal=tmp_path)

    async def together() -> list[RunResult]:
        return await asyncio.gather(*(agent.run(f"mark-{number}") for number in range(RUNS)))

    results = asyncio.run(together())
    assert len({result.run_id for result in results}) == RUNS
    for number, result in enumerate(results):
        mark = f"mark-{number}"
        assert result.answer == f"{mark}: inline {mark}, threaded {mark}, suspended {mark}"
        assert set(MARK.findall(str(result.to_dict()))) == {mark}
        (journal,) = tmp_path.glob(f"*{result.run_id}*.jsonl")
        assert set(MARK.findall(journal.read_text(encoding="utf-8"))) == {mark}
    assert heard.marks == {mark: {mark} for mark in heard.marks}
    assert len(heard.marks) == RUNS
    record_property("faults", RUNS)
