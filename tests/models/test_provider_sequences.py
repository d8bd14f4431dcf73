"""Cases of whole conversations: several turns, interrupted ones, resumed ones, two at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.case_results import Seen, Watching
from tests.models.case_runs import BOTH, CLIENTS, agent_for, outcome_of, tools_of
from tests.models.cases import Case, Json, cases
from tests.models.expectations import check
from tests.models.stub_server import Reply, StubServer

from react_run import ReActAgent, Run, RunResult, Tool, ToolCall, hookimpl
from react_run.journal.lines import to_json
from react_run.journal.recorder import Recorder
from react_run.journal.replay.resume import resume
from react_run.journal.sinks import MemorySink
from react_run.journal.values import Record

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic serializer):UserWarning"
)


def bodies_of(server: StubServer) -> list[Json]:
    return [request.body for request in server.requests]


def plainly(case: Case, client: str, _: Path) -> list[Seen]:
    """Turn by turn, in a new conversation or an old one."""
    data, ran, watching = case.input, list[str](), Watching()
    limits = {"max_iterations": data["max_iterations"]} if "max_iterations" in data else {}
    tools = tools_of(case, ran, returns=data.get("tools_return"), repeatable=data.get("repeatable", False))
    with StubServer(data["turns"]) as server:
        agent = agent_for(CLIENTS[client](server.url), watching, tools, **limits)
        outcome = outcome_of(agent, "" if "history" in data else "go", data.get("history", ()))
    return [Seen(case=case, client=client, outcome=outcome, watching=watching, bodies=bodies_of(server), ran=ran)]


def cancelled(case: Case, client: str, _: Path) -> list[Seen]:
    """Cancelled when one call has its result and the others have begun."""
    ran, watching, begun = list[str](), WaitingFor(case.input["cancel_after_tool"]), asyncio.Event()
    tools = [waiting(tool, begun) if tool.name == case.input["hangs"] else tool for tool in tools_of(case, ran)]

    async def until_cancelled(agent: ReActAgent) -> None:
        task = asyncio.ensure_future(agent.run("go"))
        await begun.wait()
        await watching.finished.wait()
        task.cancel()
        await task

    with StubServer(case.input["turns"]) as server, pytest.raises(asyncio.CancelledError) as raised:
        asyncio.run(until_cancelled(agent_for(CLIENTS[client](server.url), watching, tools)))
    bodies = bodies_of(server)
    return [Seen(case=case, client=client, outcome=raised.value, watching=watching, bodies=bodies, ran=ran)]


class WaitingFor(Watching):
    """Tells when a call has its result."""

    def __init__(self, call: str) -> None:
        super().__init__()
        self.call = call
        self.finished = asyncio.Event()

    @hookimpl
    def react_tool_call_finished(self, call: ToolCall) -> None:
        if call.request.id == self.call:
            self.finished.set()


def waiting(tool: Tool, begun: asyncio.Event) -> Tool:
    async def wait_for_ever(**_: object) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    return replace(tool, function=wait_for_ever)


KILLED_AFTER = {
    "kill_after_tool": ("tool_started", "id"),
    "kill_after_save": ("tool_finished", "id"),
    "resume_after_turn": ("", "iteration"),
}
"""The last record that was written before the run was killed: its type, if one is named, and the field of the case."""


def resumed(case: Case, client: str, folder: Path) -> list[Seen]:
    """Killed where the case says, and resumed from what the journal has."""
    kept = journal_until_killed(case, client)
    path = folder / "run.jsonl"
    path.write_text("".join(f"{to_json(record)}\n" for record in kept), encoding="utf-8")
    ran = [record["name"] for record in kept if record["type"] == "tool_started"]
    answered = sum(record["type"] == "model_response" for record in kept)
    watching = Watching()
    with StubServer(case.input["turns"][answered:]) as server:
        tools = tools_of(replace(case, tools=case.input.get("tools_after", case.tools)), ran)
        agent = agent_for(CLIENTS[client](server.url), watching, tools)
        outcome = asyncio.run(resume(path, agent, force=True))
    return [Seen(case=case, client=client, outcome=outcome, watching=watching, bodies=bodies_of(server), ran=ran)]


def journal_until_killed(case: Case, client: str) -> Sequence[Record]:
    kind, field, value = next((*KILLED_AFTER[key], value) for key, value in case.input.items() if key in KILLED_AFTER)
    sink = MemorySink()
    with StubServer(case.input["turns"]) as server:
        agent = agent_for(CLIENTS[client](server.url), Watching(), tools_of(case, []))
        agent.replace(journal=Recorder.into(sink)).run_sync("go")
    found = [
        n for n, record in enumerate(sink.records) if record["type"].startswith(kind) and record.get(field) == value
    ]
    return sink.records[: found[-1] + 1]


def together(case: Case, client: str, _: Path) -> list[Seen]:
    """Several runs of one agent at once."""
    prompts = [f"prompt {number}" for number in range(case.input["concurrent_runs"])]
    model_turns, ran, watching = case.input["turns"], list[str](), Together()

    def reply(body: Json) -> Reply:
        turn: Reply = model_turns[sum(message["role"] == "assistant" for message in body["messages"])]
        return turn

    async def all_at_once(agent: ReActAgent) -> list[RunResult]:
        return list(await asyncio.gather(*map(agent.run, prompts)))

    with StubServer([reply]) as server:
        agent = agent_for(CLIENTS[client](server.url), watching, tools_of(case, ran))
        results = asyncio.run(all_at_once(agent))
    return [
        Seen(case=case, client=client, outcome=result, watching=watching.of(prompt), prompt=prompt, ran=ran)
        for prompt, result in zip(prompts, results, strict=True)
    ]


class Together(Watching):
    """Sees several runs."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Run] = []

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        self.runs.append(run)

    def of(self, prompt: str) -> Watching:
        """What it saw of the run that began with a prompt."""
        one = Watching()
        (one.run,) = [run for run in self.runs if run.messages[1].text == prompt]
        one.replies = self.replies
        return one


WAYS: dict[str, Callable[[Case, str, Path], list[Seen]]] = {
    "cancel_after_tool": cancelled,
    "concurrent_runs": together,
    **dict.fromkeys(KILLED_AFTER, resumed),
}
"""How a case is run, by what its input names; otherwise plainly."""
INPUT = {"hangs", "history", "max_iterations", "repeatable", "tools_after", "tools_return", "turns", *WAYS}
"""What the input of a case may name."""


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize("case", cases("sequence"), ids=lambda case: case.name)
def test_a_conversation_goes_as_it_must(case: Case, client: str, tmp_path: Path) -> None:  # L3, L5, H2, S1-S3, T3, J4
    assert case.input.keys() <= INPUT
    run = next((WAYS[key] for key in case.input if key in WAYS), plainly)
    for seen in run(case, client, tmp_path):
        check(seen)
