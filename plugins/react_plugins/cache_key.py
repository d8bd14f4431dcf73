"""What makes two tool calls the same for a cache: the tool, its toolset with all options, and the arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from pydantic import BaseModel, SecretBytes, SecretStr

from react_run import Tool

_PROCESS = uuid4().hex
_numbers = count()
_of_tools: WeakKeyDictionary[Tool, str] = WeakKeyDictionary()


class _NotPlain(Exception):
    """A value has no form that means the same in another process."""


def key_of(tool: Tool, arguments: Mapping[str, object], scope: str = "") -> str:
    """One text for a call; equal only for calls that mean the same, in this process or another, and in one scope."""
    identity = _of_tools.get(tool)
    if identity is None:
        identity = _of_tools[tool] = _identity(tool)
    return hashlib.sha256(f"{scope}{identity}\n{_as_json(arguments)}".encode("utf-8", "surrogatepass")).hexdigest()


def _identity(tool: Tool) -> str:
    """What ``tool`` is: its schema, its toolset and the options of that; secrets count, and are hashed, too."""
    toolset = tool.toolset
    try:
        options = None if toolset is None else _plain(toolset)
    except _NotPlain:
        options = f"{_PROCESS} {next(_numbers)}"  # nothing but this very tool is known to be the same
    return hashlib.sha256(_as_json([tool.wire, options]).encode()).hexdigest()


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def _plain(value: Any) -> object:  # any option of any toolset
    if isinstance(value, BaseModel):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return [f"{type(value).__module__}:{type(value).__qualname__}", fields]
    if isinstance(value, (SecretStr, SecretBytes)):
        return repr(value.get_secret_value())
    if isinstance(value, Mapping):
        return [[str(name), _plain(item)] for name, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool, Path)):
        return repr(value)
    raise _NotPlain
