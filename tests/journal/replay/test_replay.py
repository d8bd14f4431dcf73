"""A replay of an unchanged run is identical, and of a changed one the first difference is shown (behaviour J3)."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.journal.recording import CONFIG, EVENTFUL, TOOLS, add, agent_of, check_format, of_type, recorded

from react_run import Iteration, Observation, Plugin, ReActAgent, ReplayMismatch, Run, ToolCall, Verdict, hookimpl, tool
from react_run.chat import ChatCompletionRequest, ChatMessage
from react_run.errors import ModelError
from react_run.journal.canonical import canonical_records
from react_run.journal.reading import Journal, read_journal
from react_run.journal.recorder import Recorder
from react_run.journal.replay.differences import Difference, same
from react_run.journal.replay.model import ReplayModel
from react_run.journal.replay.replay import Replay, replay
from react_run.journal.sinks import MemorySink
from react_run.testing import Functions, calls, says

Tools = Literal["recorded", "live"]
Proceed = Callable[[], Awaitable[Iteration]]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any socket that is opened from here on fails the test, except those that an event loop wakes itself with."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    for name in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def replayed(journal: Journal, agent: ReActAgent, tools: Tools = "recorded") -> Replay:
    return asyncio.run(replay(journal, agent, tools=tools))


@pytest.mark.parametrize("tools", ["recorded", "live"])
def test_a_replay_of_an_unchanged_run_is_identical_and_opens_no_socket(
    tools: Tools, tmp_path: Path, offline: None
) -> None:
    journal = recorded(agent_of(), workspace=tmp_path, messages=[{"role": "user", "content": "earlier"}])
    agent = agent_of()
    agent.workspace = tmp_path
    again = replayed(journal, agent, tools)
    assert again.complete
    assert again.result is not None
    assert again.result.answer == "It is 3."
    assert canonical_records(again.journal) == canonical_records(journal)
    assert again.journal.run_id == journal.run_id  # so saved results are found, and not saved twice


def test_recorded_tools_do_not_run_and_nobody_is_asked_again(tmp_path: Path) -> None:
    happened: list[str] = []

    class Asking(Plugin):
        @hookimpl
        def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
            happened.append(f"asked about {call.name}")
            return Observation(content="no") if call.name == "forbidden" else None

    def agent() -> ReActAgent:
        @tool
        def change(text: str) -> str:
            """Change something."""
            happened.append(f"changed {text}")
            return "changed"

        @tool
        def forbidden() -> str:
            """Never run."""
            raise AssertionError

        replies = [calls(("change", {"text": "a"}), ("forbidden", {})), says("done")]
        return agent_of(replies, tools=[change, forbidden], plugins=[Asking()])

    journal = recorded(agent())
    assert sorted(happened) == ["asked about change", "asked about forbidden", "changed a"]
    happened.clear()
    again = replayed(journal, agent())
    assert happened == []
    assert canonical_records(again.journal) == canonical_records(journal)
    replayed(journal, agent(), "live")
    assert sorted(happened) == ["asked about change", "asked about forbidden", "changed a"]


def test_waiting_for_a_provider_is_not_replayed() -> None:
    replies = [*[{"error": {"status": 503, "message": "down"}}] * 3, says("hi")]
    journal = recorded(agent_of(replies))
    slow = ReActAgent(
        {**CONFIG, "plugins": [{"kind": "model_retries", "first_wait": 30, "max_wait": 90}]},
        model=agent_of(replies).model,
        toolsets=[Functions(functions=TOOLS)],
    )
    started = time.perf_counter()
    result = slow.replace(model=ReplayModel.of(journal, journal.answers)).run_sync("go")
    assert result.answer == "hi"
    assert result.usage.requests == 4
    assert time.perf_counter() - started < 5


def test_a_run_that_failed_fails_in_the_same_way() -> None:
    sink = MemorySink()
    replies = [calls(("add", {"a": 1, "b": 2})), {"error": {"status": 401, "message": "bad key"}}]
    with pytest.raises(ModelError):
        agent_of(replies, journal=Recorder.into(sink)).run_sync("go")
    again = replayed(Journal(records=sink.records), agent_of(replies))
    assert (again.result, again.complete) == (None, True)


def test_a_run_whose_time_was_up_ends_there_again() -> None:
    @tool(read_only=True)
    async def slow() -> str:
        """Take too long."""
        await asyncio.sleep(30)
        return "late"

    replies = [calls(("add", {"a": 1, "b": 2}), ("slow", {})), says("never")]
    agent = agent_of(replies, tools=[*TOOLS, slow], run_timeout=0.1)
    journal = recorded(agent)
    assert journal.footer is not None
    assert journal.footer["stop_reason"] == "timeout"
    started = time.perf_counter()
    again = replayed(journal, agent_of(replies, tools=[*TOOLS, slow], run_timeout=0.1))
    assert time.perf_counter() - started < 5
    assert again.result is not None
    assert again.result.stop_reason == "timeout"


def test_a_recording_that_was_cut_short_is_replayed_as_far_as_it_goes() -> None:
    journal = recorded(agent_of())
    for length in range(1, len(journal.records)):
        assert not replayed(Journal(records=journal.records[:length]), agent_of()).complete


CHANGES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another system prompt": (
        {"system_prompt": "Be brief."},
        ["iteration 1: message 1 of the request of model call 1", "expected: ", "You are a careful", "Be brief."],
    ),
    "another limit": (
        {"max_iterations": 3},
        ["iteration 4: message 13", "(no message)", "You cannot call tools any more"],
    ),
    "a tool that is gone": ({"tools": TOOLS[1:]}, ["iteration 1: the list of tools", '"add"']),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_first_difference_of_a_changed_agent_is_shown(change: str, tmp_path: Path) -> None:
    journal = recorded(agent_of(), workspace=tmp_path)
    options, wanted = CHANGES[change]
    agent = agent_of(**options)
    agent.workspace = tmp_path
    with pytest.raises(ReplayMismatch) as raised:
        replayed(journal, agent)
    for text in wanted:
        assert text in str(raised.value)
    assert raised.value.exit_status == 6


def test_a_tool_that_returns_something_else_is_a_difference_of_a_live_replay() -> None:
    def agent(text: str) -> ReActAgent:
        @tool(read_only=True)
        def read() -> str:
            """Read a long text."""
            return f"line one\nline two {text}\nline three"

        return agent_of([calls(("read", {})), says("done")], tools=[read])

    journal = recorded(agent("as it was"))
    assert replayed(journal, agent("changed")).complete  # the tool does not run
    with pytest.raises(ReplayMismatch) as raised:
        replayed(journal, agent("changed"), "live")
    assert str(raised.value).splitlines()[:3] == [
        "iteration 1: the result of read differs from the recording",
        "  expected: line one\\nline two as it was\\nline three",
        "  got:      line one\\nline two changed\\nline three",
    ]
    assert "    -line two as it was" in str(raised.value)
    assert "    +line two changed" in str(raised.value)


def test_arguments_that_are_read_differently_are_a_difference() -> None:
    def agent(kind: type) -> ReActAgent:
        def take(value: Any) -> str:
            """Take a value."""
            return "taken"

        take.__annotations__["value"] = kind
        return agent_of([calls(("take", {"value": "5"})), says("done")], tools=[take])

    journal = recorded(agent(str))
    with pytest.raises(
        ReplayMismatch, match=r'the call of take differs from the recording\n  expected: .*"5".*\n  got: .*:5'
    ):
        replayed(journal, agent(int))


def test_a_guard_that_no_longer_fires_is_a_difference() -> None:
    class Noting(Plugin):
        text: str = "x"

        @hookimpl
        def react_iteration(self, run: Run) -> None:
            run.note("watch", self.text)

    journal = recorded(agent_of([says("hi")], plugins=[Noting()]))
    with pytest.raises(ReplayMismatch, match="iteration 1: guard watch differs from the recording"):
        replayed(journal, agent_of([says("hi")], plugins=[Noting(text="y")]))


def test_a_difference_cannot_be_caught_by_a_plugin() -> None:
    class Forgiving(Plugin):
        @hookimpl
        async def react_tool_call(self, run: Run, call: ToolCall, proceed: Callable[[], Any]) -> Observation:
            try:
                return await proceed()  # type: ignore[no-any-return]  # an observation
            except Exception:
                return Observation(content="nothing happened")

    def agent(text: str) -> ReActAgent:
        @tool(read_only=True)
        def read() -> str:
            """Read."""
            return text

        return agent_of([calls(("read", {})), says("done")], tools=[read], plugins=[Forgiving()])

    with pytest.raises(ReplayMismatch):
        replayed(recorded(agent("a")), agent("b"), "live")


class World(Plugin):
    """Looks at the world in a guide, in each iteration, and before the answer is accepted."""

    says: list[str]

    async def find(self) -> str:
        return self.says.pop(0)

    @hookimpl
    async def react_guide(self, run: Run) -> str:
        return await run.recorded("the guide's file", self.find)

    @hookimpl
    async def react_settle(self, run: Run) -> None:
        run.note("world", await run.recorded("the command", self.find))

    @hookimpl
    async def react_check_answer(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted=await run.recorded("the check", self.find) == "good", feedback="again")


LOOKING = [calls(("add", {"a": 1, "b": 2})), calls(("add", {"a": 3, "b": 4})), says("3 and 7")]


@pytest.mark.parametrize("tools", ["recorded", "live"])
def test_what_was_found_out_about_the_world_is_found_out_again(tools: Tools) -> None:
    journal = recorded(agent_of(LOOKING, plugins=[World(says=["guide", "one", "two", "good"])]))
    looked = [(record["iteration"], record["what"], record["value"]) for record in of_type(journal, "looked")]
    assert looked == [
        (0, "the guide's file", "guide"),
        (1, "the command", "one"),
        (2, "the command", "two"),
        (3, "the check", "good"),
    ]
    assert journal.records[0]["type"] == "header"
    assert "guide" in journal.opening[0].text
    again = replayed(journal, agent_of(LOOKING, plugins=[World(says=["another world"] * 9)]), tools)
    assert again.complete
    assert canonical_records(again.journal) == canonical_records(journal)


class Listening(Plugin):
    """Hears of guards."""

    heard: list[str]

    @hookimpl
    def react_guard_fired(self, guard: str, detail: str) -> None:
        self.heard.append(f"{guard}: {detail}")


class Deciding(Plugin):
    """Notes each permission it gives; what is forbidden needs the user."""

    @hookimpl
    def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        if call.name != "forbidden":
            run.note("approval", f"{call.name}: allowed")
            return None
        call.stop("clarification_required", "May it?")
        return Observation(content="only the user can allow it")


def noting_agent(replies: list[dict[str, object]], listening: Listening) -> ReActAgent:
    @tool(read_only=True)
    def noting(run: Run) -> str:
        """Note something from inside."""
        run.note("tool", "from inside")
        return "noted"

    @tool(read_only=True)
    def ending(call: ToolCall) -> str:
        """End the run from inside."""
        call.stop("enough", "That is enough.")
        return "ended"

    @tool
    def forbidden() -> str:
        """Never run."""
        raise AssertionError

    return agent_of(replies, tools=[noting, ending, forbidden], plugins=[Deciding(), listening])


@pytest.mark.parametrize("last", ["forbidden", "ending"])
@pytest.mark.parametrize("tools", ["recorded", "live"])
def test_what_permissions_and_tools_note_and_end_is_noted_and_ended_again(last: str, tools: Tools) -> None:
    replies = [calls(("noting", {})), calls((last, {})), says("never")]
    first, second = Listening(heard=[]), Listening(heard=[])
    journal = recorded(noting_agent(replies, first))
    check_format(journal)
    assert journal.footer is not None
    assert journal.footer["stop_reason"] == {"forbidden": "clarification_required", "ending": "enough"}[last]
    again = replayed(journal, noting_agent(replies, second), tools)
    assert canonical_records(again.journal) == canonical_records(journal)
    assert second.heard == first.heard
    assert first.heard[:2] == ["approval: noting: allowed", "tool: from inside"]


def test_the_settings_of_a_request_are_set_again() -> None:
    sink = MemorySink()
    agent = agent_of([says("hi")], journal=Recorder.into(sink))
    asyncio.run(
        agent.complete(ChatCompletionRequest(messages=[ChatMessage(role="user", content="go")], temperature=0.5))
    )
    journal = Journal(records=sink.records)
    check_format(journal)
    assert of_type(journal, "model_request")[0]["settings"] == {"temperature": 0.5}
    assert canonical_records(replayed(journal, agent_of([says("hi")])).journal) == canonical_records(journal)


# -- the model kind ----------------------------------------------------------------------------------------------------


def as_file(journal: Journal, path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in journal.records), encoding="utf-8")
    return path


def test_an_agent_file_can_name_a_recording_as_its_model(tmp_path: Path) -> None:
    as_file(recorded(agent_of(), workspace=tmp_path), tmp_path / "run.jsonl")
    file = tmp_path / "agent.yaml"
    file.write_text("model: {kind: replay, journal: run.jsonl}\nfailure_handling: {kind: safe, corrections: 3}\n")
    agent = ReActAgent(ReActAgent.from_yaml(file).config, toolsets=[Functions(functions=TOOLS)])
    agent.workspace = tmp_path
    result = agent.run_sync("go")
    assert (result.answer, result.model, result.usage.requests) == ("It is 3.", "scripted", 5)
    with pytest.raises(ReplayMismatch, match="message 2 of the request of model call 1"):
        agent.run_sync("another prompt")


def test_a_run_that_asks_more_often_than_was_recorded_is_a_difference(tmp_path: Path) -> None:
    path = as_file(recorded(agent_of([says("hi")])), tmp_path / "run.jsonl")
    model = ReplayModel(journal=path, compare=False)
    agent = agent_of(tools=[]).replace(model=model)
    assert agent.run_sync("anything").answer == "hi"

    class Unhappy(Plugin):
        @hookimpl
        def react_check_answer(self, run: Run, answer: str) -> Verdict:
            return Verdict(accepted=False, feedback="no")

    unhappy = ReActAgent({}, model=model, plugins=[Unhappy()])
    with pytest.raises(ReplayMismatch, match="the number of model calls differs from the recording"):
        unhappy.run_sync("anything")


def test_another_model_may_go_on_where_the_recording_ends(tmp_path: Path) -> None:
    path = as_file(recorded(agent_of([calls(("add", {"a": 1, "b": 2})), says("3")])), tmp_path / "run.jsonl")
    model = ReplayModel(journal=path, then=agent_of([says("-"), says("-"), says("live")]).model, compare=False)

    class Again(Plugin):
        @hookimpl
        def react_check_answer(self, run: Run, answer: str) -> Verdict:
            return Verdict(accepted=answer == "live", feedback="more")

    assert agent_of(plugins=[Again()]).replace(model=model).run_sync("go").answer == "live"


def test_a_recorded_run_streams_like_a_live_one(tmp_path: Path) -> None:
    path = as_file(recorded(agent_of([says("two words")])), tmp_path / "run.jsonl")
    agent = agent_of().replace(model=ReplayModel(journal=path))

    async def streamed() -> list[object]:
        return [event async for event in agent.stream("go")]

    *_, result = asyncio.run(streamed())
    assert result.answer == "two words"  # type: ignore[attr-defined]  # the last event is the result


@pytest.mark.parametrize("tools", ["recorded", "live"])
@pytest.mark.parametrize("handling", ["safe", "legacy"])
def test_a_iteration_that_a_plugin_had_done_twice_is_replayed_as_it_was(tools: Tools, handling: str) -> None:
    class Again(Plugin):
        @hookimpl
        async def react_iteration(self, run: Run, iteration: Iteration, proceed: Proceed) -> Iteration:
            await proceed()
            return await proceed() if iteration.number == 1 else iteration

    one, two = ("add", {"a": 1, "b": 2}), ("add", {"a": 2, "b": 2})
    replies = [calls(one), calls(one, two), calls(two), says("done")]
    agent = agent_of(replies, tools=[add], plugins=[Again()], failure_handling=handling)
    journal = recorded(agent)
    again = replayed(journal, agent, tools)
    assert canonical_records(again.journal) == canonical_records(journal)
    assert again.result is not None
    assert [step.observation.split("\n")[0] for step in again.result.steps][:3] == ["3", "3", "4"]


def test_a_masked_value_stands_for_anything() -> None:
    assert same("key *** end", "key hunter2 end")
    assert same({"a": ["***", 1]}, {"a": ["x", 1]})
    assert not same("key *** end", "key hunter2")
    assert not same("plain", "other")
    assert same({"a": 1}, {"a": 1})


def test_a_recording_with_secrets_is_replayed_with_and_without_them(tmp_path: Path) -> None:
    def agent(secret: str) -> ReActAgent:
        @tool(read_only=True)
        def show(key: str) -> str:
            """Show a key."""
            return f"the key is {key}"

        made = agent_of(
            [calls(("show", {"key": secret})), says(f"it is {secret}")], tools=[show], system_prompt=f"key {secret}"
        )
        made.config.masker.add(secret)
        return made

    journal = recorded(agent("hunter2hunter2"), "use hunter2hunter2")
    assert "hunter2" not in json.dumps(list(journal.records))
    for secret in ("hunter2hunter2", "another-secret"):
        for tools in ("recorded", "live"):
            again = replayed(journal, agent(secret), tools)
            assert (
                of_type(again.journal, "model_request")[-1]["digest"] == of_type(journal, "model_request")[-1]["digest"]
            )


def test_long_values_are_shown_around_their_first_difference() -> None:
    text = str(
        Difference(iteration=3, what="the result of x", expected="a" * 500 + "b" + "c" * 500, got="a" * 500 + "d")
    )
    assert "iteration 3" in text
    assert "…aaaa" in text
    assert "abccc" in text
    assert all(len(line) < 200 for line in text.splitlines())


def test_journals_of_a_file_and_of_memory_are_read_alike(tmp_path: Path) -> None:
    journal = recorded(agent_of(EVENTFUL), workspace=tmp_path)
    assert canonical_records(read_journal(as_file(journal, tmp_path / "x.jsonl"))) == canonical_records(journal)


def test_an_error_of_the_replay_itself_is_no_difference(tmp_path: Path) -> None:
    class Broken:
        @hookimpl
        def react_run(self) -> None:
            raise SystemError("of the replay")

    journal = recorded(agent_of(), workspace=tmp_path)
    agent = agent_of(plugins=[Broken()])
    agent.workspace = tmp_path
    with pytest.raises(SystemError, match="of the replay"):
        replayed(journal, agent)
