"""Rewrites pydantic's errors about options to suggest the nearest valid one."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from react_run.components.errors import near

UNKNOWN_KEY = "cfg.unknown_key"
_ELSEWHERE = {
    "max_retries": "requests are retried anyway; set the number with plugins: [{kind: model_retries, attempts: 4}]",
    "custom_llm_provider": "the provider is part of the model's id: write model: PROVIDER/MODEL",
    "dependency_map": "it has no counterpart; write what a component needs as its options, next to kind",
    "tools": "tools come from toolsets, such as [math] or {kind: functions, module: M}; in Python, toolsets=[function]",
    "functions": "they are a toolset: write toolsets: [{kind: functions, module: M}]",
    "prompt": "the prompt is given with each run; instructions to the agent are system_prompt:",
    "instructions": "instructions to the agent are system_prompt:",
    "additional_topics": "it has no counterpart: an agent here answers prompts and listens to no topics",
}
"""Keys from other frameworks' agent files, and what to write here."""
FEW = 15


def problem(code: str, text: str) -> PydanticCustomError:
    """An error with one of our codes, for raising inside a validator."""
    return PydanticCustomError(cast("Any", code), "{text}", {"text": text})  # Any: pydantic asks for a literal


def at(loc: tuple[str | int, ...], error: PydanticCustomError, value: object) -> ValidationError:
    """``error`` as if found at ``loc`` below the value under validation."""
    return ValidationError.from_exception_data("options", [InitErrorDetails(type=error, loc=loc, input=value)])


def with_suggestions(error: ValidationError, names: list[str], shared: list[str]) -> ValidationError:
    """Explain the unknown options at the top level of ``error``: name the nearest one, or list all.

    Args:
        error: pydantic's error.
        names: The component's own options.
        shared: The keys that all components of its group accept.
    """
    if not any(found["type"] == "extra_forbidden" and len(found["loc"]) == 1 for found in error.errors()):
        return error
    return ValidationError.from_exception_data(
        error.title, [_explained(cast("Any", one), names, shared) for one in error.errors()]
    )


def line_errors(found: list[dict[str, Any]]) -> list[InitErrorDetails]:
    """Convert pydantic's listed errors, to raise them again together."""
    return [_explained(one, None) for one in found]


def _explained(found: dict[str, Any], names: list[str] | None, shared: list[str] | None = None) -> InitErrorDetails:
    loc, kind, value = found["loc"], found["type"], found["input"]
    if names is not None and kind == "extra_forbidden" and len(loc) == 1:
        return InitErrorDetails(type=unknown_key(str(loc[0]), names, shared or []), loc=loc, input=value)
    context = found.get("ctx", {})
    try:
        PydanticKnownError(kind, context)
    except KeyError:
        return InitErrorDetails(type=problem(kind, found["msg"]), loc=loc, input=value)
    return InitErrorDetails(type=kind, loc=loc, input=value, ctx=context)


def unknown_key(name: str, names: list[str], shared: list[str]) -> PydanticCustomError:
    """The error for an unknown ``name``; all ``names`` are listed if there are few, or if none is similar."""
    if "toolsets" in names and name in _ELSEWHERE:
        return problem(UNKNOWN_KEY, f"unknown key {name!r}: {_ELSEWHERE[name]}")
    nearest = near(name, [*names, *shared])
    known = f" Keys: {', '.join(sorted(names))}" if names else " It has no options"
    if shared and not nearest:
        known += (
            f"{'; every toolset' if names else ' of its own; every toolset'} also takes {', '.join(sorted(shared))}"
        )
    return problem(UNKNOWN_KEY, f"unknown key {name!r}.{nearest}{known if not nearest or len(names) <= FEW else ''}")
