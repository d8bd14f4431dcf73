"""Builds a reply: the calls that are due, or else the answer, a question, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from react_offline.answering import answer, compared, distinguishing, step_label
from react_offline.conversation import Calls, Conversation, conversation_of
from react_offline.declining import NOT_A_MODEL, abilities, decline
from react_offline.executing import Broken, Call, Settled, Waiting, settle
from react_offline.observations import Result, read_result
from react_offline.plan import Asked, Comparison, Declined, Part, Step, Unlocking
from react_offline.reading import Reading, is_content
from react_offline.skills import unlocking
from react_offline.slots import Card, card_of
from react_offline.text import read
from react_offline.understanding import understand
from react_run.messages import ModelRequest
from react_run.support import dataclass
from react_run.tools.tool import Tool

_UNCLEAR = re.compile(r"mean by '(.{1,200}?)'\?|Which '(.{1,200}?)' is meant|Is (\S{1,200}) the date ")
"""The subject of a question, ours or a tool's."""
_ABILITIES = re.compile(r"(?:help|what (?:else )?can (?:you|i) (?:do|ask)(?: for| here)?)\s*[?.!]*", re.IGNORECASE)
_YES_OR_NO = {"is", "are", "was", "were", "does", "do", "did", "has", "have", "can"}


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's text or calls; ``finish_reason`` is ``refusal`` if it declines everything."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish_reason: str = "stop"


def reply_to(request: ModelRequest, *, allow_changes: bool) -> Reply:
    """The reply to a request; it depends only on the messages and tools."""
    conversation = conversation_of(request.messages, request.call)
    listed = _listed_skills(request)
    cards = [card_of(_with_skills(tool, listed)) for tool in request.tools] if request.tool_choice != "none" else []
    if not cards:
        return _without_tools(conversation)
    selectors = [card for card in cards if card.unlocks]
    domain = tuple(card for card in cards if not card.unlocks)
    understood = _understood(conversation, domain, allow_changes)
    parts = [_or_unlocked(part, selectors, conversation.calls) for part in understood]
    due = _due(parts, conversation.calls)
    if _ABILITIES.fullmatch(conversation.question.strip()) and all(isinstance(part, Declined) for part in parts):
        return Reply(abilities(cards))
    if due:
        return Reply(text=_thought(due), calls=due, finish_reason="tool_calls")
    return _final(parts, conversation.calls, cards)


def _listed_skills(request: ModelRequest) -> str:
    """The list of skills in the system prompt, which is there if it is too long for the tool's description."""
    system = next((message.text for message in request.messages if message.role == "system"), "")
    return system.partition("\n# Skills\n")[2].partition("\n# ")[0]


@lru_cache(maxsize=64)
def _with_skills(tool: Tool, listed: str) -> Tool:
    """``tool`` with the list of skills from the system prompt in its description."""
    refers = bool(listed) and "'Skills' in the system prompt" in tool.description
    if not refers:
        return tool
    extended = replace(tool, description=f"{tool.description}\n{listed}")
    extended.__dict__["wire"] = tool.wire  # it is only read here and never sent, so its length does not matter
    return extended


def _understood(conversation: Conversation, cards: tuple[Card, ...], allow_changes: bool) -> tuple[Part, ...]:
    """The parts of the question; a reply to our question in the previous turn completes that turn's question."""
    parts = understand(conversation.question, cards, allow_changes, conversation.earlier)
    asked = conversation.asked and NOT_A_MODEL not in conversation.asking
    if asked and all(isinstance(part, Declined) for part in parts):
        for completed in _completed(conversation):
            together = understand(completed, cards, allow_changes)
            if all(isinstance(part, Step | Comparison) for part in together):
                return together
    return parts


def _completed(conversation: Conversation) -> Iterator[str]:
    """The previous turn's question with the reply appended, or in place of or before the unclear words."""
    asked, reply = conversation.asked.rstrip(" ?.!"), conversation.question.strip().rstrip(" ?.!")
    yield f"{asked} {reply}"
    if not any(is_content(token) for token in read(reply)):
        return  # thanks, and the like
    if "from" in conversation.asking:
        yield f"{asked} from {reply}"
    found = ["".join(groups) for groups in _UNCLEAR.findall(conversation.asking)]
    unclear = [text for text in found if text in asked]
    for put in ("{reply}", "{reply} {text}"):
        completed = asked
        for text in unclear:
            completed = completed.replace(text, put.format(reply=reply, text=text))
        if unclear:
            yield completed


