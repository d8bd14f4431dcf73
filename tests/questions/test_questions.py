"""One question hook: who answers, what an answer may be, and what the journal has of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.journal.recording import agent_of

from react_plugins.approval import Approval
from react_run import (
    Answer,
    PluginError,
    Question,
    ReActAgent,
    Run,
    RunResult,
    ToolCall,
    hookimpl,
    read_journal,
    tool,
)
from react_run.journal.reading import Journal
from react_run.journal.replay.replay import replay
from react_run.journal.replay.resume import resume
from react_run.questions import Unfit
from react_run.testing import agent_with, calls, run_agent, says

YES_NO = Question("Go on?", choices=("yes", "no"))


class Person:
    """Answers every question as told, the last answer from then on, and keeps the questions."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    @hookimpl
    def react_ask(self, question: Question) -> object:
        self.questions.append(question)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def said_to(question: Question, *plugins: object) -> Answer | None:
    """What a tool that asks ``question`` hears."""
    heard: list[Answer | None] = []

    @tool
    async def ask(run: Run) -> str:
        """Ask."""
        heard.append(await run.ask(question))
        return "asked"

    run_agent([calls(("ask", {})), says("done")], tools=[ask], plugins=plugins)
    return heard[0]


# -- who answers, and how ---------------------------------------------------------------------------------------------


def test_the_first_plugin_that_answers_settles_a_question() -> None:
    silent, first, second = Person(None), Person(Answer("yes", by="Ada")), Person("no")
    assert said_to(YES_NO, silent, first, second) == Answer("yes", by="Ada")
    assert (len(silent.questions), len(second.questions)) == (1, 0)


@pytest.mark.parametrize(
    ("question", "said", "value"),
    [
        (YES_NO, "no", "no"),
        (YES_NO, True, "yes"),
        (Question("Who?"), "Ada", "Ada"),
        (Question("How many?", schema={"type": "integer"}), 3, 3),
    ],
)
def test_a_plain_value_is_an_answer(question: Question, said: object, value: object) -> None:
    assert said_to(question, Person(said)) == Answer(value)


def test_an_answer_without_a_value_says_that_nobody_can_be_asked() -> None:
    later = Person("yes")
    assert said_to(YES_NO, Person(Answer(None)), later) is None
    assert not later.questions


@pytest.mark.parametrize(
    ("question", "said", "why"),
    [
        (YES_NO, "perhaps", "'perhaps' is not one of yes, no"),
        (Question("How many?", schema={"type": "integer"}), "three", "is not of type 'integer'"),
        (
            Question("Who?", schema={"type": "object", "properties": {"age": {"type": "integer"}}}),
            {"age": "old"},
            "age: 'old' is not of type 'integer'",
        ),
    ],
)
def test_an_answer_that_a_question_does_not_take_is_an_error(question: Question, said: object, why: str) -> None:
    @tool
    async def ask(run: Run) -> str:
        """Ask."""
        await run.ask(question)
        return "asked"

    result = run_agent([calls(("ask", {})), says("done")], tools=[ask], plugins=[Person(said)])
    assert why in result.steps[0].observation

    with pytest.raises(Unfit, match=why.replace("(", r"\(")):
        question.read(said)


def test_a_question_shows_everything_and_steers_no_terminal() -> None:
    question = Question(
        "Delete \x1b[2Jit?",
        choices=("yes", "no"),
        tool="delete",
        arguments={"path": "a\nb", "odd\u202e": 1},
        hint="Now",
    )
    assert str(question) == ('Delete \\x1b[2Jit?\n  path: "a\\nb"\n  odd\\u202e: 1\nNow\nChoices: yes, no')
    form = Question("Who?", schema={"properties": {"name": {"type": "string", "description": "yours"}}})
    assert str(form) == "Who?\n  name (text, optional): yours"


def test_what_is_asked_is_masked_and_bound_to_what_it_was() -> None:
    person = Person("no")
    agent = agent_with([calls(("pay", {"key": "hunter2000"})), says("done")], tools=[pay], plugins=[Approval(), person])
    agent.config.masker.add("hunter2000")
    agent.run_sync("go")
    (question,) = person.questions
    assert question.arguments == {"key": "***"}
    assert question.digest == Question("", tool="pay", arguments={"key": "hunter2000"}).digest


def test_a_person_asked_by_a_subagent_is_the_one_of_its_parent() -> None:
    person = Person("yes")

    class Below:
        @hookimpl
        async def react_run(self, run: Run, proceed: Any) -> Any:
            inner = agent_with([calls(("pay", {"key": "a"})), says("paid")], tools=[pay], plugins=[Approval()])
            await inner.run("go", parent=run)
            return await proceed()

    paid.clear()
    run_agent([says("done")], plugins=[person, Below()])
    assert (paid, len(person.questions)) == (["a"], 1)


