"""The agents of a server: reloaded, with overrides, and closed when nobody needs them any more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

import pytest
from tests.serve.running_server import agent_file

from react_run import Plugin, ReActAgent
from react_run.launch.options import AgentOptions
from react_run.serve.agents import Agents, Problems


class Held(Plugin):
    """A plugin that says when it is opened and closed."""

    log: ClassVar[list[str]] = []

    async def open(self) -> None:
        self.log.append("open")

    async def close(self) -> None:
        self.log.append("close")


def agents_of(*files: str) -> Agents:
    Held.log.clear()
    made = Agents([AgentOptions(file=file, trust=True) for file in files], lambda: [Held()], lambda options: ())
    made.load()
    return made


def test_an_agent_that_was_replaced_is_closed_when_its_runs_have_ended(tmp_path: Path) -> None:
    agents = agents_of(agent_file(tmp_path, "one", ["before"]))

    async def scenario() -> None:
        await agents.begin()
        old = agents.get("one")
        assert old is not None
        agent_file(tmp_path, "one", ["after"])
        assert (await agents.reload())[0].endswith("one.yaml: reloaded")
        await agents.close_retired({old})
        assert Held.log == ["open", "open"]
        await agents.close_retired(())
        assert Held.log == ["open", "open", "close"]
        new = agents.get("one")
        assert new is not None
        assert isinstance(new.agent, ReActAgent)
        assert (await new.agent.run("go")).answer == "after"
        await agents.end()

    asyncio.run(scenario())
    assert sorted(Held.log) == ["close", "close", "open", "open"]


def test_overrides_make_a_few_agents_that_are_closed_again(tmp_path: Path) -> None:
    agents = agents_of(agent_file(tmp_path, "one", ["done"]))

    async def scenario() -> None:
        await agents.begin()
        for number in range(1, 11):
            served = await agents.variant("one", {"max_iterations": number})
            assert served is await agents.variant("one", {"max_iterations": number})
            assert served.agent.config.max_iterations == number
        assert await agents.variant("one", {}) is agents.get("one")
        await agents.close_retired(())
        assert Held.log.count("close") == 2
        await agents.end()

    asyncio.run(scenario())
    assert Held.log.count("open") == Held.log.count("close") == 11


def test_every_problem_of_every_file_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("nmae: x\n")
    (tmp_path / "b.yaml").write_text("model: [\n")
    with pytest.raises(Problems) as found:
        agents_of(str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"), str(tmp_path / "c.yaml"))
    assert all(name in str(found.value) for name in ("a.yaml:1", "b.yaml:", "c.yaml"))
