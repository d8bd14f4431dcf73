"""No text makes these patterns slow: their time grows with the text, whatever the text is."""

from __future__ import annotations

import importlib
import re
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

UNITS = [
    *"a1 \n:=(-/.\"'<&{[,;@`\\?%",
    *("a ", "a.", "a:", 'a="', "1,", "1 ", "<a ", "<!--", "```", "\\n", "://", "a@", "${", " \n", "a(", 'File "', "e1"),
]
TAILS = ["", "!"]
SMALL, LARGE = 1_500, 6_000
EXPONENT = 1.6
"""A little above linear, for noise; quadratic is 2."""


MODULES = ("react_run.secrets", "react_run.skills.fields", "react_plugins.command_sensor")
"""Those whose patterns meet every text of a run, or text of programs and skills."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every compiled pattern of these modules."""
    for name in MODULES:
        for attribute, value in vars(importlib.import_module(name)).items():
            if isinstance(value, re.Pattern):
                yield f"{name}.{attribute}", value


def seconds(pattern: re.Pattern[Any], text: str) -> float:
    """The least time that looking for all matches takes, and for one that is the whole."""
    data = text.encode() if isinstance(pattern.pattern, bytes) else text
    taken = []
    for _ in range(2):
        started = time.process_time()
        deque(pattern.finditer(data), 0)
        pattern.fullmatch(data)
        taken.append(time.process_time() - started)
        if taken[-1] < 0.004:
            break
    return min(taken)


PATTERNS = dict(patterns())


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_ours_is_linear(name: str) -> None:
    pattern = PATTERNS[name]
    slow = []
    for unit in UNITS:
        for tail in TAILS:
            large = seconds(pattern, unit * (LARGE // len(unit)) + tail)
            if large < 0.004:
                continue
            small = max(seconds(pattern, unit * (SMALL // len(unit)) + tail), 1e-5)
            if large / small > (LARGE / SMALL) ** EXPONENT:
                slow.append((unit, tail, round(large, 3)))
    assert slow == []
