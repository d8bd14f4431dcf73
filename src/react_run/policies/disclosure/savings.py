"""How many prompt tokens disclosure saves against offering everything (behaviour D7)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from react_run.policies.disclosure.groups import SELECTOR
from react_run.skills import ReActSkillSpec
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.tools.tool import Tool

CHARACTERS_PER_TOKEN = 4


@dataclass
class Savings:
    """The characters of schemas and instructions that a run sent so far, and would have sent otherwise."""

    requests: int = 0
    sent: int = 0
    of_all: int = 0


class Measure:
    """The sizes of what an agent can offer: tools by their schemas, skills by their instructions."""

    def __init__(self, catalogue: Mapping[str, Tool], skills: Sequence[ReActSkillSpec]) -> None:
        self.catalogue, self.skills = catalogue, skills

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The characters of each tool as sent."""
        return {name: len(json.dumps(tool.wire, ensure_ascii=False)) for name, tool in self.catalogue.items()}

    @cached_property
    def of_all(self) -> int:
        """The characters of a request with every tool, and with the instructions of every skill in the prompt."""
        tools = sum(size for name, size in self.sizes.items() if name != SELECTOR)
        return tools + sum(len(skill.instructions) for skill in self.skills)

    def count(self, savings: Savings, tools: Iterable[Tool], active: Collection[ReActSkillSpec]) -> dict[str, object]:
        """Count one request that offers ``tools`` with the skills in ``active``, and return the report so far."""
        sizes = self.sizes
        savings.requests += 1
        savings.sent += sum([sizes.get(tool.name, 0) for tool in tools])
        savings.sent += sum([len(skill.instructions) for skill in active])
        savings.of_all += self.of_all
        sent, of_all = savings.sent // CHARACTERS_PER_TOKEN, savings.of_all // CHARACTERS_PER_TOKEN
        return {
            "skills": len(self.skills),
            "activated": [skill.name for skill in active],
            "requests": savings.requests,
            "prompt_tokens": sent,
            "prompt_tokens_of_all": of_all,
            "prompt_tokens_saved": of_all - sent,
        }
