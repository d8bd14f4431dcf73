"""From a function's signature and docstring to a pydantic model of its arguments."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind

from react_run.docstrings import read_docstring
from react_run.errors import ToolsetError
from react_run.schema import Schema

Function = Callable[..., object]
_CONTEXT_NAMES = {"Run": "run", "ToolCall": "call"}


class _Generator(GenerateJsonSchema):
    """pydantic's generator, without the titles it invents and the warnings about defaults that are not JSON."""

    ignored_warning_kinds: ClassVar[set[JsonSchemaWarningKind]] = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        json_schema = super().typed_dict_schema(schema)
        json_schema.setdefault("additionalProperties", False)
        return json_schema


def model_schema(model: type[BaseModel]) -> Schema:
    """The JSON Schema that ``model`` validates, with its definitions, not yet cleaned."""
    return model.model_json_schema(schema_generator=_Generator)


class ToolWarning(UserWarning):
    """A tool works, but the model would do better with a description or a type."""


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What a function asks of its caller.

    ``model`` validates the arguments; ``parameters`` names, in the order of the model's fields, the parameter each
    field is passed to; ``positional`` are passed by position; ``context`` parameters are injected by the runtime.
    """

    model: type[BaseModel]
    parameters: Mapping[str, str]
    positional: tuple[str, ...]
    context: Mapping[str, str]
    description: str
    documented: Mapping[str, str]


def read_signature(function: Function, label: str) -> Signature:
    """Read what ``function`` takes.

    Args:
        function: Any callable: function, method, partial or object with ``__call__``.
        label: How errors and warnings call it.

    Raises:
        ToolsetError: It is a generator, or a parameter has an annotation that no schema can be made from.
    """
    target = unwrap(function)
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise ToolsetError(
            f"tool {label!r} is a generator function; a model reads one result: return a list instead",
            code="tool.generator",
        )
    context: dict[str, str] = {}
    fields: dict[str, inspect.Parameter] = {}
    extra: inspect.Parameter | None = None
    for parameter in _parameters(function, target, label):
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = parameter
        elif kind := _context_kind(parameter.annotation):
            context[parameter.name] = kind
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            fields[parameter.name] = parameter
    untyped = [name for name, parameter in fields.items() if parameter.annotation is parameter.empty]
    if untyped:
        warnings.warn(
            f"tool {label!r}: no type for {', '.join(untyped)}; the model may send anything", ToolWarning, stacklevel=2
        )
    description, documented = read_docstring(_doc(function))
    names = {_field_name(name, index): name for index, name in enumerate(fields)}
    return Signature(
        model=_model(label, fields, names, extra),
        parameters=names,
        positional=tuple(name for name, p in fields.items() if p.kind is p.POSITIONAL_ONLY),
        context=context,
        description=description,
        documented=documented,
    )


def unwrap(function: Function) -> Function:
    """The function behind partials and callable objects: the one whose code runs."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return typing.cast("Function", type(function).__call__)


def is_async(function: Function) -> bool:
    """Whether calling ``function`` gives something to await."""
    return inspect.iscoroutinefunction(unwrap(function))


def _parameters(function: Function, target: Function, label: str) -> Iterator[inspect.Parameter]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError, NameError) as error:
        raise ToolsetError(f"tool {label!r}: its signature cannot be read: {error}", code="tool.annotation") from error
    # A keyword bound by a partial is often a secret: it must not reach the model, not even as a default.
    bound = function.keywords if isinstance(function, functools.partial) else {}
    scope = getattr(inspect.unwrap(target), "__globals__", {})
    for name, parameter in signature.parameters.items():
        if name not in bound:
            yield parameter.replace(annotation=_resolved(parameter, scope, label))


def _resolved(parameter: inspect.Parameter, scope: dict[str, object], label: str) -> object:
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    holder = types.SimpleNamespace(__annotations__={parameter.name: annotation})
    try:
        return typing.get_type_hints(holder, globalns=scope, include_extras=True)[parameter.name]
    except Exception as error:
        # ``if TYPE_CHECKING: from react_run import Run`` is good style; the name alone tells what is meant.
        name = re.sub(r"\s*\|\s*None$", "", annotation).rpartition(".")[2]
        if name in _CONTEXT_NAMES:
            return types.SimpleNamespace(__react_context__=_CONTEXT_NAMES[name])
        raise ToolsetError(
            f"tool {label!r}: the annotation {annotation!r} of {parameter.name!r} cannot be resolved "
            f"({type(error).__name__}: {error}); import it at run time, at module level",
            code="tool.annotation",
        ) from error


def _context_kind(annotation: object) -> str:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        annotation = inner[0] if len(inner) == 1 else None
    kind = getattr(annotation, "__react_context__", "")
    return kind if isinstance(kind, str) else ""


def _field_name(name: str, index: int) -> str:
    """A name pydantic accepts: no leading underscore, no attribute of BaseModel."""
    return f"p{index}_{name.strip('_')}" if name.startswith("_") or hasattr(BaseModel, name) else name


def _model(
    label: str, fields: dict[str, inspect.Parameter], names: dict[str, str], extra: inspect.Parameter | None
) -> type[BaseModel]:
    config = ConfigDict(
        extra="ignore" if extra is None else "allow",
        alias_generator=lambda field: names.get(field, field),
        protected_namespaces=(),
        allow_inf_nan=False,
        title=label,
    )
    definitions: dict[str, typing.Any] = {field: _definition(fields[name]) for field, name in names.items()}
    try:
        return create_model(label, __config__=config, **definitions)
    except (PydanticUserError, TypeError, NameError) as error:
        culprit = next((p for p in fields.values() if not _has_schema(p)), None)
        where = f"{culprit.name!r} has the annotation {culprit.annotation!r}" if culprit else "an annotation"
        reason = str(error).splitlines()[0]
        raise ToolsetError(
            f"tool {label!r}: {where}, from which no schema can be made: {reason}", code="tool.annotation"
        ) from error


def _definition(parameter: inspect.Parameter) -> tuple[object, object]:
    annotation = typing.Any if parameter.annotation is parameter.empty else parameter.annotation
    default = parameter.default
    if default is parameter.empty:
        return annotation, ... if not _has_factory(annotation) else Field()
    if not isinstance(default, FieldInfo) and not _can_copy(default):
        return annotation, Field(default_factory=lambda: default)
    return annotation, default


def _has_factory(annotation: object) -> bool:
    return any(isinstance(part, FieldInfo) for part in getattr(annotation, "__metadata__", ()))


def _can_copy(value: object) -> bool:
    """Whether pydantic, which copies mutable defaults for each call, will be able to."""
    if type(value).__hash__ is not None:
        return True
    try:
        copy.deepcopy(value)
    except Exception:  # a foreign __deepcopy__ may raise anything
        return False
    return True


def _has_schema(parameter: inspect.Parameter) -> bool:
    try:
        TypeAdapter(parameter.annotation)
    except (PydanticUserError, TypeError, NameError):
        return False
    return True


def _doc(function: Function) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function):
        return inspect.getdoc(function) or ""
    return inspect.getdoc(type(function).__call__) or inspect.getdoc(type(function)) or ""
