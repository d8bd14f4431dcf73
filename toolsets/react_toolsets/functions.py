"""The ``functions`` toolset: the functions of a Python file, or of a module, as tools."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from react_run import LocalModule, ReActToolset, Tool, ToolsetError, is_tool


class FunctionsToolset(ReActToolset):
    """Turns every public function with type hints into a tool, described by its docstring.

    So is a function marked ``@tool``, with everything that the mark says.
    """

    kind: ClassVar[str] = "functions"

    path: LocalModule | None = None
    """A Python file, such as `tools.py`, relative to the agent file."""
    module: LocalModule | None = None
    """The name of a module, installed or beside the agent file."""
    include: list[str] = Field(default_factory=lambda: ["*"])
    """The functions to offer, as names or globs."""
    exclude: list[str] = Field(default_factory=list)
    """Functions to leave out of these."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if (self.path is None) == (self.module is None):
            raise ValueError("give either path (a Python file) or module (its name)")
        return self

    def needs_trust(self) -> str:
        """A module runs when it is loaded, and its functions when they are called."""
        return "loads code"

    def tools(self) -> list[Tool]:
        """The tools, in the order in which they are written.

        Raises:
            ToolsetError: There is none, or one cannot be a tool.
        """
        if self._tools is None:
            self._tools = [Tool.from_function(function, toolset=self) for function in self._functions()]
        return list(self._tools)

    def _functions(self) -> list[Callable[..., Any]]:
        source = self.path or self.module
        assert source is not None  # checked when it was made
        found = list(public_functions(source))
        chosen = [function for name, function in found if self._is_chosen(name) and _can_be_a_tool(function)]
        if not chosen:
            untyped = [name for name, function in found if not _can_be_a_tool(function)]
            hint = f" Without type hints, and therefore left out: {', '.join(untyped)}." if untyped else ""
            raise ToolsetError(f"{_name_of(source)} has no function to offer.{hint}", code="tool.none")
        return chosen

    def _is_chosen(self, name: str) -> bool:
        return _matches(name, self.include) and not _matches(name, self.exclude)


def public_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions that ``module`` lists in ``__all__``, else its own without a leading underscore."""
    listed = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        if inspect.isfunction(value) and (
            name in listed if listed is not None else value.__module__ == module.__name__ and not name.startswith("_")
        ):
            yield name, value


def _can_be_a_tool(function: Callable[..., Any]) -> bool:
    """Whether it is marked as one, or says of every parameter, or of its result, what type it has."""
    if is_tool(function):
        return True
    signature = inspect.signature(function)
    parameters = [parameter.annotation for parameter in signature.parameters.values()]
    return inspect.Signature.empty not in (parameters or [signature.return_annotation])


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _name_of(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or module.__name__)
