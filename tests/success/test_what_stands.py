"""A run is a success only when what it says was done: runs that once claimed more than the tools had shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from react_run import (
    ModelError,
    NoResult,
    Observation,
    ReActAgent,
    ReActToolset,
    RunResult,
    ToolCall,
    ToolError,
    hookimpl,
    tool,
)
from react_run.models.scripted import ScriptedModel
from react_run.testing import calls, run_agent, says

BROKEN, SOUND = "def f(:\n", "def f():\n    return 1\n"


@tool(read_only=False)
def pay(to: str) -> str:
    """Pay."""
    raise ToolError("account frozen", code="frozen")


@tool(read_only=False)
def pay_offline(to: str) -> str:
    """Pay."""
    raise ConnectionError("down")


@tool(read_only=True)
def now() -> str:
    """Tell the time."""
    return "12:00"


class Sources(ReActToolset):
    """Two encyclopaedias, one of which knows nothing."""

    @tool(read_only=True)
    def look(self, q: str) -> str:
        """Look up."""
        raise NoResult(f"nothing about {q}")

    @tool(read_only=True)
    def ask(self, q: str) -> str:
        """Ask."""
        return f"{q} is a bird"

    def interpret_result(self, tool_name: str, args: object, result: object) -> None:
        return None


# -- sensors ----------------------------------------------------------------------------------------------------------


def write(path: str, content: str) -> dict[str, object]:
    return calls(("write_file", {"path": path, "content": content}))


@pytest.mark.parametrize(
    ("then", "success"),
    [
        ([calls(("read_file", {"path": "a.py"}))], False),
        ([write("b.py", SOUND)], False),
        ([write("a.py", BROKEN + "\n")], False),
        ([calls(("list_files", {})), calls(("read_file", {"path": "a.py"}))], False),
        ([write("a.py", SOUND)], True),
        ([calls(("edit_file", {"path": "a.py", "old_text": "(:", "new_text": "(): return 1"}))], True),
    ],
)
def test_only_mending_the_file_clears_the_block_of_a_sensor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: list[object], success: bool
) -> None:  # F1b, F6
    monkeypatch.chdir(tmp_path)
    agent = ReActAgent(
        {"toolsets": [{"kind": "files", "read_only": False}], "plugins": ["syntax_sensor"]},
        model=ScriptedModel(replies=[write("a.py", BROKEN), *then, "All done, the file is correct."]),
    )
    result = agent.run_sync("write a.py")
    assert result.success is success
    assert bool(result.unresolved) is not success


# -- calls that failed or were refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("done", [pay, pay_offline])
@pytest.mark.parametrize("beside", [False, True])
def test_reading_the_clock_pays_nobody(done: Any, beside: bool) -> None:  # F1b
    name = done.__name__
    both = [calls((name, {"to": "bob"}), ("now", {}))] if beside else [calls((name, {"to": "bob"})), calls(("now", {}))]
    result = run_agent([*both, "Paid bob at 12:00."], tools=[done, now])
    assert not result.success
    assert [one.tool for one in result.unresolved] == [name]


@pytest.mark.parametrize("refusal", ["Error: denied by policy", "no", ""])
def test_a_refusal_without_an_outcome_is_a_denial_all_the_same(refusal: str) -> None:  # F6
    class Deny:
        @hookimpl
        def react_tool_permit(self, call: ToolCall) -> Observation:
            return Observation(content=refusal)

    @tool
    def send(to: str) -> str:
        """Send."""
        return "sent"

    result = run_agent([calls(("send", {"to": "bob"})), "I have sent it."], tools=[send], plugins=[Deny()])
    assert (result.success, result.steps[0].error_code, len(result.unresolved)) == (False, "denied", 1)


def slow() -> str:
    """Take too long."""
    raise TimeoutError("late")


def broken() -> str:
    """Fail."""
    raise ConnectionError("down")


@pytest.mark.parametrize("asked", ["wire_money", "slow", "broken", "pay"])
def test_a_run_in_which_nothing_worked_is_no_success(asked: str) -> None:  # F6
    arguments = {"to": "bob"} if asked == "pay" else {}
    result = run_agent([calls((asked, arguments)), "I have wired the money."], tools=[slow, broken, pay])
    assert not result.success
    assert result.unresolved


# -- look-ups ---------------------------------------------------------------------------------------------------------

FOUND_NOTHING = ("look", {"q": "zzz"})


@pytest.mark.parametrize(
    ("replies", "success"),
    [
        ([calls(FOUND_NOTHING), calls(("get_current_time", {"timezone": "UTC"}))], False),
        ([calls(FOUND_NOTHING), calls(("calculate", {"expression": "1+1"}))], False),
        ([calls(FOUND_NOTHING, ("get_current_time", {"timezone": "UTC"}))], False),
        ([calls(FOUND_NOTHING, ("ask", {"q": "zzz"}))], True),
        ([calls(("ask", {"q": "zzz"}), FOUND_NOTHING)], True),
        ([calls(FOUND_NOTHING), calls(("ask", {"q": "Zzz, the bird"}))], True),
    ],
)
def test_memory_is_no_fact_after_a_search_that_found_nothing(replies: list[object], success: bool) -> None:  # F1b, F5
    claim = "From memory: zzz was founded in 1842."
    agent = ReActAgent(
        {"toolsets": ["temporal", "math"]}, model=ScriptedModel(replies=[*replies, claim]), toolsets=[Sources()]
    )
    result = agent.run_sync("Tell me about zzz.")
    assert result.success is success
    assert (result.answer == claim) is success
    assert (result.unverified_answer == claim) is not success


@pytest.mark.parametrize("wrong", ["2 +", "(2", "2 plus plus"])
def test_a_wrong_and_a_right_form_in_one_reply_are_one_question(wrong: str) -> None:  # F1b
    both = calls(("calculate", {"expression": wrong}), ("calculate", {"expression": "2+2"}))
    result = run_agent([both, "It is 4."], toolset="math")
    assert (result.success, result.answer) == (True, "It is 4.")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_result", {"name": "1-big.txt", "pattern": "NEEDLE ("}),
        ("search_result", {"name": "big.txt", "pattern": "NEEDLE"}),
        ("read_result", {"name": "nothing.txt"}),
        ("read_result", {"name": "1-big.txt", "offset": 10**9}),
    ],
)
def test_a_wrong_way_to_read_a_saved_result_voids_nothing(name: str, arguments: dict[str, object]) -> None:  # F5
    @tool(read_only=True)
    def big() -> str:
        """Get much."""
        return "x\n" * 30_000 + "NEEDLE (42)"

    good = ("search_result", {"name": "1-big.txt", "pattern": "NEEDLE"})
    result = run_agent([calls(("big", {})), calls(good, (name, arguments)), "It is 42."], tools=[big])
    assert (result.success, result.answer) == (True, "It is 42.")


# -- what the answer may be ---------------------------------------------------------------------------------------


def refusing(code: str) -> Any:
    @tool(read_only=True)
    def t() -> str:
        """Do it."""
        raise ToolError("no", code=code)

    return t


@pytest.mark.parametrize("code", ["frozen", "invalid", "y"])
def test_a_typed_value_is_set_aside_with_the_answer(code: str) -> None:  # F5
    result = run_agent([calls(("t", {})), '{"a":1}'], tools=[refusing(code)], output_schema={"type": "object"})
    assert (result.success, result.value, result.unverified_answer) == (False, None, '{"a":1}')


def ended(*replies: object, **config: Any) -> RunResult:
    try:
        return run_agent(list(replies), tools=[now], **config)
    except ModelError as error:
        return error.result  # type: ignore[return-value]  # a run that failed has one


CUT = {"text": "the first half of a sent", "finish_reason": "length"}


@pytest.mark.parametrize(
    "result",
    [
        lambda: ended(CUT, calls(("now", {}))),
        lambda: ended(CUT, {"text": " and the rest", "finish_reason": "length"}),
        lambda: ended(CUT, says("rest"), max_total_tokens=10),
        lambda: ended(CUT, {"error": {"status": 400, "message": "bad"}}),
    ],
    ids=["a call", "cut again", "a limit", "an error"],
)
def test_an_answer_that_stayed_cut_is_kept_and_is_no_success(result: Callable[[], RunResult]) -> None:  # S5
    run = result()
    assert not run.success
    assert "the first half" in f"{run.answer}{run.unverified_answer}"


@pytest.mark.parametrize(
    "markup",
    [
        '<tool_call>{"name":"now","arguments":{}}</tool_call>',
        "<think>I should call now</think>",
        '{"name": "now", "arguments": {}}',
        "<function=now></function>",
    ],
)
def test_markup_is_no_answer(markup: str) -> None:  # S3
    once = run_agent([markup, "It is noon."], tools=[now])
    assert (once.success, once.answer, once.steps) == (True, "It is noon.", [])
    for_ever = run_agent([markup] * 5, tools=[now])
    assert not for_ever.success
    assert "now" not in for_ever.answer


@pytest.mark.parametrize("expression", ["2+2", "1+3", "8/2"])
def test_what_is_verified_is_told_when_the_provider_fails(expression: str) -> None:  # F5
    with pytest.raises(ModelError) as caught:
        run_agent([calls(("calculate", {"expression": expression})), {"error": {"status": 400}}], toolset="math")
    assert isinstance(caught.value.result, RunResult)
    assert "= 4" in caught.value.result.answer


# -- what calls have in common -----------------------------------------------------------------------------------------


@tool(read_only=True)
def forecast(place: str, units: str, style: Literal["short", "long"] = "short") -> str:
    """Forecast the weather."""
    if place == "Oslo":
        raise ToolError("no station", code="no_station")
    return "Rain."


@tool(read_only=True)
def history(place: str, units: str, style: Literal["short", "long"] = "short") -> str:
    """Look up past weather."""
    return "Sun."


@pytest.mark.parametrize(
    ("place", "units", "style", "answers"),
    [
        ("Rome", "metric", "short", False),  # the unit is not what was asked about
        ("Rome", "imperial", "long", False),  # nor is one choice of several
        ("Oslo harbour", "imperial", "short", True),
    ],
)
def test_units_and_choices_that_calls_share_answer_nothing(place: str, units: str, style: str, answers: bool) -> None:
    failed = calls(("forecast", {"place": "Oslo", "units": "metric", "style": "long"}))
    other = calls(("history", {"place": place, "units": units, "style": style}))
    assert run_agent([failed, other, "done"], tools=[forecast, history]).success is answers


def test_a_call_beside_one_without_its_argument_leaves_it_unanswered() -> None:
    both = calls(("forecast", {"units": "metric"}), ("forecast", {"place": "Rome", "units": "metric"}))
    result = run_agent([both, "done"], tools=[forecast, history])
    assert [step.failed for step in result.steps] == [True, False]
    assert [left.code for left in result.unresolved] == ["invalid_arguments"]


@tool(read_only=True)
def find(place: str, about: str) -> str:
    """Find something at a place."""
    if place == "Oslo":
        raise ToolError("no such map", code="no_map")
    return "There."


@tool(read_only=True)
def search(place: str, about: str) -> str:
    """Search for something at a place."""
    return "Here."


def test_calls_of_one_tool_must_share_their_subject_and_those_of_two_any_word() -> None:
    oslo, rome = {"place": "Oslo", "about": "harbour"}, {"place": "Rome", "about": "harbour"}
    of_one = run_agent([calls(("find", oslo), ("find", rome)), "done"], tools=[find, search])
    assert [left.code for left in of_one.unresolved] == ["no_map"]
    of_two = run_agent([calls(("find", oslo), ("search", rome)), "done"], tools=[find, search])
    assert not of_two.unresolved


def test_the_subject_of_a_call_is_in_its_arguments_as_they_were_repaired() -> None:
    paid: list[str] = []

    @tool(read_only=False)
    def send(to: str) -> str:
        """Send money."""
        if to == "bob":
            raise ToolError("account frozen", code="frozen")
        paid.append(to)
        return "sent"

    result = run_agent(
        [calls(("send", {"arguments": {"to": "bob"}})), calls(("send", {"to": "ann"})), "done"], tools=[send]
    )
    assert paid == ["ann"]
    assert [left.code for left in result.unresolved] == ["frozen"]


def test_a_call_whose_arguments_could_not_be_read_is_corrected_by_the_next_one() -> None:
    @tool(read_only=False)
    def send(to: str) -> str:
        """Send money."""
        return "sent"

    unreadable = {"tool_calls": [{"id": "1", "name": "send", "arguments": "bob, please"}]}
    result = run_agent([unreadable, calls(("send", {"to": "ann"})), "done"], tools=[send])
    assert [step.failed for step in result.steps] == [True, False]
    assert result.success
