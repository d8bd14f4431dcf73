"""Agent files: their keys, and how they are read, checked and written."""

from react_run.config.limits import Limits
from react_run.config.schema import ReActAgentConfig, load_config
from react_run.config.yaml import AgentFileError, Problem

__all__ = ["AgentFileError", "Limits", "Problem", "ReActAgentConfig", "load_config"]
