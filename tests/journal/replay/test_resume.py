"""Going on from a journal: state is rebuilt by driving the recorded part through all hooks once more (behaviour J4)."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.journal.recording import add, agent_of, recorded
from tests.journal.replay.test_replay import LOOKING, World

from react_run import (
    Message,
    ModelResponse,
    Plugin,
    ReActAgent,
    ReActSkillSpec,
    ReActToolset,
    ReplayMismatch,
    Run,
    ToolCall,
    ToolRequest,
    hookimpl,
    tool,
)
from react_run.engine.state import EngineState
from react_run.errors import ConfigError, JournalBusy, JournalError, ModelError
from react_run.journal.canonical import canonical_records
from react_run.journal.files import FileSink
from react_run.journal.lines import to_json
from react_run.journal.reading import Journal, read_journal
from react_run.journal.replay.resume import RunEnded, prepare, resume
from react_run.models.scripted import ScriptedModel
from react_run.results import RunResult
from react_run.testing import calls, says


class Counting(Plugin):
    """Counts what it is told, in every kind of hook."""

    class Seen(Counter[str]):
        """How often each hook was called."""

    last: Any = None

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        self.last = run.state(self.Seen)

    @hookimpl
    def react_iteration(self, run: Run) -> None:
        run.state(self.Seen)["iteration"] += 1

    @hookimpl
    def react_model_call(self, run: Run) -> None:
        run.state(self.Seen)["model_call"] += 1

    @hookimpl
    def react_tool_call(self, run: Run) -> None:
        run.state(self.Seen)["tool_call"] += 1

    @hookimpl
    def react_settle(self, run: Run) -> None:
        run.state(self.Seen)["settle"] += 1

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str) -> None:
        run.state(self.Seen)[guard] += 1


class Shelves(ReActToolset):
    """Two groups of tools behind skills."""

    @tool(read_only=True)
    def fetch(self, name: str) -> str:
        """Fetch a book."""
        return f"the book {name}"

    @tool(read_only=True)
    def count(self) -> int:
        """Count the books."""
        return 3

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [
            ReActSkillSpec(name="lending", description="Get books.", tool_names=("fetch",)),
            ReActSkillSpec(name="stock", description="Count books.", tool_names=("count",)),
        ]


def activation(name: str) -> tuple[str, dict[str, str]]:
    return "activate_tool_skill", {"skill": name}


USAGE: dict[str, Any] = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost": 0.01}}
DISCLOSING = [
    calls(activation("lending"), **USAGE),
    calls(("fetch", {"name": "a"}), ("count", {}), **USAGE),  # one of them is not disclosed
    calls(activation("stock"), ("fetch", {"name": "a"}), **USAGE),  # one of them was answered before
    calls(("count", {}), **USAGE),
    says("three, and a", **USAGE),
]
STUCK = [*[calls(("fetch", {"name": "a"}), **USAGE)] * 4, says("the book a", **USAGE)]
SPENDING = [calls(("fetch", {"name": name}), **USAGE) for name in "abcdefgh"]
CASES: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "disclosure": (DISCLOSING, {"tool_disclosure": "skills"}, "completed"),
    "stuck": (STUCK, {}, "stuck"),
    "cost": (SPENDING, {"max_cost": 0.035}, "cost_limit"),
    "tokens": (SPENDING, {"max_total_tokens": 50}, "token_limit"),
    "iterations": (SPENDING, {"max_iterations": 3}, "max_iterations"),
}


def shelves(case: str) -> tuple[ReActAgent, Counting]:
    replies, config, _ = CASES[case]
    counting = Counting()
    agent = ReActAgent(config, model=ScriptedModel(replies=replies), toolsets=[Shelves()], plugins=[counting])
    return agent, counting


def shown(result: RunResult) -> dict[str, object]:
    """A result without what is different every time."""
    data = result.to_dict()
    steps: list[dict[str, object]] = data["steps"]  # type: ignore[assignment]  # a list of dicts it is
    return {**data, "steps": [{**step, "seconds": 0, "started": 0} for step in steps], "run_id": ""}


@pytest.mark.parametrize("case", CASES)
def test_from_every_record_on_a_resumed_run_ends_as_the_undisturbed_one(case: str, tmp_path: Path) -> None:
    agent, counting = shelves(case)
    whole = recorded(agent)
    expected, counts = shown(agent.run_sync("go")), dict(counting.last)
    assert expected["stop_reason"] == CASES[case][2]
    lines = [to_json(record) for record in whole.records]
    for length in range(1, len(lines)):
        path = tmp_path / f"{length}.jsonl"
        path.write_text("\n".join(lines[:length]) + '\n{"type": "torn', encoding="utf-8")
        agent, counting = shelves(case)
        result = asyncio.run(resume(path, agent))
        assert shown(result) == expected, length
        assert dict(counting.last) == counts, length
        assert canonical_records(path) == canonical_records(whole), length
        assert read_journal(path).resumed


def test_a_failed_run_tries_again_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    down = [calls(("add", {"a": 1, "b": 2})), *[{"error": {"status": 503, "message": "down"}}] * 4]
    with pytest.raises(ModelError):
        agent_of(down, journal=path).run_sync("go")
    result = asyncio.run(resume(path, agent_of([down[0], says("3")])))
    assert (result.answer, result.iterations) == ("3", 2)
    journal = read_journal(path)
    assert journal.footer is not None
    assert journal.footer["status"] == "finished"
    assert journal.stats.failed_model_calls == 4


def test_a_call_that_was_only_asked_about_had_not_begun(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(read_only=False)
    def change() -> str:
        """Change something."""
        ran.append("change")
        return "changed"

    class Asks(Plugin):
        @hookimpl
        def react_tool_permit(self, run: Run, call: ToolCall) -> None:
            run.note("asked", call.name)

    agent = agent_of([calls(("change", {})), says("done")], tools=[change], plugins=[Asks()])
    whole = recorded(agent)
    asked = [record["type"] for record in whole.records].index("guard")
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{to_json(record)}\n" for record in whole.records[: asked + 1]), encoding="utf-8")
    assert asyncio.run(resume(path, agent)).steps[0].observation == "changed"
    assert ran == ["change"] * 2  # once in each run
    assert canonical_records(path) == canonical_records(whole)


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    looking = asyncio.Event()
    waits = True

    @tool(read_only=True)
    async def look() -> str:
        """Look, for a long time at first."""
        looking.set()
        await asyncio.sleep(30 if waits else 0)
        return "seen"

    agent = agent_of([calls(("look", {}), ("add", {"a": 1, "b": 2})), says("done")], tools=[look, add], journal=path)

    async def interrupted() -> None:
        running = asyncio.ensure_future(agent.run("go"))
        await looking.wait()
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    footer = read_journal(path).footer
    assert footer is not None
    assert (footer["status"], footer["error"]["type"]) == ("failed", "CancelledError")
    waits = False
    assert asyncio.run(resume(path, agent)).answer == "done"
    assert canonical_records(path) == canonical_records(recorded(agent))


class Today(Plugin):
    """A guide that says something else every day."""

    day: str

    @hookimpl
    def react_guide(self) -> str:
        return f"Today is {self.day}."


def cut_short(journal: Journal, path: Path, by: int = 3) -> Path:
    path.write_text("".join(f"{to_json(record)}\n" for record in journal.records[:-by]), encoding="utf-8")
    return path


def test_what_was_sent_stays_as_it_was_though_a_guide_says_something_else_today(tmp_path: Path) -> None:  # L7
    path = cut_short(recorded(agent_of(plugins=[Today(day="Monday")])), tmp_path / "run.jsonl")
    result = asyncio.run(resume(path, agent_of(plugins=[Today(day="Tuesday")])))
    assert result.answer == "It is 3."
    assert "Today is Monday." in result.messages[0].text


def test_nothing_that_was_found_out_is_looked_at_again(tmp_path: Path) -> None:
    whole = recorded(agent_of(LOOKING, plugins=[World(says=["guide", "one", "two", "good"])]))
    for by in range(1, len(whole.records)):
        path = cut_short(whole, tmp_path / f"{by}.jsonl", by)
        kept = sum(record["type"] == "looked" for record in whole.records[:-by])
        world = World(says=["guide", "one", "two", "good"][kept:])
        assert asyncio.run(resume(path, agent_of(LOOKING, plugins=[world]))).answer == "3 and 7"
        assert world.says == []
        assert canonical_records(path) == canonical_records(whole)


class Cache(Plugin):
    """Answers model calls from elsewhere, and remembers what was answered."""

    known: list[ModelResponse]

    @hookimpl
    async def react_model_call(self, run: Run, proceed: Any) -> ModelResponse:
        if self.known:
            return self.known.pop(0)
        response: ModelResponse = await proceed()
        return response


def test_a_run_that_does_not_do_again_what_it_did_is_not_resumed_unless_forced(tmp_path: Path) -> None:
    replies = [calls(("add", {"a": 1, "b": 2})), calls(("add", {"a": 3, "b": 4})), says("done")]
    path = cut_short(recorded(agent_of(replies, plugins=[Cache(known=[])])), tmp_path / "run.jsonl")
    wanted = ToolRequest(id="x", name="words", arguments={"count": 1})
    answer = ModelResponse(message=Message(role="assistant", tool_requests=(wanted,)))
    with pytest.raises(ReplayMismatch, match="message 3 of the request of model call 1"):
        asyncio.run(resume(path, agent_of(replies, plugins=[Cache(known=[answer])])))
    assert asyncio.run(resume(path, agent_of(replies, plugins=[Cache(known=[answer])]), force=True)).answer == "done"


def test_plugins_can_tell_what_happens_again_from_what_happens_now(tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []

    class Watching(Plugin):
        @hookimpl
        def react_tool_call_finished(self, run: Run, call: ToolCall) -> None:
            seen.append((str(call.arguments["a"]), run.state(EngineState).replaying))

    replies = [calls(("add", {"a": number, "b": 2})) for number in range(4)]
    whole = recorded(agent_of([*replies, says("done")]))
    finished = [number for number, record in enumerate(whole.records) if record["type"] == "tool_finished"]
    path = cut_short(whole, tmp_path / "run.jsonl", by=len(whole.records) - finished[1] - 1)
    asyncio.run(resume(path, agent_of([*replies, says("done")], plugins=[Watching()])))
    assert seen == [("0", True), ("1", True), ("2", False), ("3", False)]


def test_a_run_that_ended_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent_of([says("hi")], journal=path).run_sync("go")
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"has ended \(completed\): there is nothing to resume"):
        asyncio.run(resume(path, agent_of()))
    assert path.read_bytes() == before


def test_a_changed_agent_is_not_resumed_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = recorded(agent_of(max_iterations=5, metadata={"team": "a"}))
    cut_short(whole, path, by=2)
    changed = agent_of(max_iterations=6, tool_timeout=3)
    with pytest.raises(ConfigError) as raised:
        asyncio.run(resume(path, changed))
    text = str(raised.value)
    for line in (
        "max_iterations: was 5, now 6",
        "metadata: no longer set",
        "limits: now {",
        "--force continues anyway",
    ):
        assert line in text
    ready = prepare(path, changed, force=True)
    assert "changed: max_iterations: was 5, now 6" in ready.notes
    assert ready.agent.run_sync(ready.prompt, ready.incoming).answer == "It is 3."


def test_of_a_vanished_tool_finished_calls_keep_results_and_others_are_unknown(
    tmp_path: Path,
) -> None:
    replies = [calls(("add", {"a": 1, "b": 2})), calls(("add", {"a": 3, "b": 4})), says("done")]
    whole = recorded(agent_of(replies, tools=[add]))
    started = [n for n, record in enumerate(whole.records) if record["type"] == "tool_started"]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{to_json(record)}\n" for record in whole.records[: started[1] + 1]), encoding="utf-8")
    result = asyncio.run(resume(path, agent_of(replies, tools=[]), force=True))
    first, second = [step.observation for step in result.steps]
    assert first == "3"
    assert "its outcome is unknown" in second
    assert result.answer == "done"


def test_what_was_masked_stays_masked_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("the key is hunter2hunter2")])
    agent.config.masker.add("hunter2hunter2")
    whole = recorded(agent, "use hunter2hunter2")
    cut_short(whole, path)
    ready = prepare(path, agent_of([says("-"), says("done")]), force=True)
    assert any("secrets were masked" in note for note in ready.notes)
    result = ready.agent.run_sync(ready.prompt, ready.incoming)
    assert [message.text for message in result.messages if message.role == "user"] == ["use ***"]


def test_a_masked_line_of_the_agent_file_is_nothing_that_a_run_goes_on_with(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("# The key: to count first.\nmodel: {kind: scripted, replies: [done]}\n")
    path = cut_short(recorded(ReActAgent.from_yaml(file)), tmp_path / "run.jsonl")
    assert "***" in read_journal(path).header["agent"]["text"]
    assert prepare(path, ReActAgent.from_yaml(file)).notes == []


def test_two_processes_cannot_resume_one_run(tmp_path: Path) -> None:
    path = cut_short(recorded(agent_of()), tmp_path / "run.jsonl")
    prepare(path, agent_of())
    with pytest.raises(JournalBusy, match="another run is writing"):
        prepare(path, agent_of())


def test_an_ended_run_gives_its_result_to_those_who_want_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    result = agent_of(journal=path).run_sync("go")
    again = asyncio.run(resume(path, agent_of(), ended="result"))
    assert _comparable(again.to_dict()) == _comparable(result.to_dict())
    with pytest.raises(RunEnded) as found:
        asyncio.run(resume(path, agent_of()))
    assert found.value.journal.run_id == result.run_id


def _comparable(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what a journal does not keep: fractions of microseconds, and arguments that nothing ran with."""
    return {
        **result,
        "steps": [
            {**step, "seconds": 0, "started": 0, "action_input": step["action_input"] if step["executed"] else None}
            for step in result["steps"]
        ],
    }


