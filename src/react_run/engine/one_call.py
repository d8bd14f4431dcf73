"""A run with a single call, given by its caller; the same rules apply as for a model's calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from react_run.engine.execution import refused
from react_run.engine.state import EngineState
from react_run.hookspecs import hookimpl
from react_run.loop import Loop, iterate
from react_run.messages import Message, ModelResponse, ToolRequest, Usage
from react_run.outcome import Observation
from react_run.run import Iteration, Run, RunResult, StopReason
from react_run.support.dataclasses import dataclass

CALLER = "caller"
"""The name in the journal, in place of a model's."""


@dataclass
class Call:
    """The call that a run is for."""

    tool: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)

    def be(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Set the call."""
        self.tool, self.arguments = tool, arguments


class OneCall(Loop):
    """Replaces the loop: one iteration, whose reply is the given call."""

    @hookimpl(trylast=True)
    async def react_run(self, run: Run) -> RunResult:
        await iterate(run)
        steps = run.outcome.steps
        run.stop(StopReason.COMPLETED, steps[-1].observation if steps else "")
        return run.result()

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse:
        state, wanted = run.state(EngineState), run.state(Call)
        state.model_calls += 1
        state.model_name = CALLER
        request = ToolRequest(id="call_1", name=wanted.tool, arguments=dict(wanted.arguments))
        return ModelResponse(
            message=Message(role="assistant", tool_requests=(request,)),
            usage=Usage(input_tokens=0, output_tokens=0, cost=0.0),
            finish_reason="tool_calls",
            model=CALLER,
        )


def observed(run: Run) -> Observation:
    """The observation of the call."""
    calls = run.iterations[-1].calls if run.iterations else []
    if calls and calls[-1].observation is not None:
        return calls[-1].observation
    reason = run.outcome.stop_reason
    return refused(f"the call was not made: {run.outcome.answer or reason}", code=str(reason or "refused"))
