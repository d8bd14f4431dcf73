"""Checks that an agent can be built from a valid configuration: tool names, skills, hooks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from react_run.config.wrapper_levels import LEVELS

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.tools.tool import Tool

_GLOB = frozenset("*?[")
_NAMED = 5
"""How many unmarked tools to name."""


class Soundness:
    """Builds only combinations that have not been built before: files with the same parts have the same problems."""

    def __init__(self) -> None:
        self._sound: dict[str, tuple[str, list[str]]] = {}

    def check(self, config: ReActAgentConfig) -> list[str]:
        """Build the agent of ``config``, or as much of it as can go wrong, and return warnings.

        Raises:
            ReactError: It cannot be built.
        """
        composition = _composition(config)
        if composition not in self._sound:
            tools = list(_tools_of(config))
            self._sound[composition] = doubts(tools), [tool.name for tool in tools]
        doubt, names = self._sound[composition]
        return [text for text in (mistyped(config.model), doubt, *misspelt(config.permissions or (), names)) if text]


def mistyped(model: object) -> str:
    """A warning about a model id that resembles a known one; empty where a server of one's own is named."""
    from react_run.models.known_ids import doubtful_id
    from react_run.models.remote import RemoteModel

    return doubtful_id(model.model) if isinstance(model, RemoteModel) and model.base_url is None else ""


def doubts(tools: Iterable[Tool]) -> str:
    """A warning about tools that do not declare whether they change anything; empty if all do.

    Tools that run programs are left out: their effect depends on the program.
    """
    unmarked = [tool.name for tool in tools if tool.read_only is None and not tool.runs_programs]
    if not unmarked:
        return ""
    some = ", ".join(unmarked[:_NAMED]) + (f" and {len(unmarked) - _NAMED} more" if len(unmarked) > _NAMED else "")
    they = "it changes" if len(unmarked) == 1 else "they change"
    return (
        f"{some}: nothing declares whether {they} anything. An undeclared tool is treated as changing something: it "
        "needs permission, and makes earlier results stale; but its errors do not keep a run from being a success. "
        "Write "
        "@tool(read_only=True) or @tool(read_only=False) above it, or annotations: in the file."
    )


def misspelt(permissions: Iterable[Mapping[str, object]], names: Iterable[str]) -> list[str]:
    """Warnings about rules for a tool that does not exist but resembles one of ``names``.

    Any other unknown name may belong to a subagent, or to a server that is contacted only when a run starts.
    """
    from react_run.components.errors import near

    known = set(names)
    return [
        f"permissions[{number}].tool: no tool is called {name!r}, so the rule never applies.{meant}"
        for number, name in enumerate(rule.get("tool") for rule in permissions)
        if isinstance(name, str) and not _GLOB.intersection(name) and name not in known and (meant := near(name, known))
    ]


def _composition(config: ReActAgentConfig) -> str:
    data = config.model_dump()
    parts = {
        key: data[key] for key in ("toolsets", "plugins", "failure_handling", "tool_disclosure", *LEVELS) if key in data
    }
    return json.dumps(parts, sort_keys=True, default=str)


def _has_plugins(config: ReActAgentConfig) -> bool:
    policies = (config.failure_handling, config.tool_disclosure)
    own = any(not isinstance(policy, str) for policy in policies)
    return own or bool(config.plugins) or any(getattr(config, level) for level in LEVELS)


def _tools_of(config: ReActAgentConfig) -> Iterable[Tool]:
    if not _has_plugins(config):
        return _build_tools(config)
    from react_run.agent import ReActAgent

    return ReActAgent(config).tools


def _build_tools(config: ReActAgentConfig) -> Iterable[Tool]:
    from react_run.config.composing import placed
    from react_run.errors import ToolsetError
    from react_run.policies.disclosure.groups import skills_of
    from react_run.tools.composite import CompositeToolset

    toolset = CompositeToolset(toolsets=config.toolsets)
    try:
        tools = toolset.tools()
    except ToolsetError as error:
        raise placed(error, config) from error
    skills_of(toolset, grouped=config.tool_disclosure == "skills")
    return tools
