"""YAML with positions: reading, ``${V}``, ``extends``, ``{file:}``, and every error of a file at once."""

from react_run.config.yaml.nodes import Node, locate, plain, walk, wrap
from react_run.config.yaml.problems import AgentFileError, Place, Problem, Report, Source
from react_run.config.yaml.tree import TreeReader

__all__ = [
    "AgentFileError",
    "Node",
    "Place",
    "Problem",
    "Report",
    "Source",
    "TreeReader",
    "locate",
    "plain",
    "walk",
    "wrap",
]
