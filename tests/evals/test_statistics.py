"""The statistics of evaluations, against simulation and against scipy."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from random import Random
from statistics import fmean, median

import pytest
from scipy import stats

from react_run.evals.statistics import (
    Comparison,
    Interval,
    cases_needed,
    compare,
    holm,
    mean_interval,
    median_interval,
    pass_at_k,
    pass_hat_k,
    rate_interval,
    sign_flip_p,
    wilson,
)
from react_run.evals.student import t_quantile

EVALUATIONS = 2_000
SHAPES = [(24, 5, 1.0, 1.0), (24, 5, 4.0, 1.0), (24, 5, 0.6, 0.2), (60, 3, 2.0, 1.0), (24, 1, 2.0, 1.0), (12, 5, 1, 1)]
"""Cases, repeats, and the distribution (beta) of how hard cases are."""


def simulated(rng: Random, cases: int, repeats: int, a: float, b: float) -> list[float]:
    """The pass rates of one evaluation: cases differ in how hard they are, and repeats of one case do not."""
    found = []
    for _ in range(cases):
        chance = rng.betavariate(a, b)
        found.append(sum(rng.random() < chance for _ in range(repeats)) / repeats)
    return found


def coverage(cases: int, repeats: int, a: float, b: float, *, clustered: bool) -> float:
    rng, truth, covered = Random(20), a / (a + b), 0
    for _ in range(EVALUATIONS):
        rates = simulated(rng, cases, repeats, a, b)
        found = rate_interval(rates, cases * repeats) if clustered else wilson(fmean(rates), cases * repeats)
        covered += found.low <= truth <= found.high
    return covered / EVALUATIONS


@pytest.mark.parametrize(("cases", "repeats", "a", "b"), SHAPES)
def test_intervals_cover_the_truth_in_95_of_100_evaluations(cases: int, repeats: int, a: float, b: float) -> None:
    assert 0.93 <= coverage(cases, repeats, a, b, clustered=True) <= 0.97


def test_counting_repeats_as_independent_covers_far_too_rarely() -> None:
    assert coverage(24, 5, 1.0, 1.0, clustered=False) < 0.85


@pytest.mark.slow
def test_intervals_of_paired_differences_cover_the_truth() -> None:
    rng, covered = Random(21), 0
    for _ in range(EVALUATIONS):
        first, second = [], []
        for _ in range(24):
            chance = rng.betavariate(2, 1)
            first.append(sum(rng.random() < chance * 0.9 for _ in range(5)) / 5)
            second.append(sum(rng.random() < chance for _ in range(5)) / 5)
        found = compare(first, second).difference
        covered += found.low <= 2 / 3 * 0.1 <= found.high
    assert 0.93 <= covered / EVALUATIONS <= 0.97


def test_paired_intervals_are_narrower_than_those_of_two_evaluations_apart() -> None:
    rng = Random(3)
    first = [rng.random() for _ in range(40)]
    second = [min(1.0, rate + 0.05) for rate in first]
    paired = compare(first, second).difference
    one, other = rate_interval(first, 200), rate_interval(second, 200)
    assert paired.high - paired.low < 0.3 * ((one.high - one.low) + (other.high - other.low))


@pytest.mark.parametrize("pairs", [12, 40])
def test_permutation_p_is_uniform_when_there_is_no_difference(pairs: int) -> None:
    rng = Random(pairs)
    found = [sign_flip_p([rng.gauss(0, 1) for _ in range(pairs)], seed) for seed in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_permutation_p_of_pass_rates_is_never_too_small() -> None:
    rng, found = Random(5), []
    for seed in range(400):
        rates = [simulated(rng, 20, 3, 1, 1) for _ in range(2)]
        found.append(sign_flip_p([b - a for a, b in zip(*rates, strict=True)], seed))
    for level in (0.01, 0.05, 0.1):
        assert sum(p <= level for p in found) / 400 <= level + 2.6 * (level * (1 - level) / 400) ** 0.5


@pytest.mark.parametrize("pairs", [5, 11, 16])
def test_the_permutation_test_agrees_with_scipy_where_all_are_counted(pairs: int) -> None:
    rng = Random(pairs)
    differences = [rng.choice((-0.4, -0.2, 0.2, 0.4, 0.6)) for _ in range(pairs)]
    theirs = stats.permutation_test(
        (differences,), fmean, permutation_type="samples", n_resamples=2**pairs, vectorized=False
    )
    assert sign_flip_p(differences) == pytest.approx(theirs.pvalue)


def test_drawn_permutations_agree_with_counted_ones() -> None:
    rng = Random(9)
    differences = [rng.gauss(0.15, 0.4) for _ in range(19)]
    observed = abs(sum(differences)) - 1e-9
    every = product(*((d, -d) for d in differences))
    exact = sum(abs(sum(signed)) >= observed for signed in every) / 2**19
    assert sign_flip_p(differences) == pytest.approx(exact, abs=0.02)


def test_permutation_p_is_never_zero_and_one_when_nothing_differs() -> None:
    assert sign_flip_p([0.5] * 100) == pytest.approx(1 / 10_001)
    assert sign_flip_p([0.0] * 10) == 1.0


@pytest.mark.parametrize(("passed", "of"), [(0, 10), (3, 10), (17, 20), (850, 1000), (10, 10)])
def test_wilson_agrees_with_scipy(passed: int, of: int) -> None:
    theirs = stats.binomtest(passed, of).proportion_ci(method="wilson")
    ours = rate_interval([1.0] * passed + [0.0] * (of - passed), of)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 23, 100, 5_000])
def test_student_agrees_with_scipy(freedom: int) -> None:
    for probability in (0.6, 0.9, 0.975, 0.999):
        assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-8)


def test_the_mean_of_a_cost_agrees_with_scipys_bootstrap() -> None:
    rng = Random(4)
    values = [rng.lognormvariate(0, 1) for _ in range(40)]
    theirs = stats.bootstrap((values,), fmean, vectorized=False, n_resamples=3_000, method="percentile", rng=1)
    ours = mean_interval(values)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=0.04)


def test_the_mean_of_many_values_has_the_interval_of_its_resamples() -> None:
    rng = Random(8)
    values = [rng.expovariate(1) for _ in range(401)]
    normal, drawn = mean_interval(values), mean_interval(values[:400])
    assert (normal.low, normal.high) == pytest.approx((drawn.low, drawn.high), rel=0.02)


def test_the_interval_of_a_median_is_that_of_its_ranks() -> None:
    values = [float(number) for number in range(1, 26)]
    found = median_interval(values)
    assert (found.low, found.value, found.high) == (8.0, 13.0, 18.0)  # the table of the sign test: ranks 8 and 18 of 25
    assert found.value == median(values)
    assert median_interval([3.0]) == Interval(value=3.0, low=3.0, high=3.0)


def test_pass_at_k_and_pass_hat_k_are_the_shares_of_all_choices() -> None:
    for passed in range(6):
        marks = [True] * passed + [False] * (5 - passed)
        choices = list(combinations(marks, 3))
        assert pass_at_k(5, passed, 3) == pytest.approx(sum(any(choice) for choice in choices) / len(choices))
        assert pass_hat_k(5, passed, 3) == pytest.approx(sum(all(choice) for choice in choices) / comb(5, 3))
    with pytest.raises(ValueError, match="from 1 to the 5 runs there are, not 6"):
        pass_at_k(5, 1, 6)


def test_holm_raises_each_probability_by_what_is_left() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_keeps_the_error_of_all_comparisons_together_at_five_in_100() -> None:
    rng, wrong = Random(1), 0
    for _ in range(EVALUATIONS):
        wrong += min(holm([rng.random() for _ in range(8)])) <= 0.05
    assert wrong / EVALUATIONS <= 0.065


def test_nothing_is_better_unless_the_interval_excludes_zero() -> None:
    gain = Interval(value=0.1, low=0.01, high=0.19)
    unsure = Interval(value=0.1, low=-0.01, high=0.21)
    made = {"p": 0.01, "cases": 20, "gained": 5, "lost": 1}
    assert Comparison(difference=gain, **made).verdict() == "better"  # type: ignore[arg-type]
    assert Comparison(difference=unsure, **made).verdict() == "no difference shown"  # type: ignore[arg-type]
    assert Comparison(difference=gain, **made).verdict(p=0.2) == "no difference shown"  # type: ignore[arg-type]


@pytest.mark.parametrize("cases", [1, 2, 5])
def test_less_than_six_cases_never_show_a_difference(cases: int) -> None:
    assert compare([0.0] * cases, [1.0] * cases).verdict() == "no difference shown"
    assert compare([0.0] * 6, [1.0] * 6).verdict() == "better"


@pytest.mark.slow
def test_a_false_better_is_said_in_at_most_five_of_100_evaluations() -> None:
    rng, said = Random(6), 0
    for _ in range(EVALUATIONS):
        chances = [rng.betavariate(2, 1) for _ in range(24)]
        first, second = ([sum(rng.random() < c for _ in range(5)) / 5 for c in chances] for _ in range(2))
        said += compare(first, second).verdict() != "no difference shown"
    assert said / EVALUATIONS <= 0.065


def test_cases_that_all_agree_leave_room_for_a_difference() -> None:
    found = compare([1.0] * 24, [1.0] * 24)
    assert found.difference.low < -0.1 < 0.1 < found.difference.high
    assert found.is_too_uncertain_for(0.05)
    assert (found.p, found.same, found.verdict()) == (1.0, 24, "no difference shown")


def test_all_cases_passing_is_no_proof_that_all_pass() -> None:
    found = rate_interval([1.0] * 24, 120)
    assert found.value == found.high == 1.0
    assert 0.8 < found.low < 0.9


def test_one_case_says_nothing_of_others() -> None:
    assert rate_interval([0.4], 5) == Interval(value=0.4, low=0.0, high=1.0)
    found = compare([0.25], [0.75]).difference
    assert (found.value, found.low, found.high) == (0.5, -1.0, 1.0)


def test_half_the_width_takes_four_times_the_cases() -> None:
    found = compare([0.0, 1.0, 0.5, 0.5] * 6, [1.0, 0.0, 0.5, 0.5] * 6)
    half = (found.difference.high - found.difference.low) / 2
    assert cases_needed(found, half / 2) == pytest.approx(4 * 24, abs=1)


def test_weights_count_cases_as_often_as_they_say() -> None:
    found = rate_interval([1.0, 0.0], 2, [3.0, 1.0])
    assert found.value == 0.75
    assert compare([0.0, 0.0], [1.0, 0.0], weights=[3.0, 1.0]).difference.value == 0.75


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [float(number**2) for number in range(20)]
    assert mean_interval(values, 7) == mean_interval(values, 7) != mean_interval(values, 8)
