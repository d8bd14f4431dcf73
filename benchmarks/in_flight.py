"""Many runs at once through the ``openai`` client: what the connections cost when many calls are in flight.

    python -m benchmarks.in_flight [10 50 200 500]

A server in another process answers each call after 0.2 s; every run makes six calls, one after the other. Prints
one JSON line per number of runs: ``wall_ratio`` is to the ideal (six waits), ``cpu_ratio`` to the first number of runs.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from react_run import ReActAgent, Tool

DELAY = 0.2
CALLS = 6


def reply(body: bytes) -> bytes:
    """A call of ``add`` until the conversation holds enough of them, then an answer."""
    asked = body.count(b'"role":"assistant"')
    if asked < CALLS - 1:
        arguments = json.dumps({"a": asked, "b": 1})
        call = {"id": f"call{asked:05d}", "type": "function", "function": {"name": "add", "arguments": arguments}}
        choice = {
            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
            "finish_reason": "tool_calls",
        }
    else:
        choice = {"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    return json.dumps({"choices": [{"index": 0, **choice}], "model": "m", "usage": usage}).encode()


async def serve() -> None:
    """Print a free port of the loopback, and answer on it until standard input ends."""

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.lower().split(b"\r\n")
                length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
                body = await reader.readexactly(length)
                await asyncio.sleep(DELAY)
                data = reply(body)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(data), data)
                )
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def server() -> Iterator[str]:
    """The server, as another process; yields its URL."""
    command = [sys.executable, "-m", "benchmarks.in_flight", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.stdin.close()
            process.wait()


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def measure(url: str, numbers: list[int]) -> None:
    """Run the numbers of runs at once, each twice, and print the better of the two."""
    tool = Tool.from_function(add, inline=True, repeatable=True, read_only=True)
    model = {"kind": "openai", "model": "m", "base_url": url, "api_key": "x"}
    async with ReActAgent({"model": model}, toolsets=[tool]) as agent:
        await agent.run("go")
        base = 0.0
        for number in numbers:
            best = (float("inf"), float("inf"))
            for _ in range(2):
                gc.collect()
                cpu, wall = time.process_time(), time.perf_counter()
                results = await asyncio.gather(*(agent.run("go") for _ in range(number)))
                cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
                calls = sum(result.usage.requests for result in results)
                assert calls == CALLS * number
                assert all(result.answer == "done" for result in results)
                best = min(best, (cpu / calls * 1000, wall))
            base = base or best[0]
            line = {"in_flight": number, "cpu_ms": round(best[0], 2), "cpu_ratio": round(best[0] / base, 2)}
            line |= {"wall_s": round(best[1], 2), "wall_ratio": round(best[1] / (CALLS * DELAY), 2)}
            print(json.dumps({"benchmark": "in_flight", **line}), flush=True)


def main() -> None:
    """Run the benchmark, or its server."""
    if "--serve" in sys.argv:
        asyncio.run(serve())
        return
    numbers = [int(each) for each in sys.argv[1:]] or [10, 50, 200, 500]
    with server() as url:
        asyncio.run(measure(url, numbers))


if __name__ == "__main__":
    main()