def test_time_with_a_person_counts_towards_no_deadline() -> None:
    class Slow:
        @hookimpl
        async def react_ask(self) -> str:
            await asyncio.sleep(0.3)
            return "yes"

    @tool(timeout=0.2)
    async def ask(run: Run) -> str:
        """Ask."""
        answer = await run.ask(YES_NO)
        return f"{answer.value if answer else None}"

    result = run_agent([calls(("ask", {})), says("done")], tools=[ask], plugins=[Slow()], run_timeout=0.25)
    assert (result.steps[0].observation, result.answer) == ("yes", "done")


# -- the journal ------------------------------------------------------------------------------------------------------

paid: list[str] = []


@tool
def pay(key: str) -> str:
    """Pay."""
    paid.append(key)
    return f"paid {key}"


def paying(*plugins: object, keys: Sequence[str] = ("a",), journal: Path | None = None) -> ReActAgent:
    replies = [*(calls(("pay", {"key": key})) for key in keys), says("done")]
    agent = agent_with(replies, tools=[pay], plugins=[Approval(), *plugins], failure_handling="legacy")
    return agent.replace(journal=journal)


def killed_after(kind: str, path: Path, agent: ReActAgent) -> Journal:
    """The journal of a run whose process ended right after the first record of a kind."""
    agent.run_sync("go")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines, 1) if f'"type":"{kind}"' in line)
    path.write_text("".join(lines[:last]), encoding="utf-8")
    paid.clear()
    return read_journal(path)


def resumed(path: Path, agent: ReActAgent) -> RunResult:
    return asyncio.run(resume(path, agent, force=True))


def records(journal: Journal, kind: str) -> list[dict[str, Any]]:
    return [record for record in journal.own if record["type"] == kind]


def test_the_journal_has_question_and_decision_bound_to_tool_and_arguments(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    paying(Person(Answer("yes", by="Ada")), journal=path).run_sync("go")
    journal = read_journal(path)
    (asked,), (decided,) = records(journal, "asked"), records(journal, "decided")
    assert (asked["tool"], asked["arguments"], asked["choices"]) == ("pay", {"key": "a"}, ["yes", "always", "no"])
    assert (decided["question"], decided["digest"]) == (asked["question"], asked["digest"])
    assert (decided["answer"], decided["by"]) == ("yes", "Ada")
    kinds = [record["type"] for record in journal.own]
    assert kinds.index("asked") < kinds.index("decided") < kinds.index("tool_started")


def test_a_question_without_an_answer_is_asked_again_when_the_run_goes_on(tmp_path: Path) -> None:
    path, person = tmp_path / "run.jsonl", Person("yes")
    journal = killed_after("asked", path, paying(Person("no"), journal=path))
    assert (len(records(journal, "asked")), len(records(journal, "decided"))) == (1, 0)
    resumed(path, paying(person))
    assert (paid, len(person.questions)) == (["a"], 1)
    journal = read_journal(path)
    assert (len(records(journal, "asked")), len(records(journal, "decided"))) == (1, 1)


@pytest.mark.parametrize(("answer", "expected"), [("yes", ["a"]), ("no", [])])
def test_a_decision_survives_the_end_of_the_process(tmp_path: Path, answer: str, expected: list[str]) -> None:
    path, nobody = tmp_path / "run.jsonl", Person(Answer(None))
    killed_after("decided", path, paying(Person(answer), journal=path))
    result = resumed(path, paying(nobody))
    assert (paid, nobody.questions, result.answer) == (expected, [], "done")


def test_a_decision_fits_no_other_arguments(tmp_path: Path) -> None:
    path, nobody = tmp_path / "run.jsonl", Person(Answer(None))
    killed_after("decided", path, paying(Person("yes"), journal=path))
    text = path.read_text(encoding="utf-8")
    asked = '"arguments":{"key":"a"}'
    assert asked in text
    head, _, rest = text.partition('"type":"asked"')
    path.write_text(head.replace(asked, '"arguments":{"key":"b"}') + '"type":"asked"' + rest, encoding="utf-8")
    resumed(path, paying(nobody))
    assert (paid, len(nobody.questions)) == ([], 1)


def test_a_decision_is_not_used_for_the_same_call_later_unless_it_said_always(tmp_path: Path) -> None:
    for answer, asked, expected in (("yes", 1, ["a"]), ("always", 0, ["a", "a"])):
        path, person = tmp_path / f"{answer}.jsonl", Person("no")
        killed_after("decided", path, paying(Person(answer), keys=["a", "a"], journal=path))
        resumed(path, paying(person, keys=["a", "a"]))
        assert (paid, len(person.questions)) == (expected, asked), answer


def test_a_replay_asks_nobody(tmp_path: Path) -> None:
    path, nobody = tmp_path / "run.jsonl", Person(Answer(None))

    class AsksFirst:
        @hookimpl
        async def react_iteration(self, run: Run) -> None:
            answer = await run.ask(YES_NO)
            run.note("asked", "nobody" if answer is None else str(answer.value))

    paying(AsksFirst(), Person("yes"), journal=path).run_sync("go")
    for tools in ("recorded", "live"):
        again = asyncio.run(replay(read_journal(path), paying(AsksFirst(), nobody), tools=tools))
        assert again.complete
    assert nobody.questions == []


def test_the_tree_and_the_page_show_what_people_said(tmp_path: Path) -> None:
    from react_run.journal.view.html import page
    from react_run.journal.view.tree import tree_of

    path = tmp_path / "run.jsonl"
    paying(Person("yes"), journal=path).run_sync("go")
    journal = read_journal(path)
    assert "asked: yes" in page(journal)
    texts = [
        branch.text for iteration in tree_of(journal).below for branch in iteration.below if branch.mark == "asked"
    ]
    assert texts == ["The agent wants to call pay: yes"]


# -- progress ---------------------------------------------------------------------------------------------------------


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, float | None, float | None, str]] = []
        self.threads: set[int] = set()

    @hookimpl
    def react_tool_progress(self, call: ToolCall, done: float | None, total: float | None, message: str) -> None:
        self.heard.append((call.name, done, total, message))
        self.threads.add(threading.get_ident())


