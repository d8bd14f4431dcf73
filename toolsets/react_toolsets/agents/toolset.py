"""One tool per agent: it gets a task, works on it with its own messages, tools and limits, and reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from react_run import (
    LocalPath,
    ModelError,
    Observation,
    Options,
    Origin,
    Outcome,
    ReActAgent,
    ReActToolset,
    Run,
    Tool,
    ToolError,
)
from react_run.support import dataclass
from react_toolsets.agents.family import build
from react_toolsets.agents.report import broken, report


class Subagent(Options):
    """An agent that is offered as a tool."""

    file: LocalPath
    """Its agent file."""
    name: str | None = None
    """The name of the tool; by default the name of the agent."""
    description: str | None = None
    """When to use it; by default the description of the agent."""
    read_only: bool = False
    """Whether it may only use tools declared `read_only`; this also applies to its own subagents."""

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, data: object) -> object:
        return {"file": data} if isinstance(data, (str, Path)) else data

    @field_validator("file", mode="after")
    @classmethod
    def _is_there(cls, file: Path) -> Path:
        if not file.is_file():
            raise ValueError(f"there is no file {file}")
        return file


@dataclass(eq=False)
class Member:
    """A subagent. ``others`` are copies of it with the models of its parents."""

    name: str
    description: str
    agent: ReActAgent
    read_only: bool = False
    others: list[ReActAgent] = field(default_factory=list)

    def with_model_of(self, asking: ReActAgent) -> ReActAgent:
        """The agent with its own model, or with its parent's if its file names none."""
        if self.agent.config.model is not None:
            return self.agent
        for agent in self.others:
            if agent.model is asking.model:
                return agent
        self.others.append(self.agent.replace(model=asking.model))
        return self.others[-1]


class AgentsToolset(ReActToolset):
    """Other agents as tools. Each works on the task it is given, and does not see the conversation.

    Permissions, redaction, limits and the journal of the parent run apply to the subagent's run as well.
    """

    kind: ClassVar[str] = "agents"

    agents: list[Subagent] = Field(min_length=1)
    """Agent files, or `{file: …, name: …, description: …}`."""
    timeout: float = Field(default=900.0, gt=0)
    """Time limit for one task, in seconds."""
    max_answer: int = Field(default=8_000, ge=100)
    """Maximum characters of an answer."""

    _origin: Origin | None = PrivateAttr(default=None)
    _members: list[Member] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _remember_where_it_is(self, info: ValidationInfo) -> Self:
        self._origin = info.context if isinstance(info.context, Origin) else None
        return self

    def tools(self) -> list[Tool]:
        """One tool per agent, in order.

        Raises:
            ConfigError: An agent cannot be built, is a subagent of itself, or is too deep (behaviour X2).
        """
        if self._tools is None:
            self._members = [self._member(given) for given in self.agents]
            self._tools = [self._tool(member) for member in self._members]
        return list(self._tools)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """The reports themselves carry the outcome. Interpreting them means that a missing report counts as a failure,
        too.
        """
        return None

    @property
    def members(self) -> list[Member]:
        """The agents, in order."""
        self.tools()
        return list(self._members)

    def _member(self, given: Subagent) -> Member:
        agent = build(given.file, self._origin, read_only=given.read_only)
        config = agent.config
        name = given.name or config.name or config.id or given.file.stem
        return Member(
            name=re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "agent",
            description=given.description or config.description or f"Hands a task to the agent {name}.",
            agent=agent,
            read_only=given.read_only,
        )

    def _tool(self, member: Member) -> Tool:
        async def delegate(task: str, run: Run) -> Observation:
            """Hand over a task.

            Args:
                task: What to do and what to report, complete in itself: the agent sees nothing of this conversation.
            """
            return await self._delegate(member, task, run)

        tools = member.agent.tools
        changes = [member.read_only or tool.read_only for tool in tools]
        return Tool.from_function(
            delegate,
            name=member.name,
            description=member.description,
            toolset=self,
            timeout=self.timeout,
            read_only=False if False in changes else None if None in changes else True,
            network=any(tool.network for tool in tools),
            runs_programs=any(tool.runs_programs for tool in tools),
            delegates=True,
        )

    async def _delegate(self, member: Member, task: str, run: Run) -> Observation:
        if not task.strip():
            raise ToolError("the task is empty: say what to do and what to report", code="invalid_arguments")
        agent = member.with_model_of(run.agent)
        for above in _upwards(run):  # secrets of a subagent are masked in its parents, too: they share a journal
            above.agent.config.masker.update(agent.config.masker)
        try:
            result = await agent.run(task, parent=run)
        except ModelError as error:
            return broken(member.name, "model_error", str(error))
        return report(member.name, result, self.max_answer)

    async def close(self) -> None:
        """Close everything that the agents opened for their runs."""
        for member in self._members:
            for agent in (member.agent, *member.others):
                await agent.__aexit__(None, None, None)


def _upwards(run: Run | None) -> Iterator[Run]:
    while run is not None:
        yield run
        run = run.parent
