"""``on_limit: ask``: a person may let a run continue where a limit would end it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy
from react_run.questions import NO, YES, Question

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run

SHARE = 2
"""A person is asked to add the limit divided by this."""


async def extended(run: Run, limit: str, more: str, *, by_clock: bool = False) -> bool:
    """Whether a person grants ``more`` beyond ``limit``; false if nobody can be asked.

    ``by_clock`` means that the question depends on the time, so that a replay may not ask it.
    """
    name = run.agent.config.name or "The agent"
    text = f"{name} has reached its limit of {limit}. Allow {more} more?"
    answer = await run.ask(Question(text, choices=(YES, NO), default=NO, by_clock=by_clock))
    return answer is not None and answer.value == YES


class MoreIterations(Policy):
    """Asks a person for more iterations when a run has used up its own, before it ends."""

    kind: ClassVar[str] = "more_iterations"
    inside: ClassVar[Mapping[str, str]] = {
        "limits": "nobody is asked for iterations that the limits would not allow",
    }

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if config.limits.on_limit == "ask" else None

    @hookimpl
    async def react_iteration(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]
    ) -> Iteration:
        iteration = await proceed()
        if run.outcome.stop_reason is None and len(run.iterations) >= run.max_iterations:
            limit = run.agent.config.max_iterations
            more = -(-limit // SHARE)
            if await extended(run, f"{run.max_iterations} iterations", f"{more}"):
                run.max_iterations += more
                run.note(self.guard, f"{more} more iterations were allowed")
        return iteration
