"""The plugin ``validate``: checks tool results against a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from react_plugins.matching import first_match
from react_run import Observation, Outcome, Plugin, Run, ToolCall, hookimpl
from react_run.support import JsonSchema, SlowPattern, schema_problem

LONGEST = 300


class Validate(Plugin):
    """Checks tool results against a JSON Schema; a result that does not match is a failed call.

    A result is parsed as JSON if possible; if the schema accepts text, it may also match as text.
    """

    kind: ClassVar[str] = "validate"

    schemas: dict[str, dict[str, Any]]
    """JSON Schemas by tool; names may be globs, and the first match counts."""
    on_mismatch: Literal["fail", "warn"] = "fail"
    """`fail`: the model gets an error instead of the result. `warn`: it gets the result, with a warning."""

    @field_validator("schemas")
    @classmethod
    def _are_schemas(cls, schemas: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for tool, schema in schemas.items():
            if problem := schema_problem(schema):
                raise ValueError(f"the schema of {tool!r} is not valid: {problem}")
        return schemas

    @cached_property
    def _checked(self) -> dict[str, JsonSchema]:
        return {tool: JsonSchema(schema) for tool, schema in self.schemas.items()}

    @hookimpl
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        observation = await proceed()
        validator = first_match(call.name, self._checked)
        if validator is None or observation.failed:
            return observation
        problem = _problem(validator, observation.content)
        if not problem:
            return observation
        run.note(self.kind, f"{call.name}: {problem}")
        if self.on_mismatch == "warn":
            return replace(observation, content=f"{observation.content}\n\n[Not what was expected: {problem}]")
        text = f"{call.name} returned something that is not what was expected: {problem}"
        return Observation(content=f"Error: {text}", outcome=Outcome.retryable("invalid_result", text))


def _problem(validator: JsonSchema, content: str) -> str:
    """What is wrong with ``content``; empty if it matches."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content
    found = _worst(validator, value)
    if not found or (value is not content and not _worst(validator, content)):
        return ""
    return found


def _worst(validator: JsonSchema, value: Any) -> str:  # any JSON value
    from jsonschema.exceptions import best_match

    try:
        error = best_match(validator.errors(value))
    except (
        RecursionError,
        OverflowError,
        SlowPattern,
    ) as failure:  # a result may be anything, and must not end the run
        return f"it cannot be checked: {failure}"
    if error is None:
        return ""
    text = f"{error.json_path}: {error.message}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
