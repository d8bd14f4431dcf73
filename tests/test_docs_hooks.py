"""docs/hooks.md names every hook with its exact signature, in order, and every example there works."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

from react_run import Run, tool
from react_run.hooks import hook_names
from react_run.hookspecs import Hooks
from react_run.plugins import hook_table
from react_run.testing import calls, run_agent, says

TEXT = (Path(__file__).parent.parent / "docs" / "hooks.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^### `(.+?)`\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def signature(name: str) -> str:
    spec = inspect.signature(getattr(Hooks, name))
    parameters = [f"{p.name}: {p.annotation}" for p in spec.parameters.values() if p.name != "self"]
    return f"{name}({', '.join(parameters)}) -> {spec.return_annotation}"


def test_every_hook_has_a_section_with_its_signature_in_the_order_of_the_manual() -> None:
    assert [heading for heading, _ in SECTIONS] == [signature(name) for name in hook_names()]


def test_the_table_of_hooks_knows_exactly_the_hooks_of_the_manual() -> None:
    assert [name for name in vars(hook_table([])) if name != "plugins"] == hook_names()


def test_a_run_has_at_most_twenty_members_and_each_is_documented_with_an_example() -> None:
    fields = {field.name for field in dataclasses.fields(Run)}
    members = {name for name in fields | set(vars(Run)) if not name.startswith("_")}
    rows = re.findall(r"^\| `(?:await )?run\.(\w+).*?\| `.*\brun\.", TEXT, re.MULTILINE)
    assert len(members) <= 20
    assert set(rows) == members


@pytest.mark.parametrize(("heading", "body"), SECTIONS, ids=[heading.split("(")[0] for heading, _ in SECTIONS])
def test_the_example_of_a_hook_registers_for_it_and_a_run_survives_it(heading: str, body: str) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", body, re.DOTALL)
    names: dict[str, object] = {"__name__": "example"}
    exec(source, names)
    (plugin_class,) = [value for value in names.values() if isinstance(value, type) and value.__module__ == "example"]
    plugin = plugin_class()
    assert getattr(hook_table([plugin]), heading.split("(")[0])
    result = run_agent([calls(("add", {"a": 1, "b": 2})), says("It is 3.")], tools=[add], plugins=[plugin])
    assert result.answer.startswith("It is 3.")
