"""Calling a tool as the runtime does: arguments checked by its schema, the result read as JSON."""

from __future__ import annotations

import json
from typing import Any

from react_run import ReActToolset

Result = dict[str, Any]  # a result as JSON: each field has its own type


def call(toolset: ReActToolset, name: str, **arguments: object) -> Result:
    """The result of one call; arguments that the schema refuses give the code ``invalid_arguments``."""
    tool = next(tool for tool in toolset.tools() if tool.name == name)
    prepared = tool.prepare(arguments)
    if prepared.problem:
        return {"status": "error", "error": {"code": "invalid_arguments", "message": prepared.problem}}
    text = tool.function(*prepared.args, **prepared.kwargs)
    assert isinstance(text, str)
    result = json.loads(text)
    assert isinstance(result, dict)
    assert text == json.dumps(result, ensure_ascii=False, separators=(",", ":")), "results are compact JSON"
    return result


def code_of(result: Result) -> str:
    """The error code of a result; empty when it is none."""
    error = result.get("error", {})
    assert (result["status"] == "error") == bool(error)
    return str(error.get("code", ""))


def message_of(result: Result) -> str:
    """The error message of a result."""
    return str(result["error"]["message"])
