"""Progressive disclosure: the model unlocks tools and instructions skill by skill (behaviours D1 to D8)."""

from __future__ import annotations

import json
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar

from react_run.engine.execution import refused
from react_run.hookspecs import hookimpl
from react_run.outcome import Observation
from react_run.policies.disclosure import answers
from react_run.policies.disclosure.catalogue import Catalogue
from react_run.policies.disclosure.groups import SELECTOR, skills_of
from react_run.policies.disclosure.savings import Measure, Savings
from react_run.policies.disclosure.selector import LISTED
from react_run.skills import ReActSkillSpec
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.run import Iteration, ReActAgent, Run, ToolCall


def disclosure_for(agent: ReActAgent) -> list[object]:
    """The disclosure policy of an agent: the one in its file, ours if there are skills, else none.

    Raises:
        ConfigError: The skills contradict each other or the tools (behaviour D6).
    """
    config = agent.config
    if not isinstance(config.tool_disclosure, str):
        return [config.tool_disclosure]
    grouped = config.tool_disclosure == "skills"
    skills = skills_of(agent.toolset, grouped=grouped)
    if not skills:
        return []
    policy = Disclosure(
        Catalogue(skills, agent.tools, grouped=grouped),
        must_follow_up=config.skill_activation_followup == "required",
        explicit=config.skill_activation_observation == "explicit",
        expands=config.skill_disclosure_progression == "expand_after_first_success",
    )
    return [policy]


@dataclass
class Disclosed:
    """What a run has disclosed so far.

    ``asked`` are the active skills and those requested in ``calls``, the calls of one reply, which become active when
    the iteration is settled; ``answers`` are the results of its activations, by position.
    """

    active: dict[str, ReActSkillSpec] = field(default_factory=dict)
    asked: dict[str, ReActSkillSpec] = field(default_factory=dict)
    offered: frozenset[str] = frozenset()
    expanded: bool = False
    fresh: bool = False
    calls: list[ToolCall] | None = None
    answers: dict[int, Observation] = field(default_factory=dict)


