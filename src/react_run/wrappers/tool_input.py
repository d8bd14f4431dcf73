"""Converts the arguments of a call to a pydantic model, and finds out what a wrapper changed in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_json

from react_run.tools.arguments.repair import own_copy

if TYPE_CHECKING:
    from react_run.run import ToolCall
    from react_run.tools.tool import Tool

Fields = dict[str, Any]

_SCALARS = frozenset({str, int, float, bool, type(None)})
_generated: WeakKeyDictionary[Tool, type[BaseModel]] = WeakKeyDictionary()


class Input:
    """The arguments of a call in progress, as JSON values and as a model, and the tool they are for."""

    __slots__ = ("_is_flat", "arguments", "model", "tool")

    def __init__(self, call: ToolCall, tool: Tool, model: BaseModel) -> None:
        prepared = call.prepared.arguments  # these never change
        self.arguments = prepared if prepared == call.arguments else own_copy(call.arguments)
        self.tool, self.model = tool, model
        self._is_flat = model.__pydantic_extra__ is None and _SCALARS.issuperset(map(type, model.__dict__.values()))

    def snapshot(self) -> Fields:
        """A snapshot of the model, for detecting changes: two are equal exactly if nothing was changed in between."""
        return self.model.__dict__.copy() if self._is_flat else fields_of(self.model)


class Inputs:
    """The inputs of one run's calls in progress, created once each."""

    def __init__(self) -> None:
        self.known: dict[ToolCall, Input] = {}

    def enter(self, call: ToolCall) -> Input | None:
        """Convert the arguments of ``call`` to a model; ``None`` if the call cannot run with them."""
        if call.tool is None or call.problem is not None:
            return None
        try:
            made = _made(call.tool, call.arguments)
        except ValidationError:  # a plugin made them invalid; the call will be refused
            return None
        found = self.known[call] = Input(call, call.tool, made)
        return found

    def change(self, call: ToolCall, given: Input, model: BaseModel) -> Input:
        """Have ``call`` continue with the arguments in ``model`` instead of ``given``."""
        before = _made(given.tool, call.arguments)
        call.arguments = changed(call.arguments, fields_of(before), model)
        found = self.known[call] = Input(call, given.tool, model)
        return found


def fields_of(made: BaseModel) -> Fields:
    """The fields set in ``made``, as Python values under the tool's parameter names."""
    return made.model_dump(by_alias=True, exclude_unset=True, warnings=False)


def changed(arguments: Mapping[str, object], before: Fields, made: BaseModel) -> dict[str, object]:
    """``arguments`` with the changes between ``before`` and ``made``; unchanged values keep their JSON form."""
    after = fields_of(made)
    json: Fields = made.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    kept = {name for name in arguments if name in before and name in after and before[name] == after[name]}
    return {name: arguments[name] if name in kept else value for name, value in json.items()}


def _made(tool: Tool, arguments: Mapping[str, object]) -> BaseModel:
    validator = _model(tool).__pydantic_validator__
    return cast("BaseModel", validator.validate_json(to_json(arguments), strict=True))


def _model(tool: Tool) -> type[BaseModel]:
    if tool.parameter_class is not None:
        return tool.parameter_class
    if tool not in _generated:
        _generated[tool] = _from_schema(tool)
    return _generated[tool]


def _from_schema(tool: Tool) -> type[BaseModel]:
    """Build a model with a field for each property whose name allows it; the tool's own schema checks the values."""
    required = tool.parameters.get("required", ())
    fields: dict[str, Any] = {
        name: (Any, ... if name in required else schema.get("default") if isinstance(schema, Mapping) else None)
        for name, schema in tool.parameters.get("properties", {}).items()
        if name.isidentifier() and not name.startswith("_") and not hasattr(BaseModel, name)
    }
    config = ConfigDict(extra="allow", protected_namespaces=())
    return create_model(f"{tool.name}_arguments", __config__=config, **fields)
