"""What makes two tool calls the same for a cache: the tool, its toolset with all options, and the arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from pydantic import BaseModel, SecretBytes, SecretStr

from react_run import Tool

_PROCESS = uuid4().hex
_numbers = count()
_of_tools: WeakKeyDictionary[Tool, str] = WeakKeyDictionary()


class NotPlain(Exception):
    """A value has no form that means the same in another process."""


def key_of(tool: Tool, arguments: Mapping[str, object], scope: str = "") -> str:
    """One text for a call; equal only for calls that mean the same, in this process or another, and in one scope."""
    # To say what a parameter is anyway makes no other call.
    defaults = {name: _as_json(value) for name, value in tool.defaults.items()}
    said = {name: value for name, value in arguments.items() if _as_json(value) != defaults.get(name)}
    text = f"{scope}{_identity(tool)}\n{_as_json(said)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def outlives_the_process(tool: Tool) -> bool:
    """Whether another process would know ``tool`` as the same one."""
    return _PROCESS not in _identity(tool)


def _identity(tool: Tool) -> str:
    """What ``tool`` is: its schema, its toolset and the options of that; secrets count, and are hashed, too."""
    known = _of_tools.get(tool)
    if known is None:
        try:
            options = None if tool.toolset is None else plain(tool.toolset)
            known = hashlib.sha256(_as_json([tool.wire, options]).encode()).hexdigest()
        except NotPlain:
            known = f"{_PROCESS} {next(_numbers)}"  # nothing but this very tool is known to be the same
        _of_tools[tool] = known
    return known


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def plain(value: Any) -> object:  # any option of any toolset
    """A form of ``value`` that means the same in another process.

    Raises:
        NotPlain: It has none.
    """
    if isinstance(value, BaseModel):
        fields = {name: plain(getattr(value, name)) for name in type(value).model_fields}
        return [f"{type(value).__module__}:{type(value).__qualname__}", fields]
    if isinstance(value, (SecretStr, SecretBytes)):
        return repr(value.get_secret_value())
    if isinstance(value, Mapping):
        return [[str(name), plain(item)] for name, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, FunctionType):
        return _function(value)
    if isinstance(value, ModuleType):
        return _module(value)
    if value is None or isinstance(value, (str, int, float, bool, Path)):
        return repr(value)
    raise NotPlain


def _function(function: FunctionType) -> object:
    """A function, by its name and what its file holds; one that carries values of its own is no other's equal."""
    if function.__closure__ or function.__name__ == "<lambda>":
        raise NotPlain
    defaults = plain([function.__defaults__ or (), function.__kwdefaults__ or {}])
    code = function.__code__
    if code not in _codes(code.co_filename):
        raise NotPlain  # the file was edited after it was loaded
    return [f"{function.__module__}:{function.__qualname__}", code.co_firstlineno, _digest(code.co_filename), defaults]


def _module(module: ModuleType) -> object:
    file = str(getattr(module, "__file__", None) or "")
    codes = _codes(file)
    loaded = (item.__code__ for item in vars(module).values() if isinstance(item, FunctionType))
    if any(code not in codes for code in loaded if code.co_filename == file):
        raise NotPlain
    return [module.__name__, _digest(file)]


def _codes(file: str) -> set[CodeType]:
    """The code of every function that ``file`` defines as it is now."""
    try:
        found = {compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)}
    except (OSError, SyntaxError, ValueError):
        return set()
    new = found
    while new:
        new = {part for code in new for part in code.co_consts if isinstance(part, CodeType)}
        found = found | new
    return found


def _digest(file: str) -> str:
    """What a file of Python holds, so that an edited function is another one."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        raise NotPlain from None