def test_a_resume_can_wait_for_the_process_that_is_at_the_run(tmp_path: Path) -> None:
    path = cut_short(recorded(agent_of()), tmp_path / "run.jsonl")
    held = FileSink(path)

    async def both() -> RunResult:
        waiting = asyncio.create_task(resume(path, agent_of(), patience=60))
        await asyncio.sleep(0)
        held.close()
        return await waiting

    assert asyncio.run(both()).success


@pytest.mark.parametrize("content", [None, "", "no json\n", "[1]\n", '{"type": "guard", "run": "x"}\n'])
def test_what_is_no_journal_is_said_to_be_none(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "run.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(JournalError, match=r"run\.jsonl"):
        asyncio.run(resume(path, agent_of()))
    assert path.exists() == (content is not None)


def test_what_a_resumed_run_changes_is_on_disk_before_and_after(tmp_path: Path) -> None:
    happened: list[str] = []

    @tool
    def change() -> str:
        """Change something."""
        happened.append("change")
        return "changed"

    agent = agent_of([calls(("change", {})), says("done")], tools=[change])
    path = tmp_path / "run.jsonl"
    agent.replace(journal=path).run_sync("go")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    begun = next(number for number, line in enumerate(lines) if '"type":"tool_started"' in line)
    path.write_text("".join(lines[:begun]), encoding="utf-8")
    happened.clear()

    def opened(path: Path) -> FileSink:
        return FileSink(path, fsync=lambda _: happened.append("fsync"))

    resumption = prepare(path, agent, open_file=opened)
    asyncio.run(resumption.agent.run(resumption.prompt, resumption.incoming))
    assert happened == ["fsync", "change", "fsync"]
