"""Whether an agent can be built from a configuration that loads: tool names, skills, hooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from react_run.config.wrapper_levels import LEVELS

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig


class Soundness:
    """Builds what has not been built before: files that are composed alike are sound alike."""

    def __init__(self) -> None:
        self._sound: set[str] = set()

    def check(self, config: ReActAgentConfig) -> None:
        """Build the agent of ``config``, or as much of it as can go wrong.

        Raises:
            ReactError: It cannot be built.
        """
        composition = _composition(config)
        if composition in self._sound:
            return
        if _has_plugins(config):
            from react_run.agent import ReActAgent

            ReActAgent(config)
        else:
            _build_tools(config)
        self._sound.add(composition)


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


def _build_tools(config: ReActAgentConfig) -> None:
    from react_run.config.composing import placed
    from react_run.errors import ToolsetError
    from react_run.policies.disclosure.groups import skills_of
    from react_run.tools.composite import CompositeToolset

    toolset = CompositeToolset(toolsets=config.toolsets)
    try:
        toolset.tools()
    except ToolsetError as error:
        raise placed(error, config) from error
    skills_of(toolset, grouped=config.tool_disclosure == "skills")
