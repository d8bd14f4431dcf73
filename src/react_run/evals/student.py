"""Student's distribution, which the standard library lacks."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log


@lru_cache(maxsize=4_096)
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's distribution, by bisection.

    Args:
        probability: At least 0.5 and below 1.
        freedom: Degrees of freedom, at least 1.
    """
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _t_below(t: float, freedom: int) -> float:
    """The probability that Student's distribution is below ``t`` ≥ 0 (Abramowitz and Stegun, 1964, 26.5.27)."""
    return 1 - _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function as a continued fraction (Abramowitz and Stegun 26.5.8, evaluated as
    in W. J. Lentz, Appl. Opt. 15, 1976)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    upper, lower = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, 1_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower, upper = 1 / _not_zero(1 + term * lower), _not_zero(1 + term / upper)
            value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return front * value


def _not_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300
