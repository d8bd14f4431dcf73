"""Components are opened once, before anybody uses them, and closed whatever happens."""

from __future__ import annotations

import asyncio
import threading
from typing import ClassVar

import pytest
from pydantic import PrivateAttr

from react_run import ReActToolset, hookimpl, tool
from react_run.testing import agent_with, calls, says


class Opened(ReActToolset):
    """Something to be opened; it tells what happened to it."""

    name: str = "held"
    """What the log calls it."""
    fails: tuple[str, ...] = ()
    """What goes wrong, once."""

    log: ClassVar[list[str]] = []
    _failed: set[str] = PrivateAttr(default_factory=set)
    _ready: bool = PrivateAttr(default=False)

    async def open(self) -> None:
        self._note("open")
        await asyncio.sleep(0.01)
        self._ready = True

    async def close(self) -> None:
        self._ready = False
        self._note("close")

    def _note(self, what: str) -> None:
        self.log.append(f"{what} {self.name}")
        if what in self.fails and what not in self._failed:
            self._failed.add(what)
            raise OSError(f"cannot {what} {self.name}")


class StreamMasker(Opened):
    """One that knows whether it is open."""

    @tool
    def look(self) -> str:
        """Look whether it is open."""
        return "ready" if self._ready else "shut"


@pytest.fixture(autouse=True)
def fresh_log() -> None:
    Opened.log.clear()


REPLIES = [calls(("look", {})), says("done")]


def test_every_run_finds_open_what_another_is_opening() -> None:
    agent = agent_with(REPLIES, toolsets=[StreamMasker()])

    async def scenario() -> list[str]:
        results = await asyncio.gather(*(agent.run("go") for _ in range(5)))
        return [result.steps[0].observation for result in results]

    assert asyncio.run(scenario()) == ["ready"] * 5
    assert Opened.log == ["open held"]


def test_runs_in_several_threads_open_once_too() -> None:
    agent = agent_with(REPLIES, toolsets=[StreamMasker()])
    seen: list[str] = []
    threads = [
        threading.Thread(target=lambda: seen.append(agent.run_sync("go").steps[0].observation)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen, Opened.log) == (["ready"] * 8, ["open held"])


def test_what_failed_to_open_is_opened_by_the_next_run() -> None:
    agent = agent_with(REPLIES, toolsets=[StreamMasker(fails=("open",))])
    with pytest.raises(OSError, match="cannot open held"):
        agent.run_sync("go")
    assert agent.run_sync("go").steps[0].observation == "ready"


def test_a_run_that_waits_for_an_opening_that_fails_tries_itself() -> None:
    agent = agent_with(REPLIES, toolsets=[StreamMasker(fails=("open",))])

    async def scenario() -> tuple[object, object]:
        return await asyncio.gather(agent.run("go"), agent.run("go"), return_exceptions=True)

    failed, went_well = asyncio.run(scenario())
    assert isinstance(failed, OSError)
    assert not isinstance(went_well, BaseException)
    assert Opened.log == ["open held", "open held"]


def test_a_run_that_is_cancelled_while_it_waits_lets_the_opening_go_on() -> None:
    agent = agent_with(REPLIES, toolsets=[StreamMasker()])

    async def scenario() -> str:
        first, second = asyncio.ensure_future(agent.run("go")), asyncio.ensure_future(agent.run("go"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait((second,))
        return (await first).steps[0].observation

    assert asyncio.run(scenario()) == "ready"


@pytest.mark.parametrize(
    ("fails", "log"),
    [
        (("close",), ["open first", "open held", "open last", "close last", "close held", "close first"]),
        (("open",), ["open first", "open held", "close first"]),
    ],
)
def test_what_was_opened_is_closed_even_when_another_fails(fails: tuple[str, ...], log: list[str]) -> None:
    agent = agent_with(REPLIES, toolsets=[Opened(name="first"), StreamMasker(fails=fails), Opened(name="last")])

    async def scenario() -> None:
        async with agent:
            await agent.run("go")

    with pytest.raises(OSError, match=f"cannot {fails[0]} held"):
        asyncio.run(scenario())
    assert Opened.log == log


def test_one_component_in_two_roles_is_opened_once() -> None:
    both = StreamMasker()
    agent = agent_with(REPLIES, toolsets=[both], plugins=[both])

    async def scenario() -> None:
        async with agent:
            await agent.run("go")
            await agent.run("go again")

    asyncio.run(scenario())
    assert Opened.log == ["open held", "close held"]


class Slow(Opened):
    """One that closes with others, and waits until all have begun to."""

    closes_anywhere: ClassVar[bool] = True
    all_began: ClassVar[asyncio.Barrier] = asyncio.Barrier(3)

    async def close(self) -> None:
        await self.all_began.wait()
        self._note("close")


def test_components_that_may_be_closed_anywhere_are_closed_at_the_same_time() -> None:
    slow = [Slow(name=name, fails=("close",) if name == "two" else ()) for name in ("one", "two", "three")]
    agent = agent_with(REPLIES, toolsets=[*slow, StreamMasker()])

    async def scenario() -> None:
        async with asyncio.timeout(60), agent:
            await agent.run("go")

    with pytest.raises(OSError, match="cannot close two"):
        asyncio.run(scenario())
    assert {f"close {name}" for name in ("one", "two", "three", "held")} <= {*Opened.log}


def test_a_run_waits_for_listeners_that_are_still_at_work() -> None:
    heard: list[str] = []

    class Slow:
        @hookimpl
        async def react_guard_fired(self, guard: str) -> None:
            for _ in range(20):
                await asyncio.sleep(0)
            heard.append(guard)

    agent = agent_with([says(""), says("done")], plugins=[Slow()])

    async def scenario() -> list[str]:
        await agent.run("go")
        return list(heard)

    assert asyncio.run(scenario()) == ["reply_checks"]
