"""Requests answers that match a JSON Schema in the provider's own form.

There are two forms: the field ``response_format``, and a tool whose arguments are the answer. The first is for OpenAI,
and for requests without tools; the second is for all others, because the field keeps most models from calling tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from react_run.messages import ModelRequest, ModelResponse
from react_run.support.jsonable import encode
from react_run.tools.tool import Tool

TOOL = "final_answer"
_INSIDE = "answer"
_ABOUT = "Give your final answer, once you have everything it needs. It ends the work."
_NOT_STRICT = frozenset(
    (
        *("allOf", "oneOf", "not", "if", "then", "else", "default", "prefixItems", "contains", "uniqueItems"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
    )
)
"""Keywords that OpenAI's strict schemas do not have."""


def is_object(schema: Mapping[str, Any]) -> bool:
    """Whether every answer that matches ``schema`` is an object."""
    return schema.get("type") == "object"


def response_format(schema: Mapping[str, Any]) -> dict[str, object]:
    """The field ``response_format`` for ``schema``; strict if the schema allows it."""
    closed = _closed(schema)
    strict = _is_strict(closed)
    named: dict[str, object] = {"name": "answer", "schema": closed if strict else schema, "strict": strict}
    return {"type": "json_schema", "json_schema": named}


def _closed(schema: Any) -> Any:
    """``schema`` without additional properties; values of the result also match the original."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {
        key: {name: _closed(part) for name, part in value.items()}
        if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping)
        else value
        if key in ("enum", "const", "examples", "required")
        else _closed(value)
        for key, value in schema.items()
    }
    return {"additionalProperties": False, **inner} if inner.get("properties") else inner


def _is_strict(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        if not properties or schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    if not _NOT_STRICT.isdisjoint(schema):
        return False
    named = [part for key in ("properties", "$defs", "definitions") for part in schema.get(key, {}).values()]
    return all(map(_is_strict, [*named, *(schema[key] for key in ("items", "anyOf") if key in schema)]))


class AnswerTools:
    """The tools for typed answers of one model, one per schema."""

    def __init__(self) -> None:
        self._tools: dict[tuple[int, str], tuple[Mapping[str, Any], Tool]] = {}

    def offered(self, request: ModelRequest) -> tuple[ModelRequest, str]:
        """``request`` with the tool for its answer, and the name of that tool."""
        schema = request.output_schema
        assert schema is not None  # asked for only then
        names = {tool.name for tool in request.tools}
        name = next(name for name in (TOOL, *(f"{TOOL}_{n}" for n in range(2, 99))) if name not in names)
        key = (id(schema), name)
        if key not in self._tools:  # keep the schema with it, because its id is the key
            self._tools[key] = (
                schema,
                Tool(name=name, description=_ABOUT, parameters=_parameters(schema), function=_never),
            )
        return replace(request, tools=(*request.tools, self._tools[key][1])), name


def _never() -> None:
    raise AssertionError("the call of this tool is the answer")


def _parameters(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """``schema`` as the schema of a tool's arguments, wrapped in an object if necessary."""
    if is_object(schema):
        return schema
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in shared}
    return {"type": "object", "properties": {_INSIDE: inner}, "required": [_INSIDE], **shared}


def answered(response: ModelResponse, tool: str, schema: Mapping[str, Any]) -> ModelResponse:
    """``response`` with the call of ``tool`` as its text; if there are other calls, they come first and it is left
    out.
    """
    requests = response.message.tool_requests
    calls = [request for request in requests if request.name == tool]
    if not calls:
        return response
    others = tuple(request for request in requests if request.name != tool)
    if others:
        return replace(response, message=replace(response.message, tool_requests=others))
    arguments: object = calls[-1].arguments
    if isinstance(arguments, Mapping) and not is_object(schema) and _INSIDE in arguments:
        arguments = arguments[_INSIDE]
    text = arguments if isinstance(arguments, str) and is_object(schema) else encode(arguments).decode()
    message = replace(response.message, content=text, tool_requests=())
    reason = "stop" if response.finish_reason == "tool_calls" else response.finish_reason
    return replace(response, message=message, finish_reason=reason)
