"""What became of a case, seen from every side that a case can expect something of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tests.models.cases import Case, Json

from react_run import ModelError, ModelResponse, ReActStep, Run, RunResult, ToolRequest, hookimpl


class Watching:
    """Sees the run, and what every model call gave."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.replies: list[ModelResponse | ModelError] = []

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        self.run = run

    @hookimpl(trylast=True)
    async def react_model_call(self, proceed: Callable[[], Awaitable[ModelResponse]]) -> ModelResponse:
        try:
            self.replies.append(await proceed())
        except ModelError as error:
            self.replies.append(error)
            raise
        response = self.replies[-1]
        assert isinstance(response, ModelResponse)
        return response


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What became of a case.

    ``outcome`` is the result, or what was raised instead; ``bodies`` are the requests as a provider got them, ``ran``
    names the tools whose functions ran.
    """

    case: Case
    client: str
    outcome: RunResult | BaseException
    watching: Watching
    prompt: str = "go"
    bodies: Sequence[Json] = ()
    ran: Sequence[str] = ()
    exit_status: int | None = None

    @property
    def result(self) -> RunResult:
        assert isinstance(self.outcome, RunResult), self.outcome
        return self.outcome

    @property
    def run(self) -> Run:
        assert self.watching.run is not None
        return self.watching.run

    @property
    def first(self) -> ModelResponse | ModelError:
        return self.watching.replies[0]

    @property
    def requests(self) -> int:
        return len(self.bodies) or len(self.watching.replies)

    def answered(self) -> list[tuple[ToolRequest, ReActStep]]:
        """Every request for a tool, with what became of it."""
        calls = [call.request for iteration in self.run.iterations for call in iteration.calls]
        return list(zip(calls, self.run.outcome.steps, strict=True))

    def told(self, request: ToolRequest) -> str:
        """What the provider was told of a request for a tool."""
        (told,) = [m for m in sent(self.bodies[-1], "tool") if m["tool_call_id"] == request.id]
        return str(told["content"])


def sent(body: Json, role: str) -> list[Json]:
    return [message for message in body["messages"] if message["role"] == role]


def calls_sent(body: Json) -> list[Json]:
    return [call for message in sent(body, "assistant") for call in message.get("tool_calls") or ()]
