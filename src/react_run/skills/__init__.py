"""Skills: tools and instructions that the model unlocks together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from react_run.errors import ToolsetError
from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReActSkillSpec:
    """A group of tools that is offered once the model activates it (behaviour D).

    Args:
        name: The name that the model activates.
        description: When to activate it; the model chooses by this text alone.
        tool_names: The tools it unlocks.
        instructions: The text that the model reads on activation.
        examples: Requests for which this skill is the right one.
        order: The position in which skills of the same name from several toolsets merge, lowest first.
    """

    name: str
    description: str
    tool_names: tuple[str, ...]
    instructions: str = ""
    examples: tuple[str, ...] = ()
    order: int = 0

    def __post_init__(self) -> None:
        for name in ("tool_names", "examples"):
            if isinstance(given := getattr(self, name), str):  # a text is a sequence of letters, which is never meant
                object.__setattr__(self, name, (given,))
        for name in ("name", "description", "instructions"):
            if not isinstance(given := getattr(self, name), str):
                raise ToolsetError(f"the {name} of a skill must be text, not {type(given).__name__}", code="skill.form")
        if not self.name.isprintable():
            raise ToolsetError(f"{self.name!r} is not a valid skill name: remove the line breaks", code="skill.form")

    @property
    def unlocks(self) -> Iterator[str]:
        """The names of all tools that may be offered while it is active."""
        yield from self.tool_names


@dataclass(frozen=True, kw_only=True)
class AgentSkill(ReActSkillSpec):
    """A skill from a SKILL.md folder (agentskills.io); always behind the selector (behaviour D8).

    Args:
        tool_names: The tools that read and run its files.
        directory: Its folder.
        license: The licence, or the file that contains it.
        compatibility: Its requirements on the environment.
        metadata: Further data from its author.
        allowed_tools: The agent's tools that it unlocks, and the only ones offered while no skill without such a list
            is active; ``None`` if it names no tool that the agent has. They are offered, but not approved.
        files: The paths of the files in its folder, relative to it, without SKILL.md.
    """

    directory: Path
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()

    @property
    def unlocks(self) -> Iterator[str]:
        yield from self.allowed_tools or ()
        yield from self.tool_names

    @property
    def scripts(self) -> tuple[str, ...]:
        """The files that it may have run."""
        return tuple(path for path in self.files if path.startswith("scripts/"))


class SkillWarning(UserWarning):
    """A skill was left out, or breaks a rule; the agent works without it."""