def _or_unlocked(part: Part, selectors: Sequence[Card], calls: Calls) -> Part:
    """Replace a part that no tool fits with the activation of a skill that may fit it."""
    if not isinstance(part, Declined) or part.could:
        return part
    return unlocking(Reading(read(part.text)), selectors, calls) or part


def _steps(part: Part) -> Sequence[Step]:
    if isinstance(part, Comparison):
        return part.steps
    return [part] if isinstance(part, Step) else []


def _due(parts: Sequence[Part], calls: Calls) -> tuple[Call, ...]:
    """The calls to make now, each once; independent ones together."""
    due: dict[str, Call] = {}
    for part in parts:
        if isinstance(part, Unlocking):
            call = Call(part.card.name, {part.slot: part.member})
            due.setdefault(call.key, call)
        for step in _steps(part):
            settled = settle(step, calls)
            if isinstance(settled, Waiting):
                due.update({call.key: call for call in settled.calls if call.key not in due})
    return tuple(due.values())


def _thought(due: Sequence[Call]) -> str:
    return f"Calling {', '.join(dict.fromkeys(call.name for call in due))}."


def _final(parts: Sequence[Part], calls: Calls, cards: Sequence[Card]) -> Reply:
    declined = [part for part in parts if isinstance(part, Declined)]
    said = _said(parts, calls)
    if not declined:
        return Reply("\n".join(said))
    text = "\n".join([*said, *([""] if said else []), decline(declined, cards)])
    return Reply(text, finish_reason="stop" if said else "refusal")


def _said(parts: Sequence[Part], calls: Calls) -> list[str]:
    steps = [part for part in parts if isinstance(part, Step)]
    labels = distinguishing(steps) if len(steps) == len(parts) else None
    said: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, Asked):
            said.append(part.question)
        elif isinstance(part, Comparison):
            said.append(_comparison(part, calls))
        elif isinstance(part, Step):
            text = _outcome(part, settle(part, calls))
            name = labels[number] if labels else step_label(part)
            said.append(text if len(parts) == 1 else f"{name}: {text}")
    return said


def _outcome(step: Step, settled: Settled) -> str:
    if isinstance(settled, Broken):
        return f"I cannot answer '{step.text}': {settled.reason}."
    if isinstance(settled, Waiting):
        return f"'{step.text}' is not answered yet."
    if settled.failed:
        return f"{step.card.name if step.card else 'the tool'} reports: {settled.message}"
    return answer(step, settled, yes_or_no=step.text.split(" ", 1)[0].casefold() in _YES_OR_NO)


def _comparison(part: Comparison, calls: Calls) -> str:
    settled = [settle(step, calls) for step in part.steps]
    results = [one for one in settled if isinstance(one, Result) and not one.failed]
    if len(results) == len(settled):
        return compared(part, results)
    pairs = zip(part.names, part.steps, settled, strict=True)
    return "; ".join(f"{name}: {_outcome(step, one)}" for name, step, one in pairs)


def _without_tools(conversation: Conversation) -> Reply:
    """A last answer from the results so far, and what is missing."""
    if not conversation.calls:
        reason = Declined(conversation.question, because="no tools are offered.")
        return Reply(decline([reason], []), finish_reason="refusal")
    found, missing = [], []
    step = Step(None, {}, Reading(read(conversation.question)).stems, conversation.question)
    for key, seen in conversation.calls.items():
        name, result = key.partition(" ")[0], read_result(seen[-1])
        if result.failed:
            missing.append(f"Missing: {name} reports: {result.message}")
        else:
            found.append(f"{name}: {answer(step, result, yes_or_no=False)}")
    return Reply("\n".join([f"{NOT_A_MODEL} This is what the tools returned.", *found, *missing]))
