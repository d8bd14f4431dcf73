"""The keys that every toolset accepts in an agent file: its name, and what it offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from react_run.components import Options
from react_run.components.errors import near
from react_run.errors import Fault
from react_run.skills import AgentSkill, ReActSkillSpec
from react_run.tools.tool import Tool

ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Annotations(Options):
    """Annotations of a tool, replacing its own."""

    read_only: bool | None = None
    """It changes nothing."""
    repeatable: bool | None = None
    """The same call may return another result later."""
    idempotent: bool | None = None
    """Running it twice has the same effect as running it once."""
    serial: bool | None = None
    """Calls in one reply run one at a time."""
    network: bool | None = None
    """It uses the network."""
    runs_programs: bool | None = None
    """It starts programs."""


class SkillOptions(Options):
    """The skill that unlocks a toolset's tools."""

    name: str = Field(min_length=1)
    """The name that the model activates."""
    description: str = ""
    """When to activate it; by default built from the descriptions of its tools."""
    instructions: str = ""
    """What the model reads on activation."""


class SharedKeys(Options):
    """Keys of every toolset. If a toolset has an option with one of these names, its own option applies."""

    name: str | None = Field(default=None, min_length=1, max_length=64)
    """The name of the toolset in messages, traces and permissions."""
    enabled: bool = True
    """Whether its tools are offered at all; often `${FLAG:-true}`."""
    include: list[str] | None = Field(default=None, min_length=1)
    """The tools to offer, as globs over their own names; all by default."""
    exclude: list[str] = Field(default_factory=list)
    """The tools to leave out, as globs over their own names."""
    rename: dict[str, ToolName] = Field(default_factory=dict)
    """New names of tools: `{old: new}`."""
    prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{0,40}$")] = ""
    """A prefix for the names of all its tools, renamed ones included."""
    describe: dict[str, str] = Field(default_factory=dict)
    """New descriptions of tools, by their own names."""
    annotations: dict[str, Annotations] = Field(default_factory=dict)
    """Annotations of tools, by globs over their own names; later globs win."""
    timeout: float | None = Field(default=None, gt=0)
    """Time limit for a call of any of its tools, in seconds."""
    skill: str | SkillOptions | None = None
    """With `tool_disclosure: skills`, the skill that unlocks all its tools: its name, or a mapping with details."""

    def offered(self, tools: Iterable[Tool]) -> tuple[list[Tool], list[Fault]]:
        """Apply the keys to ``tools``, and return what does not match them."""
        tools = list(tools)
        kept = [tool for tool in tools if self._keeps(tool.name)]
        return [self._changed(tool) for tool in kept], list(self._misfits([tool.name for tool in tools]))

    def skills(self, declared: Iterable[ReActSkillSpec], tools: Mapping[str, str]) -> list[ReActSkillSpec]:
        """Apply the keys to the skills of a toolset; ``tools`` maps its own tool names to the offered ones."""
        skills = [_renamed(skill, tools) for skill in declared]
        if self.skill is None:
            return [skill for skill in skills if skill.tool_names or isinstance(skill, AgentSkill)]
        own = SkillOptions(name=self.skill) if isinstance(self.skill, str) else self.skill
        documents = [skill for skill in skills if isinstance(skill, AgentSkill)]
        group = ReActSkillSpec(
            name=own.name,
            description=own.description,
            instructions=own.instructions,
            tool_names=tuple(tools.values()),
        )
        return [*documents, group]

    def _keeps(self, name: str) -> bool:
        included = self.include is None or _matches(name, self.include)
        return included and not _matches(name, self.exclude)

    def _changed(self, tool: Tool) -> Tool:
        name = tool.name
        changes: dict[str, Any] = {
            "name": self.prefix + self.rename.get(name, name),
            "own_name": tool.own_name or name,
            "called": tool.called or self.name or "",
        }
        if name in self.describe:
            changes["description"] = self.describe[name]
        if self.timeout is not None:
            changes["timeout"] = self.timeout
        for pattern, said in self.annotations.items():
            if fnmatchcase(name, pattern):
                changes |= said.model_dump(exclude_none=True)
        return replace(tool, **changes)

    def _misfits(self, names: list[str]) -> Iterator[Fault]:
        given: dict[str, Iterable[tuple[str | int, str]]] = {
            "include": enumerate(self.include or ()),
            "exclude": enumerate(self.exclude),
            "rename": ((name, name) for name in self.rename),
            "describe": ((name, name) for name in self.describe),
            "annotations": ((name, name) for name in self.annotations),
        }
        exact = ("rename", "describe")
        for key, patterns in given.items():
            for part, pattern in patterns:
                if not (pattern in names if key in exact else any(fnmatchcase(name, pattern) for name in names)):
                    known = f"Its tools: {', '.join(names) or 'none'}"
                    text = f"no tool of this toolset is called {pattern!r}.{near(pattern, names)} {known}"
                    yield Fault("tool.unmatched", text, (key, part))
        if names and not any(map(self._keeps, names)):
            key = "exclude" if self.include is None else "include"
            yield Fault("tool.unmatched", "no tool is left to offer; enabled: false leaves the toolset out", (key,))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _renamed(skill: ReActSkillSpec, tools: Mapping[str, str]) -> ReActSkillSpec:
    names = tuple(tools[name] for name in skill.tool_names if name in tools)
    return replace(skill, tool_names=names)
