"""What a number of runs says about an agent, with its uncertainty. The unit is the case: repeats are not new cases.

Each formula names its source. Everything is deterministic for a given ``seed``, and no package is required.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, exp, inf, lgamma, log, sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import Literal

from react_run.evals.student import t_quantile
from react_run.support.dataclasses import dataclass

LEVEL = 0.95
"""How often an interval covers the true value."""
RESAMPLES = 10_000
EXACT = 16
"""Up to this many pairs, all permutations are enumerated."""
_MANY = 400
"""The number of cases above which the mean is treated as normally distributed, to save time."""
_TINY = 1e-12

Verdict = Literal["better", "worse", "no difference shown"]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate with its interval, which covers the true value in 95 of 100 evaluations."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval is on one side of zero."""
        return self.low > 0 or self.high < 0

    def to_dict(self) -> dict[str, float]:
        """The three numbers, as in ``result.json``."""
        return {"value": _rounded(self.value), "low": _rounded(self.low), "high": _rounded(self.high)}


def _rounded(number: float) -> float:
    return round(number, 9)


# -- how many pass ----------------------------------------------------------------------------------------------------


def wilson(rate: float, n: float, quantile: float | None = None) -> Interval:
    """The score interval of a proportion (E. B. Wilson, JASA 22, 1927, p. 209).

    Args:
        rate: The share that passed.
        n: The sample size; need not be whole.
        quantile: The number of standard errors; by default, that of the normal distribution.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2) if quantile is None else quantile
    shrunk = 1 + z * z / n
    middle = (rate + z * z / (2 * n)) / shrunk
    half = z / shrunk * sqrt(max(0.0, rate * (1 - rate)) / n + z * z / (4 * n * n))
    return Interval(value=rate, low=max(0.0, min(rate, middle - half)), high=min(1.0, max(rate, middle + half)))


def rate_interval(rates: Sequence[float], runs: int, weights: Sequence[float] | None = None) -> Interval:
    """The mean over cases of values between 0 and 1, with an interval by case.

    Wilson's interval for the number of *independent* runs that would be equally certain. The variance between cases
    gives that number (the effective sample size of clustered samples, L. Kish, Survey Sampling, 1965, §5.4 and §8.2;
    with Student's quantile, as in E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998, p. 193). With one run per
    case, it is Wilson's own interval.

    Args:
        rates: The pass rate (or mean score) of each case.
        runs: The total number of runs.
        weights: The weight of each case; equal by default.
    """
    n = len(rates)
    if not n:
        raise ValueError("there are no cases")
    weight = [1.0] * n if weights is None else list(weights)
    if n == runs and len(set(weight)) == 1 and set(rates) <= {0.0, 1.0}:
        return wilson(fmean(rates), n)
    mean, error = _weighted(rates, weight)
    if n < 2 and _TINY < mean < 1 - _TINY:  # one case says nothing about others
        return Interval(value=mean, low=0.0, high=1.0)
    independent = sum(weight) ** 2 / sum(w * w for w in weight)
    spread = mean * (1 - mean)
    # All cases alike: at 0 or 1, only the number of cases is known; in between, runs count as independent.
    effective = independent if spread <= _TINY else float(runs) if error <= _TINY else spread / error**2
    quantile = None if spread <= _TINY else t_quantile((1 + LEVEL) / 2, max(n - 1, 1))
    return wilson(mean, min(effective, float(runs)), quantile)


def _weighted(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """The weighted mean and its standard error, for cases drawn independently (Kish 1965, §6.3: a ratio of sums)."""
    total, n = sum(weights), len(values)
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / total
    if n < 2:
        return mean, inf if 0 < mean < 1 else 0.0
    squares = sum((w * (x - mean)) ** 2 for w, x in zip(weights, values, strict=True))
    return mean, sqrt(n / (n - 1) * squares) / total


def pass_at_k(runs: int, passed: int, k: int) -> float:
    """The unbiased probability that one of ``k`` runs passes (M. Chen et al., arXiv:2107.03374, 2021, eq. 1)."""
    _check_k(runs, k)
    return 1 - comb(runs - passed, k) / comb(runs, k)


def pass_hat_k(runs: int, passed: int, k: int) -> float:
    """The unbiased probability that all of ``k`` runs pass (S. Yao et al., τ-bench, arXiv:2406.12045, 2024, §3)."""
    _check_k(runs, k)
    return comb(passed, k) / comb(runs, k)


def _check_k(runs: int, k: int) -> None:
    if not 1 <= k <= runs:
        raise ValueError(f"k must be from 1 to the {runs} runs there are, not {k}")


# -- cost, tokens, seconds --------------------------------------------------------------------------------------------


def mean_interval(values: Sequence[float], seed: int = 0) -> Interval:
    """The mean of a value without an upper bound, with an interval from resampling the cases.

    The percentile bootstrap (B. Efron, Ann. Statist. 7, 1979; Efron and R. Tibshirani, An Introduction to the
    Bootstrap, 1993, ch. 13). For many cases, the normal distribution is used instead, which it approaches.
    """
    n = len(values)
    if not n:
        raise ValueError("there are no cases")
    mean = fmean(values)
    if n > _MANY:
        _, error = _weighted(values, [1.0] * n)
        half = NormalDist().inv_cdf((1 + LEVEL) / 2) * error
        return Interval(value=mean, low=mean - half, high=mean + half)
    rng = Random(seed)
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(RESAMPLES))
    tail = round((1 - LEVEL) / 2 * RESAMPLES)
    return Interval(value=mean, low=means[tail], high=means[-tail - 1])


def median_interval(values: Sequence[float]) -> Interval:
    """The median, with an interval from order statistics, which assumes nothing about the distribution (W. R. Thompson,
    Ann. Math. Statist. 7, 1936, p. 122)."""
    ordered, n = sorted(values), len(values)
    if not n:
        raise ValueError("there are no values")
    below, rare = 0.0, 0
    for k in range(n + 1):
        below += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))
        if below > (1 - LEVEL) / 2:
            break
        rare += 1
    first = max(0, rare - 1)
    middle = ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2
    return Interval(value=middle, low=ordered[first], high=ordered[n - 1 - first])


# -- two agents on the same cases -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two agents on the same cases, case by case.

    Args:
        difference: The second minus the first, as a share of 1.
        p: The probability of a difference this large if there is none (two-sided).
        cases: The number of common cases.
        gained: Cases that the second passes more often.
        lost: Cases that it passes less often.
    """

    difference: Interval
    p: float
    cases: int
    gained: int
    lost: int

    @property
    def same(self) -> int:
        """Cases without a difference."""
        return self.cases - self.gained - self.lost

    def verdict(self, p: float | None = None) -> Verdict:
        """The conclusion: better or worse only if the interval excludes zero. A mean of very few cases has no reliable
        interval, so the permutation test must agree; with fewer than six cases, it never does.

        Args:
            p: The probability after Holm's correction, if this is one of several comparisons; by default, its own.
        """
        if not self.difference.excludes_zero or (self.p if p is None else p) > 1 - LEVEL:
            return "no difference shown"
        return "better" if self.difference.low > 0 else "worse"

    def is_too_uncertain_for(self, difference: float) -> bool:
        """Whether ``difference`` could go undetected: the interval reaches further than that to either side."""
        return (self.difference.high - self.difference.low) / 2 > difference


def compare(
    first: Sequence[float], second: Sequence[float], *, weights: Sequence[float] | None = None, seed: int = 0
) -> Comparison:
    """Compare two agents by their pass rates (or mean scores) on the same cases, in the same order.

    The interval is Student's for the mean of the differences (W. S. Gosset, Biometrika 6, 1908), as E. Miller
    recommends for paired evaluations (arXiv:2411.00640, 2024, §4.2). If all cases differ alike, the spread is
    unknown, and the interval is Wilson's for cases that could have differed but did not. A single case shows nothing.
    """
    differences = [b - a for a, b in zip(first, second, strict=True)]
    n = len(differences)
    if not n:
        raise ValueError("the two have no cases in common")
    weight = [1.0] * n if weights is None else list(weights)
    mean, error = _weighted(differences, weight)
    if n < 2:
        half = 2.0
    elif error <= _TINY:
        half = wilson(0.0, n).high
    else:
        half = t_quantile((1 + LEVEL) / 2, n - 1) * error
    return Comparison(
        difference=Interval(value=mean, low=max(-1.0, mean - half), high=min(1.0, mean + half)),
        p=sign_flip_p([w * d for w, d in zip(weight, differences, strict=True)], seed),
        cases=n,
        gained=sum(d > _TINY for d in differences),
        lost=sum(d < -_TINY for d in differences),
    )


def sign_flip_p(differences: Sequence[float], seed: int = 0) -> float:
    """The two-sided permutation test of paired differences: if there is no difference, either sign is equally likely
    (R. A. Fisher, The Design of Experiments, 1935, §21; with samples of the permutations, B. Phipson and G. K. Smyth,
    Stat. Appl. Genet. Mol. Biol. 9, 2010, art. 39, so that p is never 0)."""
    moved = [d for d in differences if abs(d) > _TINY]
    if not moved:
        return 1.0
    observed = abs(sum(moved)) - 1e-9
    tables = [_sums(moved[start : start + 8]) for start in range(0, len(moved), 8)]
    if len(moved) <= EXACT:
        sums = [0.0]
        for table in tables:
            sums = [total + part for total in sums for part in table]
        return sum(abs(total) >= observed for total in sums) / len(sums)
    rng, full = Random(seed), len(moved) // 8
    rest = len(moved) % 8
    hits = 0
    for _ in range(RESAMPLES):
        drawn = rng.randbytes(len(tables))
        total = sum(table[byte] for table, byte in zip(tables[:full], drawn, strict=False))
        if rest:
            total += tables[-1][drawn[-1] & ((1 << rest) - 1)]
        hits += abs(total) >= observed
    return (hits + 1) / (RESAMPLES + 1)


def _sums(differences: Sequence[float]) -> list[float]:
    """The sums of some differences for all choices of signs."""
    sums = [0.0]
    for difference in differences:
        sums = [total + signed for total in sums for signed in (difference, -difference)]
    return sums


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjust the probabilities of several comparisons, so that a false positive among them stays as unlikely as for a
    single one (S. Holm, Scand. J. Statist. 6, 1979, p. 65)."""
    order = sorted(range(len(probabilities)), key=lambda index: probabilities[index])
    adjusted, most = [0.0] * len(probabilities), 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (len(probabilities) - rank) * probabilities[index]))
        adjusted[index] = most
    return adjusted


def cases_needed(comparison: Comparison, difference: float) -> int:
    """How many cases would make the interval narrow enough to detect ``difference``; it shrinks with their root."""
    half = (comparison.difference.high - comparison.difference.low) / 2
    return max(comparison.cases, ceil(comparison.cases * (half / difference) ** 2))
