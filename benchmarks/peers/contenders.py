"""Who is measured, how each runs a script, and which of the peers are here and do the work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from benchmarks.measure import report
from benchmarks.peers import langchain, llm, openai_agents, pydantic_ai, react_run, smolagents, strands
from benchmarks.peers.script import Script

Prepare = Callable[[Script], Callable[[], str]]


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A runtime: where it comes from, what a program that makes an agent imports, and how it runs a script."""

    distribution: str
    statement: str
    prepared: Prepare
    awaits: bool = True
    """Whether it takes coroutine functions as tools."""
    inline: bool = False
    """Whether it can call a plain function where it stands, without a thread: an iteration is cheapest that way."""

    def work(self, script: Script) -> Callable[[], None]:
        """One run, and the proof that it did what the script says."""
        run = self.prepared(script)

        def work() -> None:
            script.start()
            script.check(run())

        return work


def ours(prepared: Prepare) -> Contender:
    """This runtime."""
    return Contender(
        distribution="react-run", statement="from react_run import ReActAgent, tool", prepared=prepared, inline=True
    )


OURS = {"safe": ours(react_run.prepared), "legacy": ours(partial(react_run.prepared, failure_handling="legacy"))}
PEERS = {
    "llm": Contender(
        distribution="llm", statement="from llm import AsyncModel, Tool", prepared=llm.prepared, inline=True
    ),
    "smolagents": Contender(
        distribution="smolagents",
        statement="from smolagents import Tool, ToolCallingAgent",
        prepared=smolagents.prepared,
        awaits=False,
        inline=True,
    ),
    "strands": Contender(
        distribution="strands-agents", statement="from strands import Agent, tool", prepared=strands.prepared
    ),
    "langchain": Contender(
        distribution="langchain",
        statement="from langchain.agents import create_agent; from langchain.tools import tool",
        prepared=langchain.prepared,
    ),
    "pydantic-ai": Contender(
        distribution="pydantic-ai-slim", statement="from pydantic_ai import Agent, Tool", prepared=pydantic_ai.prepared
    ),
    "openai-agents": Contender(
        distribution="openai-agents",
        statement="from agents import Agent, Runner, function_tool",
        prepared=openai_agents.prepared,
    ),
}


def usable_peers() -> dict[str, Contender]:
    """The peers that are installed and do two iterations correctly; each of the others is reported."""
    usable, missing = {}, []
    for name, peer in PEERS.items():
        try:
            version(peer.distribution)
            peer.work(Script(2, plain=not peer.awaits))()
        except PackageNotFoundError:
            missing.append(name)
            report("peers", peer=name, skipped=f"{peer.distribution} is not installed")
        except Exception as error:  # whatever a version we do not know raises: the others are measured all the same
            report("peers", peer=name, skipped=f"{type(error).__name__}: {error}")
        else:
            usable[name] = peer
    if missing:
        print(f"missing: {', '.join(missing)}; pip install -r benchmarks/peers.txt", file=sys.stderr)
    return usable


def forms(contenders: dict[str, Contender]) -> Iterator[tuple[str, Contender, bool]]:
    """Name, contender, and whether the tool is plain: in its cheapest form, and ``_async`` where that is another."""
    for name, contender in contenders.items():
        yield name, contender, contender.inline
        if contender.inline and contender.awaits:
            yield f"{name}_async", contender, False
