"""Guards and their places: a plugin that names a guard takes the built-in one's place, wherever it was listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, get_args

from react_run.components import Plugin

Guard = Literal[
    "duplicate_calls",
    "failures",
    "grounding",
    "run_timeout",
    "limits",
    "more_iterations",
    "last_answer",
    "acceptance",
    "result_limit",
    "truncated_calls",
    "stuck",
    "budget_warnings",
    "reply_checks",
    "compaction",
    "model_retries",
]
"""The guards, outermost first.

The order matters where two meet: a run is grounded after its last answer, which its time limit includes; repeats are
filled in before failures are judged; results are cut before a nudge is added to them; a reply is judged after the
retries that led to it.
"""


class Policy(Plugin):
    """A built-in plugin that watches over runs.

    Every agent has one for each ``guard`` it needs. A plugin with the same ``guard``, listed in the agent file or given
    from Python, takes the built-in one's place, and is put where that one would have been.
    """

    guard: ClassVar[str] = ""
    """Which guard this is; its ``kind``, unless it says otherwise."""
    stacks: ClassVar[bool] = False
    """Whether another one holds beside the built-in one instead of taking its place."""

    def __init_subclass__(cls, group: str = "", **options: Any) -> None:
        super().__init_subclass__(group=group, **options)
        cls.guard = cls.guard or cls.kind


class Disable(Plugin):
    """Disables a built-in policy: ``{kind: disable, policy: compaction}``."""

    kind: ClassVar[str] = "disable"

    policy: Guard
    """The policy to leave out."""


def order_policies(defaults: Iterable[Policy], plugins: Iterable[object]) -> list[object]:
    """``defaults`` in order, without those that ``plugins`` leave out, and with what takes the place of others."""
    chosen: dict[str, object] = {}
    for plugin in plugins:
        if isinstance(plugin, Disable):
            chosen[plugin.policy] = None
        elif (guard := getattr(plugin, "guard", "")) and not getattr(plugin, "stacks", False):
            chosen[guard] = plugin
    order = get_args(Guard)
    in_order = sorted(defaults, key=lambda policy: order.index(policy.guard))
    places = [chosen.get(policy.guard, policy) for policy in in_order]
    return [policy for policy in places if policy is not None]
