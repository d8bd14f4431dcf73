"""The skills of an agent: those of its toolsets, merged and checked (behaviour D6), and those of SKILL.md files."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from react_run.components.errors import near
from react_run.errors import ConfigError, ReactError
from react_run.skills import AgentSkill, ReActSkillSpec, SkillWarning
from react_run.support.dataclasses import dataclass
from react_run.tools.composite import CompositeToolset, offered, skills_offered
from react_run.tools.toolset import ReActToolset, toolset_label

SELECTOR = "activate_tool_skill"
"""The tool that activates a skill; no toolset may have a tool of this name."""

MAX_DESCRIPTION = 1024
"""Maximum length of the generated description of a group."""


@dataclass(frozen=True, slots=True)
class Member:
    """One toolset with the skills it declares itself."""

    label: str
    toolset: ReActToolset
    tools: tuple[str, ...]
    skills: tuple[ReActSkillSpec, ...]
    about: Mapping[str, str]
    """The first paragraph of each tool's description."""

    @property
    def tool_skills(self) -> Iterator[ReActSkillSpec]:
        """Its skills that are not SKILL.md files."""
        return (skill for skill in self.skills if not isinstance(skill, AgentSkill))


def members(toolset: ReActToolset) -> Iterator[Member]:
    """The toolsets in ``toolset`` that are not composites, in order."""
    if isinstance(toolset, CompositeToolset) and toolset.is_plain:
        for child in toolset.toolsets:
            yield from members(child)
    else:
        about = {tool.name: _first_paragraph(tool.description) for tool in offered(toolset)}
        yield Member(toolset_label(toolset), toolset, tuple(about), tuple(_skills(toolset)), about)


def _skills(toolset: ReActToolset) -> list[ReActSkillSpec]:
    try:
        return skills_offered(toolset)
    except ReactError:
        raise
    except Exception as error:  # catch anything an outside toolset raises: the message has to name the toolset
        raise ConfigError(f"toolset {toolset_label(toolset)} has no skills: {type(error).__name__}: {error}") from error


def skills_of(toolset: ReActToolset, *, grouped: bool) -> list[ReActSkillSpec]:
    """The skills that the model can activate; empty if there are none.

    Args:
        toolset: All toolsets of the agent.
        grouped: Whether tools are behind skills (``tool_disclosure: skills``); otherwise only SKILL.md skills count.

    Raises:
        ConfigError: All contradictions (behaviour D6), with toolset, skill and remedy.
    """
    all_members = list(members(toolset))
    tools = {name for member in all_members for name in member.tools}
    documents = [skill for member in all_members for skill in member.skills if isinstance(skill, AgentSkill)]
    if not documents and not (grouped and any(member.skills for member in all_members)):
        return []
    problems = list(_reserved(all_members))
    groups: list[ReActSkillSpec] = []
    if grouped:
        for member in all_members:
            problems += _wrong(member, all_members)
        groups, conflicts = _merged(all_members)
        problems += conflicts
    problems += _clashes(groups, documents)
    if problems:
        raise ConfigError("\n".join(problems))
    return [*groups, *(_known_tools_only(skill, tools) for skill in documents)]


def _reserved(all_members: Iterable[Member]) -> Iterator[str]:
    for member in all_members:
        if SELECTOR in member.tools:
            yield f"toolset {member.label}: the tool name {SELECTOR!r} is reserved for activating skills; rename it"


def _wrong(member: Member, all_members: Sequence[Member]) -> Iterator[str]:
    grouped: set[str] = set()
    for skill in member.tool_skills:
        where = f"toolset {member.label}, skill {skill.name!r}"
        if not skill.name.strip() or not (skill.description.strip() or member.toolset.has_skill_key):
            yield f"{where}: give it a name and a description; the model chooses by them"
        if not skill.tool_names:
            yield f"{where}: it unlocks no tool; list some in tool_names, or remove it"
        for name in skill.tool_names:
            if name not in member.tools:
                yield f"{where}: {_no_such_tool(name, member, all_members)}"
        grouped.update(skill.tool_names)
    left = [name for name in member.tools if name not in grouped]
    if grouped and left:
        names = ", ".join(repr(skill.name) for skill in member.tool_skills)
        yield (
            f"toolset {member.label}: {', '.join(left)} would never be offered, being in none of its skills ({names}); "
            f"add {'it' if len(left) == 1 else 'them'} to the tool_names of one"
        )


def _no_such_tool(name: str, member: Member, all_members: Iterable[Member]) -> str:
    for other in all_members:
        if name in other.tools:
            return f"its tool {name!r} belongs to toolset {other.label}; declare a skill of this name with it there"
    return f"it has no tool {name!r}.{near(name, member.tools)} Tools: {', '.join(member.tools) or 'none'}"


def _merged(all_members: Sequence[Member]) -> tuple[list[ReActSkillSpec], list[str]]:
    by_name: dict[str, list[tuple[str, ReActSkillSpec]]] = {}
    for member in all_members:
        for skill in member.tool_skills:
            by_name.setdefault(skill.name, []).append((member.label, skill))
    problems = [text for parts in by_name.values() for text in _conflicts(parts)]
    about = {tool: text for member in all_members for tool, text in member.about.items()}
    merged = [_described(_merge([skill for _, skill in parts]), about) for parts in by_name.values()]
    merged += _undeclared(all_members, set(by_name))
    return sorted(merged, key=lambda skill: skill.order), problems


