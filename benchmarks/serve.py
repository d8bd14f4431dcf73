"""What a server adds to runs in a process: CPU of a run and of a streamed chunk, memory, and time to start.

``python -m benchmarks.serve [REQUESTS]``: requests of the memory test, 1,000 by default.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import httpx
import psutil

from benchmarks.measure import report
from react_run import ReActAgent
from react_run.journal.recorder import Recorder

RUNS = 400
CONNECTIONS = 8
WORDS = 2_000
FILE = """\
name: one
model:
  kind: scripted
  keep_requests: 0
  replies:
    - tool_calls: [{name: calculate, arguments: {expression: 15*23}}]
      usage: {input_tokens: 9, output_tokens: 3}
    - {text: "The product is 345, which is fifteen times twenty-three.", usage: {input_tokens: 9, output_tokens: 3}}
toolsets: [math]
"""


class Process:
    """A server in another process, and the CPU seconds it has used."""

    def __init__(self, file: str, folder: Path) -> None:
        began = perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "react_run", "serve", file, "--port", "0", "--max-runs", "16"],
            cwd=folder,
            env={**os.environ, "REACT_RUN_HOME": str(folder / "home")},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.url, self.ready = found[0], perf_counter() - began
        self.known = psutil.Process(self.process.pid)

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        times = self.known.cpu_times()
        return float(times.user + times.system)

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


async def ask(url: str, count: int, *, stream: bool) -> None:
    """Send ``count`` requests over a few open connections."""
    body = {"model": "one", "stream": stream, "messages": [{"role": "user", "content": "go"}]}

    async def some(client: httpx.AsyncClient, number: int) -> None:
        for _ in range(number):
            answer = await client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 200, answer.text

    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
        await asyncio.gather(*(some(client, count // CONNECTIONS) for _ in range(CONNECTIONS)))


def in_process(agent: ReActAgent, count: int, *, stream: bool) -> float:
    """CPU seconds of one run without a server, including its result as JSON."""

    async def all_runs() -> None:
        for _ in range(count):
            if stream:
                events = [event async for event in agent.stream("go")]
                json.dumps(events[-1].to_dict())  # type: ignore[union-attr]  # the last one is the result
            else:
                json.dumps((await agent.run("go")).to_dict())

    asyncio.run(all_runs())
    began = process_time()
    asyncio.run(all_runs())
    return (process_time() - began) / count


def per_run(server: Process, agent: ReActAgent) -> None:
    """CPU of a run, whole and streamed, and of a chunk."""
    for stream in (False, True):
        asyncio.run(ask(server.url, RUNS, stream=stream))
        before = server.cpu
        asyncio.run(ask(server.url, RUNS, stream=stream))
        served, alone = (server.cpu - before) / RUNS, in_process(agent, RUNS, stream=stream)
        name = "serve_streamed_run_cpu_ms" if stream else "serve_run_cpu_ms"
        report(
            name,
            served=round(served * 1e3, 3),
            in_process=round(alone * 1e3, 3),
            ratio=round(served / alone, 2),
            target=3,
        )


def per_chunk(folder: Path) -> None:
    """CPU microseconds that the server needs for one streamed chunk of a long answer."""
    text = " ".join(["word"] * WORDS)
    (folder / "long.yaml").write_text(json.dumps({"name": "one", "model": {"kind": "scripted", "replies": [text]}}))
    server = Process("long.yaml", folder)
    try:
        asyncio.run(ask(server.url, CONNECTIONS, stream=True))
        iterations = 24
        before = server.cpu
        asyncio.run(ask(server.url, iterations, stream=True))
        streamed = server.cpu - before
        before = server.cpu
        asyncio.run(ask(server.url, iterations, stream=False))
        whole = server.cpu - before
    finally:
        server.end()
    report("serve_chunk_cpu_us", added=round((streamed - whole) / (iterations * WORDS) * 1e6, 1), target=50)


def memory(server: Process, requests: int) -> None:
    """Report the memory growth of the server in kilobytes per 10,000 requests, after the first ones."""
    asyncio.run(ask(server.url, max(400, requests // 4), stream=False))
    before = server.known.memory_info().rss
    asyncio.run(ask(server.url, requests, stream=False))
    grown = server.known.memory_info().rss - before
    report(
        "serve_memory_kb_per_10000",
        requests=requests,
        grown_kb=grown // 1024,
        per_10000=round(grown / 1024 / requests * 1e4),
    )


def starting(folder: Path) -> None:
    """Report the seconds until requests are answered, compared with ``react-run check`` of the same file."""

    def check() -> float:
        began = perf_counter()
        command = [sys.executable, "-m", "react_run", "check", "one.yaml"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return perf_counter() - began

    def serve() -> float:
        server = Process("one.yaml", folder)
        server.end()
        return server.ready

    checked = min(check() for _ in range(5))
    served = min(serve() for _ in range(5))
    report("serve_ready_s", check=round(checked, 2), ready=round(served, 2), allowed=round(1.5 * checked + 0.5, 2))


def main() -> None:
    """Measure all of it."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "one.yaml").write_text(FILE)
        (folder / "runs").mkdir()
        starting(folder)
        agent = ReActAgent.from_yaml(folder / "one.yaml").replace(journal=Recorder(path=folder / "runs"))
        server = Process("one.yaml", folder)
        try:
            per_run(server, agent)
            memory(server, requests)
        finally:
            server.end()
        per_chunk(folder)


if __name__ == "__main__":
    main()
