"""The check ``json_schema``: an answer is accepted if it is JSON that satisfies a schema."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from react_run import Check, Run, Verdict, instance_of
from react_run.support import JsonSchema, SlowPattern, place_of, schema_problem

if TYPE_CHECKING:
    from jsonschema import ValidationError

MOST = 3
"""The most problems in one feedback."""
_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)


class JsonSchemaCheck(Check):
    """The answer must be JSON that satisfies a schema; the parsed value becomes `RunResult.value`.

    The model is told the schema from the start. A code fence around the whole answer is ignored.
    """

    kind: ClassVar[str] = "json_schema"

    schema_: dict[str, Any] = Field(alias="schema")
    """The JSON Schema."""

    type_: SkipJsonSchema[Any] = Field(default=None, alias="type", exclude=True)
    """In Python: a class; the value becomes an instance of it."""

    @field_validator("type_")
    @classmethod
    def _is_a_class(cls, given: Any) -> Any:
        if isinstance(given, (str, list, dict, bool, int, float)):
            raise ValueError("only Python can name a class here; in a file, leave it out")
        return given

    @field_validator("schema_")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        if problem := schema_problem(schema):
            raise ValueError(f"this is not a JSON Schema: {problem}")
        return schema

    @cached_property
    def _checked(self) -> JsonSchema:
        return JsonSchema(self.schema_)

    def guide(self) -> str:
        text = "The final answer is JSON alone, without any other text, by this JSON Schema:"
        return f"# Form of the answer\n\n{text}\n{json.dumps(self.schema_, ensure_ascii=False)}"

    async def check(self, run: Run, answer: str) -> Verdict:
        run.outcome.value = None
        try:
            value = json.loads(self.presented(answer), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            text = f"The answer must be JSON alone, by the schema you were given, and it is not: {error}"
            return Verdict(accepted=False, feedback=text)
        try:
            found = self._checked.errors(value)
        except SlowPattern as error:
            return Verdict(accepted=False, feedback=f"The answer cannot be checked by its schema: {error}")
        errors = sorted(found, key=lambda error: list(map(str, error.absolute_path)))
        if not errors and self.type_ is None:
            run.outcome.value = value
            return Verdict(accepted=True)
        if not errors:
            return self._typed(run, value)
        lines = [f"- {_short(error)}" for error in errors[:MOST]]
        more = [f"- and {len(errors) - MOST} more"] if len(errors) > MOST else []
        return Verdict(accepted=False, feedback="\n".join(["The answer does not satisfy its schema:", *lines, *more]))

    def _typed(self, run: Run, value: object) -> Verdict:
        """Convert the value to an instance of the class, which may require more than its schema."""
        try:
            run.outcome.value = instance_of(self.type_, value)
        except ValueError as error:
            return Verdict(
                accepted=False, feedback=f"The answer satisfies its schema, but not more than that:\n{error}"
            )
        return Verdict(accepted=True)

    def presented(self, answer: str) -> str:
        """The JSON alone, so that another program can read it."""
        fenced = _FENCED.fullmatch(answer)
        return (fenced[1] if fenced else answer).strip()


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _short(error: ValidationError) -> str:
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    where = place_of(error)
    return f"{where}: {message}" if where else message
