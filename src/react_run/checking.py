"""Who decides whether arguments are right: pydantic for functions and models, jsonschema for schemas (behaviour A7)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError, to_json

from react_run.json_types import part_schema
from react_run.problems import InvalidArguments, Problem, explain
from react_run.repair import own_copy
from react_run.schema import Schema, resolve
from react_run.signature import model_schema
from react_run.text import shown

if TYPE_CHECKING:
    import jsonschema
    from jsonschema.protocols import Validator

Call = tuple[tuple[object, ...], dict[str, object]]
log = logging.getLogger(__name__)


class ModelChecker:
    """Checks with a pydantic model; ``call`` turns its instance into the call of the tool.

    Strict validation of JSON is exactly "loses nothing": no number from text, no bool as a number, but dates,
    decimals and enums from their text.
    """

    fills_defaults = False

    def __init__(self, model: type[BaseModel], call: Callable[[BaseModel], Call], names: frozenset[str] | None) -> None:
        self._model = model
        self._call = call
        self.names = names

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the model."""
        return model_schema(self._model)

    def bind(self, arguments: dict[str, object]) -> Call:
        """The call that ``arguments`` stand for."""
        try:
            return self._call(self._model.__pydantic_validator__.validate_json(to_json(arguments), strict=True))
        except ValidationError as error:
            raise InvalidArguments(list(_model_problems(error, arguments, self.schema))) from None
        except PydanticSerializationError as error:
            raise InvalidArguments([Problem(path=(), text=f"they are not JSON: {shown(str(error), 200)}")]) from None
        except Exception as error:  # a validator written by the tool's author may raise anything
            text = f"they could not be checked: {type(error).__name__}: {shown(str(error), 200)}"
            raise InvalidArguments([Problem(path=(), text=text)]) from error


def _model_problems(error: ValidationError, arguments: object, schema: Schema) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        path, value, node = _locate(detail, arguments, schema)
        if detail["type"] == "missing":
            yield Problem(path=path, text="is required", missing=True)
        elif detail["type"] == "extra_forbidden":
            yield Problem(path=path, text="is not a parameter")
        else:
            text = explain(value, node, schema) or f"{_sentence(detail['msg'])}, got {shown(value)}"
            yield Problem(path=path, text=text)


def _locate(detail: ErrorDetails, arguments: object, schema: Schema) -> tuple[tuple[str | int, ...], object, Schema]:
    """Where in the arguments an error is: pydantic's location without the names of union members and functions."""
    path: list[str | int] = []
    value, node = arguments, resolve(schema, schema)
    for part in detail["loc"]:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value = value[part]
        elif detail["type"] != "missing" or part != detail["loc"][-1]:
            continue
        path.append(part)
        node = part_schema(node, part, schema)
    return tuple(path), value, node


def _sentence(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Input should", "must")


class SchemaChecker:
    """Checks with jsonschema, imported on the first call; the arguments are passed on as they are."""

    fills_defaults = True

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        self.names = frozenset(schema.get("properties", ())) if closed else None

    @cached_property
    def _validator(self) -> Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for
        from referencing import Registry

        kind = validator_for(self.schema, default=Draft202012Validator)
        # An empty registry: jsonschema would otherwise fetch a foreign $ref from the network.
        return kind(self.schema, registry=Registry())

    def bind(self, arguments: dict[str, object]) -> Call:
        """The call that ``arguments`` stand for."""
        problems = [problem for error in self._validator.iter_errors(arguments) for problem in self._problems(error)]
        if problems:
            raise InvalidArguments(problems)
        return (), own_copy(arguments)

    def _problems(self, error: jsonschema.ValidationError) -> Iterator[Problem]:
        path = tuple(error.absolute_path)
        if error.validator == "required":
            for name in error.validator_value:
                if name not in error.instance:
                    yield Problem(path=(*path, name), text="is required", missing=True)
        elif error.validator == "additionalProperties":
            for name in error.instance:
                if name not in error.schema.get("properties", ()):
                    yield Problem(path=(*path, name), text="is not a parameter")
        else:
            text = explain(error.instance, error.schema, self.schema) or shown(error.message, 200)
            yield Problem(path=path, text=text)
