"""The arguments of a call as a pydantic model, and what a wrapper changed in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_json

from react_run.arguments.repair import own_copy

if TYPE_CHECKING:
    from react_run.run import ToolCall
    from react_run.tools import Tool

Fields = dict[str, Any]

_generated: WeakKeyDictionary[Tool, type[BaseModel]] = WeakKeyDictionary()


class Inputs:
    """The arguments of the calls of one run that are in progress, each made into a model once."""

    def __init__(self) -> None:
        self._known: dict[ToolCall, tuple[dict[str, object], BaseModel]] = {}

    def of(self, call: ToolCall) -> BaseModel | None:
        """The arguments of ``call`` as they are now; ``None`` when it cannot run with them."""
        known = self._known.get(call)
        if known is not None and known[0] == call.arguments:
            return known[1]
        if call.tool is None or call.problem is not None:
            return None
        try:
            made = _model(call.tool).__pydantic_validator__.validate_json(to_json(call.arguments), strict=True)
        except ValidationError:  # a plugin spoilt them, and the call will be refused
            return None
        assert isinstance(made, BaseModel)  # a validator of a model makes instances of it
        self._known[call] = (own_copy(call.arguments), made)
        return made

    def change(self, call: ToolCall, made: BaseModel, before: Fields) -> None:
        """Have ``call`` go on with the arguments in ``made``; ``before`` is what they were."""
        call.arguments = changed(call.arguments, before, made)
        self._known[call] = (own_copy(call.arguments), made)

    def forget(self, call: ToolCall) -> None:
        """``call`` is over."""
        self._known.pop(call, None)

    def __contains__(self, call: ToolCall) -> bool:
        return call in self._known


def fields_of(made: BaseModel) -> Fields:
    """What was set in ``made``, as Python values under the names that the tool knows."""
    return made.model_dump(by_alias=True, exclude_unset=True, warnings=False)


def changed(arguments: Mapping[str, object], before: Fields, made: BaseModel) -> dict[str, object]:
    """``arguments`` with what differs between ``before`` and ``made``; what was not touched keeps its JSON value."""
    after = fields_of(made)
    json: Fields = made.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    kept = {name for name in arguments if name in before and name in after and before[name] == after[name]}
    return {name: arguments[name] if name in kept else value for name, value in json.items()}


def _model(tool: Tool) -> type[BaseModel]:
    if tool.parameter_class is not None:
        return tool.parameter_class
    if tool not in _generated:
        _generated[tool] = _from_schema(tool)
    return _generated[tool]


def _from_schema(tool: Tool) -> type[BaseModel]:
    """A model with a field for each property that may be one; the tool's own schema checks the values."""
    required = tool.parameters.get("required", ())
    fields: dict[str, Any] = {
        name: (Any, ... if name in required else schema.get("default") if isinstance(schema, Mapping) else None)
        for name, schema in tool.parameters.get("properties", {}).items()
        if name.isidentifier() and not name.startswith("_") and not hasattr(BaseModel, name)
    }
    config = ConfigDict(extra="allow", protected_namespaces=())
    return create_model(f"{tool.name}_arguments", __config__=config, **fields)
