"""Combines the tools of all toolsets of an agent, and reports conflicts with their place in the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.config.yaml import Node, locate
from react_run.config.yaml.problems import Problem, key_path
from react_run.errors import Fault, ToolsetError

if TYPE_CHECKING:
    from react_run.config.schema import ReActAgentConfig


class CompositionError(ToolsetError):
    """The toolsets of an agent conflict, or one of them fails; ``problems`` say where."""

    def __init__(self, error: ToolsetError, problems: list[Problem], mask: Callable[[str], str]) -> None:
        self.problems = [replace(problem, text=mask(problem.text)) for problem in problems]
        super().__init__("\n".join(self.texts()), code=error.code, faults=error.faults)

    def texts(self) -> list[str]:
        """Each problem as text for people."""
        return [problem.render() for problem in self.problems]


def placed(error: ToolsetError, config: ReActAgentConfig) -> CompositionError:
    """Return ``error`` with the places of the toolsets in ``config``, and with secrets masked."""
    problems = [_problem(fault, config.source) for fault in error.faults]
    return CompositionError(error, problems, config.masker.mask)


def _problem(fault: Fault, source: Node) -> Problem:
    node = _node(source, fault.loc)
    other = None if fault.other is None else _node(source, fault.other)
    text = f"{fault.text} (the other one: {other.place})" if other is not None and other.place else fault.text
    if node is None or node.place is None:
        return Problem(fault.code, text)
    place = node.key_place if node.key_place and len(fault.loc) > len(_TOOLSET) else node.place
    return Problem(fault.code, text, place, key_path(node.path))


_TOOLSET = ("toolsets", 0)


def _node(source: Node, loc: tuple[str | int, ...]) -> Node | None:
    """The node at ``loc``; ``None`` for a toolset passed from Python."""
    node, missing = locate(source, loc)
    return None if missing or node is source else node
