"""What is a repeat and what is stuck: runs of right agents that guards once spoilt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from react_run import ReActAgent, RunResult, tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import calls, run_agent, says

Tools = Sequence[Callable[..., object]]


def last_result(request: Any) -> dict[str, object]:
    return says(request.messages[-1].text)


# -- reading after a change -------------------------------------------------------------------------------------------


def bank() -> tuple[Tools, object, object]:
    balance = [100]

    def get_balance() -> int:
        """The balance."""
        return balance[0]

    def transfer(amount: int) -> str:
        """Send money."""
        balance[0] -= amount
        return "sent"

    return [get_balance, transfer], ("get_balance", {}), ("transfer", {"amount": 30})


def shopping_list() -> tuple[Tools, object, object]:
    items: list[str] = []

    def list_items() -> str:
        """All items."""
        return f"{len(items)} items"

    def add_item(name: str) -> str:
        """Add one."""
        items.append(name)
        return "added"

    return [list_items, add_item], ("list_items", {}), ("add_item", {"name": "milk"})


def switch() -> tuple[Tools, object, object]:
    state = ["off"]

    def is_on() -> str:
        """Whether it is on."""
        return state[0]

    def press() -> str:
        """Press it."""
        state[0] = "on"
        return "pressed"

    return [is_on, press], ("is_on", {}), ("press", {})


@pytest.mark.parametrize(("world", "old", "new"), [(bank, 100, 70), (shopping_list, 0, 1), (switch, "off", "on")])
def test_reading_after_a_change_gives_what_is_so_now(world: Any, old: object, new: object) -> None:  # F4
    tools, read, change = world()
    result = run_agent([calls(read), calls(change), calls(read), last_result], tools=tools)
    assert result.success
    assert result.steps[0].observation.startswith(str(old))
    assert result.answer.startswith(str(new))


# -- doing again what was undone -----------------------------------------------------------------------------------


def edit(old: str, new: str) -> dict[str, object]:
    return calls(("edit_file", {"path": "a.py", "old_text": old, "new_text": new}))


@pytest.mark.parametrize(
    "edits",
    [
        [("1", "2"), ("2", "1"), ("1", "2")],
        [("1", "2"), ("2", "3"), ("3", "1"), ("1", "2")],
        [("x = 1", "x = 2"), ("x = 2", "x = 1"), ("x = 1", "x = 2")],
    ],
)
def test_an_edit_that_was_taken_back_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edits: list[tuple[str, str]]
) -> None:  # F4
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    model = ScriptedModel(replies=[*(edit(old, new) for old, new in edits), "done"])
    result = ReActAgent({"toolsets": [{"kind": "files", "read_only": False}]}, model=model).run_sync("q")
    assert (result.success, (tmp_path / "a.py").read_text(encoding="utf-8")) == (True, "x = 2\n")


@pytest.mark.parametrize("between", [[("w", 0)], [("w", 0), ("w", 2)], [("w", 0), ("r", None)]])
def test_a_success_is_about_the_state_there_is(between: list[tuple[str, int | None]]) -> None:  # F4, F6
    state = [9]

    @tool
    def w(v: int) -> str:
        """Set it."""
        state[0] = v
        return "ok"

    @tool(read_only=True)
    def r() -> int:
        """Get it."""
        return state[0]

    asked = [("w", 1), *between, ("w", 1)]
    replies = [calls((name, {} if v is None else {"v": v})) for name, v in asked]
    assert run_agent([*replies, "it is 1"], tools=[w, r]).success
    assert state == [1]


def test_a_payment_is_made_once_whatever_was_paid_between() -> None:  # F4
    paid: list[str] = []

    @tool(read_only=False)
    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return f"paid {to}"

    result = run_agent([calls(("pay", {"to": one})) for one in ("bob", "ann", "bob")] + [says("paid")], tools=[pay])
    assert paid == ["bob", "ann"]
    assert "already ran this exact call" in result.steps[2].observation


# -- stuck ------------------------------------------------------------------------------------------------------------


def read(page: int) -> dict[str, object]:
    return calls(("read_page", {"page": page}))


@tool(read_only=True)
def read_page(page: int) -> str:
    """Read a page."""
    return f"PAGE {page} " + "lorem ipsum " * 150


def reading(pages: list[int], **model: Any) -> RunResult:
    script = iter([*map(read, pages), says("It says lorem.")])

    def reply(request: Any) -> object:
        return next(script) if request.tools else says("a summary without the pages")

    agent = ReActAgent({"max_iterations": 40}, model=ScriptedModel(replies=[reply] * 60, **model), toolsets=[read_page])
    return agent.run_sync("Read.")


@pytest.mark.parametrize("again", [[1, 2, 3], [3, 2, 1], [1, 2], [5]])
def test_what_compaction_took_away_may_be_read_again(again: list[int]) -> None:  # F4, S1
    result = reading([*range(12), *again], window=6000)
    assert (result.stop_reason, result.success) == ("completed", True)
    assert all(step.executed for step in result.steps[-len(again) :])


@pytest.mark.parametrize("again", [[0, 1, 2], [2, 1, 0], [1], [0, 2]])
def test_looking_once_more_at_known_pages_is_no_loop(again: list[int]) -> None:  # S1
    assert reading([0, 1, 2, *again]).success


@tool(read_only=True, repeatable=True)
def status() -> str:
    """How far it is."""
    return "running"


@pytest.mark.parametrize(("times", "waits"), [(4, False), (5, False), (3, True), (5, True)])
def test_a_job_may_be_asked_a_few_times(times: int, waits: bool) -> None:  # S1
    turn = [calls(("status", {})), *([calls(("wait", {"seconds": 0.01}))] if waits else [])]
    result = run_agent([*turn * times, says("still running")], tools=[status], toolset="temporal", max_iterations=20)
    assert (result.stop_reason, result.success) == ("completed", True)


@pytest.mark.parametrize("times", [2, 3, 5])
def test_who_asks_twice_in_a_reply_is_told_that_it_ran_once(times: int) -> None:  # F4
    count: list[int] = []

    @tool
    def increment() -> int:
        """Count."""
        count.append(1)
        return len(count)

    result = run_agent([calls(*[("increment", {})] * times), says("counted")], tools=[increment])
    assert len(count) == 1
    assert all("It ran once" in step.observation for step in result.steps[1:])


@pytest.mark.parametrize("asked", ["unknown", "plain", "arguments"])
def test_failing_with_other_arguments_each_time_ends(asked: str) -> None:  # F1, S1
    def fail(x: int) -> str:
        """Fail."""
        raise ValueError(f"not {x}")

    def named(number: int) -> dict[str, object]:
        name, x = {"unknown": (f"tool{number}", 1), "plain": ("fail", number), "arguments": ("fail", "x" * number)}[
            asked
        ]
        return calls((name, {"x": x}))

    result = run_agent([named(number) for number in range(1, 31)], tools=[fail], max_iterations=30)
    assert result.stop_reason in ("stuck", "tool_retry_exhausted")
    assert result.iterations <= 6
    assert not result.success
