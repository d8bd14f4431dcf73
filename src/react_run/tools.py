"""Tools: functions with a name, a description, a schema and a few promises."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

from pydantic import BaseModel

from react_run.checking import Call, ModelChecker, SchemaChecker
from react_run.errors import ToolsetError
from react_run.preparation import Checker, Prepared, prepare
from react_run.schema import Schema, clean_schema
from react_run.signature import Function, Signature, ToolWarning, is_async, model_schema, read_signature

if TYPE_CHECKING:
    from react_run.toolset import ReActToolset

__all__ = ["Prepared", "Tool", "ToolFlags", "tool"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK = "__react_tool__"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class ToolFlags:
    """What a tool promises.

    Args:
        read_only: It changes nothing. ``None`` means unknown: it counts as changing things for caches, resuming and
            permissions, but does not make earlier reads stale.
        repeatable: The same call may give another result later; it may run again (behaviour F4).
        idempotent: Running it twice does no more than once; resuming may run it again (behaviour J4).
        serial: Calls of one reply run one at a time, in order (behaviour L4).
        inline: Pure and quick: runs without a thread and without a deadline.
        timeout: Seconds one call may take; ``None`` means the agent's ``tool_timeout``.
        network: It reaches the network.
        runs_programs: It starts programs.
    """

    read_only: bool | None = None
    repeatable: bool = False
    idempotent: bool = False
    serial: bool = False
    inline: bool = False
    timeout: float | None = None
    network: bool = False
    runs_programs: bool = False


class ToolOptions(TypedDict, total=False):
    """The keywords of :func:`tool` and :meth:`Tool.from_function`; see :class:`ToolFlags`."""

    read_only: bool | None
    repeatable: bool
    idempotent: bool
    serial: bool
    inline: bool
    timeout: float | None
    network: bool
    runs_programs: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool(ToolFlags):
    """Something a model can call.

    Args:
        name: Letters, digits, ``_`` and ``-``, at most 64.
        description: What it does and when to use it, for the model.
        parameters: JSON Schema of its arguments.
        function: What runs; called with the typed arguments of :class:`Prepared`. May be ``async def``.
        toolset: Who interprets its results.
        context: Parameters that the runtime fills, with ``run`` or ``call``; the model never sees them.
        parameter_class: The pydantic model of the arguments, where there is one.
        checker: Who checks arguments; by default jsonschema, by ``parameters``.

    Raises:
        ToolsetError: The name is not valid, or the schema is none.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Function
    toolset: ReActToolset | None = None
    context: Mapping[str, str] = field(default_factory=dict)
    parameter_class: type[BaseModel] | None = field(default=None, repr=False)
    checker: Checker = field(default=None, repr=False)  # type: ignore[assignment]  # set below when not given

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.checker is None:
            object.__setattr__(self, "checker", SchemaChecker(self.parameters))

    @cached_property
    def is_async(self) -> bool:
        """Whether calling the function gives something to await."""
        return is_async(self.function)

    @cached_property
    def wire(self) -> dict[str, Any]:
        """The tool as it is sent to a model, in the form that OpenAI made common."""
        parameters = clean_schema(self.parameters)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    def prepare(self, arguments: object) -> Prepared:
        """Read, check and repair what a model sent: a dict, or the raw text when it was no readable JSON.

        Never raises for bad input: ``problem`` of the result then tells the model how to correct it (behaviour A).
        """
        return prepare(self.name, self.checker, arguments)

    @classmethod
    def from_function(
        cls,
        function: Function,
        *,
        name: str = "",
        description: str = "",
        toolset: ReActToolset | None = None,
        **flags: Unpack[ToolOptions],
    ) -> Tool:
        """Make a tool of a function, method, partial or callable object; ``@tool`` marks on it are honoured.

        Raises:
            ToolsetError: It has no valid name, or a parameter of which no schema can be made.
        """
        mark: dict[str, Any] = getattr(function, _MARK, {})
        name = name or mark.get("name", "") or _name_of(function)
        check_name(name)
        signature = read_signature(function, name)
        description = description or mark.get("description", "") or signature.description
        if not description:
            description = name.replace("_", " ").strip().capitalize()
            warnings.warn(f"tool {name!r} has no description; add a docstring", ToolWarning, stacklevel=2)
        checker = _function_checker(signature)
        return cls(
            name=name,
            description=description,
            parameters=_function_schema(signature, checker.schema),
            function=function,
            toolset=toolset,
            context=signature.context,
            parameter_class=signature.model,
            checker=checker,
            **{**mark.get("flags", {}), **flags},
        )

    @classmethod
    def from_model(
        cls,
        model: type[BaseModel],
        function: Function,
        *,
        name: str,
        description: str,
        toolset: ReActToolset | None = None,
        **flags: Unpack[ToolOptions],
    ) -> Tool:
        """Make a tool whose arguments are a pydantic model; ``function`` is called with ``(name, instance)``."""
        schema = model_schema(model)
        names = _names(model)
        if names is not None:
            schema.setdefault("additionalProperties", False)
        return cls(
            name=name,
            description=description,
            parameters=clean_schema(schema),
            function=function,
            toolset=toolset,
            parameter_class=model,
            checker=ModelChecker(model, lambda instance: ((name, instance), {}), names),
            **flags,
        )


