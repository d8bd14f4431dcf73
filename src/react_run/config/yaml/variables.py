"""``${V}``, ``${V:-default}``, ``${V:?message}`` and ``$$`` in the text values of a tree (docs/agent-files.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO

from react_run.config.yaml.nodes import Node, Verbatim, walk
from react_run.config.yaml.problems import Report

_REFERENCE = re.compile(r"\$\$|\$\{([^{}]*)\}|\$\{")
_BODY = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<verb>:-|:\?)(?P<rest>.*))?", re.DOTALL)

_HOW = "write ${NAME}, ${NAME:-default}, ${NAME:?message}, or $$ for a dollar"


def expand(tree: Node, environment: Mapping[str, str], report: Report) -> None:
    """Expand the variables in every text value of ``tree``, in place and only once: a value cannot add variables or
    YAML.
    """
    for node in walk(tree):
        if isinstance(node.value, str) and "$" in node.value and not isinstance(node.value, Verbatim):
            _expand_node(node, environment, report)


def _expand_node(node: Node, environment: Mapping[str, str], report: Report) -> None:
    assert isinstance(node.value, str)  # expand has checked it
    variables: dict[str, str] = {}

    def value_of(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        body = _BODY.fullmatch(match[1] or "")
        if body is None:
            text = f"{match[0]} is not a variable; {_HOW}"
            report.add("cfg.env_syntax", text, node.place, node.path)
            return ""
        return _value(body, node, environment, variables, report)

    node.value = _REFERENCE.sub(value_of, node.value)
    node.variables = variables


def _value(
    body: re.Match[str], node: Node, environment: Mapping[str, str], variables: dict[str, str], report: Report
) -> str:
    name, verb, rest = body["name"], body["verb"], body["rest"] or ""
    value = environment.get(name)
    if value is None or (not value and verb):
        if verb == ":-":
            value = rest
        else:
            why = f": {rest}" if rest else f"; set it, or give a default: ${{{name}:-…}}"
            report.add("cfg.env_unset", f"environment variable {name} is not set{why}", node.place, node.path)
            value = ""
    variables[name] = value
    return value


def variables_of(text: str) -> dict[str, str]:
    """The variables in the text of a ``.env`` file, not expanded."""
    from dotenv import dotenv_values

    return {name: value or "" for name, value in dotenv_values(stream=StringIO(text), interpolate=False).items()}
