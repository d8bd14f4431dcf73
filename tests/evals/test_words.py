"""What a result says in words: no more than its figures bear out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evals.eval_agents import answering, case

from react_run.evals.gates import judge_gates
from react_run.evals.plan import Plan, Variant
from react_run.evals.results import Result, result_of
from react_run.evals.samples import Sample
from react_run.evals.tally import tallied
from react_run.evals.terminal import lines
from react_run.evals.words import p_value, percent, points, sentence


def result(first: str, second: str = "", **options: Any) -> Result:
    """A result whose cases have these marks: a letter for each case (``p``, ``f``, ``e``)."""
    names = ["first", *(["second"] if second else [])]
    cases = [case(f"case {number}", expected="yes") for number in range(len(first))]
    plan = Plan(cases=cases, variants=[Variant(name=name, agent=answering("yes")) for name in names])
    words = {"p": "pass", "f": "fail", "e": "error"}
    samples = [
        Sample(index=n, case=f"case {n}", variant=name, repeat=0, outcome=words[mark], cost=cost)  # type: ignore[arg-type]
        for name, marks, cost in zip(names, (first, second), (0.01, 0.03), strict=False)
        for n, mark in enumerate(marks)
    ]
    return result_of(plan, tallied(samples), title="words", **options)


def test_a_single_agent_has_its_rate_its_interval_and_its_number_of_cases() -> None:
    assert sentence(result("p" * 17 + "f" * 3)) == (
        "first passes 85 % [64, 95] of its runs (20 cases; 95 % interval, by case)."
    )
    assert "[83, 87] of its runs (1000 cases" in sentence(result("p" * 850 + "f" * 150))


def test_better_says_by_how_much_how_surely_and_at_which_price() -> None:
    said = sentence(result("f" * 8 + "p" * 12, "p" * 20))
    assert said.startswith("second is better than first (+40 points [+")
    assert "permutation p = 0.008, 20 pairs): 8 cases gained, 0 lost, 12 alike." in said
    assert said.endswith("It costs 3 times as much.")


def test_worse_is_said_as_plainly() -> None:
    assert sentence(result("p" * 20, "f" * 8 + "p" * 12)).startswith("second is worse than first (\u221240 points [")


def test_no_difference_says_what_could_still_hide() -> None:
    said = sentence(result("fp" * 10, "pf" * 10))
    assert "better" not in said
    assert "worse" not in said
    assert said.startswith("No difference is shown between second and first (+0 points [")
    assert "There are not enough cases to tell a difference of less than 48 points" in said
    assert "such cases would tell 5." in said


def test_the_difference_that_is_asked_for_is_the_one_that_is_spoken_of() -> None:
    assert "such cases would tell 20." in sentence(result("fp" * 10, "pf" * 10, wanted=0.2))


def test_doubtful_figures_are_called_so() -> None:
    assert sentence(result("p" * 9 + "e")).endswith(
        "The figures of first are doubtful: 1 of 10 runs were errors, which are not counted."
    )
    assert "doubtful" not in sentence(result("p" * 19 + "e"))


def test_nothing_measured_is_said() -> None:
    assert sentence(result("ee")).startswith("No run could be scored.")
    assert sentence(result("ee", "pp")).startswith("Nothing could be compared: the two have no case in common.")
    assert "no run was scored (2 errors)" in "\n".join(lines(result("ee")))


def test_gates_say_what_they_found() -> None:
    found = result("p" * 20, "p" * 20)
    assert not judge_gates(found, min_pass=0.9, no_worse_than=0.05)
    assert [gate["holds"] for gate in found["gates"]] == [True, False]
    assert found["gates"][0]["said"] == "second passes 100 %; at least 90 % is required"
    assert found["gates"][1]["said"] == (
        "second may be up to 16 points worse, and 5 are allowed: there are not enough cases to tell"
    )
    worse = result("p" * 20, "f" * 8 + "p" * 12)
    assert not judge_gates(worse, no_worse_than=0.05)
    assert not worse["gates"][0]["said"].endswith("to tell")


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (percent(0.7416), "74.2 %"),
        (percent(1.0), "100 %"),
        (points(-0.031), "\u22123.1"),
        (points(0.5), "+50"),
        (p_value(0.0004), "p < 0.001"),
        (p_value(0.0123), "p = 0.012"),
    ],
)
def test_numbers_are_short(shown: str, text: str) -> None:
    assert shown == text