def check_name(name: str) -> None:
    """Refuse a name that a provider would refuse (behaviour H4)."""
    if not _NAME.fullmatch(name):
        raise ToolsetError(
            f"{name!r} is no valid name for a tool: use letters, digits, '_' and '-', at most 64 (give one with name=…)",
            code="tool.name",
        )


def _name_of(function: Function) -> str:
    inner = function
    while not hasattr(inner, "__name__") and hasattr(inner, "func"):
        inner = inner.func
    return str(getattr(inner, "__name__", type(inner).__name__))


def _function_checker(signature: Signature) -> ModelChecker:
    is_open = signature.model.model_config.get("extra") == "allow"
    return ModelChecker(signature.model, _caller(signature), None if is_open else _names(signature.model))


def _caller(signature: Signature) -> Callable[[BaseModel], Call]:
    renamed = [(field, name) for field, name in signature.parameters.items() if field != name]
    positional = signature.positional
    is_open = signature.model.model_config.get("extra") == "allow"
    if not renamed and not positional and not is_open:
        return lambda instance: ((), instance.__dict__)

    def call(instance: BaseModel) -> Call:
        values = {name: instance.__dict__[field] for field, name in signature.parameters.items()}
        args = tuple(values.pop(name) for name in positional)
        return args, {**values, **(instance.__pydantic_extra__ or {})}

    return call


def _function_schema(signature: Signature, schema: Schema) -> Schema:
    cleaned = clean_schema(schema)
    cleaned.setdefault("additionalProperties", False)
    cleaned.setdefault("required", [])
    for name, text in signature.documented.items():
        if name in cleaned["properties"]:
            cleaned["properties"][name].setdefault("description", text)
    return cleaned


def _names(model: type[BaseModel]) -> frozenset[str] | None:
    """The top-level names that ``model`` reads; ``None`` when it may read any."""
    hooks = model.__pydantic_decorators__.model_validators.values()
    if model.model_config.get("extra") == "allow" or any(hook.info.mode != "after" for hook in hooks):
        return None
    by_name = model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name")
    names: set[str] = set()
    for name, info in model.model_fields.items():
        alias = info.validation_alias or info.alias
        choices = getattr(alias, "choices", [alias])
        names |= {str(getattr(choice, "path", [choice])[0]) for choice in choices if choice is not None}
        if alias is None or by_name:
            names.add(name)
    return frozenset(names)


@overload
def tool(function: F) -> F: ...
@overload
def tool(*, name: str = "", description: str = "", **flags: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(
    function: F | None = None, *, name: str = "", description: str = "", **flags: Unpack[ToolOptions]
) -> F | Callable[[F], F]:
    """Mark a function, or a method of a toolset, as a tool; it stays the function it was.

    Args:
        function: What to mark.
        name: Instead of the function's own name.
        description: Instead of its docstring.
        flags: See :class:`ToolFlags`.
    """

    def mark(function: F) -> F:
        setattr(function, _MARK, {"name": name, "description": description, "flags": flags})
        return function

    return mark if function is None else mark(function)


def is_tool(function: object) -> bool:
    """Whether ``@tool`` was put on ``function``."""
    return hasattr(function, _MARK)


def flags_of(declared: ToolFlags) -> ToolOptions:
    """The flags of a tool or spec, to pass on as keywords."""
    return {field.name: getattr(declared, field.name) for field in fields(ToolFlags)}  # type: ignore[return-value]  # same names, by test
