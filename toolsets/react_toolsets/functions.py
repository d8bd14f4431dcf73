"""The ``functions`` toolset: the functions of a Python file, or of a module, as tools."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from react_run import LocalModule, ReActToolset, Tool, ToolsetError, ToolWarning, is_tool


class FunctionsToolset(ReActToolset):
    """Turns every public function with type hints into a tool, described by its docstring.

    Functions marked ``@tool`` are offered with the settings of the decorator.
    """

    kind: ClassVar[str] = "functions"

    path: LocalModule | None = None
    """A Python file, such as `tools.py`, relative to the agent file."""
    module: LocalModule | None = None
    """The name of a module, installed or next to the agent file."""
    include: list[str] = Field(default_factory=lambda: ["*"])
    """The functions to offer, as names or globs."""
    exclude: list[str] = Field(default_factory=list)
    """Functions to exclude."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if (self.path is None) == (self.module is None):
            raise ValueError("give either path (a Python file) or module (its name)")
        return self

    def needs_trust(self) -> str:
        """Loading a module needs trust, because it runs code."""
        return "loads code"

    def tools(self) -> list[Tool]:
        """The tools, in source order.

        Raises:
            ToolsetError: There are no functions to offer, or a function cannot be a tool.
        """
        if self._tools is None:
            made = (Tool.from_function(function, name=name, toolset=self) for name, function in self._functions())
            self._tools = list(made)
        return list(self._tools)

    def _functions(self) -> list[tuple[str, Callable[..., Any]]]:
        """The functions to offer, each with its name; the name is empty if ``@tool`` may set one."""
        source = self.path or self.module
        assert source is not None  # checked by the validator
        found = dict(public_functions(source))
        self._must_be_there(found, source)
        chosen = {name: function for name, function in found.items() if self._is_chosen(name)}
        untyped = [name for name, function in chosen.items() if not _can_be_a_tool(function)]
        if len(untyped) == len(chosen):
            hint = f" Without type hints, and therefore left out: {', '.join(untyped)}." if untyped else ""
            raise ToolsetError(f"{_name_of(source)} has no function to offer.{hint}", code="tool.none")
        asked = [name for name in untyped if name in self.include]
        if asked:
            text = f"{_name_of(source)}: {', '.join(asked)} cannot be offered: its parameters need type hints"
            raise ToolsetError(text, code="tool.untyped")
        for name in untyped if hasattr(source, "__all__") else ():
            warnings.warn(f"{name} is left out: its parameters have no type hints", ToolWarning, stacklevel=2)
        return [
            ("" if is_tool(function) else name, function) for name, function in chosen.items() if name not in untyped
        ]

    def _must_be_there(self, found: Mapping[str, object], source: ModuleType) -> None:
        """Refuse an explicit name that does not exist: a typo would silently leave a tool out."""
        listed = getattr(source, "__all__", ())
        wrong = []
        for where, names in (("__all__", listed), ("include", self.include)):
            for name in names:
                missing = name not in found if where == "include" else not hasattr(source, name)
                if missing and not set(name) & set("*?["):
                    near = get_close_matches(name, found, n=1, cutoff=0.6)
                    hint = f" Did you mean {near[0]!r}?" if near else ""
                    wrong.append(f"{where} names {name!r}, which {_name_of(source)} does not have as a function.{hint}")
        if wrong:
            raise ToolsetError(" ".join(wrong), code="tool.missing")

    def _is_chosen(self, name: str) -> bool:
        return _matches(name, self.include) and not _matches(name, self.exclude)


def public_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The callables in the module's ``__all__``; without it, its own functions without a leading underscore."""
    listed = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        if listed is None:
            own = getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
            if own and inspect.isfunction(inspect.unwrap(value) if callable(value) else value):
                yield name, value
        elif name in listed and callable(value) and not inspect.isclass(value):
            yield name, value


def _can_be_a_tool(function: Callable[..., Any]) -> bool:
    """Whether the function is marked ``@tool``, or has type hints for all parameters (without any, for its result)."""
    if is_tool(function):
        return True
    signature = inspect.signature(function)
    parameters = [parameter.annotation for parameter in signature.parameters.values()]
    return inspect.Signature.empty not in (parameters or [signature.return_annotation])


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _name_of(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or module.__name__)
