"""What providers refuse, as rules on the JSON of a chat-completions request; written from their error messages.

Shares no code with the product: a rule misunderstood there is not misunderstood here in the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = Any  # a decoded JSON body

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
FIELDS = {
    *("model", "messages", "tools", "tool_choice", "stream", "stream_options", "temperature", "top_p", "n", "seed"),
    *("max_tokens", "max_completion_tokens", "stop", "response_format", "parallel_tool_calls", "user", "logprobs"),
    *("presence_penalty", "frequency_penalty", "reasoning_effort", "metadata", "store", "num_ctx", "top_k"),
}
ROLES = {"system", "user", "assistant", "tool"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}

REFUSED_KEYWORDS = {
    # Each refused by at least one of the large providers, in part or everywhere.
    *("$schema", "$id", "$anchor", "$comment", "$dynamicRef", "$recursiveRef", "$vocabulary", "definitions", "id"),
    *("oneOf", "allOf", "not", "if", "then", "else", "const", "prefixItems", "additionalItems", "nullable"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems"),
    *("patternProperties", "propertyNames", "contains", "minContains", "maxContains", "contentEncoding"),
    *("contentMediaType", "contentSchema", "examples", "readOnly", "writeOnly", "deprecated", "discriminator"),
}
LONGEST_ARGUMENTS = 2**20


def violations(path: str, headers: Mapping[str, str], body: Json) -> list[str]:
    """Every rule that a request breaks, in words."""
    return [*_envelope(path, headers, body), *_messages(body.get("messages")), *_tools(body)]


def _envelope(path: str, headers: Mapping[str, str], body: Json) -> Iterator[str]:
    if path.partition("?")[0] != "/v1/chat/completions":
        yield f"unknown path {path}"
    if headers.get("content-type", "").partition(";")[0] != "application/json":
        yield "the content type is not application/json"
    if "authorization" in headers and not re.fullmatch(r"Bearer [!-~]+", headers["authorization"]):
        yield "malformed Authorization header"
    if unknown := set(body) - FIELDS:
        yield f"unrecognized request arguments: {sorted(unknown)}"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "you must provide a model"
    if any(value is None for value in body.values()):
        yield "null for a field"
    if "stream_options" in body and not body.get("stream"):
        yield "stream_options without stream"


def _messages(messages: Json) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages must be a non-empty array"
        return
    ids: set[str] = set()
    waiting: list[str] = []
    begun = False
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        role = message.get("role")
        if role not in ROLES:
            yield f"{where}: unknown role {role!r}"
        if role == "system" and begun:
            yield f"{where}: a system message after the conversation began"
        begun = begun or role != "system"
        if role == "tool":
            yield from _result(where, message, waiting)
            continue
        if waiting:
            yield f"{where}: tool_call_ids did not have response messages: {waiting}"
            waiting.clear()
        yield from _content(where, message)
        for call in message.get("tool_calls", ()):
            yield from _call(where, call, ids)
            waiting.append(call.get("id"))
    if waiting:
        yield f"tool_call_ids did not have response messages: {waiting}"
    if messages[-1].get("role") == "assistant":
        yield "the last message is the assistant's"


def _result(where: str, message: Json, waiting: list[str]) -> Iterator[str]:
    if message.get("tool_call_id") not in waiting:
        yield f"{where}: a tool message must follow its tool call"
    else:
        waiting.remove(message["tool_call_id"])
    if not message.get("content"):
        yield f"{where}: empty tool result"
    if set(message) - {"role", "content", "tool_call_id", "name", "cache_control"}:
        yield f"{where}: unexpected fields {sorted(message)}"


def _content(where: str, message: Json) -> Iterator[str]:
    content = message.get("content")
    if "tool_calls" in message and not message["tool_calls"]:
        yield f"{where}: empty tool_calls"
    if content is None:
        if not message.get("tool_calls"):
            yield f"{where}: content is null"
    elif isinstance(content, list):
        if not content or not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content):
            yield f"{where}: invalid content parts"
    elif not isinstance(content, str):
        yield f"{where}: invalid content"
    elif not content and message.get("role") != "assistant":
        yield f"{where}: empty content"


def _call(where: str, call: Json, ids: set[str]) -> Iterator[str]:
    call_id, function = call.get("id"), call.get("function", {})
    if not isinstance(call_id, str) or not call_id or len(call_id) > 256 or re.search(r"\s", call_id):
        yield f"{where}: invalid tool call id {call_id!r}"
    if call_id in ids:
        yield f"{where}: `tool_use` ids must be unique: {call_id}"
    ids.add(str(call_id))
    if call.get("type") != "function":
        yield f"{where}: missing call type"
    if not isinstance(function.get("name"), str) or not NAME.fullmatch(function["name"]):
        yield f"{where}: invalid function name {function.get('name')!r}"
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or len(arguments) > LONGEST_ARGUMENTS:
        yield f"{where}: arguments are not text or too long"
        return
    try:
        decoded = json.loads(arguments, parse_constant=_refuse)
    except ValueError:
        decoded = None
    if not isinstance(decoded, dict):
        yield f"{where}: arguments are not a JSON object: {arguments[:80]!r}"


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _tools(body: Json) -> Iterator[str]:
    tools = body.get("tools")
    if tools is None:
        if "tool_choice" in body:
            yield "tool_choice is only allowed when tools are specified"
        return
    if not isinstance(tools, list) or not tools:
        yield "tools is an empty array"
        return
    names = [tool.get("function", {}).get("name") for tool in tools]
    if len(set(names)) != len(names):
        yield f"tool names must be unique: {names}"
    for tool in tools:
        function = tool.get("function", {})
        if tool.get("type") != "function" or not NAME.fullmatch(str(function.get("name"))):
            yield f"invalid tool name {function.get('name')!r}"
        if not isinstance(function.get("description", ""), str):
            yield "invalid tool description"
        yield from (f"{function.get('name')}: {rule}" for rule in schema_violations(function.get("parameters")))


def schema_violations(schema: Json) -> Iterator[str]:
    """Every rule on tool parameters that ``schema`` breaks."""
    if not isinstance(schema, dict) or schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "schema must be of type object with properties"
        return
    for keyword in ("anyOf", "enum", "$ref"):
        if keyword in schema:
            yield f"schema must not have {keyword} at the top level"
    definitions = schema.get("$defs", {})
    yield from _node("parameters", {k: v for k, v in schema.items() if k != "$defs"}, definitions)
    for name, definition in definitions.items():
        yield from _node(f"$defs.{name}", definition, definitions)


def _node(where: str, node: Json, definitions: Json, depth: int = 0) -> Iterator[str]:
    if not isinstance(node, dict) or depth > 100:
        yield f"{where}: a schema must be an object, not nested without end"
        return
    if refused := REFUSED_KEYWORDS & node.keys():
        yield f"{where}: unsupported keywords {sorted(refused)}"
    if "$ref" in node and node["$ref"] not in {f"#/$defs/{name}" for name in definitions}:
        yield f"{where}: unresolved reference {node['$ref']}"
    yield from _details(where, node)
    children = {f"{where}.{name}": child for name, child in node.get("properties", {}).items()}
    children |= {f"{where}.anyOf.{n}": child for n, child in enumerate(node.get("anyOf", ()))}
    children |= {f"{where}.{key}": node[key] for key in ("items", "additionalProperties") if key in node}
    for path, child in children.items():
        if not isinstance(child, bool) or path.endswith(".items"):
            yield from _node(path, child, definitions, depth + 1)


def _details(where: str, node: Json) -> Iterator[str]:
    kinds = node.get("type", [])
    if not set(kinds if isinstance(kinds, list) else [kinds]) <= TYPES:
        yield f"{where}: unknown type {kinds!r}"
    if kinds == "array" and "items" not in node:
        yield f"{where}: array schema missing items"
    if "required" in node and not set(node["required"]) <= set(node.get("properties", {})):
        yield f"{where}: required names that are not properties"
    if "enum" in node and not node["enum"]:
        yield f"{where}: enum is empty"
    if "anyOf" in node and len(node["anyOf"]) < 2:
        yield f"{where}: anyOf with fewer than two schemas"
    for limit in ("exclusiveMinimum", "exclusiveMaximum"):
        if isinstance(node.get(limit), bool):
            yield f"{where}: {limit} must be a number"
    if re.search(r"\(\?|\\[AzZ]", str(node.get("pattern", ""))):
        yield f"{where}: regex feature not supported"
