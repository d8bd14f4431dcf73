"""The order of guards: a plugin that names a guard replaces the built-in one, wherever it is listed."""

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

The order matters where two interact: a run is grounded after its last answer, which its time limit includes; repeats
are answered before failures are judged; results are cut before a nudge is added; a reply is judged after its retries.
"""


class Policy(Plugin):
    """A built-in plugin that watches over runs.

    Every agent has one for each ``guard`` it needs. A plugin with the same ``guard``, listed in the agent file or given
    from Python, replaces the built-in one, in the same position.
    """

    guard: ClassVar[str] = ""
    """The name of the guard; by default its ``kind``."""
    stacks: ClassVar[bool] = False
    """Whether another one works alongside the built-in one instead of replacing it."""

    def __init_subclass__(cls, group: str = "", **options: Any) -> None:
        super().__init_subclass__(group=group, **options)
        cls.guard = cls.guard or cls.kind


class Disable(Plugin):
    """Disables a built-in policy: ``{kind: disable, policy: compaction}``."""

    kind: ClassVar[str] = "disable"

    policy: Guard
    """The policy to disable."""


def order_policies(defaults: Iterable[Policy], plugins: Iterable[object]) -> list[object]:
    """``defaults`` in order, without those that ``plugins`` disable, and with replacements."""
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
