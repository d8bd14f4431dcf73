"""The floor: a bare hand-written loop doing the same work as an agent, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]


@dataclass
class BareModel:
    """Asks for one tool call per iteration, ``iterations`` times, then answers."""

    iterations: int
    call: int = 0

    async def complete(self, messages: list[Message]) -> Message:
        self.call += 1
        if self.call > self.iterations:
            return {"role": "assistant", "content": "done"}
        arguments = '{"a":1,"b":2}'
        function = {"name": "add", "arguments": arguments}
        return {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{self.call}", "function": function}]}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def bare_run(model: BareModel, tools: dict[str, Callable[..., object]]) -> str:
    """Think, call tools, observe, repeat."""
    messages: list[Message] = [{"role": "user", "content": "go"}]
    complete: Callable[[list[Message]], Awaitable[Message]] = model.complete
    while True:
        reply = await complete(messages)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            function = call["function"]
            result = tools[function["name"]](**json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
