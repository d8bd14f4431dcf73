"""The tool by which a model activates a skill (behaviours D1, D2), and the search that keeps it small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from react_run.policies.disclosure.groups import SELECTOR
from react_run.skills import ReActSkillSpec
from react_run.tools.tool import MAX_DESCRIPTION, Tool

LISTED = 50
"""How many skills the selector describes; further ones are found by search."""
FOUND = 10
"""How many skills a search returns."""

_CONTRACT = """\
Activate one skill: it unlocks that skill's tools and gives you its instructions.
- Name exactly one skill, the one that the next step needs. One reply may contain several activations.
- The tools appear in the next iteration. Calls to them in the reply that activates them are refused.
- Activate another skill later, when a step needs it; never activate skills in advance.
- Activation answers nothing by itself: use the tools, then answer."""

_WORD = re.compile(r"[^\W_]+")


def guide(skills: Sequence[ReActSkillSpec]) -> str:
    """The list of ``skills`` for the system prompt, if the description of the selector has no room for it."""
    listed = _listed(skills)
    if len(skills) > LISTED or len(f"{_CONTRACT}\n\n{listed}") <= MAX_DESCRIPTION:
        return ""
    return f"# Skills\n\nActivate one with {SELECTOR} when a step needs it.\n\n{listed}"


def selector(skills: Sequence[ReActSkillSpec]) -> Tool:
    """The tool for choosing among ``skills``."""
    arguments, catalogue = _by_name(skills) if len(skills) <= LISTED else _by_search(skills)
    return Tool.from_model(
        arguments,
        _not_run,
        name=SELECTOR,
        description=f"{_CONTRACT}\n\n{catalogue}",
        read_only=True,
        bookkeeping=True,
        repeatable=True,
        inline=True,
    )


def _not_run(name: str, arguments: BaseModel) -> str:
    raise RuntimeError(f"{name} is answered by the disclosure policy; a plugin called it past the policy")


def _by_name(skills: Sequence[ReActSkillSpec]) -> tuple[type[BaseModel], str]:
    names: Any = Literal[tuple(skill.name for skill in skills)]
    model = create_model("Activation", skill=(names, Field(description="The skill to activate.")))
    if guide(skills):
        return model, "The section 'Skills' of the system prompt describes each skill."
    return model, f"Skills:\n{_listed(skills)}"


def _listed(skills: Sequence[ReActSkillSpec]) -> str:
    return "\n".join(f"- {skill.name}: {_described(skill)}" for skill in skills)


def _described(skill: ReActSkillSpec) -> str:
    text = " ".join(skill.description.split())
    examples = "; ".join(f"“{' '.join(example.split())}”" for example in skill.examples)
    return f"{text} Examples: {examples}." if examples else text


def _by_search(skills: Sequence[ReActSkillSpec]) -> tuple[type[BaseModel], str]:
    model = create_model(
        "Activation",
        skill=(str, Field("", description="The exact name of the skill to activate.")),
        search=(str, Field("", description="Instead of a name: words that describe what is needed.")),
    )
    return model, (
        f"There are {len(skills)} skills, too many to list. First call this tool with search: a few words for what "
        f"the next step needs; it gives names and descriptions of up to {FOUND} skills. Then activate one by name."
    )


def search(words: str, skills: Sequence[ReActSkillSpec], limit: int = FOUND) -> list[ReActSkillSpec]:
    """The skills that match ``words``, best first.

    Rare words count more, and words in names count threefold.
    """
    wanted = set(_stems(words))
    names = [wanted & set(_stems(skill.name)) for skill in skills]
    texts = [wanted & set(_stems(" ".join([skill.name, skill.description, *skill.examples]))) for skill in skills]
    having = Counter(word for text in texts for word in text)
    worth = {word: log(1 + len(skills) / count) for word, count in having.items()}
    ranked = [
        (sum(worth[word] * (3 if word in name else 1) for word in text), skill)
        for skill, name, text in zip(skills, names, texts, strict=True)
        if text
    ]
    ranked.sort(key=lambda pair: -pair[0])  # stable: equal ones keep their order
    return [skill for _, skill in ranked[:limit]]


def _stems(text: str) -> list[str]:
    """Lower-case words without the most common English endings; short words are left out."""
    words = (word for word in _WORD.findall(text.casefold()) if len(word) > 2)
    return [re.sub(r"(?:ies|ing|es|ed|s|y|e)$", "", word) if len(word) > 4 else word for word in words]
