"""``failure_handling``: the meaning of ``safe``, ``legacy`` and a custom policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.components import Plugin

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig


class Safe(Plugin):
    """The policies of ``failure_handling: safe`` in one: corrections, duplicate calls, grounded endings, stuck runs.

    Its guards can be configured one by one in ``plugins:`` instead.
    """

    kind: ClassVar[str] = "safe"

    corrections: int = Field(default=1, ge=0)
    """How many failures of one kind the model may correct before the run ends."""
    nudge_at: int = Field(default=2, ge=1)
    """After this many consecutive iterations with nothing new, the model gets a nudge."""
    stop_at: int = Field(default=3, ge=1)
    """After this many consecutive iterations with nothing new, the run ends."""


def safe_handling(config: ReActAgentConfig) -> Safe | None:
    """The options of ``failure_handling: safe``; ``None`` if failures are handled in another way.

    The policies that belong to it ask this in ``for_agent``.
    """
    chosen = config.failure_handling
    return Safe() if chosen == "safe" else chosen if isinstance(chosen, Safe) else None


def own_handling(config: ReActAgentConfig) -> list[object]:
    """The custom policy that ``failure_handling`` names, if it does."""
    chosen = config.failure_handling
    return [] if isinstance(chosen, (str, Safe)) else [chosen]
