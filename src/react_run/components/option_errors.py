"""What pydantic found wrong with options, made to name the nearest valid one."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from react_run.components.errors import near

UNKNOWN_KEY = "cfg.unknown_key"
_ELSEWHERE = {
    "max_retries": "requests are sent again anyway; how often is said by plugins: [{kind: model_retries, attempts: 4}]",
    "custom_llm_provider": "the provider is part of the model's id: write model: PROVIDER/MODEL",
    "dependency_map": "it has no counterpart; what a component needs is among its options, beside its kind",
    "tools": "tools come from toolsets: [math], say, or {kind: functions, module: M}; in Python toolsets=[function]",
    "functions": "they are a toolset: write toolsets: [{kind: functions, module: M}]",
    "prompt": "the prompt is given with the run; what the agent is told first is system_prompt:",
    "instructions": "what the agent is told first is system_prompt:",
    "additional_topics": "it has no counterpart: an agent here answers prompts and listens to no topics",
}
"""Keys of the agent files of others, and what they are here."""
FEW = 15


def problem(code: str, text: str) -> PydanticCustomError:
    """An error for people with a code of ours, for raising inside a validator."""
    return PydanticCustomError(cast("Any", code), "{text}", {"text": text})  # Any: pydantic asks for a literal


def at(loc: tuple[str | int, ...], error: PydanticCustomError, value: object) -> ValidationError:
    """``error`` as one found below the value under validation, at ``loc``."""
    return ValidationError.from_exception_data("options", [InitErrorDetails(type=error, loc=loc, input=value)])


def with_suggestions(error: ValidationError, names: list[str], shared: list[str]) -> ValidationError:
    """``error`` with the unknown options at its top explained: the nearest one, or what there is.

    Args:
        error: What pydantic found.
        names: The options of the component itself.
        shared: Those of all components of its group.
    """
    if not any(found["type"] == "extra_forbidden" and len(found["loc"]) == 1 for found in error.errors()):
        return error
    return ValidationError.from_exception_data(
        error.title, [_explained(cast("Any", one), names, shared) for one in error.errors()]
    )


def line_errors(found: list[dict[str, Any]]) -> list[InitErrorDetails]:
    """Errors that pydantic has listed, to be raised once more together."""
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
    """``name`` is none of ``names``; all of them are listed when they are few, or when none is near."""
    if "toolsets" in names and name in _ELSEWHERE:
        return problem(UNKNOWN_KEY, f"unknown key {name!r}: {_ELSEWHERE[name]}")
    nearest = near(name, [*names, *shared])
    known = f" Keys: {', '.join(sorted(names))}" if names else " It has no options"
    if shared and not nearest:
        known += (
            f"{'; every toolset' if names else ' of its own; every toolset'} also takes {', '.join(sorted(shared))}"
        )
    return problem(UNKNOWN_KEY, f"unknown key {name!r}.{nearest}{known if not nearest or len(names) <= FEW else ''}")
