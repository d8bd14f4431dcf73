"""A real server on a real port, in a thread of this process or in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import yaml

from react_run.launch.options import AgentOptions
from react_run.serve.options import ServeOptions
from react_run.serve.server import Server, address_of, listener
from react_run.serve.service import Service

TOOLS = '''
"""Tools of the tests."""

import asyncio
from pathlib import Path

from react_run import Run, tool


@tool
async def effect(name: str, run: Run) -> str:
    """Do something that must not happen twice."""
    await asyncio.sleep(0.01)
    here = Path(__file__)
    with here.with_name("effects").open("a") as file, here.with_name("effects-by-run").open("a") as by_run:
        file.write(name + "\\n")
        by_run.write(run.id + " " + name + "\\n")
    return f"did {name}"


@tool(read_only=True)
async def slow(seconds: float) -> str:
    """Wait."""
    here = Path(__file__)
    here.with_name("begun").touch()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        here.with_name("cancelled").touch()
        raise
    return "waited"


@tool(read_only=True)
def say(text: str) -> str:
    """Say it back."""
    return text
'''


def calling(*calls: tuple[str, dict[str, object]], **fields: object) -> dict[str, object]:
    """A scripted reply that asks for tools."""
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls], **fields}


def agent_file(folder: Path, name: str, replies: list[object], **more: object) -> str:
    """Write an agent with a scripted model, and its tools."""
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    data: dict[str, object] = {
        "name": name,
        "model": {"kind": "scripted", "replies": replies},
        "toolsets": [{"kind": "functions", "path": "tools.py"}],
        **more,
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return str(path)


class Running:
    """A server that runs in a thread of this process."""

    def __init__(self, service: Service, server: Server, url: str) -> None:
        self.service, self.server, self.url = service, server, url
        self.said: list[str] = []
        self.loop: asyncio.AbstractEventLoop | None = None
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def chat(self, model: object, text: str = "go", /, **fields: Any) -> httpx.Response:
        """Ask for a chat completion."""
        body = {"model": model, "messages": [{"role": "user", "content": text}], **fields}
        return self.http.post("/v1/chat/completions", json=body)

    def wait_for(self, status: str, run: str) -> dict[str, Any]:
        """Wait until a run stands so."""
        found: dict[str, Any] = until(
            lambda: data if (data := self.http.get(f"/api/runs/{run}").json())["status"] == status else None
        )
        return found

    def question(self) -> dict[str, Any]:
        """Wait for a question, and give the first."""
        found: dict[str, Any] = until(lambda: next(iter(self.http.get("/api/approvals").json()["approvals"]), None))
        return found

    def call(self, function: Any) -> None:
        """Have something done on the server's thread."""
        assert self.loop is not None
        self.loop.call_soon_threadsafe(function)


def at_once(ask: Callable[[int], None], count: int) -> None:
    """Have something done by several threads."""
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def until(look: Any, seconds: float = 60) -> Any:
    """Look until something is there."""
    end = monotonic() + seconds
    while not (found := look()):
        assert monotonic() < end, "it did not happen"
        sleep(0.02)
    return found


@contextmanager
def serving(*files: str, home: Path, **options: Any) -> Iterator[Running]:
    """Serve agents; the directories of their files are trusted."""
    given = ServeOptions(**{"port": 0, "trust": True, "grace": 0.0, **options})
    given.check()
    directory = home / "data" / "runs"
    directory.mkdir(parents=True, exist_ok=True)
    service = Service(given, [AgentOptions(file=file, trust=given.trust) for file in files], directory)
    service.agents.load()
    found = listener(given)
    said: list[str] = []
    server = Server(service, found, said.append)
    running = Running(service, server, address_of(found))
    running.said = said
    ready = threading.Event()
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            with asyncio.Runner() as runner:
                running.loop = runner.get_loop()
                runner.run(server.run(ready.set))
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert ready.wait(20)
        if failed:
            raise failed[0]
        yield running
    finally:
        running.http.close()
        if thread.is_alive():
            running.call(server.end)
        thread.join(60)
        found.close()
        assert not thread.is_alive()
    if failed:
        raise failed[0]


class Process:
    """`react-run serve` in a process of its own."""

    def __init__(self, arguments: list[str], home: Path, cwd: Path, *, command: str = "serve", **env: str) -> None:
        with (home / "stderr.txt").open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "react_run", command, "--port", "0", *arguments],
                cwd=cwd,
                env={**os.environ, "REACT_RUN_HOME": str(home), **env},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        self.opening = self.process.stdout.readline()
        self.url = next((word for word in self.opening.split() if word.startswith("http")), "")
        self.http = httpx.Client(base_url=self.url, timeout=20, trust_env=False)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def events(text: str) -> list[dict[str, Any]]:
    """The JSON values of a stream of server-sent events, without the end mark."""
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]
