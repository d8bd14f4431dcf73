"""Functions of many numbers: sums, averages, extremes and spread."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

from react_toolsets.math.arithmetic import Arithmetic, Number
from react_toolsets.math.operators import add, divide, multiply, subtract
from react_toolsets.math.powers import sqrt


def smallest(_: Arithmetic, *numbers: Number) -> Number:
    """The smallest of ``numbers``."""
    return min(numbers)


def largest(_: Arithmetic, *numbers: Number) -> Number:
    """The largest of ``numbers``."""
    return max(numbers)


def total(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The sum of ``numbers``."""
    return reduce(lambda a, b: arithmetic.settle(add(arithmetic, a, b)), numbers)


def product(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The product of ``numbers``."""
    return reduce(lambda a, b: arithmetic.settle(multiply(arithmetic, a, b)), numbers)


def mean(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The arithmetic mean of ``numbers``."""
    return divide(arithmetic, total(arithmetic, *numbers), Fraction(len(numbers)))


def median(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The middle value of ``numbers``, or the mean of the two middle values."""
    ranked = sorted(numbers)
    middle = len(ranked) // 2
    return ranked[middle] if len(ranked) % 2 else mean(arithmetic, ranked[middle - 1], ranked[middle])


def variance(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The sample variance: the sum of squared distances from the mean, divided by the count minus one."""
    centre = arithmetic.settle(mean(arithmetic, *numbers))
    distances = [subtract(arithmetic, number, centre) for number in numbers]
    squares = [arithmetic.settle(multiply(arithmetic, distance, distance)) for distance in distances]
    return divide(arithmetic, total(arithmetic, *squares), Fraction(len(numbers) - 1))


def stdev(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The sample standard deviation: the square root of the variance."""
    return sqrt(arithmetic, arithmetic.settle(variance(arithmetic, *numbers)))


def hypot(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The square root of the sum of the squares of ``numbers``."""
    squares = [arithmetic.settle(multiply(arithmetic, number, number)) for number in numbers]
    return sqrt(arithmetic, total(arithmetic, *squares))
