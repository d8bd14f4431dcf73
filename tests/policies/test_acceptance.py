"""Whether answers are accepted, and how often they may be refused (behaviour G3)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from react_run import Check, Run, StopReason, Verdict, hookimpl
from react_run.testing import run_agent, says


class Contains(Check):
    """The answer must contain a word."""

    word: str

    async def check(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted=self.word in answer, feedback=f"Say {self.word}.")


class Picky:
    @hookimpl
    def react_check_answer(self, answer: str) -> Verdict:
        return Verdict(accepted="please" in answer, feedback="Be polite.")


def test_a_refusal_goes_back_verbatim_and_the_run_goes_on() -> None:
    result = run_agent([says("one"), says("two")], checks=[Contains(word="two")])
    assert (result.answer, result.success, result.iterations) == ("two", True, 2)
    assert [message.text for message in result.messages][-2:] == ["Say two.", "two"]


def test_all_that_refuse_are_heard_at_once() -> None:
    checks = [Contains(word="a"), Contains(word="b"), Contains(word="c")]
    result = run_agent([says("b"), says("abc please")], checks=checks, plugins=[Picky()])
    assert result.success
    assert result.messages[-2].text == "Be polite.\n\nSay a.\n\nSay c."  # in plugin order


@pytest.mark.parametrize("options", [{"checks": [Contains(word="never")]}, {"plugins": [Picky()]}])
def test_after_two_refusals_the_next_refused_answer_is_kept_as_unaccepted(options: dict[str, Any]) -> None:
    result = run_agent([says("one"), says("two"), says("three"), says("four")], **options)
    assert (result.answer, result.stop_reason, result.success) == ("three", StopReason.UNACCEPTED, False)
    assert (result.iterations, result.finish_reason) == (3, "stop")


@pytest.mark.parametrize("iterations", [0, 4])
def test_how_often_can_be_set(iterations: int) -> None:
    checks = [Contains(word="never")]
    result = run_agent([says(str(n)) for n in range(9)], checks=checks, max_check_attempts=iterations)
    assert (result.answer, result.stop_reason) == (str(iterations), StopReason.UNACCEPTED)


def test_check_iterations_use_iterations() -> None:  # L2
    result = run_agent([says("one")], checks=[Contains(word="never")], max_iterations=2)
    assert (result.stop_reason, result.iterations, result.success) == (StopReason.MAX_ITERATIONS, 2, False)


# -- refusals that no other answer could change -----------------------------------------------------------------------


class Final:
    @hookimpl
    def react_check_answer(self, answer: str) -> Verdict:
        return Verdict(accepted=False, feedback="It is over.", final=True)


class Broken(Check):
    """Fails to look."""

    async def check(self, run: Run, answer: str) -> Verdict:
        raise RuntimeError("no such\nthing")


def test_a_final_refusal_ends_the_run_at_once_and_keeps_the_answer() -> None:
    result = run_agent([says("one"), says("two")], plugins=[Final()])
    assert (result.answer, result.stop_reason, result.iterations) == ("one", StopReason.UNACCEPTED, 1)
    assert result.messages[-1].text == "It is over."


def test_a_check_that_fails_to_run_is_told_as_such_and_is_no_pass() -> None:
    result = run_agent([says("one two"), says("two")], checks=[Contains(word="two"), Broken()])
    assert (result.stop_reason, result.success, result.iterations) == (StopReason.UNACCEPTED, False, 1)
    text = "The check Broken could not be carried out, so nothing is accepted: RuntimeError: no such thing"
    assert result.messages[-1].text == text


def test_the_other_refusals_are_told_with_it() -> None:
    result = run_agent([says("one")], checks=[Contains(word="two"), Broken()])
    assert result.messages[-1].text.startswith("Say two.\n\nThe check Broken could not")


def test_control_characters_of_a_check_are_made_visible() -> None:  # T3
    check = Contains(word="\x1b[31m\0")
    assert run_agent([says("one")], checks=[check], max_check_attempts=0).messages[-1].text == "Say \\x1b[31m\\x00."


def test_a_costly_check_is_not_asked_about_an_answer_that_is_refused_anyway() -> None:
    asked: list[str] = []

    class Cheap(Check):
        async def check(self, run: Run, answer: str) -> Verdict:
            asked.append("cheap")
            return Verdict(accepted=answer == "good", feedback="say good")

    class Costly(Check):
        costly: ClassVar[bool] = True

        async def check(self, run: Run, answer: str) -> Verdict:
            asked.append("costly")
            return Verdict(accepted=True)

    result = run_agent([says("bad"), says("good")], checks=[Costly(), Cheap()])
    assert (result.success, asked) == (True, ["cheap", "cheap", "costly"])