class Disclosure:
    """Offers a selector, and behind it the tools of each skill.

    Args:
        catalogue: The skills and tools.
        must_follow_up: Whether the model must call a tool right after an activation (D5).
        explicit: Whether an activation reminds the model that nothing is answered yet (D2).
        expands: Whether every tool is offered after the first successful call (D4).
    """

    kind: ClassVar[str] = "disclosure"
    inherited_by_subagents: ClassVar[bool | None] = False  # it concerns only the tools of its own agent

    def __init__(self, catalogue: Catalogue, *, must_follow_up: bool, explicit: bool, expands: bool) -> None:
        self.catalogue = catalogue
        self.measure = Measure(catalogue.tools, catalogue.listed)
        self.must_follow_up, self.explicit, self.expands = must_follow_up, explicit, expands

    @hookimpl
    async def react_guide(self, run: Run) -> str | None:
        return self.catalogue.guide or None

    # -- offering tools --------------------------------------------------------------------------------------------

    @hookimpl
    def react_run(self, run: Run) -> None:
        run.all_tools[SELECTOR] = self.catalogue.tools[SELECTOR]
        self._offer(run, run.state(Disclosed))

    def _offer(self, run: Run, state: Disclosed) -> None:
        """Update the offered tools: new ones at the end, tools of other plugins unchanged (L7)."""
        known = self.catalogue.tools
        state.offered = self.catalogue.offers(state.active.values(), expanded=state.expanded)
        kept = [tool for tool in run.offered_tools if tool.name in state.offered or tool.name not in known]
        present = {tool.name for tool in kept}
        new = [tool for name, tool in known.items() if name in state.offered and name not in present]
        if new or len(kept) < len(run.offered_tools):
            run.offered_tools = (*kept, *new)

    @hookimpl
    def react_iteration(self, run: Run, iteration: Iteration) -> None:
        state = run.state(Disclosed)
        if state.fresh and self.must_follow_up:  # D5
            tools = tuple(tool for tool in iteration.request.tools if tool.name != SELECTOR)
            if tools:
                iteration.request = replace(iteration.request, tools=tools, tool_choice="required")
        state.fresh = False

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        state = run.state(Disclosed)
        succeeded = [call for call in iteration.calls if call.observation is not None and not call.observation.failed]
        chosen = [self.catalogue.skills.get(_named(call)) for call in succeeded if call.name == SELECTOR]
        new = {skill.name: skill for skill in chosen if skill is not None and skill.name not in state.active}
        expands = self.expands and not state.expanded  # D4
        expands = expands and any(call.name in self.catalogue.domain for call in succeeded)
        if not new and not expands:
            return
        state.active |= new
        state.fresh = any(
            next(skill.unlocks, "") for skill in new.values()
        )  # else the model would have nothing to call
        state.expanded = state.expanded or expands
        before = run.offered_tools
        self._offer(run, state)
        if run.offered_tools is not before:
            run.note(self.kind, f"offers {', '.join(tool.name for tool in run.offered_tools)}")

    # -- handling calls ------------------------------------------------------------------------------------------

    @hookimpl
    def react_tool_call(self, run: Run, call: ToolCall) -> Observation | None:
        if call.name != SELECTOR:
            return self._refusal(run, call)  # also here: wrong arguments for a hidden tool must not reveal its schema
        state = run.state(Disclosed)
        self._enter(run, state)
        return state.answers.get(call.position)

    @hookimpl
    def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        return self._refusal(run, call)

    def _refusal(self, run: Run, call: ToolCall) -> Observation | None:
        state, catalogue = run.state(Disclosed), self.catalogue
        if call.name in catalogue.tools and call.name not in state.offered:  # D3
            self._enter(run, state)
            why = answers.not_disclosed(call.name, catalogue.unlocking(call.name), state.asked)
            return refused(why, code="tool_not_disclosed")
        skill = call.arguments.get("skill")
        if call.name in catalogue.file_tools and isinstance(skill, str) and skill not in state.active:
            return refused(answers.not_active(call.name, skill, catalogue.skills), code="skill_not_active")
        return None

    def _enter(self, run: Run, state: Disclosed) -> None:
        """Answer all activations of an iteration together, in request order, whichever call comes first."""
        calls = run.iterations[-1].calls
        if state.calls is calls:
            return
        state.calls, state.asked = calls, dict(state.active)
        wanted = [call for call in calls if call.name == SELECTOR and not _cut_off(call)]
        state.answers = {call.position: self._activate(state, call) for call in wanted}

    def _activate(self, state: Disclosed, call: ToolCall) -> Observation:
        listed = self.catalogue.listed
        name, words = _named(call), call.arguments.get("search")
        call.opaque = name in state.asked  # nothing is missing then, so this is not a reason to doubt an answer
        if len(listed) > LISTED and isinstance(words, str) and words.strip() and not name:
            return answers.matches(words, listed)
        if not name:
            return answers.invalid(call.request.arguments, listed)
        skill = self.catalogue.skills.get(name)
        if skill is None:
            return answers.unknown(name, listed)
        if name in state.asked and (name not in state.active or _still_reads(call.run, skill)):
            return answers.already_active(name, list(skill.unlocks))
        state.asked[name] = skill
        available = self.catalogue.available(state.asked.values(), expanded=state.expanded)
        repairs = call.prepared.repairs
        return answers.activated(skill, state.asked, available, explicit=self.explicit, repairs=repairs)

    # -- savings ----------------------------------------------------------------------------------------------

    @hookimpl
    def react_model_call(self, run: Run, iteration: Iteration) -> None:
        if iteration.request.tools:
            active = run.state(Disclosed).active.values()
            run.outcome.disclosure = self.measure.count(run.state(Savings), iteration.request.tools, active)  # D7


def _named(call: ToolCall) -> str:
    name = call.arguments.get("skill")
    return name.strip() if isinstance(name, str) else ""


def _cut_off(call: ToolCall) -> bool:
    return call.problem is not None and call.problem.outcome is not None and call.problem.outcome.code == "cut_off"


def _still_reads(run: Run, skill: ReActSkillSpec) -> bool:
    """Whether the conversation still contains the instructions of a skill: compaction may have summarised them."""
    written = json.dumps(skill.instructions, ensure_ascii=False)[1:-1]
    return not written or any(written in message.text for message in run.messages)
