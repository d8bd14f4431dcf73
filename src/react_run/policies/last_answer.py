"""Gets a last answer: a limit never ends in an exception, but in one more reply, without tools (behaviour S2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from react_run.engine.iteration import call_model, new_request
from react_run.errors import ModelError
from react_run.hooks import late
from react_run.hookspecs import hookimpl
from react_run.messages import Message
from react_run.policies.order import Policy
from react_run.policies.reply_checks import called_in_text
from react_run.policies.safe import safe_handling
from react_run.results import RunResult, StopReason
from react_run.run import Iteration

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Run

ASK = (
    "You cannot call tools any more. Answer now from what the results above show, "
    "and say plainly what is missing or uncertain."
)
ASK_AGAIN = "Tools are not available. Reply with your answer as text."
WHEN = (StopReason.MAX_ITERATIONS, StopReason.STUCK)


class LastWords:
    """The reply after the limit, if any."""

    iteration: Iteration | None = None

    async def forget(self) -> None:
        """The run has ended: break the reference cycle."""
        self.iteration = None


def is_out(run: Run, result: RunResult) -> bool:
    """Whether a run ended at a limit that leaves it an answer."""
    return result.stop_reason in WHEN


class LastAnswer(Policy):
    """Asks the model for a last answer without tools when a run is stuck or out of iterations.

    Tool calls in that reply are ignored, and the model is asked once more. The stop reason does not change.
    """

    kind: ClassVar[str] = "last_answer"
    inside: ClassVar[Mapping[str, str]] = {
        "grounding": "the last answer is grounded, too",
        "limits": "the limits include the last answer",
        "more_iterations": "a person is asked for more iterations first",
    }

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if safe_handling(config) else None

    @hookimpl
    @late(when=is_out)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        result = await proceed()
        run.note(self.guard, f"{result.stop_reason}: asked for an answer without tools")
        message = await self._answer(run)
        if message is not None:
            run.outcome.answer = message.said
            run.messages.append(message)
        return replace(result, answer=run.outcome.answer, usage=run.usage, messages=run.messages)

    async def _answer(self, run: Run) -> Message | None:
        for question in (ASK, ASK_AGAIN):
            run.messages.append(Message(role="user", content=question))
            iteration = Iteration(run, number=len(run.iterations), request=new_request(run, tools=()))
            try:
                response = await call_model(run, iteration)
            except ModelError:  # the limit is why the run ends, not this
                return None
            message = response.message
            if message.tool_requests and question == ASK_AGAIN:
                message = Message(role="assistant", content=response.text)
            if not message.tool_requests and message.said.strip() and not await called_in_text(run, message):
                words = run.state(LastWords)
                words.iteration = iteration
                run.at_end(words.forget)
                return message
        return None
