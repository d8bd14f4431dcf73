"""Building agents out of agent files that name others: never too deep, and never in a circle (behaviour X2)."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path

from react_run import ConfigError, Origin, ReActAgent, ReActAgentConfig

DEEPEST = 3
"""Levels of agents below the first one."""
_above: ContextVar[tuple[Path | None, ...]] = ContextVar("react_toolsets_agents_above", default=())
"""The files of the agents that are being built, outermost first; ``None`` for one that has no file."""


def build(file: Path, origin: Origin | None) -> ReActAgent:
    """The agent in ``file``, which the agent file at ``origin`` names.

    It is trusted as that one is when it is below its directory, else when ``react-run trust`` has noted so.

    Raises:
        ConfigError: It cannot be built, names itself in the end, or is too deep.
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
        return ReActAgent(config)
    finally:
        _above.reset(token)


def _is_trusted(file: Path, origin: Origin | None) -> bool | None:
    if origin is None:
        return True  # named by a program
    return origin.trusted if file.is_relative_to(origin.directory.resolve()) else None
