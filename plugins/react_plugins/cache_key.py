"""The key of a tool call in a cache: the tool, its toolset with all options, and the arguments."""

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
    """A value has no form with the same meaning in another process."""


def key_of(tool: Tool, arguments: Mapping[str, object], scope: str = "") -> str:
    """The key of a call; equal only for calls with the same meaning and scope, in this process or another."""
    # An explicit default gives the same key.
    defaults = {name: _as_json(value) for name, value in tool.defaults.items()}
    said = {name: value for name, value in arguments.items() if _as_json(value) != defaults.get(name)}
    text = f"{scope}{_identity(tool)}\n{_as_json(said)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def outlives_the_process(tool: Tool) -> bool:
    """Whether another process would recognise ``tool`` as the same."""
    return _PROCESS not in _identity(tool)


def _identity(tool: Tool) -> str:
    """The identity of ``tool``: its schema, its toolset and the toolset's options; secrets are included as hashes."""
    known = _of_tools.get(tool)
    if known is None:
        try:
            options = None if tool.toolset is None else plain(tool.toolset)
            known = hashlib.sha256(_as_json([tool.wire, options]).encode()).hexdigest()
        except NotPlain:
            known = f"{_PROCESS} {next(_numbers)}"  # equal only to this tool itself
        _of_tools[tool] = known
    return known


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def plain(value: Any) -> object:  # any option of any toolset
    """A form of ``value`` with the same meaning in another process.

    Raises:
        NotPlain: There is no such form.
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
    """A function by its name and the content of its file; a function with its own values equals no other."""
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
    """The digest of a Python file, so that an edited function counts as another one."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        raise NotPlain from None
