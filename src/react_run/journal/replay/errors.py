"""Raises recorded errors again, with their original classes as far as those can be found by name."""

from __future__ import annotations

import builtins
from functools import cache
from typing import Any

from react_run import errors, outcome
from react_run.errors import ModelError
from react_run.journal.values import Record
from react_run.outcome import ToolError


class RecordedError(Exception):
    """An error whose class cannot be found; subclasses have the recorded class's name."""


def model_error(data: Record) -> Exception:
    """The error that ended a model call."""
    if data["type"] != ModelError.__name__:
        return error_from(data)
    fields: dict[str, Any] = {name: value for name, value in data.items() if name not in ("type", "message", "sent")}
    error = ModelError(data["message"], **fields)
    error.sent = data.get("sent", True)
    error.recorded = True
    return error


def error_from(data: Record, code: str = "") -> Exception:
    """The error that ended a tool call or a run; ``code`` is that of a :class:`ToolError`."""
    name, message = data["type"], data["message"]
    cls = _class(name)
    try:
        made = cls(message, code=code) if issubclass(cls, ToolError) else cls(message)
        if str(made) == message:
            return made
    except Exception:  # a constructor that takes other arguments than a message
        pass
    return _stand_in(name)(message)


def _class(name: str) -> type[Exception]:
    for module in (builtins, errors, outcome):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return _stand_in(name)


@cache
def _stand_in(name: str) -> type[RecordedError]:
    return type(name, (RecordedError,), {})
