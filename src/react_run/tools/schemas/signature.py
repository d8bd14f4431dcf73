"""The signature of a function: its parameters, and which of them the runtime fills."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from react_run.errors import ToolsetError
from react_run.support.dataclasses import dataclass

Function = Callable[..., object]

_CONTEXT = {"Run": "run", "ToolCall": "call"}
_PLAIN = frozenset({str, int, float, bool, object, list, dict, type(None), inspect.Parameter.empty, typing.Any})
_PLAIN_CONTAINERS = frozenset({list, dict, typing.Union, types.UnionType})


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The parameters of a function.

    Args:
        label: The name of the function in messages.
        fields: The parameters that the model fills, by name, with resolved annotations; ``*parameter`` is a list.
        rest: The name of the ``*parameter``, if there is one.
        extra: The ``**parameter``, if there is one: the model may then add names.
        context: The parameters that the runtime fills, with ``run`` or ``call``.
        left_out: Optional parameters that no model can fill, each with the reason.
    """

    label: str
    fields: Mapping[str, inspect.Parameter]
    extra: inspect.Parameter | None
    rest: str
    context: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def untyped(self) -> list[str]:
        """The parameters without an annotation, which accept anything."""
        return [name for name, parameter in self.fields.items() if parameter.annotation is parameter.empty]

    @property
    def is_plain(self) -> bool:
        """Whether every type is one of JSON's own, so that building a schema cannot fail."""
        parameters = [*self.fields.values(), *([self.extra] if self.extra else [])]
        return all(
            _is_plain(parameter.annotation) and isinstance(parameter.default, _PLAIN_DEFAULTS)
            for parameter in parameters
        )


# inspect's mark for "no default" is a class.
_PLAIN_DEFAULTS = (str, int, float, bool, type(None), type)


def _is_plain(annotation: object) -> bool:
    if typing.get_origin(annotation) in _PLAIN_CONTAINERS:
        return all(map(_is_plain, typing.get_args(annotation)))
    return (isinstance(annotation, type) or annotation is typing.Any) and annotation in _PLAIN


def read_signature(function: Function, label: str) -> Signature:
    """Read the signature of ``function``.

    Args:
        function: Any callable: function, method, partial or object with ``__call__``.
        label: Its name in messages.

    Raises:
        ToolsetError: It is a generator, its signature cannot be read, or an annotation cannot be resolved.
    """
    target = unwrapped(function)
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise ToolsetError(
            f"tool {label!r} is a generator function, but a model reads one result: return a list instead",
            code="tool.generator",
        )
    context: dict[str, str] = {}
    fields: dict[str, inspect.Parameter] = {}
    extra: inspect.Parameter | None = None
    rest = ""
    left_out: dict[str, str] = {}
    for parameter in _parameters(function, target, label, left_out):
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = parameter
        elif kind := _context_kind(parameter.annotation):
            context[parameter.name] = kind
        elif parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
            fields[rest] = _as_list(parameter)
        else:
            fields[parameter.name] = parameter
    return Signature(label=label, fields=fields, extra=extra, rest=rest, context=context, left_out=left_out)


def can_be_left_out(parameter: inspect.Parameter) -> bool:
    """Whether ``parameter`` is optional."""
    return parameter.default is not parameter.empty and parameter.kind is not parameter.POSITIONAL_ONLY


def _as_list(parameter: inspect.Parameter) -> inspect.Parameter:
    """``*numbers: float`` as a parameter that a model can fill: a list of numbers."""
    item = typing.Any if parameter.annotation is parameter.empty else parameter.annotation
    of_items: object = list[item]  # type: ignore[valid-type]  # a type made at run time
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=of_items, default=[])


def unwrapped(function: Function) -> Function:
    """The function inside partials and callable objects: the one whose code runs."""
    function = without_partials(function)
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return typing.cast("Function", type(function).__call__)


def without_partials(function: Function) -> Function:
    """What ``functools.partial`` was applied to, or ``function`` itself."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def is_async(function: Function) -> bool:
    """Whether calling ``function`` returns an awaitable."""
    return inspect.iscoroutinefunction(unwrapped(function))


def name_of(function: Function) -> str:
    """The name of a function, or of the class of a callable object."""
    inner = without_partials(function)
    return str(getattr(inner, "__name__", type(inner).__name__))


def docstring_of(function: Function) -> str:
    """The docstring of a function; for a callable object, that of ``__call__`` or of its class."""
    inner = without_partials(function)
    if inspect.isroutine(inner) or inspect.isclass(inner):
        return inspect.getdoc(inner) or ""
    return inspect.getdoc(unwrapped(inner)) or inspect.getdoc(type(inner)) or ""


def _parameters(
    function: Function, target: Function, label: str, left_out: dict[str, str]
) -> Iterator[inspect.Parameter]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError, NameError) as error:
        raise ToolsetError(f"tool {label!r}: its signature cannot be read: {error}", code="tool.annotation") from error
    # A keyword bound by a partial is often a secret: it must not reach the model, not even as a default.
    bound = function.keywords if isinstance(function, functools.partial) else {}
    scope = getattr(inspect.unwrap(target), "__globals__", {})
    for name, parameter in signature.parameters.items():
        if name not in bound:
            try:
                known = not isinstance(parameter.annotation, str)
                yield parameter if known else parameter.replace(annotation=_resolved(parameter, scope, label))
            except ToolsetError:
                if not can_be_left_out(parameter):
                    raise
                left_out[name] = f"its annotation {parameter.annotation!r} cannot be resolved"


def _resolved(parameter: inspect.Parameter, scope: dict[str, object], label: str) -> object:
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        return typing.get_type_hints(holder, globalns=scope, include_extras=True)[parameter.name]
    except Exception as error:
        # ``if TYPE_CHECKING: from react_run import Run`` is good style, and the name alone is enough.
        written = parameter.annotation.strip("'\"")
        first, _, last = written.rpartition("|")
        name = (first if last.strip() == "None" else written).strip().rpartition(".")[2]
        if name in _CONTEXT:
            return types.SimpleNamespace(__react_context__=_CONTEXT[name])
        raise ToolsetError(
            f"tool {label!r}: the annotation {parameter.annotation!r} of {parameter.name!r} cannot be resolved "
            f"({type(error).__name__}: {error}); import it at run time, at module level",
            code="tool.annotation",
        ) from error


def _context_kind(annotation: object) -> str:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        annotation = inner[0] if len(inner) == 1 else None
    kind = getattr(annotation, "__react_context__", "")
    return kind if isinstance(kind, str) else ""
