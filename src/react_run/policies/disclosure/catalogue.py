"""The skills and tools of an agent, and which tools are offered for which active skills."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from react_run.policies.disclosure.groups import SELECTOR
from react_run.policies.disclosure.selector import guide, selector
from react_run.skills import AgentSkill, ReActSkillSpec

if TYPE_CHECKING:
    from react_run.tools.tool import Tool


class Catalogue:
    """The skills and tools of an agent.

    Args:
        skills: The skills that can be activated.
        tools: All tools of the agent.
        grouped: Whether toolset tools are behind skills as well; otherwise only those of SKILL.md skills are.

    ``guide`` is the text about the skills in the system prompt. ``tools`` has the selector first, then all tools by
    name. ``file_tools`` read the files of SKILL.md skills, ``domain`` are all others.
    """

    def __init__(self, skills: Iterable[ReActSkillSpec], tools: Iterable[Tool], *, grouped: bool) -> None:
        self.skills = {skill.name: skill for skill in skills}
        self.listed = list(self.skills.values())
        self.guide = guide(self.listed)
        self.tools = {SELECTOR: selector(self.listed), **{tool.name: tool for tool in tools}}
        documents = [skill for skill in self.listed if isinstance(skill, AgentSkill)]
        self.file_tools = frozenset(name for skill in documents for name in skill.tool_names)
        self.domain = frozenset(self.tools) - self.file_tools - {SELECTOR}
        self.grouped = grouped
        self.keeps_selector = bool(documents)

    def offers(self, active: Collection[ReActSkillSpec], *, expanded: bool) -> frozenset[str]:
        """The names of the tools to offer: those of the active skills, and those that are not behind a skill."""
        limited = bool(active) and all(isinstance(s, AgentSkill) and s.allowed_tools is not None for s in active)
        free = self.domain if (expanded or not self.grouped) and not limited else frozenset()
        chooser = {SELECTOR} if self.keeps_selector or not expanded else set()
        return free.union(chooser, *(skill.unlocks for skill in active))

    def available(self, active: Collection[ReActSkillSpec], *, expanded: bool) -> list[str]:
        """The names of the tools to offer, in order, without the selector."""
        names = self.offers(active, expanded=expanded)
        return [name for name in self.tools if name in names and name != SELECTOR]

    def unlocking(self, tool: str) -> list[ReActSkillSpec]:
        """The skills that unlock ``tool``."""
        return [skill for skill in self.listed if tool in skill.unlocks]
