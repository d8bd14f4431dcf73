"""Checks that an agent has a key for its model, before many runs start that would all fail without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.errors import ConfigError

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


def missing_key(model: object) -> str:
    """The environment variable that a model needs but that is not set; empty if nothing is missing."""
    ask = getattr(model, "missing_key", None)
    return str(ask()) if callable(ask) else ""


def without_key(agent: ReActAgent) -> str:
    """Why an agent cannot call any of its models, with the way out; empty if it can."""
    config = agent.config
    missing = [missing_key(model) for model in (config.model, *config.fallback_models) if model is not None]
    return f"no key for {agent.model.name}: set {missing[0]}" if missing and all(missing) else ""


def must_have_key(agent: ReActAgent) -> None:
    """Refuse an agent that cannot call any of its models.

    Raises:
        ConfigError: A key is missing; the message names the variable.
    """
    if problem := without_key(agent):
        raise ConfigError(f"{problem}, or write api_key for the model; no row was started")
