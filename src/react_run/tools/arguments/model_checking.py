"""Checks arguments with pydantic, for functions and for tools declared with a model (behaviour A7)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError, to_json

from react_run.support.display import Path, shown_value
from react_run.tools.arguments.json_types import confused, lists_truth, part_schema
from react_run.tools.arguments.problems import InvalidArguments, Problem, explain, likeliest, unchecked, unmatched
from react_run.tools.schemas.cleaning import clean_schema, resolve
from react_run.tools.schemas.docstrings import parameters_in
from react_run.tools.schemas.function_model import field_names, function_model, model_schema
from react_run.tools.schemas.plain import plain_schema
from react_run.tools.schemas.signature import Signature
from react_run.tools.schemas.words import Schema

Call = tuple[tuple[object, ...], dict[str, object]]
_EXACT = frozenset({str, int, bool})
"""Types whose values pydantic takes as they are; a number for ``float`` may have to be converted."""


def function_checker(signature: Signature, docstring: str) -> ModelChecker:
    """Checks the arguments of a function by its signature; ``docstring`` describes them to the model."""
    return ModelChecker(lambda: function_model(signature), _call_of(signature), docstring, signature)


def spec_checker(name: str, model: type[BaseModel]) -> ModelChecker:
    """Checks the arguments of a tool declared with a model, which is called with its name and an instance."""
    return ModelChecker(lambda: model, lambda instance: ((name, instance), {}))


def _by_keyword(signature: Signature) -> bool:
    """Whether a call of the function gives every argument by the name that the model gives it."""
    fields = signature.fields.values()
    plain = not signature.rest and signature.extra is None
    return plain and all(parameter.kind is not parameter.POSITIONAL_ONLY for parameter in fields)


def _call_of(signature: Signature) -> Callable[[BaseModel], Call]:
    names = field_names(signature)
    if _by_keyword(signature) and all(field == name for field, name in names.items()):
        return lambda instance: ((), instance.__dict__)
    rest = signature.rest
    before = itertools.takewhile(lambda parameter: parameter.name != rest, signature.fields.values()) if rest else ()
    by_place = {parameter.name for parameter in before if parameter.kind is parameter.POSITIONAL_OR_KEYWORD}
    positional = [
        name
        for name, parameter in signature.fields.items()
        if parameter.kind is parameter.POSITIONAL_ONLY or name in by_place
    ]

    def call(instance: BaseModel) -> Call:
        values = {name: instance.__dict__[field] for field, name in names.items()}
        args = (*(values.pop(name) for name in positional), *(values.pop(rest) if rest else ()))
        return args, {**values, **(instance.__pydantic_extra__ or {})}

    return call


class ModelChecker:
    """Checks with a pydantic model, created on first use.

    Strict validation of JSON means exactly "nothing is lost": no number from text and no bool as a number, but dates,
    decimals and enums from their text.

    Args:
        source: Creates the model.
        call: Converts a valid instance of the model to a call.
        docstring: Describes the parameters.
        signature: The signature, if the model is built from a function: for plain types the schema needs no model.
    """

    fills_defaults = False

    def __init__(
        self,
        source: Callable[[], type[BaseModel]],
        call: Callable[[BaseModel], Call],
        docstring: str = "",
        signature: Signature | None = None,
    ) -> None:
        self._source = source
        self._call = call
        self._docstring = docstring
        self._signature = signature

    @cached_property
    def model(self) -> type[BaseModel]:
        """The model of the arguments."""
        return self._source()

    @cached_property
    def names(self) -> frozenset[str] | None:
        """The names of the parameters; ``None`` if the model may accept others."""
        return (
            _names(self.model) if self._plain is None or self._signature is None else frozenset(self._signature.fields)
        )

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the model."""
        return model_schema(self.model) if self._plain is None else self._plain

    @cached_property
    def _plain(self) -> Schema | None:
        return None if self._signature is None else plain_schema(self._signature)

    @cached_property
    def _validate(self) -> Callable[..., Any]:
        return self.model.__pydantic_validator__.validate_json

    def parameters(self) -> Schema:
        """The schema as sent to the model, with the docstring's description of each parameter."""
        return self._parameters

    @cached_property
    def _parameters(self) -> Schema:
        cleaned = clean_schema(self.schema)
        if self.names is not None:
            cleaned.setdefault("additionalProperties", False)
        for name, text in parameters_in(self._docstring).items():
            if name in cleaned["properties"]:
                cleaned["properties"][name].setdefault("description", text)
        return cleaned

    @cached_property
    def _lists_truth(self) -> bool:
        return lists_truth(self.schema)

    @cached_property
    def _exact(self) -> Mapping[str, object] | None:
        """The type of each parameter, when all are such that pydantic has nothing to say about a value of that type."""
        signature = self._signature
        if signature is None or self._plain is None or not _by_keyword(signature):
            return None
        types = {name: parameter.annotation for name, parameter in signature.fields.items()}
        return types if _EXACT.issuperset(types.values()) else None

    def _is_exact(self, arguments: dict[str, object]) -> bool:
        types = self._exact
        if types is None or len(arguments) != len(types):
            return False
        for name, value in arguments.items():
            kind = type(value)
            if types.get(name) is not kind or (kind is str and not value.isascii()):  # type: ignore[attr-defined]
                return False  # text that is not ASCII may hold half a surrogate pair
        return True

    def bind(self, arguments: dict[str, object]) -> Call:
        """Return the call for ``arguments``, see :class:`~react_run.tools.arguments.preparation.Checker`."""
        if self._is_exact(arguments):
            return (), arguments  # most calls: no model has to be made
        if self._lists_truth and (paths := list(confused(arguments, resolve(self.schema, self.schema), self.schema))):
            raise InvalidArguments([_confused(path, arguments, self.schema) for path in paths])
        try:
            return self._call(self._validate(to_json(arguments), strict=True))
        except ValidationError as error:
            raise InvalidArguments(_problems(error, arguments, self.schema)) from None
        except PydanticSerializationError as error:
            raise InvalidArguments(
                [Problem(path=(), text=f"they are not JSON: {shown_value(str(error), 200)}")]
            ) from None
        except Exception as error:  # a validator written by the tool's author may raise anything
            raise unchecked(error) from error


