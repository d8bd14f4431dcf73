"""The policy model: solves a task from what it can see, and misbehaves as it is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.guards.reworded import reworded
from benchmarks.guards.tasks import NUMBER, Task
from benchmarks.guards.view import View, look
from react_run import Message, Model, ModelError, ModelRequest, ModelResponse, ToolRequest, Usage
from react_run.engine.context import BYTES_PER_TOKEN, size_in_bytes
from react_run.models.protocol import RequestChecker

PATIENCE = {"clean": 0, "obedient": 1, "slow": 2, "stubborn": 10**9}
"""How many reminders a persona needs before it behaves."""
SELECTOR = "activate_tool_skill"
PRICE = 1e-6
"""USD per token."""


@dataclass
class Wanted:
    """A call that a reply asks for."""

    name: str
    arguments: dict[str, Any] | str
    id: str


@dataclass
class Reply:
    """A reply before it is sent; mischief changes it."""

    text: str = ""
    calls: list[Wanted] = field(default_factory=list)
    finish: str = ""
    extra: dict[str, object] = field(default_factory=dict)


@dataclass
class Moment:
    """When a reply is given: what mischief may look at."""

    view: View
    request: ModelRequest
    task: Task
    random: Random
    persona: str

    @property
    def active(self) -> bool:
        """Whether the persona still misbehaves."""
        return self.view.reminders < PATIENCE[self.persona]


Mischief = Callable[[Reply, Moment], None]


def behaves(reply: Reply, moment: Moment) -> None:
    """No mischief."""


class PolicyModel(Model):
    """Solves ``task``, disturbed by ``mischief``."""

    task: Any
    mischief: Any = behaves
    persona: str = "clean"
    seed: str = ""
    hard_window: int = 100_000
    """Tokens above which a request is refused."""
    window: int | None = None
    """Tokens that the model admits to be able to read."""
    in_other_words: bool = False
    """Whether everything that the runtime says is read in words that nobody knows."""
    priced: bool = True
    """Whether replies say what they cost."""

    @property
    def name(self) -> str:
        return "policy"

    @property
    def context_window(self) -> int | None:
        return self.window

    def model_post_init(self, _: object) -> None:
        self.__dict__["sent"] = []
        self.__dict__["checker"] = RequestChecker()
        self.__dict__["random"] = Random(self.seed)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.__dict__["checker"].check(request)  # L5: raises when a provider would refuse the request
        tokens = size_in_bytes(request.messages) // BYTES_PER_TOKEN + 50 * len(request.tools)
        self.__dict__["sent"].append(tokens)
        if tokens > self.hard_window:
            raise ModelError("the request is too long", provider="policy", status=400, code="context_overflow")
        reply = self._reply(reworded(request, self.task.prompt) if self.in_other_words else request)
        requests = tuple(
            ToolRequest(id=wanted.id, name=wanted.name, arguments=wanted.arguments) for wanted in reply.calls
        )
        written = len(reply.text) // BYTES_PER_TOKEN + 20 * len(requests) + 1
        return ModelResponse(
            message=Message(role="assistant", content=reply.text, tool_requests=requests, extra=reply.extra),
            usage=Usage(
                input_tokens=tokens, output_tokens=written, cost=PRICE * (tokens + written) if self.priced else None
            ),
            finish_reason=reply.finish or ("tool_calls" if requests else "stop"),
            model="policy",
        )

    @property
    def sent(self) -> list[int]:
        """The sizes of all requests, in tokens."""
        sizes: list[int] = self.__dict__["sent"]
        return sizes

    def _reply(self, request: ModelRequest) -> Reply:
        if not any(message.role == "user" and message.text == self.task.prompt for message in request.messages):
            found = re.findall(NUMBER, request.messages[-1].text)
            return Reply(text="; ".join(f"page {page}: number {number}." for page, number in found) or "nothing yet")
        view = look(request)
        move = self.task.step(view)
        reply = Reply(text=move.text)
        calls = move.calls
        if calls and SELECTOR in view.tools and calls[0][0] not in view.tools:
            calls = [(SELECTOR, {"skill": "lab"})]
        for number, (name, arguments) in enumerate(calls):
            reply.calls.append(Wanted(name, dict(arguments), f"call_{request.call}_{number}"))
        self.mischief(
            reply,
            Moment(view=view, request=request, task=self.task, random=self.__dict__["random"], persona=self.persona),
        )
        return reply
