"""The base of both kinds of declared tools: a name, a description, and typed parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from react_run import ReActToolset
from react_run.support import schema_problem
from react_toolsets.declared.templates import missing_place

WORDS: Mapping[str, Mapping[str, object]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
}
"""The JSON Schemas of type names; ``string`` is an alias of ``text``."""
Place = tuple[tuple[str | int, ...], str]
ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]


class DeclaredTool(ReActToolset):
    """One tool, written in the agent file."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    """The name of the tool."""
    description: str = Field(min_length=1)
    """What it does and when to use it, for the model."""
    parameters: dict[ParameterName, str | dict[str, Any]] = Field(default_factory=dict)
    """Its parameters by name: `text`, `integer`, `number`, `boolean` or `list` (with `?` if optional), or a JSON
    Schema; a parameter with a `default` is also optional."""
    read_only: bool | None = None
    """Whether it changes nothing."""

    @model_validator(mode="after")
    def _parameters_fit(self) -> Self:
        wrong = [*self._wrong_parameters(), *self._wrong_places(), *self._wrong()]
        if wrong:
            errors = [_error(loc, text) for loc, text in wrong]
            raise ValidationError.from_exception_data(type(self).__name__, errors)
        return self

    def templates(self) -> Iterator[Place]:
        """Every text that may have placeholders, with its location in the options."""
        return iter(())

    def _wrong(self) -> Iterator[Place]:
        """Other problems, with their locations."""
        return iter(())

    def _wrong_parameters(self) -> Iterator[Place]:
        for name, given in self.parameters.items():
            if isinstance(given, str) and given.removesuffix("?") not in (*WORDS, "string"):
                words = ", ".join(WORDS)
                yield ("parameters", name), f"{given!r} is not a type: {words}, each also with ?, or a JSON Schema"
            elif isinstance(given, dict) and (problem := schema_problem(given)):
                yield ("parameters", name), f"this is not a JSON Schema: {problem}"

    def _wrong_places(self) -> Iterator[Place]:
        for loc, text in self.templates():
            if problem := missing_place(text, self.parameters):
                yield loc, problem

    @property
    def schema_(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        required = [name for name, given in self.parameters.items() if not _may_be_left_out(given)]
        return {
            "type": "object",
            "properties": {name: _schema_of(given) for name, given in self.parameters.items()},
            "required": required,
            "additionalProperties": False,
        }

    def with_defaults(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """``arguments`` with defaults filled in."""
        schemas = {name: given for name, given in self.parameters.items() if isinstance(given, dict)}
        return {**{name: given["default"] for name, given in schemas.items() if "default" in given}, **arguments}

    def kind_of(self, name: str) -> object:
        """The JSON type of a parameter."""
        return _schema_of(self.parameters[name]).get("type")


def _schema_of(given: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    word = given.removesuffix("?")
    return dict(WORDS["text" if word == "string" else word])


def _may_be_left_out(given: str | dict[str, Any]) -> bool:
    return given.endswith("?") if isinstance(given, str) else "default" in given


def _error(loc: tuple[str | int, ...], text: str) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError("cfg.value", "{text}", {"text": text}), loc=loc, input=None)
