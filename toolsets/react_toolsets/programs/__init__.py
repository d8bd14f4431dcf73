"""Runs programs on behalf of a model."""

from __future__ import annotations

from react_run import Finished, run_program
from react_toolsets.programs.confinement import Confinement
from react_toolsets.programs.environment import scrubbed_environment
from react_toolsets.programs.options import NotConfined, RunsPrograms, ended, shell_line

__all__ = [
    "Confinement",
    "Finished",
    "NotConfined",
    "RunsPrograms",
    "ended",
    "run_program",
    "scrubbed_environment",
    "shell_line",
]
