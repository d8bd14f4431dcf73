"""The contract in docs/behaviour.md: its numbers are cited and defined, its table of runs is true (behaviour F6)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from react_run import (
    NoResult,
    Observation,
    Outcome,
    ReActToolset,
    Signal,
    Tool,
    ToolCall,
    ToolError,
    hookimpl,
    inline,
)
from react_run.testing import calls, run_agent, says

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "behaviour.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?:asked about ([\w ]+): )?(none|`.+`) \| (yes|no) \| ", DOCUMENT, re.MULTILINE)
CALL = re.compile(r"`(\w+)\(([^)]*)\) (\w+)`")
NUMBER = re.compile(r"\b[LATFSDGXJH]\d{1,2}b?\b")
HINT = re.compile(r"\bbehaviours?\b|^#|\((?:[LATFSDGXJH]\d{1,2}b?(?:, | and | to )?)+\)")
DEFINED = set(re.findall(r'^- <a id="\w+"></a>\*\*([A-Z]\d+b?)\*\*', DOCUMENT, re.MULTILINE))
OURS = ("src", "toolsets", "plugins", "models", "benchmarks", "tests")


# -- the table ------------------------------------------------------------------------------------------------


class Scripted:
    """Tools that do what a row says, in order."""

    def __init__(self, outcomes: list[tuple[str, str, str]]) -> None:
        self.pending = list(outcomes)
        self.denied = {(name, given) for name, given, how in outcomes if how == "denied"}
        self.blocked = {(name, given) for name, given, how in outcomes if how == "blocked"}

    def give(self, name: str, given: str) -> object:
        at = next(index for index, (tool, x, _) in enumerate(self.pending) if (tool, x) == (name, given))
        how = self.pending.pop(at)[2]
        if how == "error":
            raise ValueError("it broke")
        if how == "refuses":
            raise ToolError("not like this")
        if how == "nothing":
            raise NoResult("nothing found")
        if how == "timeout":
            raise TimeoutError("no answer")
        return Observation(content="done", outcome=Outcome.success("a fact"))

    @hookimpl
    def react_tool_permit(self, call: ToolCall) -> Observation | None:
        asked = (call.name, str(call.arguments.get("x", call.arguments.get("path", ""))))
        return Observation(content="Error: not allowed") if asked in self.denied else None

    @hookimpl
    @inline
    def react_sense(self, call: ToolCall) -> Signal | None:
        asked = (call.name, str(call.arguments.get("path", "")))
        if asked not in self.blocked:
            return None
        self.blocked.discard(asked)
        return Signal(severity="block", message="this is wrong", location=f"{asked[1]}:1")


class Sources(ReActToolset):
    """A toolset with two tools for one kind of question."""


MARKS: dict[str, dict[str, Any]] = {
    "look": {"read_only": True},
    "find": {"read_only": True},
    "weigh": {"read_only": True},
    "clock": {"read_only": True, "repeatable": True},
    "pay": {"read_only": False},
    "save": {"read_only": False},
    "do": {},
    "plan": {"read_only": True, "bookkeeping": True},
}


def tools_of(world: Scripted) -> list[Tool]:
    sources = Sources()

    def made(name: str, marks: dict[str, Any]) -> Tool:
        def on_x(x: str) -> object:
            """Do it."""
            return world.give(name, x)

        def on_path(path: str) -> object:
            """Do it."""
            return world.give(name, path)

        def on_nothing() -> object:
            """Do it."""
            return world.give(name, "")

        function = on_path if name == "save" else on_nothing if name == "clock" else on_x
        toolset = sources if name in ("find", "weigh") else None
        return Tool.from_function(function, name=name, toolset=toolset, **marks)

    return [made(name, marks) for name, marks in MARKS.items()]


def iterations_of(row: str) -> list[list[tuple[str, str, str]]]:
    return [] if row == "none" else [CALL.findall(part) for part in row.split(" then ")]


def arguments_of(name: str, given: str) -> dict[str, object]:
    return {} if name == "clock" else {"path" if name == "save" else "x": given}


@pytest.mark.parametrize(("about", "row", "success"), ROWS)
def test_every_row_of_the_table_is_true(about: str, row: str, success: str) -> None:  # F6, F1b
    asked = iterations_of(row)
    world = Scripted([call for part in asked for call in part])
    replies = [calls(*[(name, arguments_of(name, given)) for name, given, _ in part]) for part in asked]
    prompt = f"Tell me about {about}." if about else "Go on."
    result = run_agent([*replies, says("It is done.")], prompt, tools=tools_of(world), plugins=[world])
    assert result.success is (success == "yes"), result
    assert result.answer


def test_the_table_is_long_enough() -> None:  # F6
    assert len(ROWS) >= 20
    assert {success for _, _, success in ROWS} == {"yes", "no"}


# -- the numbers ------------------------------------------------------------------------------------------------


def texts_of(path: Path) -> Iterator[str]:
    """The comments and docstrings of a module."""
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


@cache
def cited(*roots: str) -> dict[str, str]:
    """The numbers that are cited below ``roots``, each with one of its places."""
    found: dict[str, str] = {}
    for root in roots:
        for path in sorted((ROOT / root).rglob("*.py")):
            for text in texts_of(path):
                if HINT.search(text):
                    found.update((number, str(path.relative_to(ROOT))) for number in NUMBER.findall(text))
    return found


def test_every_number_that_is_cited_is_defined() -> None:
    undefined = {number: where for number, where in cited(*OURS).items() if number not in DEFINED}
    assert undefined == {}


def test_every_number_that_is_defined_is_cited_by_a_test() -> None:
    assert sorted(DEFINED - set(cited("tests"))) == []


def test_every_statement_has_an_anchor_of_its_number() -> None:
    anchors = re.findall(r'<a id="(\w+)"></a>\*\*(\w+)\*\*', DOCUMENT)
    assert all(anchor == number.lower() for anchor, number in anchors)
    assert len(anchors) == len(DEFINED) >= 60


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["schema"], ["run", "--help"], ["explain", "--help"]])
def test_no_number_is_in_a_text_that_users_read(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from react_run.cli.exit import ended

    ended(arguments)
    shown = capsys.readouterr().out
    assert len(shown) > 100
    assert re.findall(r"\b(?:behaviours?|architecture|reliability) [§(]?[A-Z]?\d\w*|\([A-Z]\d+b?\)", shown) == []
