"""Functions of other people as tools: aliases, callbacks, files, and what is left out is said."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from react_run import Tool, ToolsetError, ToolWarning
from react_run.config import AgentFileError, load_config
from react_run.testing import calls, run_agent, says
from react_toolsets.functions import FunctionsToolset

SOURCE = """
from functools import lru_cache, partial

__all__ = ["double", "cached", "half", "ls", "Shelf", "LIMIT"]
LIMIT = 3

def _v2(x: int) -> int:
    "Twice a number."
    return 2 * x

double = _v2

@lru_cache
def cached(x: int) -> int:
    "A number, remembered."
    return x

def _divided(x: int, y: int) -> float:
    "A number divided."
    return x / y

half = partial(_divided, y=2)

class Shelf:
    def ls(self, path: str) -> str:
        "List a shelf."
        return path

ls = Shelf().ls

def untyped(x):
    "No types."
"""


def toolset(folder: Path, source: str = SOURCE, **options: Any) -> FunctionsToolset:
    (folder / "code.py").write_text(source)
    return FunctionsToolset(path=str(folder / "code.py"), **options)


def test_a_function_where_a_toolset_belongs_is_shown_its_place(tmp_path: Path) -> None:
    (tmp_path / "shop_of_ours.py").write_text("def price(x: int) -> int:\n    return x\n")
    (tmp_path / "a.yaml").write_text("model: offline\ntoolsets: [shop_of_ours.price]\n")
    with pytest.raises(AgentFileError, match=r"\{kind: functions, module: shop_of_ours, include: \[price\]\}"):
        load_config(tmp_path / "a.yaml", trusted=True)


def test_what_a_module_lists_is_offered_under_the_names_it_lists(tmp_path: Path) -> None:
    assert [tool.name for tool in toolset(tmp_path).tools()] == ["double", "cached", "half", "ls"]
    result = run_agent(
        [calls(("double", {"x": 4}), ("cached", {"x": 4}), ("half", {"x": 4}), ("ls", {"path": "a"})), says("done")],
        toolsets=[toolset(tmp_path)],
    )
    assert [step.observation for step in result.steps] == ["8", "4", "2.0", "a"]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ('"LIMIT"]', {"include": ["double", "dubble"]}, "include names 'dubble'"),
        ('"LIMIT"]', {"include": ["dubble"]}, "Did you mean 'double'?"),
        ('"LIMIT"]', {"include": ["dubble", "double", "nothere"]}, "'double'? include names 'nothere'"),
        ('"LIMIT", "missing"]', {}, "__all__ names 'missing'"),
        (
            '"LIMIT", "untyped"]',
            {"include": ["untyped", "double"]},
            "untyped cannot be offered: its parameters need type hints",
        ),
    ],
)
def test_a_name_that_leads_to_no_tool_is_an_error(
    tmp_path: Path, change: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolsetError) as caught:
        toolset(tmp_path, SOURCE.replace('"LIMIT"]', change), **options).tools()
    assert said in str(caught.value)


def test_a_listed_function_without_types_is_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(ToolWarning, match="untyped is left out"):
        tools = toolset(tmp_path, SOURCE.replace('"LIMIT"]', '"LIMIT", "untyped"]')).tools()
    assert "untyped" not in [tool.name for tool in tools]


def test_globs_may_match_nothing_of_it(tmp_path: Path) -> None:
    assert [tool.name for tool in toolset(tmp_path, include=["d*", "z*"]).tools()] == ["double"]


def with_callback(a: int, done: Callable[[int], int] | None = None) -> int:
    """Call back."""
    return a if done is None else done(a)


def with_file(a: int, file: IO[str] | None = None) -> int:
    """Write."""
    return a


def with_nothing(a: int, other: NoSuchThing | None = None) -> int:  # type: ignore[name-defined]  # noqa: F821  # on purpose
    """Point nowhere."""
    return a


@pytest.mark.parametrize("function", [with_callback, with_file, with_nothing])
def test_an_optional_parameter_that_no_model_can_fill_is_left_out(function: Callable[..., int]) -> None:
    with pytest.warns(ToolWarning, match="a parameter that no model can fill, (done|file|other), which is left out"):
        tool = Tool.from_function(function)
    assert list(tool.parameters["properties"]) == ["a"]
    result = run_agent([calls((tool.name, {"a": 3})), says("done")], tools=[tool])
    assert (result.steps[0].observation, result.steps[0].executed) == ("3", True)


def needs_callback(a: int, done: Callable[[int], int]) -> int:
    """Call back."""
    return done(a)


def needs_callbacks(a: int, done: dict[str, Callable[[int], int]]) -> int:
    """Call back."""
    return a


@pytest.mark.parametrize("function", [needs_callback, needs_callbacks])
def test_one_that_is_needed_is_named_with_the_way_out(function: Callable[..., int]) -> None:
    with pytest.raises(
        ToolsetError, match=r"'done' has the annotation .*Callable.* Give it another type, or a default"
    ):
        Tool.from_function(function)


def test_types_that_have_a_schema_warn_of_nothing() -> None:
    def fine(a: int, b: dict[str, float] | None = None) -> int:
        """Fine."""
        return a

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(Tool.from_function(fine).parameters["properties"]) == ["a", "b"]


@pytest.mark.parametrize("text", ["1e3", "1E5", "1234e56", "1.5e3", "1.e3", "1e-12"])
@pytest.mark.parametrize("where", ["metadata: {{commit: {}}}", "model_settings: {{seed: [{}]}}"])
def test_a_number_that_may_be_a_text_is_reported_where_nothing_tells(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "a.yaml").write_text(f"model: offline\n{where.format(text)}\n")
    with pytest.raises(AgentFileError, match=f"{text} is text for YAML 1.1 and a number for YAML 1.2; quote it, or"):
        load_config(tmp_path / "a.yaml")


@pytest.mark.parametrize("text", ['"1e3"', "1.0e+3", "1000.0", "12", "1.5"])
def test_other_numbers_and_quoted_texts_are_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(f"model: offline\nmetadata: {{a: {text}}}\ntemperature: 1e0\n")
    assert load_config(tmp_path / "a.yaml").metadata["a"] == json.loads(text.replace("1.0e+3", "1e3"))