def test_a_tool_says_how_far_it_is_from_its_thread_and_listeners_hear_it_on_the_loop(tmp_path: Path) -> None:
    @tool
    def copy(call: ToolCall) -> str:
        """Copy."""
        for number in range(1, 1_001):
            call.report(done=number, total=1_000, message=f"file {number}")
        return "copied"

    listener, path = Listener(), tmp_path / "run.jsonl"
    agent = agent_of([calls(("copy", {})), says("done")], tools=[copy], plugins=[listener], journal=path)

    async def scenario() -> int:
        await agent.run("go")
        return threading.get_ident()

    loop_thread = asyncio.run(scenario())
    assert listener.heard[0] == ("copy", 1, 1_000, "file 1")
    assert listener.heard[-1] == ("copy", 1_000, 1_000, "file 1000")
    assert len(listener.heard) < 100
    assert listener.threads == {loop_thread}
    journal = read_journal(path)
    last = records(journal, "tool_progress")[-1]
    assert (last["name"], last["done"], last["total"], last["message"]) == ("copy", 1_000, 1_000, "file 1000")
    assert asyncio.run(replay(journal, agent, tools="recorded")).complete


@pytest.mark.parametrize(
    "wrong", [{"done": True}, {"done": float("nan")}, {"total": -1}, {"message": 3}, {"done": "1"}]
)
def test_a_report_that_cannot_be_shown_is_the_tools_error(wrong: dict[str, Any]) -> None:
    @tool
    def copy(call: ToolCall) -> str:
        """Copy."""
        call.report(**wrong)
        return "copied"

    result = run_agent([calls(("copy", {})), says("done")], tools=[copy], plugins=[Listener()])
    assert next(iter(wrong)) in result.steps[0].observation


def test_an_error_in_a_plugin_that_asks_names_who_answered() -> None:
    class Asks:
        @hookimpl
        async def react_iteration(self, run: Run) -> None:
            await run.ask(YES_NO)

    with pytest.raises(PluginError, match=r"plugin 'Person' answered react_ask, and 'maybe' is not one of yes, no"):
        run_agent([says("done")], plugins=[Asks(), Person("maybe")])


def test_a_trace_says_how_far_a_call_was_that_never_ended(tmp_path: Path) -> None:
    from react_run.journal.view.tree import tree_of

    @tool
    def copy(call: ToolCall) -> str:
        """Copy."""
        call.report(done=3, total=10, message="file 3")
        return "copied"

    path = tmp_path / "run.jsonl"
    agent = agent_of([calls(("copy", {})), says("done")], tools=[copy], journal=path)
    agent.run_sync("go")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines, 1) if '"type":"tool_progress"' in line)
    path.write_text("".join(lines[:last]), encoding="utf-8")
    uses = [branch for part in tree_of(read_journal(path)).below for branch in part.below]
    shown = [line.text for use in uses for line in use.below]
    assert any("3/10 file 3" in text for text in shown), shown
