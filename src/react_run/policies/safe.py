"""``failure_handling``: the meaning of ``safe``, ``legacy`` and a custom policy."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from react_run.components import Plugin
from react_run.policies.duplicate_calls import Repeats
from react_run.policies.failures import Failures
from react_run.policies.grounding import Grounding
from react_run.policies.last_answer import LastAnswer
from react_run.policies.order import Policy
from react_run.policies.reply_checks import Replies
from react_run.policies.stuck import Stuck


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

    def policies(self) -> list[Policy]:
        """The guards it includes."""
        return [
            Repeats(),
            Failures(corrections=self.corrections),
            Grounding(),
            LastAnswer(),
            Stuck(nudge_at=self.nudge_at, stop_at=self.stop_at),
            Replies(),
        ]


def failure_policies(chosen: object) -> tuple[list[Policy], list[object]]:
    """The built-in guards and the custom policy for a value of ``failure_handling``.

    Args:
        chosen: ``"safe"``, ``"legacy"``, or a plugin.
    """
    if chosen == "safe":
        chosen = Safe()
    if isinstance(chosen, Safe):
        return chosen.policies(), []
    refusals_only = Replies(empty_replies=0, continuations=0)
    return [refusals_only], [] if chosen == "legacy" else [chosen]
