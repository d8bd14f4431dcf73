"""What pydantic found wrong with options, made to name the nearest valid one."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from react_run.components.kinds import near

UNKNOWN_KEY = "cfg.unknown_key"
FEW = 15


def problem(code: str, text: str) -> PydanticCustomError:
    """An error for people with a code of ours, for raising inside a validator."""
    return PydanticCustomError(cast("Any", code), "{text}", {"text": text})  # Any: pydantic asks for a literal


def at(loc: tuple[str | int, ...], error: PydanticCustomError, value: object) -> ValidationError:
    """``error`` as one found below the value under validation, at ``loc``."""
    return ValidationError.from_exception_data("options", [InitErrorDetails(type=error, loc=loc, input=value)])


def with_suggestions(error: ValidationError, names: list[str]) -> ValidationError:
    """``error`` with the unknown options at its top explained: the nearest of ``names``, or what there is."""
    if not any(found["type"] == "extra_forbidden" and len(found["loc"]) == 1 for found in error.errors()):
        return error
    return ValidationError.from_exception_data(
        error.title, [_explained(cast("Any", one), names) for one in error.errors()]
    )


def _explained(found: dict[str, Any], names: list[str]) -> InitErrorDetails:
    loc, kind, value = found["loc"], found["type"], found["input"]
    if kind == "extra_forbidden" and len(loc) == 1:
        return InitErrorDetails(type=unknown_key(str(loc[0]), names), loc=loc, input=value)
    context = found.get("ctx", {})
    try:
        PydanticKnownError(kind, context)
    except KeyError:
        return InitErrorDetails(type=problem(kind, found["msg"]), loc=loc, input=value)
    return InitErrorDetails(type=kind, loc=loc, input=value, ctx=context)


def unknown_key(name: str, names: list[str]) -> PydanticCustomError:
    """``name`` is none of ``names``; all of them are listed when they are few, or when none is near."""
    nearest = near(name, names)
    known = f" Keys: {', '.join(sorted(names))}" if not nearest or len(names) <= FEW else ""
    if not names:
        known = " It has no options"
    return problem(UNKNOWN_KEY, f"unknown key {name!r}.{nearest}{known}")
