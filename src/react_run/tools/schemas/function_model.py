"""Builds a pydantic model from a function's parameters, and the JSON Schema of a model."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import UnionType
from typing import Annotated, Any, Union, Unpack, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from react_run.errors import ToolsetError
from react_run.tools.schemas.signature import Signature, can_be_left_out
from react_run.tools.schemas.words import Schema

_NO_SCHEMA = (PydanticUserError, TypeError, NameError)


def field_names(signature: Signature) -> dict[str, str]:
    """Maps fields of the model to parameters of the function; they differ if pydantic would refuse the name."""
    names: dict[str, str] = {}
    for index, name in enumerate(signature.fields):
        field = f"p{index}_{name.strip('_')}" if name.startswith("_") or hasattr(BaseModel, name) else name
        while field != name and (field in signature.fields or field in names):
            field += "_"
        names[field] = name
    return names


def function_model(signature: Signature) -> type[BaseModel]:
    """The model of a function's arguments; mutable defaults are copied for each call.

    Raises:
        ToolsetError: An annotation has no JSON Schema.
    """
    names = field_names(signature)
    config = ConfigDict(
        extra="ignore" if signature.extra is None else "allow",
        alias_generator=lambda field: names.get(field, field),
        protected_namespaces=(),
        allow_inf_nan=False,
    )
    definitions: dict[str, Any] = {field: _definition(signature.fields[name]) for field, name in names.items()}
    try:
        if signature.extra is not None and _is_typed(signature.extra):
            base = _taking(signature.extra.annotation, config)
            return create_model(signature.label, __base__=base, **definitions)
        return create_model(signature.label, __config__=config, **definitions)
    except _NO_SCHEMA as error:
        raise _annotation_error(signature, error) from error


def model_schema(model: type[BaseModel]) -> Schema:
    """The JSON Schema of ``model``, with its definitions, not yet cleaned.

    Raises:
        ToolsetError: A field has no JSON form.
    """
    try:
        return model.model_json_schema(schema_generator=_Generator)
    except _NO_SCHEMA as error:
        reason = str(error).splitlines()[0]
        raise ToolsetError(
            f"no JSON Schema can be made of {model.__name__!r}: {reason}", code="tool.annotation"
        ) from error


class _Generator(GenerateJsonSchema):
    """pydantic's generator, without the titles it invents and the warnings about defaults that are not JSON."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # as pydantic declares it

    def field_title_should_be_set(self, schema: Any) -> bool:  # the parameter's type is private to pydantic
        return False

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        return {"type": "string", "examples": ["1+2j"]}

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        json_schema = super().typed_dict_schema(schema)
        json_schema.setdefault("additionalProperties", False)
        return json_schema


def _is_typed(extra: inspect.Parameter) -> bool:
    """Whether ``**extra`` has a type annotation."""
    return extra.annotation is not extra.empty and get_origin(extra.annotation) is not Unpack


def _taking(values: Any, config: ConfigDict) -> type[BaseModel]:
    """A model without fields that accepts ``values`` under any name."""
    annotations = {"__pydantic_extra__": dict[str, values]}
    return type("Arguments", (BaseModel,), {"model_config": config, "__annotations__": annotations})


def _lists(annotation: Any) -> Any:
    """Replace iterables in ``annotation`` with lists: pydantic would return a lazy iterator, checked only while the
    tool runs.
    """
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in _ITERABLES or origin in _ITERABLES:
        return list[_lists(args[0])] if args else list  # type: ignore[misc]  # a type made at run time
    if origin is Annotated:
        return Annotated[(_lists(args[0]), *args[1:])]
    if origin in (Union, UnionType):
        return Union[tuple(map(_lists, args))]  # noqa: UP007  # its members are known at run time only
    return annotation


_ITERABLES = (Iterable, Iterator)


def _definition(parameter: inspect.Parameter) -> tuple[object, object]:
    annotation = Any if parameter.annotation is parameter.empty else _lists(parameter.annotation)
    default = parameter.default
    if default is parameter.empty:
        # A FieldInfo without a default keeps the one inside Annotated.
        return annotation, Field()
    if not isinstance(default, FieldInfo) and not _can_copy(default):
        return annotation, Field(default_factory=lambda: default)
    return annotation, default


def _can_copy(value: object) -> bool:
    """Whether pydantic, which copies mutable defaults for each call, can copy this one."""
    if type(value).__hash__ is not None:
        return True
    try:
        copy.deepcopy(value)
    except Exception:  # a foreign __deepcopy__ may raise anything
        return False
    return True


def representable(signature: Signature, error: ToolsetError) -> Signature:
    """Drop optional parameters without a JSON Schema from ``signature``.

    Args:
        signature: The signature of a function.
        error: Why it has no schema.

    Raises:
        ToolsetError: One of them is required, or the reason is something else.
    """
    wrong = {name: reason for name, parameter in signature.fields.items() if (reason := _no_schema(parameter))}
    needed = [name for name in wrong if not can_be_left_out(signature.fields[name])]
    if not wrong:
        raise error
    if needed or signature.rest:
        name = (needed or [*wrong])[0]
        annotation = signature.fields[name].annotation
        raise ToolsetError(
            f"tool {signature.label!r}: {name!r} has the annotation {annotation!r}, which has no JSON Schema: "
            f"{wrong[name]}. Give it another type, or a default, so that it is left out",
            code="tool.annotation",
        ) from error
    fields = {name: parameter for name, parameter in signature.fields.items() if name not in wrong}
    reasons = {name: f"no schema can be made of {signature.fields[name].annotation!r}" for name in wrong}
    return replace(signature, fields=fields, left_out={**signature.left_out, **reasons})


def _annotation_error(signature: Signature, error: Exception) -> ToolsetError:
    reason = str(error).splitlines()[0]
    text = f"tool {signature.label!r}: it has an annotation of which no schema can be made: {reason}"
    return ToolsetError(text, code="tool.annotation")


def _no_schema(parameter: inspect.Parameter) -> str:
    """Why the type of ``parameter`` has no schema; empty if it has one."""
    if parameter.annotation is parameter.empty:
        return ""
    try:
        TypeAdapter(_lists(parameter.annotation)).json_schema(schema_generator=_Generator)
    except _NO_SCHEMA as error:
        return str(error).splitlines()[0]
    return ""
