"""CPU of the ``openai`` client, bare httpx and the official SDK, against a stub server in another process.

    python -m benchmarks.openai_client [--litellm]

Prints one JSON line per client and measure. The clients take turns within one process, so that ratios hold even where
absolute figures drift; ``ratio`` is to bare httpx.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from react_run.messages import Message, ModelRequest, ToolRequest

ROUNDS = 300
TURNS = 7
CALLS = 40
CONCURRENT = 50

Call = Callable[[], Awaitable[object]]


@contextmanager
def server() -> Iterator[str]:
    """The stub server, as another process; yields its URL."""
    command = [sys.executable, "-m", "tests.models.stub_server", "--lenient"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait()


def history(iterations: int) -> list[Message]:
    """A system prompt, a question, and ``iterations`` iterations of one tool call each."""
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="Count the words.")]
    for number in range(iterations):
        call = ToolRequest(id=f"call_{number}", name="count", arguments={"text": "one two three", "page": number})
        messages.append(Message(role="assistant", tool_requests=(call,)))
        messages.append(Message(role="tool", tool_request_id=call.id, content=f"page {number}: 3 words, nothing else"))
    return messages


def ours(url: str) -> Callable[[list[Message], bool], Call]:
    """``OpenAIModel``."""
    from react_run.models.openai import OpenAIModel

    model = OpenAIModel(model="stub", base_url=url)

    def make(messages: list[Message], stream: bool) -> Call:
        request = ModelRequest(messages=messages, run_id=f"run {len(messages)}")

        async def call() -> object:
            if not stream:
                return await model.complete(request)
            return [item async for item in model.stream(request)]

        return call

    return make


def wire_messages(messages: list[Message]) -> list[Any]:
    """The messages as plain data, for the clients that take them in that form."""
    from react_run.models.wire import message_json

    return [message_json(message) for message in messages]


def bare(url: str) -> Callable[[list[Message], bool], Call]:
    """httpx and json: the minimum that a careful user would write by hand."""
    import httpx

    client = httpx.AsyncClient(timeout=60)

    def make(messages: list[Message], stream: bool) -> Call:
        body = {"model": "stub", "messages": wire_messages(messages)}

        async def call() -> object:
            if not stream:
                return (await client.post(f"{url}/chat/completions", json=body)).json()
            async with client.stream("POST", f"{url}/chat/completions", json={**body, "stream": True}) as response:
                return [json.loads(line[6:]) async for line in response.aiter_lines() if line.startswith("data: {")]

        return call

    return make


def official(url: str) -> Callable[[list[Message], bool], Call]:
    """The SDK of OpenAI."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    def make(messages: list[Message], stream: bool) -> Call:
        body = wire_messages(messages)

        async def call() -> object:
            if not stream:
                return await client.chat.completions.create(model="stub", messages=body)
            chunks = await client.chat.completions.create(model="stub", messages=body, stream=True)
            return [chunk async for chunk in chunks]

        return call

    return make


def litellm(url: str) -> Callable[[list[Message], bool], Call]:
    """``LiteLLMModel``."""
    from react_run.models.litellm import LiteLLMModel

    model = LiteLLMModel(model="openai/stub", base_url=url, api_key="none")

    def make(messages: list[Message], stream: bool) -> Call:
        request = ModelRequest(messages=messages, run_id=f"run {len(messages)}")

        async def call() -> object:
            if not stream:
                return await model.complete(request)
            return [item async for item in model.stream(request)]

        return call

    return make


async def cpu(call: Call, count: int) -> float:
    """CPU milliseconds of one call."""
    begin = time.process_time()
    for _ in range(count):
        await call()
    return (time.process_time() - begin) * 1000 / count


async def throughput(call: Call) -> float:
    """Calls per second of wall time, 50 at a time."""

    async def worker() -> None:
        for _ in range(10):
            await call()

    begin = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONCURRENT)))
    return CONCURRENT * 10 / (time.perf_counter() - begin)


async def measure(url: str, names: list[str]) -> None:
    """Measure the clients in turns, and print the results."""
    makers = {"ours": ours, "httpx": bare, "sdk": official, "litellm": litellm}
    clients = {name: makers[name](url) for name in names}
    short, long = history(1), history(ROUNDS)
    for measure_name, messages, stream in (
        ("call", short, False),
        ("stream_50", short, True),
        ("call_602", long, False),
    ):
        calls = {name: make(messages, stream) for name, make in clients.items()}
        for call in calls.values():
            await cpu(call, 3)
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(TURNS):
            for name, call in calls.items():
                taken[name].append(await cpu(call, CALLS if messages is short else CALLS // 4))
        middle = {name: statistics.median(values) for name, values in taken.items()}
        for name, value in middle.items():
            report(measure_name, "cpu_ms", name, round(value, 3), round(value / middle["httpx"], 2))
    rates = {name: await throughput(make(short, False)) for name, make in clients.items()}
    for name, rate in rates.items():
        report("concurrent_50", "calls_per_s", name, round(rate), round(rate / rates["httpx"], 2))


def report(measure_name: str, unit: str, client: str, value: float, ratio: float) -> None:
    """Print one JSON line."""
    print(
        json.dumps(
            {"benchmark": "openai_client", "measure": measure_name, "client": client, unit: value, "ratio": ratio}
        )
    )


def main() -> None:
    """Run the benchmark."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    names = ["ours", "httpx", "sdk", *(["litellm"] if "--litellm" in sys.argv else [])]
    with server() as url:
        asyncio.run(measure(url, names))


if __name__ == "__main__":
    main()
