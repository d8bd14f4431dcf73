"""A program that runs an agent which can be killed at any instant, and resumes it; one forked child per order.

Orders come as JSON lines on standard input: ``{"folder": …, "after": seconds | null, "at": [record, how] | null}``.
For each, one JSON line goes to standard output: ``{"status": wait status, "answer": …, "error": …}``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from react_run import ReActAgent, tool
from react_run.errors import ReactError
from react_run.journal.files import FileSink
from react_run.journal.reading import read_journals
from react_run.journal.recorder import Recorder
from react_run.journal.replay.resume import prepare
from react_run.journal.sinks import MemorySink
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says

PAUSE = 0.001
ANSWER = "Everything is written."
REPLIES = [
    calls(("append", {"token": "a"}), ("look", {"token": "b"}), text="first"),
    calls(("append", {"token": "c"}), ("append", {"token": "d"}), ("put", {"token": "e"})),
    {"error": {"status": 503, "message": "busy"}},
    calls(("append", {"token": "i"}), ("append", {"token": 7})),
    calls(("sink", {"token": "f"}), ("unknown", {})),
    calls(("append", {"token": "g"}), ("look", {"token": "h"})),
    says(ANSWER),
]


def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Side:
    """The file that tools write to: what stands in it has really happened."""

    def __init__(self, folder: Path) -> None:
        self.file = os.open(folder / "side", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def happens(self, what: str, token: str) -> str:
        await asyncio.sleep(PAUSE)
        os.write(self.file, f"{what} {token}\n".encode())
        await asyncio.sleep(PAUSE)
        return f"{what} {token}: ok"


def tools_of(side: Side) -> list[object]:
    @tool
    async def append(token: str) -> str:
        """Write a token; a second time it would stand there twice."""
        return await side.happens("append", token)

    @tool(read_only=True, repeatable=True)
    async def look(token: str) -> str:
        """Look at something."""
        return await side.happens("look", token)

    @tool(read_only=False, idempotent=True)
    async def put(token: str) -> str:
        """Write a token to where it belongs, once or more."""
        return await side.happens("put", token)

    @tool
    async def sink(token: str) -> str:
        """Write a token, and fail."""
        await side.happens("sink", token)
        raise ValueError("sunk")

    return [append, look, put, sink]


class DyingFile(FileSink):
    """Dies at its n-th write: before it, in the middle of it, or after it."""

    def __init__(self, path: Path, at: tuple[int, str]) -> None:
        self.left, self.how = at
        super().__init__(path, write=self.write_or_die, fsync=lambda _: None)

    def write_or_die(self, descriptor: int, data: bytes) -> int:
        self.left -= 1
        if self.left < 0 or self.how == "never":
            return os.write(descriptor, data)
        if self.left == 0 and self.how == "before":
            kill_me()
        if self.left == 0 and self.how == "within":
            os.write(descriptor, data[: len(data) // 2])
            kill_me()
        written = os.write(descriptor, data)
        if self.left == 0 and self.how == "after":
            kill_me()
        return written


def agent_in(folder: Path) -> ReActAgent:
    return ReActAgent(
        {
            "max_iterations": 20,
            "failure_handling": {"kind": "safe", "corrections": 3},
            "plugins": [{"kind": "model_retries", "first_wait": 4 * PAUSE}],
        },
        model=ScriptedModel(replies=REPLIES, repeat_last=False),
        toolsets=[Functions(functions=tools_of(Side(folder)))],
    )


def open_file(path: Path, at: tuple[int, str] | None) -> FileSink:
    return FileSink(path) if at is None else DyingFile(path, at)


def has_begun(path: Path) -> bool:
    try:
        return bool(read_journals(path))
    except ReactError:
        return False


async def answer(folder: Path, at: tuple[int, str] | None) -> str:
    """Run the agent, or resume its run when there is one."""
    path = folder / "run.jsonl"
    agent = agent_in(folder)
    if has_begun(path):
        ready = prepare(path, agent, open_file=lambda path: open_file(path, at))
        return (await ready.agent.run(ready.prompt, ready.incoming)).answer
    recorder = Recorder.into(open_file(path, at))
    return (await agent.replace(journal=recorder).run("write it all")).answer


def child(order: dict[str, object], result: int) -> None:
    if order["after"] is not None:
        timer = threading.Timer(float(str(order["after"])), kill_me)
        timer.daemon = True
        timer.start()
    at = order["at"]
    try:
        said: dict[str, object] = {
            "answer": asyncio.run(answer(Path(str(order["folder"])), (at[0], at[1]) if isinstance(at, list) else None))
        }
    except Exception as error:
        said = {"error": repr(error)}
    os.write(result, json.dumps(said).encode())


def warm_up() -> None:
    """Import and look up everything once, so that the children need not."""
    with TemporaryDirectory() as folder:
        agent = agent_in(Path(folder)).replace(journal=Recorder.into(MemorySink()))
        assert asyncio.run(agent.run("write it all")).answer == ANSWER


def main() -> None:
    """Follow orders until there are no more."""
    warm_up()
    for line in sys.stdin:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            status = 1
            try:
                child(json.loads(line), writer)
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        with os.fdopen(reader) as stream:
            text = stream.read()
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": status, **json.loads(text or "{}")}), flush=True)


if __name__ == "__main__":
    main()