def _described(skill: ReActSkillSpec, about: Mapping[str, str]) -> ReActSkillSpec:
    """Describe ``skill`` by its tools if it has no description."""
    if skill.description.strip():
        return skill
    text = " ".join(f"{name}: {about[name]}" for name in skill.tool_names if name in about)
    return replace(skill, description=text[:MAX_DESCRIPTION])


def _undeclared(all_members: Iterable[Member], taken: set[str]) -> Iterator[ReActSkillSpec]:
    """Group the toolsets without skills if others have some: one group for each kind, named after it."""
    by_label: dict[str, list[Member]] = {}
    for member in all_members:
        if member.tools and not member.skills:
            by_label.setdefault(member.label, []).append(member)
    for name, alike in by_label.items():
        tools = tuple(tool for member in alike for tool in member.tools)
        docs = dict.fromkeys(_first_paragraph(type(member.toolset).__doc__ or "") for member in alike)
        described = [f"{tool}: {text}" for member in alike for tool, text in member.about.items()]
        yield ReActSkillSpec(
            name=f"{name}_tools" if name in taken else name,
            description=" ".join([*docs, *described]).strip()[:MAX_DESCRIPTION],
            tool_names=tools,
        )


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def _conflicts(parts: Sequence[tuple[str, ReActSkillSpec]]) -> Iterator[str]:
    (first_label, first), *others = [part for part in parts if part[1].description.strip()] or parts
    for other_label, other in others:
        if " ".join(other.description.split()) != " ".join(first.description.split()):
            yield (
                f"skill {first.name!r}: toolset {first_label} describes it as {first.description!r}, toolset "
                f"{other_label} as {other.description!r}; make the descriptions equal, or rename one of the skills"
            )


def _merge(parts: list[ReActSkillSpec]) -> ReActSkillSpec:
    parts = sorted(parts, key=lambda skill: skill.order)
    return replace(
        parts[0],
        description=next((part.description for part in parts if part.description.strip()), ""),
        tool_names=tuple(dict.fromkeys(name for part in parts for name in part.tool_names)),
        instructions="\n\n".join(dict.fromkeys(part.instructions for part in parts if part.instructions)),
        examples=tuple(dict.fromkeys(example for part in parts for example in part.examples)),
    )


def _clashes(groups: Iterable[ReActSkillSpec], documents: Iterable[AgentSkill]) -> Iterator[str]:
    seen = {group.name: "a toolset" for group in groups}
    for skill in documents:
        if skill.name in seen:
            yield f"skill {skill.name!r} of {skill.directory} has the name of one of {seen[skill.name]}; rename one"
        seen[skill.name] = str(skill.directory)


def _known_tools_only(skill: AgentSkill, tools: set[str]) -> AgentSkill:
    """Limit the allowed tools of ``skill`` to those that the agent has, under their names here; if there are none,
    there is no limit (D8).
    """
    if skill.allowed_tools is None:
        return skill
    ours = {name: _ours(name, tools) for name in skill.allowed_tools}
    unknown = [name for name, found in ours.items() if not found and name != "*"]
    known = tuple(dict.fromkeys(tool for found in ours.values() for tool in found))
    if unknown:
        effect = "" if known else " None is left, so it limits nothing."
        rules = " Limits on arguments belong under permissions: in the agent file."
        warnings.warn(
            f"{skill.directory}: skill {skill.name!r} names {', '.join(unknown)}, which this agent does not have."
            f"{near(unknown[0], tools)}{rules if any('(' in name for name in unknown) else ''}{effect}"
            f" Tools: {', '.join(sorted(tools)) or 'none'}",
            SkillWarning,
            stacklevel=2,
        )
    return replace(skill, allowed_tools=None if "*" in ours else known or None)


FOREIGN: Mapping[str, tuple[str, ...]] = {
    "bash": ("run_command",),
    "shell": ("run_command",),
    "terminal": ("run_command",),
    "read": ("read_file", "list_directory"),
    "view": ("read_file", "list_directory"),
    "write": ("write_file",),
    "create": ("write_file",),
    "edit": ("edit_file",),
    "multiedit": ("edit_file",),
    "ls": ("list_directory",),
    "glob": ("find_files",),
    "grep": ("search_files",),
    "webfetch": ("web_fetch",),
    "websearch": ("web_search",),
}
"""Names of tools in other clients, in lower case, and our tools that do the same."""


def _ours(name: str, tools: set[str]) -> tuple[str, ...]:
    """The tools of this agent that an entry of ``allowed-tools`` means: ``Bash(git:*)`` is ``run_command`` here."""
    bare = name.partition("(")[0]
    last = bare.rpartition("__")[2]  # mcp__server__tool
    candidates = (bare, bare.lower(), last, *FOREIGN.get(bare.lower(), ()))
    return tuple(dict.fromkeys(candidate for candidate in candidates if candidate in tools))
