"""Components for the tests of agent files, and a way to write such files."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_run.config import AgentFileError, ReActAgentConfig, load_config

CODE = '''
"""Components beside an agent file."""

from typing import Literal

from pydantic import SecretStr

from react_run import Check, Component, Plugin, ReActToolset, Verdict, hookimpl, tool
from react_run.components import LocalPath
from react_run.models.base import Model


class Words(ReActToolset):
    """Words about words."""

    digits: int = 3
    """How many digits."""
    ratio: float = 0.5
    """A ratio."""
    loud: bool = False
    """Whether to shout."""
    api_key: SecretStr | None = None
    """A key."""
    endpoint: str = ""
    """Where to ask."""
    root: LocalPath | None = None
    """A directory."""
    mode: Literal["short", "long"] = "short"
    """How much."""
    note: str = ""
    """A note."""

    @tool
    def count_words(self, text: str) -> int:
        """Count the words of a text."""
        return len(text.split())


class Runner(ReActToolset):
    """Starts programs."""

    def needs_trust(self) -> str:
        return "starts programs"


@tool
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


class Tracer(Plugin):
    """Counts calls."""

    attempts: int = 3
    """How often."""

    @hookimpl
    def react_tool_call_started(self, run, call):
        pass


class Bare:
    """A plugin that is not a pydantic model."""

    def __init__(self, size=1):
        self.size = size

    @hookimpl
    def react_run_started(self, run):
        pass


class Longer(Check):
    """Wants long answers."""

    length: int
    """Characters."""

    async def check(self, run, answer):
        return Verdict(accepted=len(answer) >= self.length, feedback="longer")


class Echo(Model):
    """Says it back."""

    model: str = ""
    """Its name."""
    temperature: float | None = None
    """Chance."""
    api_key: SecretStr | None = None
    """A key."""

    async def complete(self, request):
        raise NotImplementedError


class Broken(ReActToolset):
    """Fails on its options."""

    def model_post_init(self, _):
        raise KeyError("oops")


class NoComponent:
    """Neither a toolset nor a plugin."""
'''


def write(directory: Path, text: str, name: str = "agent.yaml") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    (directory / "kit_parts.py").write_text(CODE, encoding="utf-8")
    return path


def load(directory: Path, text: str, **environment: str) -> ReActAgentConfig:
    return load_config(write(directory, text), environment=environment, trusted=True)


def problems(directory: Path, text: str, *, trusted: bool = True, **environment: str) -> AgentFileError:
    with pytest.raises(AgentFileError) as caught:
        load_config(write(directory, text), environment=environment, trusted=trusted)
    return caught.value


def positions(error: AgentFileError) -> list[tuple[int, int, str]]:
    return [
        (problem.place.line if problem.place else 0, problem.place.column if problem.place else 0, problem.code)
        for problem in error.problems
    ]
