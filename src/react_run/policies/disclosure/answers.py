"""The texts about activations for the model: results, errors, and why a call was refused (behaviours D2, D3)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from react_run.outcome import Observation, Outcome
from react_run.policies.disclosure.groups import SELECTOR
from react_run.policies.disclosure.selector import FOUND, LISTED, search
from react_run.skills import AgentSkill, ReActSkillSpec
from react_run.support.display import shown_value

FILES_SHOWN = 50
_NEXT = (
    "Nothing is answered yet: the activation did not answer the user, it only made the tools in available_tools "
    "callable. Call the ones you need now, then answer from their results."
)


def _said(fields: Mapping[str, object], outcome: Outcome, repairs: tuple[str, ...] = ()) -> Observation:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    # Half of the instructions would no longer be what their author wrote, so they are neither cut nor moved.
    return Observation(content=text, outcome=outcome, repaired=repairs, whole="instructions" in fields)


def activated(
    skill: ReActSkillSpec,
    active: Iterable[str],
    tools: Sequence[str],
    *,
    explicit: bool,
    repairs: tuple[str, ...] = (),
) -> Observation:
    """``skill`` is now active, in addition to those in ``active``; ``tools`` can be called from the next iteration
    on.
    """
    fields: dict[str, object] = {
        "status": "ok",
        "activated_skill": skill.name,
        "active_skills": sorted(active),
        "available_tools": list(tools),
        "instructions": skill.instructions,
    }
    if isinstance(skill, AgentSkill):
        fields |= _about(skill)
    if explicit:
        fields["next_action"] = _NEXT
    return _said(fields, Outcome.success(), repairs)


def _about(skill: AgentSkill) -> dict[str, object]:
    about: dict[str, object] = {}
    if skill.compatibility:
        about["compatibility"] = skill.compatibility
    if skill.files and skill.tool_names:
        more = len(skill.files) - FILES_SHOWN
        about["files"] = [*skill.files[:FILES_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return about


def matches(words: str, skills: Sequence[ReActSkillSpec]) -> Observation:
    """The result of a search among many skills."""
    hits = search(words, skills)
    fields: dict[str, object] = {
        "status": "ok",
        "found": [{"skill": skill.name, "description": " ".join(skill.description.split())} for skill in hits],
    }
    if not hits:
        fields["hint"] = "no skill has any of these words; try others, for the thing itself or what is done to it"
    return _said(fields, Outcome.success())


def _failed(code: str, message: str) -> Observation:
    return _said({"status": "error", "error": {"code": code, "message": message}}, Outcome.retryable(code, message))


def invalid(sent: object, skills: Sequence[ReActSkillSpec]) -> Observation:
    """The call did not name exactly one skill."""
    return _failed(
        "invalid_skill_activation",
        f'{SELECTOR} takes the name of one skill: {{"skill": "{skills[0].name}"}}. You sent {shown_value(sent, 200)}. '
        f"{_choices('', skills)}",
    )


def unknown(name: str, skills: Sequence[ReActSkillSpec]) -> Observation:
    """There is no such skill."""
    return _failed("unknown_skill", f"there is no skill {shown_value(name)}. {_choices(name, skills)}")


def _choices(name: str, skills: Sequence[ReActSkillSpec]) -> str:
    if len(skills) <= LISTED:
        return f"Skills: {', '.join(skill.name for skill in skills)}."
    near = ", ".join(skill.name for skill in search(name, skills, FOUND))
    return f"{f'Nearest: {near}. ' if near else ''}There are {len(skills)} skills: look for one with search."


def already_active(name: str, tools: Sequence[str]) -> Observation:
    """The skill was activated before."""
    use = f"use its tools ({', '.join(tools)})" if tools else "follow its instructions"
    return _failed("already_active", f"the skill {name!r} is active already: {use}, activate another skill, or answer.")


def not_disclosed(tool: str, skills: Iterable[ReActSkillSpec], active: Mapping[str, ReActSkillSpec]) -> str:
    """Why ``tool``, which ``skills`` unlock, cannot be called yet, and what to do."""
    names = [skill.name for skill in skills]
    if any(name in active for name in names):
        reason = "its skill was activated in this same reply, so it is offered from now on. Call it again"
    elif names:
        choice = " or ".join(repr(name) for name in names[:3])
        reason = f"it is not offered yet. Activate the skill {choice} with {SELECTOR}, then call it in your next reply"
    else:
        reason = (
            f"it is not offered while only skills are active that limit the tools ({', '.join(active)}). "
            "Use the tools that are offered, or activate another skill"
        )
    return f"{tool} did not run: {reason}."


def not_active(tool: str, skill: str, names: Collection[str]) -> str:
    """Why a file tool may not touch ``skill``."""
    if skill not in names:
        return f"{tool} did not run: there is no skill {shown_value(skill)}."
    return f"{tool} did not run: the skill {skill!r} is not active. Activate it with {SELECTOR} first."
