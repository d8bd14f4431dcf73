"""Agents whose runs are worth recording, and ways to record them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from react_run import ReActAgent, Tool, tool
from react_run.journal.reading import Journal
from react_run.journal.recorder import Recorder
from react_run.journal.sinks import MemorySink
from react_run.journal.values import Record
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
def words(count: int) -> list[str]:
    """Return that many words."""
    return [f"word-{number}" for number in range(count)]


@tool(read_only=True)
def fail(text: str) -> str:
    """Fail with a text."""
    raise KeyError(text)


TOOLS = [add, words, fail]
EVENTFUL = [
    calls(("add", {"a": 1, "b": "2"}), ("fail", {"text": "no such thing"}), text="Let me see."),
    {"error": {"status": 500, "message": "try again"}},
    calls(("add", {"a": 1, "b": 2}), ("no_such_tool", {}), ("add", "{broken")),
    calls(("words", {"count": 4_000}), ("add", {"a": 3, "b": 4}), usage={"input_tokens": 100, "output_tokens": 10}),
    says("It is 3.", usage={"input_tokens": 120, "output_tokens": 5, "cost": 0.01}),
]
"""A failure, a provider error, a repeat, an unknown tool, broken arguments, a long result, an answer."""
CONFIG: Mapping[str, Any] = {
    "failure_handling": {"kind": "safe", "corrections": 3},
    "plugins": [{"kind": "model_retries", "first_wait": 0.001}],
}


def agent_of(
    replies: Sequence[object] = EVENTFUL,
    *,
    tools: Sequence[Tool | Any] = TOOLS,
    journal: object = None,
    plugins: Sequence[object] = (),
    **config: Any,
) -> ReActAgent:
    return ReActAgent(
        {**CONFIG, **config},
        model=ScriptedModel(replies=list(replies), repeat_last=False),
        toolsets=[Functions(functions=list(tools))],
        plugins=plugins,
        journal=journal,
    )


def recorded(agent: ReActAgent, prompt: str = "go", workspace: Path | None = None, **options: Any) -> Journal:
    """The journal of a run of ``agent``, as a reader of the file would see it."""
    sink = MemorySink()
    again = agent.replace(journal=Recorder.into(sink))
    again.workspace = workspace or again.workspace
    again.run_sync(prompt, **options)
    return Journal(records=sink.records)


def types(journal: Journal) -> list[str]:
    return [record["type"] for record in journal.records]


def of_type(journal: Journal, kind: str) -> list[Record]:
    return [record for record in journal.records if record["type"] == kind]


@cache
def schema() -> dict[str, Any]:
    """The documented format of a line."""
    found: dict[str, Any] = json.loads((files("react_run.journal") / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(found)
    return found


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def check_format(journal: Journal) -> None:
    for record in journal.records:
        problems = [f"{error.json_path}: {error.message[:300]}" for error in validator().iter_errors(record)]
        assert not problems, (record["type"], problems)