def _names(model: type[BaseModel]) -> frozenset[str] | None:
    hooks = model.__pydantic_decorators__.model_validators.values()
    # A validator that sees the whole input may understand names that are not fields.
    if model.model_config.get("extra") == "allow" or any(hook.info.mode != "after" for hook in hooks):
        return None
    by_name = model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name")
    names: set[str] = set()
    for name, info in model.model_fields.items():
        alias = info.validation_alias
        for choice in getattr(alias, "choices", [alias]):
            if choice is not None:
                names.add(str(getattr(choice, "path", [choice])[0]))
        if alias is None or by_name:
            names.add(name)
    return frozenset(names)


def _problems(error: ValidationError, arguments: object, schema: Schema) -> list[Problem]:
    """Describe pydantic's errors; for a union, only the likeliest member counts."""
    found: dict[tuple[Path, str], list[Problem]] = {}
    for detail in error.errors(include_url=False):
        problem, member = _problem(detail, arguments, schema)
        found.setdefault(member, []).append(problem)
    return likeliest(found)


def _confused(path: Path, arguments: object, schema: Schema) -> Problem:
    value, node = arguments, resolve(schema, schema)
    for key in path:
        value, node = cast("Any", value)[key], part_schema(node, key, schema)
    return Problem(path=path, text=explain(value, node, schema))


def _problem(detail: ErrorDetails, arguments: object, schema: Schema) -> tuple[Problem, tuple[Path, str]]:
    path, value, node, member = _locate(detail, arguments, schema)
    if detail["type"] == "missing":
        return Problem(path=path, text="is required", missing=True), member
    if detail["type"] == "extra_forbidden":
        return Problem(path=path, text="is not a parameter"), member
    text = explain(value, node, schema)
    if not text and detail["type"] == "string_pattern_mismatch":
        text = unmatched(value, node)
    return Problem(path=path, text=text or f"{_words(detail['msg'])}, got {shown_value(value)}"), member


def _words(message: str) -> str:
    return re.sub(r"^\w+ should\b", "must", message.removeprefix("Value error, "))


def _locate(detail: ErrorDetails, arguments: object, schema: Schema) -> tuple[Path, object, Schema, tuple[Path, str]]:
    """The location of an error in the arguments, the value there, its schema, and the union member it concerns.

    pydantic's location also names union members and functions, which are not keys of the arguments.
    """
    path: Path = ()
    member: tuple[Path, str] = ((), "")
    value: Any = arguments
    node = resolve(schema, schema)
    last = len(detail["loc"]) - 1
    for index, part in enumerate(detail["loc"]):
        if _holds(value, part):
            value = value[part]
        elif detail["type"] != "missing" or index != last:
            member = member if member[1] else (path, str(part))
            continue
        path = (*path, part)
        node = part_schema(node, part, schema)
    return path, value, node, member


def _holds(value: object, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value
