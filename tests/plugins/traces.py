"""What the tests of plugins share: tools that leave traces, people who answer, and listeners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import PrivateAttr

from react_plugins.approval import Approval, Decision
from react_run import ReActAgent, Run, ScriptedModel, Tool, ToolCall, tool


class Traces:
    """Tools that remember their calls: one that reads, one that writes, one that says nothing about itself."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.others: list[str] = []

    def tools(self) -> list[Tool]:
        """The tools ``read``, ``write`` and ``other``."""

        @tool(read_only=True)
        def read(path: str) -> str:
            """Read a file."""
            self.reads.append(path)
            return self.text or f"{path} for the {len(self.reads)}. time"

        @tool(read_only=False)
        def write(path: str, text: str = "") -> str:
            """Write a file."""
            self.writes.append(path)
            return "written"

        @tool
        def other(path: str = "") -> str:
            """Do something."""
            self.others.append(path)
            return f"did {path}"

        return [Tool.from_function(function) for function in (read, write, other)]


def failing(*failures: Exception | None, **flags: Any) -> tuple[Tool, list[int]]:
    """A tool that fails as told, one failure after the other, and then works; and its attempts."""
    attempts: list[int] = []

    def flaky(x: int = 0) -> str:
        """Work, sooner or later."""
        attempts.append(x)
        error = failures[len(attempts) - 1] if len(attempts) <= len(failures) else None
        if error is not None:
            raise error
        return "fine"

    return Tool.from_function(flaky, **flags), attempts


class Person(Approval):
    """An approval that asks a person who answers as told, and keeps the questions."""

    _answers: list[Decision | None] = PrivateAttr(default_factory=list)
    _heard: list[str] = PrivateAttr(default_factory=list)

    @classmethod
    def saying(cls, *answers: Decision | None, **options: Any) -> Person:
        """A person who gives ``answers`` in order, and the last one from then on."""
        person = cls(**options)
        person._answers = list(answers)
        return person

    @property
    def questions(self) -> list[str]:
        """What was asked so far."""
        return self._heard

    async def ask(self, run: Run, call: ToolCall) -> Decision | None:
        self._heard.append(str(self.question(run, call).masked(run.agent.config.masker)))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def requests_of(agent: ReActAgent) -> Sequence[Any]:
    """The requests that the scripted model of ``agent`` received."""
    assert isinstance(agent.model, ScriptedModel)
    return agent.model.requests


Proceed = Callable[[], Any]
