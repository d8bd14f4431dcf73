"""Explains an agent as data: values, prompt, tools, and the plugins behind each hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from react_run.launch.first_request import Drive, first_request
from react_run.launch.values import values_of
from react_run.support.threads import run_blocking

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


def explanation(agent: ReActAgent, drive: Drive = run_blocking) -> dict[str, Any]:
    """Explain ``agent`` as data: values, prompt, tools and hooks.

    Its model is replaced, so the agent cannot run afterwards.
    """
    hooks, tools = hooks_of(agent), list(agent.tools)
    request = first_request(agent, "(your prompt)", drive)
    offered = {tool.name for tool in request.tools}
    known = {tool.name for tool in tools}
    return {
        "values": [value.to_dict() for value in values_of(agent.config)],
        "prompt": [message.text for message in request.messages if message.role == "system"],
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "flags": _flags(tool),
                "toolset": _toolset_name(tool),
                "offered_first": tool.name in offered,
            }
            for tool in [*tools, *(tool for tool in request.tools if tool.name not in known)]
        ],
        "hooks": hooks,
    }


def _flags(tool: Any) -> list[str]:  # a Tool; its annotations are looked up by name
    names = ("read_only", "repeatable", "idempotent", "serial", "inline", "network", "runs_programs")
    return [name for name in names if getattr(tool, name)]


def _toolset_name(tool: Any) -> str:  # a Tool
    from react_run.config.dump import kind_name

    kind = kind_name(tool.toolset) if tool.toolset is not None else ""
    return f"{kind}:{tool.called}" if tool.called else kind


def hooks_of(agent: ReActAgent) -> dict[str, list[str]]:
    """The plugins that implement each hook, in the order in which they are called."""
    from react_run.hooks import hook_names

    chains = {hook: getattr(agent.hooks, hook) for hook in hook_names()}
    return {hook: [impl.plugin_name for impl in chain] for hook, chain in chains.items() if chain}
