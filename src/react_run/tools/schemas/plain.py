"""Builds the JSON Schema of a plain signature directly: most tools are never called, and need no pydantic model."""

from __future__ import annotations

import inspect
import typing
from math import isfinite
from types import NoneType, UnionType

from react_run.tools.schemas.signature import Signature
from react_run.tools.schemas.words import Schema

_SCALARS: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    list: {"items": {}, "type": "array"},
    dict: {"additionalProperties": True, "type": "object"},
    object: {},
    typing.Any: {},
    inspect.Parameter.empty: {},
}
_DEFAULTS = (str, int, bool, NoneType)


class _NotPlain(Exception):
    """A type or default needs pydantic."""


def plain_schema(signature: Signature) -> Schema | None:
    """The same schema as :func:`~react_run.tools.schemas.function_model.model_schema` would return, without building
    the model.

    ``None`` if the signature has types other than JSON's own. A property test keeps the two in step.
    """
    if signature.extra is not None:
        return None
    try:
        properties = {name: _property(parameter) for name, parameter in signature.fields.items()}
    except _NotPlain:
        return None
    required = [name for name, parameter in signature.fields.items() if parameter.default is parameter.empty]
    schema: Schema = {"properties": properties}
    if required:
        schema["required"] = required
    return schema | {"title": signature.label, "type": "object"}


def _property(parameter: inspect.Parameter) -> Schema:
    node, default = _node(parameter.annotation), parameter.default
    if default is parameter.empty:
        return node
    if type(default) not in _DEFAULTS and not (type(default) is float and isfinite(default)):
        raise _NotPlain
    return dict(sorted({**node, "default": default}.items()))


def _node(annotation: object) -> Schema:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, UnionType):
        return _union(args)
    if origin is list:
        return {"items": _node(args[0]), "type": "array"}
    if origin is dict and args[0] is str:
        return {"additionalProperties": _node(args[1]) or True, "type": "object"}
    if origin is not None or not (isinstance(annotation, type) or annotation is typing.Any):
        raise _NotPlain
    known = _SCALARS.get(annotation)
    if known is None:
        raise _NotPlain
    return dict(known)


def _union(members: tuple[object, ...]) -> Schema:
    nodes = [_node(member) for member in members if member is not NoneType]
    if NoneType in members:
        nodes.append(_node(NoneType))
    if len(nodes) < 2 or any(node in nodes[:position] for position, node in enumerate(nodes)):
        raise _NotPlain  # pydantic merges identical ones
    return {"anyOf": nodes}
