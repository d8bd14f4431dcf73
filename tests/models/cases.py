"""The cases of ``tests/cases/provider_responses.jsonl``, and the tools they use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_run import Tool

FOLDER = Path(__file__).parent.parent / "cases"
Json = Any  # a decoded JSON document; tests index into it freely

KINDS: Mapping[str, set[str]] = {
    # What the cases call an error, and the codes that stand for it here.
    "bad_response": {"bad_response", "no_choice", "incomplete"},
    "context_length": {"context_overflow"},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case."""

    name: str
    mode: str
    tools: list[str]
    input: Json
    expect: Json


def expanded(value: Json) -> Json:
    """``value`` with its ``__repeat__`` entries written out."""
    if isinstance(value, dict):
        if set(value) == {"__repeat__"}:
            part = value["__repeat__"]
            return part["prefix"] + part["unit"] * part["count"] + part["suffix"]
        return {key: expanded(item) for key, item in value.items()}
    return [expanded(item) for item in value] if isinstance(value, list) else value


def cases(*modes: str) -> list[Case]:
    """The cases of some modes."""
    lines = (FOLDER / "provider_responses.jsonl").read_text(encoding="utf-8").splitlines()
    found = (json.loads(line) for line in lines)
    return [
        Case(
            name=case["name"],
            mode=case["mode"],
            tools=case.get("tools", list(TOOLS)),
            input=case["input"],
            expect=case["expect"],
        )
        for case in found
        if case["mode"] in modes
    ]


def _tool(name: str, data: Json) -> Tool:
    def run(**arguments: object) -> str:
        return f"{name} done"

    return Tool(
        name=name,
        description=data["description"],
        parameters=data["parameters"],
        function=run,
        read_only=not data["side_effects"],
    )


TOOLS: Mapping[str, Tool] = {
    name: _tool(name, data)
    for name, data in json.loads((FOLDER / "provider_tools.json").read_text(encoding="utf-8")).items()
}
"""The tools of the cases, by name."""


def codes(kind: str) -> set[str]:
    """Our codes for the kind of error that a case names."""
    return KINDS.get(kind, {kind})
