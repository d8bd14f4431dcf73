"""Permission rules: which calls are allowed, need approval, or are denied."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import normpath
from typing import Literal
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict, Field

from react_run import ToolCall

Action = Literal["allow", "ask", "deny"]
_ABSENT = object()
_BETWEEN = re.compile(r"[\\/\s\"'=:,]")
"""What separates the names of a path, in a path and in a command line."""
_QUOTES = re.compile(r"[\\\"']")
_CLIMBING = re.compile(r"\.(?:\.?[*?\[]|\.\Z)")
"""A name that leads to a parent directory, or a shell glob that may match one."""
_STEERING = frozenset(";&|<>$`(){}\n\r\v\f")
"""Characters with which a shell runs something else as well, or writes to a file."""


class Rule(BaseModel):
    """What happens to calls of certain tools with certain arguments."""

    model_config = ConfigDict(extra="forbid")

    tool: str = "*"
    """The tools that the rule applies to, as a glob."""
    toolset: str = "*"
    """The toolsets that the rule applies to, as a glob over their names in the agent file."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """Globs that the arguments must match, by name (`a.b` for a part); lists of words are matched as a command line."""
    action: Action
    """What to do with such a call."""

    def applies(self, call: ToolCall) -> bool:
        """Whether the rule applies to ``call``; missing arguments match nothing.

        Rules that deny or ask recognise other spellings of a path (``./a``, ``b/../a``). Paths that climb (``..``), or
        shell lines that do more than one thing, are allowed only by a pattern that says so.
        """
        called = "" if call.tool is None else call.tool.called
        if not (fnmatchcase(call.name, self.tool) and fnmatchcase(called, self.toolset)):
            return False
        matches = self._allows if self.action == "allow" else self._concerns
        return all(matches(call, name, pattern) for name, pattern in self.arguments.items())

    def _concerns(self, call: ToolCall, name: str, pattern: str) -> bool:
        """Whether the pattern matches any spelling of the argument, or of its default."""
        value = _part(call.arguments, name)
        value = _default(call, name) if value is _ABSENT else value
        if value is _ABSENT:
            return False
        globs = {form for text in (pattern, _path(pattern)) for form in _forms(call, text)}
        return any(fnmatchcase(spelled, glob) for spelled in _spellings(call, as_text(value)) for glob in globs)

    def _allows(self, call: ToolCall, name: str, pattern: str) -> bool:
        value = _part(call.arguments, name)
        if value is _ABSENT:
            return False
        text = as_text(value)
        a_line = call.tool is not None and call.tool.runs_programs and isinstance(value, str)
        if a_line and set(text) & _STEERING - set(pattern):
            return False
        return fnmatchcase(text, pattern) and all(name in pattern for name in _climbing(text, a_line))


def _climbing(text: str, a_line: bool) -> set[str]:
    """The names in ``text`` that lead to a parent directory; in a shell line, also those made by quotes and globs."""
    if not a_line:
        return {".."} & {*_BETWEEN.split(text)}
    names = {*_BETWEEN.split(text), *_BETWEEN.split(_QUOTES.sub("", text))}
    return {name for name in names if _CLIMBING.match(name)}


def _spellings(call: ToolCall, text: str) -> set[str]:
    """Every form of ``text`` that is compared with a rule: unchanged, as a normalised path, and as a directory."""
    path = _path(text)
    return {form for spelled in (text, path, f"{path}/") for form in _forms(call, spelled)}


def _forms(call: ToolCall, text: str) -> set[str]:
    """``text`` with unified case and width of letters, also relative to the toolset's root."""
    root = getattr(call.tool and call.tool.toolset, "root", None) or Path.cwd()
    forms = {text}
    for base in {os.fspath(root), os.path.realpath(root)}:
        if text.startswith(f"{base.rstrip('/')}/"):
            forms.add(text.removeprefix(f"{base.rstrip('/')}/"))
    return {normalize("NFKC", form).casefold() for form in forms}


def _default(call: ToolCall, name: str) -> object:
    """The default of an argument that is left out."""
    properties = call.tool.parameters.get("properties", {}) if call.tool is not None else {}
    return properties.get(name, {}).get("default", _ABSENT)


def _path(text: str) -> str:
    """``text`` as a normalised path, if it is one."""
    return normpath(text.replace("\\", "/")) if text else text


def as_text(value: object) -> str:
    """``value`` as text for patterns."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)


def _part(arguments: Mapping[str, object], name: str) -> object:
    if name in arguments:
        return arguments[name]
    first, dot, rest = name.partition(".")
    inner = arguments.get(first)
    return _part(inner, rest) if dot and isinstance(inner, Mapping) else _ABSENT
