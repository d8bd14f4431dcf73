"""A run that is cancelled at any await: it ends as cancelled, leaves nothing behind, and goes on from its journal.

The run has tools in threads and on the event loop, a subagent, a journal and, if asked, a reply that is streamed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.driving import PATIENCE, Driven, Faults, Streaming, Suspending, Watch, finished, read, wait

from react_run import (
    JournalError,
    ReActAgent,
    Run,
    RunResult,
    read_journal,
    tool,
)
from react_run.journal.replay.resume import resume
from react_run.support.threads import busy_threads
from react_run.testing import Functions
from react_toolsets.agents import AgentsToolset

CHILD = """\
name: helper
model:
  kind: scripted
  replies:
    - {delay: 0.001, tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}
    - {delay: 0.001, text: "42"}
toolsets: [math]
"""
CALLS: list[list[tuple[str, dict[str, object]]]] = [
    [("read", {}), ("wait", {}), ("send", {})],
    [("helper", {"task": "What is 6 times 7?"})],
    [("note", {}), ("wait", {})],
]


@dataclass
class World:
    """What the tools did, and the agent that has them."""

    folder: Path
    stream: bool
    done: list[str] = field(default_factory=list)

    def agent(self, *plugins: object) -> ReActAgent:
        @tool(read_only=False)
        def send() -> str:
            """Change something, in a thread."""
            self.done.append("send")
            return "sent"

        @tool(read_only=False, serial=True)
        async def note() -> str:
            """Change something, on the event loop."""
            await asyncio.sleep(0)
            self.done.append("note")
            await asyncio.sleep(0)
            return "noted"

        child = self.folder / "helper.yaml"
        child.write_text(CHILD, encoding="utf-8")
        return ReActAgent(
            {"run_timeout": 600.0},
            model=Suspending(calls=CALLS),
            toolsets=[Functions(functions=[read, wait, send, note]), AgentsToolset(agents=[str(child)])],
            plugins=[*plugins, *([Streaming()] if self.stream else [])],
        )


@dataclass(frozen=True)
class Ended:
    """How a driven run ended."""

    suspensions: int
    result: RunResult | None
    hooks: list[str]


def cancelled_at(number: int, world: World, journal: Path) -> Ended:
    """Run the agent once, and cancel the run at the ``number``-th suspension of anything in it."""

    async def scenario() -> Ended:
        def cancel(_: Run | None) -> None:
            task.cancel()

        faults = Faults(number, cancel)
        watch = Watch(faults)
        agent = world.agent(watch).replace(journal=journal)

        async def driven() -> RunResult:
            result: RunResult = await Driven(agent.run("go"), faults)
            return result

        before = asyncio.all_tasks()
        task = asyncio.ensure_future(driven())
        await finished(task, before)
        return Ended(faults.count, None if task.cancelled() else task.result(), watch.ended)

    return asyncio.run(scenario())


def goes_on(world: World, journal: Path) -> RunResult:
    return asyncio.run(resume(journal, world.agent(), ended="result"))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_run_cancelled_at_any_await_says_so_and_goes_on_from_its_journal(
    tmp_path: Path, stream: bool, record_property: Callable[[str, object], None]
) -> None:
    busy = busy_threads()
    undisturbed = cancelled_at(0, World(tmp_path, stream), tmp_path / "0.jsonl")
    assert undisturbed.result is not None
    assert (undisturbed.result.answer, undisturbed.hooks) == ("ok", ["finished"])
    assert undisturbed.suspensions > 25
    cancelled = 0
    for number in range(1, undisturbed.suspensions + 1):
        world, journal = World(tmp_path, stream), tmp_path / f"{number}.jsonl"
        ended = cancelled_at(number, world, journal)
        begun = journal.exists() and bool(journal.stat().st_size)
        if ended.result is None:
            cancelled += 1
            assert ended.hooks in ([], ["CancelledError"]), number
            if not begun:  # it had no time to write anything
                assert not world.done
                with pytest.raises(JournalError):
                    read_journal(journal)
                continue
            recorded = read_journal(journal)
            footer = recorded.footer
            assert footer is not None, number
            guards = [record["guard"] for record in recorded.records if record["type"] == "guard"]
            assert guards == [], f"cancelled at {number}, somebody else claims to have ended the run"
            assert (footer["status"], footer["stop_reason"]) == ("failed", "cancelled"), number
        result = goes_on(world, journal)
        assert result.answer == "ok", number
        assert len(world.done) == len(set(world.done)), f"cancelled at {number}, an effect happened twice"
        told = {step.action: step.observation for step in result.steps}
        for name in {"send", "note"} - set(world.done):
            assert "outcome is unknown" in told[name], f"cancelled at {number}, {name} got lost"
        assert read_journal(journal).footer is not None
    assert cancelled > undisturbed.suspensions * 0.9
    record_property("faults", cancelled)
    patience = time.monotonic() + PATIENCE
    while busy_threads() > busy:  # a thread that was given up ends when its tool returns
        assert time.monotonic() < patience
        time.sleep(0.01)
