"""Skills: tools that the model unlocks together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReActSkillSpec:
    """A group of tools that is offered once the model activates it (behaviour D).

    Args:
        name: What the model activates.
        description: When to activate it; the model chooses by this text alone.
        tool_names: The tools it unlocks.
        instructions: What the model reads on activation.
        examples: Requests that call for this skill.
        order: Skills of one name from several toolsets merge in this order, lowest first.
    """

    name: str
    description: str
    tool_names: tuple[str, ...]
    instructions: str = ""
    examples: tuple[str, ...] = ()
    order: int = 0
