"""No text makes a pattern of ours slow: their time grows with the text, whatever the text is."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from tests.growth import EXPONENT, attacks_on, exponent, matching, seconds, text_of

from react_toolsets.math.units.parse import MAX_LENGTH

PACKAGES = ("react_run", "react_toolsets", "react_plugins", "react_offline")
SIZE = 2_500
METHODS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SHORT = {"react_toolsets.math.units.parse": MAX_LENGTH}
"""Modules whose texts are refused above so many characters."""
PUT_TOGETHER = {
    "react_offline.skills": "the names of a skill, escaped",
    "react_offline.slots": "constants of a table, all in module variables as well",
    "react_plugins.redact": "a pattern of the user: compiled once to report mistakes in it",
    "react_run.batch.home": "three digits",
    "react_run.config.dump": "known values, escaped",
    "react_run.journal.replay.differences": "a text of a journal, escaped, with gaps",
    "react_run.models.remote": "the name of a parameter, escaped",
    "react_run.models.text_calls": "names of tools, escaped: tests/test_readers.py, text calls",
    "react_run.policies.reply_checks": "the name of a tool, escaped",
    "react_run.policies.saved_results": "a pattern of a model: stopped after its time",
    "react_run.secrets.forms": "known values, escaped: tests/test_readers.py, masker",
    "react_run.support.files.globs": "a glob: tests/support/files/test_globs.py",
    "react_run.support.regex": "a pattern of a user: stopped after its time",
    "react_run.support.thinking": "the name of a tag, escaped: tests/test_readers.py, thinking",
    "react_toolsets.openapi.document": "constants of a table of YAML's scalars, for documents that the file names",
    "react_toolsets.math.units.parse": "names of systems of units",
}
"""Modules that put patterns together when they run, and of what."""


@dataclass
class Use:
    """A pattern, where it is, and what our code does with it."""

    pattern: re.Pattern[Any]
    place: str
    methods: set[str] = field(default_factory=set)


@cache
def modules() -> list[ModuleType]:
    """All of our modules."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.endswith(".__main__"):
                importlib.import_module(found.name)
    names = sorted(name for name in sys.modules if name.partition(".")[0] in PACKAGES)
    return [module for name in names if getattr(module := sys.modules[name], "__file__", None)]


def calls(module: ModuleType) -> Iterator[tuple[ast.Call, str, object]]:
    """The calls of methods of ``re`` and of patterns in a module: each with the method and the pattern, if known."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            owner = node.func.value
            named = vars(module).get(owner.id) if isinstance(owner, ast.Name) else None
            if named is re:
                yield node, node.func.attr, None
            elif isinstance(named, re.Pattern):
                yield node, node.func.attr, named


def written(node: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    """The pattern that a call such as ``re.search(…)`` is given; ``None`` where it is put together at run time."""
    flags = [it for it in [*node.args[1:], *(key.value for key in node.keywords)] if "re." in ast.unparse(it)]
    try:
        source, *values = (eval(ast.unparse(it), vars(module)) for it in [node.args[0], *flags])  # ours
        return re.compile(source, *values)
    except NameError:
        return None


def held(value: object, place: str, depth: int = 0) -> Iterator[tuple[re.Pattern[Any], str]]:
    """The patterns in a module variable, and in what it holds."""
    if isinstance(value, re.Pattern):
        yield value, place
    elif isinstance(value, dict) and depth < 4:
        for key, item in value.items():
            yield from held(key, place, depth + 1)
            yield from held(item, f"{place}[{key!r}]", depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)) and depth < 4:
        for at, item in enumerate(value):
            yield from held(item, f"{place}[{at}]", depth + 1)
    elif type(value).__module__.startswith("react_") and hasattr(value, "__dict__") and depth < 3:
        for key, item in vars(value).items():
            yield from held(item, f"{place}.{key}", depth + 1)


@cache
def uses() -> dict[tuple[object, int], Use]:
    """Every pattern of our modules, each once."""
    found: dict[tuple[object, int], Use] = {}

    def use(pattern: re.Pattern[Any], place: str) -> Use:
        return found.setdefault((pattern.pattern, pattern.flags), Use(pattern, place))

    for module in modules():
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                for pattern, place in held(value, f"{module.__name__}.{name}"):
                    use(pattern, place)
    for module in modules():
        for node, method, known in calls(module):
            given = known if isinstance(known, re.Pattern) else written(node, module)
            if given is not None:
                it = use(given, f"{module.__name__}:{node.lineno}")
                it.methods |= {method} - {"compile"}
    return found


PATTERNS = {f"{use.place} {number}": use for number, use in enumerate(uses().values())}


def test_the_patterns_are_found_wherever_they_are() -> None:
    places = " ".join(PATTERNS)
    assert len(PATTERNS) > 150
    for place in ("react_run.secrets._ASSIGNMENT ", "react_run.models.failures._BY_WORDS[", "react_toolsets.web.url:"):
        assert place in places


def test_patterns_that_are_put_together_at_run_time_are_all_known() -> None:
    found = {
        module.__name__
        for module in modules()
        for node, _, known in calls(module)
        if known is None and written(node, module) is None
    }
    assert found == set(PUT_TOGETHER)


@pytest.mark.parametrize("pattern", [r"\s*=\s*$", "<!--.*?-->", "(a+)+$", "<a[^>]*>"])
def test_a_slow_pattern_is_found_out(pattern: str) -> None:
    compiled = re.compile(pattern)
    run = matching(compiled, ("search",))
    slow = (attack for attack in sorted(attacks_on(compiled)) if exponent(run, attack, size=SIZE // 2) > EXPONENT)
    assert next(slow, None) is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_ours_is_linear(name: str) -> None:
    use = PATTERNS[name]
    run = matching(use.pattern, use.methods or {"search", "fullmatch"})
    most = SHORT.get(use.place.rpartition(".")[0], SHORT.get(use.place.partition(":")[0], 0))

    def is_slow(attack: tuple[str, str, str]) -> bool:
        if most:
            return seconds(run, text_of(attack, most), runs=3) > 0.005
        return exponent(run, attack, size=SIZE) > EXPONENT

    slow = next(filter(is_slow, sorted(attacks_on(use.pattern))), None)
    assert slow is None, f"{use.pattern.pattern!r} takes more than linear time; use possessive repeats or bounds"
