"""What a run writes down, and when (behaviour J1)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.journal.recording import EVENTFUL, add, agent_of, check_format, of_type, recorded, types, validator, words

from react_run import Observation, Plugin, ReActAgent, Run, ToolCall, Usage, hookimpl, read_journal, tool
from react_run.errors import ModelError
from react_run.journal.canonical import canonical_records
from react_run.journal.files import FileSink
from react_run.journal.reading import Journal
from react_run.journal.recorder import Recorder
from react_run.journal.replay.replay import replay
from react_run.journal.replay.resume import resume
from react_run.journal.sinks import MemorySink
from react_run.journal.values import message_to_data
from react_run.journal.view.tree import lines_of, tree_of
from react_run.questions import Answer, Question
from react_run.testing import calls, says


def test_an_eventful_run_is_written_down_in_the_documented_format(tmp_path: Path) -> None:
    journal = recorded(agent_of(), workspace=tmp_path, messages=[{"role": "user", "content": "earlier"}])
    check_format(journal)
    assert types(journal)[:4] == ["header", "tools", "model_request", "model_response"]
    assert types(journal)[-1] == "footer"
    assert set(types(journal)) == {
        *("header", "tools", "model_request", "model_response", "model_error", "tool_started", "tool_finished"),
        *("tool_answered", "guard", "iteration_finished", "footer"),
    }


def test_the_format_is_strict_enough_to_notice_what_it_does_not_know() -> None:
    record = {**recorded(agent_of([says("hi")])).records[-1], "unheard_of": 1}
    assert list(validator().iter_errors(record))


def test_the_conversation_of_a_journal_is_that_of_the_result(tmp_path: Path) -> None:
    agent = agent_of(journal=tmp_path / "run.jsonl")
    result = agent.run_sync("go", messages=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    journal = read_journal(tmp_path / "run.jsonl")
    assert list(journal.messages) == list(result.messages)
    assert [message.content for message in journal.incoming] == ["a", "b"]
    uses = [use for iteration in journal.iterations for use in iteration.tools]
    assert [(use.name, use.content, use.executed) for use in uses] == [
        (step.action, step.observation, step.executed) for step in result.steps
    ]
    assert journal.footer is not None
    assert journal.footer["usage"] == result.usage.to_dict()


def test_each_request_of_a_journal_is_the_request_that_the_model_got() -> None:
    agent = agent_of()
    journal = recorded(agent)
    requests = agent.model.requests  # type: ignore[attr-defined]  # it is the scripted one
    assert len(requests) == len(EVENTFUL)
    for request, call in zip(
        requests, (call for iteration in journal.iterations for call in iteration.model_calls), strict=True
    ):
        assert [message_to_data(message) for message in request.messages] == [*map(message_to_data, call.messages)]
        assert journal.offers[call.request["tools"]] == [tool.name for tool in request.tools]


def test_messages_and_tools_are_written_once(tmp_path: Path) -> None:
    big = "x" * 5_000

    @tool(read_only=True)
    def echo(text: str) -> str:
        """Return a long text."""
        return text + big

    replies = [calls(("echo", {"text": f"{number}"}), text=f"thought {number}") for number in range(5)]
    path = tmp_path / "run.jsonl"
    agent_of([*replies, says("done")], tools=[echo], journal=path).run_sync("a long prompt " * 200)
    text = path.read_text(encoding="utf-8")
    assert text.count(big) == 5
    assert text.count("thought 3") == 1
    assert text.count("a long prompt a long prompt") == 2 * 100  # in the header and in the first request
    assert text.count("Return a long text.") == 1


def test_equal_runs_have_equal_canonical_forms_and_others_have_not() -> None:
    first, second = recorded(agent_of()), recorded(agent_of())
    assert first.run_id != second.run_id
    assert canonical_records(first) == canonical_records(second)
    other = recorded(agent_of([*EVENTFUL[:-1], says("It is 4.", usage={"input_tokens": 120, "output_tokens": 5})]))
    assert canonical_records(first) != canonical_records(other)


def test_the_order_in_which_parallel_calls_end_makes_no_difference() -> None:
    def agent(first: float, second: float) -> Any:
        @tool(read_only=True)
        async def wait(name: str) -> str:
            """Wait."""
            await asyncio.sleep(first if name == "a" else second)
            return name

        return agent_of([calls(("wait", {"name": "a"}), ("wait", {"name": "b"})), says("done")], tools=[wait])

    one, other = recorded(agent(0.0, 0.01)), recorded(agent(0.01, 0.0))
    order = [[record["position"] for record in of_type(journal, "tool_finished")] for journal in (one, other)]
    assert order == [[0, 1], [1, 0]]
    assert canonical_records(one) == canonical_records(other)


def test_a_spilled_result_has_its_path_and_stays_whole_in_the_journal(tmp_path: Path) -> None:
    journal = recorded(agent_of(), workspace=tmp_path)
    judged_calls = [call for record in of_type(journal, "iteration_finished") for call in record["calls"]]
    (judged,) = [call for call in judged_calls if "spilled_to" in call]
    assert (tmp_path / judged["spilled_to"]).exists()
    assert "saved whole in" in judged["content"]
    whole = [record["content"] for record in of_type(journal, "tool_finished") if record["name"] == "words"]
    assert whole[0].endswith('"word-3999"]')


def test_failures_keep_their_class_text_and_traceback_but_the_model_sees_a_line() -> None:  # T1
    journal = recorded(agent_of())
    (failed,) = [record for record in of_type(journal, "tool_finished") if record["name"] == "fail"]
    assert (failed["error"]["type"], failed["error"]["message"]) == ("KeyError", "'no such thing'")
    assert "raise KeyError(text)" in failed["error"]["traceback"]
    assert failed["content"] == "Error: KeyError: 'no such thing'"
    assert failed["outcome"]["code"] == "execution_error"


def test_repairs_refusals_and_repeats_are_told_apart() -> None:
    journal = recorded(agent_of())
    finished = of_type(journal, "tool_finished")
    assert [record["position"] for record in finished if "repaired" in record] == [0]
    refusals = [record["outcome"]["code"] for record in finished if not record["executed"]]
    assert refusals == ["unknown_tool", "invalid_arguments"]
    (served,) = of_type(journal, "tool_answered")[:1]
    assert served["content"].startswith("You already ran this exact call")
    assert "duplicate_calls" in {record["guard"] for record in of_type(journal, "guard")}


class Twice(Plugin):
    """Runs every call a second time."""

    @hookimpl
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Any) -> Observation:
        await proceed()
        again: Observation = await proceed()
        return again


def test_every_attempt_of_a_call_is_recorded() -> None:
    journal = recorded(agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], plugins=[Twice()]))
    check_format(journal)
    attempts = [(record["type"], record.get("attempt", 1)) for record in journal.records if "position" in record]
    assert attempts == [("tool_started", 1), ("tool_finished", 1), ("tool_started", 2), ("tool_finished", 2)]
    once = recorded(agent_of([calls(("add", {"a": 1, "b": 2})), says("3")]))
    shown = ["attempt" in "\n".join(map(str, lines_of(tree_of(one)))) for one in (journal, once)]
    assert shown == [True, False]


class FromElsewhere(Plugin):
    """Answers a call without its tool, as a cache does: after it has asked for permission."""

    @hookimpl
    async def react_tool_call(self, run: Run, call: ToolCall) -> Observation:
        return await call.refusal() or Observation(content="kept")


def test_a_call_that_is_answered_from_elsewhere_is_never_said_to_have_started() -> None:
    journal = recorded(agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], plugins=[FromElsewhere()]))
    assert "tool_started" not in types(journal)
    assert [record["content"] for record in of_type(journal, "tool_answered")] == ["kept"]


def test_what_a_layer_makes_of_a_result_is_recorded_beside_what_the_tool_returned() -> None:
    class Louder(Plugin):
        @hookimpl
        async def react_tool_call(self, run: Run, call: ToolCall, proceed: Any) -> Observation:
            return Observation(content=f"{(await proceed()).content}!")

    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], plugins=[Louder()])
    journal = recorded(agent)
    assert [record["content"] for record in journal.records if record["type"].startswith("tool_a")] == ["3!"]
    assert of_type(journal, "tool_finished")[0]["content"] == "3"
    assert [message.content for message in journal.messages if message.role == "tool"] == ["3!"]


def test_provider_fields_of_a_reply_are_kept_as_they_are() -> None:
    extra = {"reasoning_content": "hm", "thinking_blocks": [{"type": "thinking", "signature": "s=="}]}
    journal = recorded(agent_of([says("hi", extra=extra)]))
    assert of_type(journal, "model_response")[0]["message"]["extra"] == extra
    assert journal.messages[-1].extra == extra


def test_a_run_that_fails_has_a_footer_that_says_so() -> None:
    class Broken(Plugin):
        @hookimpl
        def react_settle(self, run: Run) -> None:
            raise ZeroDivisionError("broken plugin")

    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], plugins=[Broken()])
    sink = MemorySink()
    with pytest.raises(ZeroDivisionError):
        agent.replace(journal=Recorder.into(sink)).run_sync("go")
    journal = Journal(records=sink.records)
    check_format(journal)
    assert journal.footer is not None
    assert (journal.footer["status"], journal.footer["error"]["type"]) == ("failed", "ZeroDivisionError")
    assert journal.messages[-1].role == "tool"  # the history is complete


def test_model_errors_keep_what_the_provider_said() -> None:
    sink = MemorySink()
    refused = {"error": {"status": 401, "message": "bad key", "code": "invalid_api_key"}}
    with pytest.raises(ModelError):
        agent_of([refused], journal=Recorder.into(sink)).run_sync("go")
    (record,) = [record for record in sink.records if record["type"] == "model_error"]
    assert record["error"] == {
        "type": "ModelError",
        "message": "bad key",
        "provider": "scripted",
        "status": 401,
        "code": "invalid_api_key",
        "retryable": False,
    }


def test_one_agent_writes_a_file_per_run_into_a_directory(tmp_path: Path) -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], journal=tmp_path)

    async def many() -> list[str]:
        return [result.run_id for result in await asyncio.gather(*(agent.run(f"prompt {n}") for n in range(20)))]

    ids = asyncio.run(many())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{run_id}.jsonl" for run_id in ids)
    for number, run_id in enumerate(ids):
        journal = read_journal(tmp_path / f"{run_id}.jsonl")
        assert (journal.header["prompt"], journal.run_id) == (f"prompt {number}", run_id)
        check_format(journal)


def test_a_file_that_is_named_gets_one_run_after_the_other_and_the_last_is_read(tmp_path: Path) -> None:
    agent = agent_of([says("hi")], journal=tmp_path / "deep" / "runs.jsonl")
    ids = [agent.run_sync(prompt).run_id for prompt in ("one", "two")]
    assert read_journal(tmp_path / "deep" / "runs.jsonl").header["prompt"] == "two"
    assert read_journal(tmp_path / "deep" / "runs.jsonl", ids[0][:8]).header["prompt"] == "one"


def test_the_trace_key_of_an_agent_file_names_the_journal(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("model: {kind: scripted, replies: [hi]}\ntrace: out.jsonl\n", encoding="utf-8")
    ReActAgent.from_yaml(file).run_sync("go")
    header = read_journal(tmp_path / "out.jsonl").header
    assert header["agent"]["file"] == str(file)
    assert header["agent"]["text"] == file.read_text(encoding="utf-8")
    assert header["agent"]["values"]["trace"] == "out.jsonl"
    (tmp_path / "out.jsonl").unlink()
    ReActAgent.from_yaml(file).replace().run_sync("go")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_subagents_run_is_written_into_the_same_file_with_its_parent(tmp_path: Path) -> None:  # X1
    path = tmp_path / "run.jsonl"
    inner = agent_of([calls(("add", {"a": 1, "b": 2})), says("3", usage={"input_tokens": 1, "output_tokens": 1})])

    @tool(read_only=True)
    async def ask(run: Run, task: str) -> str:
        """Ask another agent."""
        return (await inner.run(task, parent=run)).answer

    agent_of([calls(("ask", {"task": "sum"})), says("three")], tools=[ask], journal=path).run_sync("go")
    journal = read_journal(path)
    check_format(journal)
    (below,) = journal.below
    assert below.header["prompt"] == "sum"
    assert {record["parent"] for record in below.records} == {journal.run_id}
    assert [call.name for iteration in below.iterations for call in iteration.tools] == ["add"]
    assert all("parent" not in record for record in journal.own)
    assert journal.footer is not None
    assert (journal.footer["answer"], below.footer["answer"] if below.footer else "") == ("three", "3")
    assert journal.stats.usage.requests == 4
    own = path.with_name("own.jsonl")
    inner.replace(journal=own).run_sync("sum")  # nothing of the run above is left behind
    assert canonical_records(own) == canonical_records(below)


def test_what_changes_something_is_on_disk_before_and_after_it_runs(tmp_path: Path) -> None:
    happened: list[str] = []

    @tool
    def change() -> str:
        """Change something."""
        happened.append("change")
        return "changed"

    @tool(read_only=True)
    def look() -> str:
        """Look."""
        happened.append("look")
        return "seen"

    file = FileSink(tmp_path / "run.jsonl", fsync=lambda _: happened.append("fsync"))
    agent = agent_of([calls(("look", {})), calls(("change", {})), says("done")], tools=[look, change])
    agent.replace(journal=Recorder.into(file)).run_sync("go")
    assert happened == ["look", "fsync", "change", "fsync"]


def test_stats_add_up_what_a_run_used(tmp_path: Path) -> None:
    stats = recorded(agent_of(), workspace=tmp_path).stats
    assert (stats.iterations, stats.model_calls, stats.failed_model_calls, stats.tool_calls) == (4, 5, 1, 7)
    assert (stats.tools["add"].calls, stats.tools["add"].executed, stats.tools["fail"].failed) == (4, 2, 1)
    assert stats.guards["model_retries"] == 1
    assert stats.usage == Usage(requests=5, cached_tokens=0)  # two replies did not say what they used
    assert stats.seconds > 0
    assert stats.tool_seconds > 0  # of calls at the same time it adds up, so it may be more


def test_tool_messages_of_two_calls_with_equal_results_are_not_confused() -> None:
    journal = recorded(agent_of([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 2, "b": 1})), says("3")], tools=[add]))
    tools = [message for message in journal.messages if message.role == "tool"]
    assert [(message.tool_request_id, message.content) for message in tools] == [("call_1_1", "3"), ("call_1_2", "3")]


def test_a_conversation_that_was_made_shorter_is_written_from_where_it_differs() -> None:  # S7
    replies = [calls(("words", {"count": 300 + n})) for n in range(4)]
    agent = agent_of([*replies, *[says("a summary")] * 6], tools=[words], plugins=[], max_iterations=6)
    agent = agent.replace(model=agent.model.model_copy(update={"window": 3_000}))
    journal = recorded(agent)
    kept = [(record["keep"], len(record["messages"])) for record in of_type(journal, "model_request")]
    assert any(keep == 0 for keep, _ in kept[1:])
    requests = agent.model.requests  # type: ignore[attr-defined]  # it is the scripted one
    found = [call for iteration in journal.iterations for call in iteration.model_calls]
    for request, call in zip(requests, found, strict=True):
        assert [*map(message_to_data, request.messages)] == [*map(message_to_data, call.messages)]


def test_patterns_are_masked_text_by_text_and_leave_the_records_whole() -> None:  # J2
    agent = agent_of([calls(("fail", {"text": "ghp_abc password=x and more"})), says("it was ghp_abc, password=y")])
    agent.config.masker.add_pattern(r"ghp_\w+")
    agent.config.masker.add_pattern(r"password=.*")  # would swallow the rest of a line of JSON
    journal = recorded(agent, "use ghp_abc")
    check_format(journal)
    text = json.dumps([*journal.records])
    assert "ghp_" not in text
    assert "password=" not in text.replace("password=.*", "")
    assert journal.footer is not None
    assert journal.footer["answer"] == "it was ***, ***"


def test_a_secret_that_is_a_number_or_one_of_our_own_words_harms_no_record() -> None:  # J2
    agent = agent_of([calls(("add", {"a": 271828, "b": 1})), says("the user said 271829")])
    for secret in ("271828", "tool_started", "user", "role", "content", "success"):
        agent.config.masker.add(secret)
    journal = recorded(agent, "go, user")
    check_format(journal)
    (started,) = of_type(journal, "tool_started")
    assert started["arguments"] == {"a": "***", "b": 1}
    assert [message.role for message in journal.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert journal.messages[1].text == "go, ***"


def test_a_recorder_can_be_given_a_sink_for_each_run() -> None:
    sinks: dict[str, MemorySink] = {}
    agent = agent_of(
        [says("one"), says("two")], journal=Recorder.into(lambda run: sinks.setdefault(run.id, MemorySink()))
    )
    results = [agent.run_sync(prompt) for prompt in ("first", "second")]
    prompts = [sinks[result.run_id].records[0]["prompt"] for result in results]
    assert prompts == ["first", "second"]


def test_a_question_is_on_disk_before_a_person_reads_it(tmp_path: Path) -> None:
    happened: list[str] = []

    class Person(Plugin):
        """Asks before every call, and answers."""

        @hookimpl
        async def react_tool_permit(self, run: Run) -> None:
            await run.ask(Question(text="Go on?"))

        @hookimpl
        async def react_ask(self, question: Question) -> Answer:
            happened.append("person")
            return Answer("yes", by="somebody")

    file = FileSink(tmp_path / "run.jsonl", fsync=lambda _: happened.append("fsync"))
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add], plugins=[Person()])
    agent.replace(journal=Recorder.into(file)).run_sync("go")
    assert happened[:2] == ["fsync", "person"]


def test_an_iteration_whose_judgement_says_nothing_new_has_no_record_of_it() -> None:
    journal = recorded(agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add]))
    assert of_type(journal, "iteration_finished") == []
    assert [use.executed for use in journal.iterations[-2].tools] == [True]
    assert journal.iterations[-2].tools[0].seconds is not None


def test_a_journal_that_has_such_records_is_replayed_and_resumed_like_one_without(tmp_path: Path) -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add])
    journal = recorded(agent)
    records = list(journal.records)
    at = next(n for n, record in enumerate(records) if record["type"] == "tool_finished")
    head = {name: records[at][name] for name in ("run", "time", "iteration")}
    said = {"position": 0, "executed": True, "seconds": 0.25}
    records.insert(at + 1, {"type": "iteration_finished", **head, "calls": [said]})
    older = Journal(records=records)
    assert canonical_records(older) == canonical_records(journal)
    assert older.iterations[-2].tools[0].seconds == 0.25
    assert asyncio.run(replay(older, agent)).complete
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records[:-2]), encoding="utf-8")
    assert asyncio.run(resume(path, agent)).answer == "3"
    again = of_type(read_journal(path), "iteration_finished")
    assert again == records[at + 1 : at + 2]
