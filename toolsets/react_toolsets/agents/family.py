"""Builds agents from agent files that name others, with limited depth and without cycles (behaviour X2)."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path

from react_run import ConfigError, Observation, Origin, ReActAgent, ReActAgentConfig, ToolCall, hookimpl

DEEPEST = 3
"""Maximum depth of subagents."""
_above: ContextVar[tuple[Path | None, ...]] = ContextVar("react_toolsets_agents_above", default=())
"""The files of the agents that are being built, outermost first; ``None`` for one that has no file."""


class OnlyReads:
    """Refuses every tool not declared `read_only`; this also applies to subagents."""

    @hookimpl
    def react_tool_permit(self, call: ToolCall) -> Observation | None:
        if call.tool is not None and call.tool.read_only is True:
            return None
        return Observation(
            content=f"Error: {call.name} may change things, and this agent may only look. Report what should be done."
        )


def build(file: Path, origin: Origin | None, *, read_only: bool = False) -> ReActAgent:
    """The agent in ``file``, which the agent file at ``origin`` names.

    It has the trust of that file if it is below its directory, otherwise it needs ``react-run trust``. With
    ``read_only``, it and its subagents can only use read-only tools.

    Raises:
        ConfigError: It cannot be built, is its own subagent, or is nested too deeply.
    """
    real = file.resolve()
    above = _above.get() or (None if origin is None or origin.path is None else origin.path.resolve(),)
    chain = " → ".join([*(path.name if path else "the agent" for path in above), file.name])
    if real in above:
        raise ConfigError(f"subagents: {chain}: {file.name} is a subagent of itself")
    if len(above) > DEEPEST:
        raise ConfigError(f"subagents: {chain}: an agent has at most {DEEPEST} levels of subagents below it")
    token = _above.set((*above, real))
    try:
        variables = None if origin is None else origin.environment
        config = ReActAgentConfig.from_yaml(file, trusted=_is_trusted(real, origin), environment=variables)
        return ReActAgent(config, plugins=[OnlyReads()] if read_only else ())
    finally:
        _above.reset(token)


def _is_trusted(file: Path, origin: Origin | None) -> bool | None:
    if origin is None:
        return True  # named by a program
    return origin.trusted if file.is_relative_to(origin.directory.resolve()) else None
