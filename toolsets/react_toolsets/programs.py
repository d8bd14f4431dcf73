"""Running programs for a model: little of our environment, a deadline, bounded output, and no process left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that programs get; besides, those that begin with ``LC_``. Everything else may be a secret."""
GRACE = 0.25
"""Seconds a program gets between being asked and being made to end."""
_DRAIN = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """How a program ended.

    ``status`` is its exit status, negative for the signal that ended it; ``output`` what it wrote to standard output
    and standard error, as it came; ``dropped`` the bytes beyond the ceiling; ``timed_out`` says the deadline came first.
    """

    status: int
    output: str
    dropped: int = 0
    timed_out: bool = False


def scrubbed_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for programs: what :data:`PASSED_ON` lists, and ``extra``."""
    passed = {name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith("LC_")}
    return {**passed, **(extra or {})}


async def run_program(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109  # what it wrote until then is part of the result
    ceiling: int,
    launcher: Sequence[str] = (),
) -> Finished:
    """Run ``command`` with nothing on its standard input, in a process group of its own.

    Whatever ends the wait (the program, the deadline, cancellation) ends the whole group.

    Args:
        command: Program and arguments; no shell reads them.
        directory: The working directory.
        environment: All its variables.
        timeout: Seconds until it is ended.
        ceiling: Bytes of output that are kept; more is read and dropped.
        launcher: A command that confines what it is given and runs it, such as ``bwrap …``.

    Raises:
        OSError: It could not be started.
    """
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *launcher,
            *command,
            cwd=directory,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    output = _Output(ceiling)
    reader = asyncio.ensure_future(output.read(reading))
    timed_out = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await asyncio.shield(asyncio.ensure_future(_end(process)))
        await asyncio.wait((reader,), timeout=_DRAIN)  # a process that left the group may still hold the pipe
        reader.cancel()
        await asyncio.wait((reader,))
    status = process.returncode if process.returncode is not None else -signal.SIGKILL
    return Finished(status=status, output=output.text(), dropped=output.dropped, timed_out=timed_out)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        os.killpg(group, number)


class _Output:
    """The head of what comes out of a pipe."""

    def __init__(self, ceiling: int) -> None:
        self.ceiling, self.kept, self.dropped = ceiling, bytearray(), 0

    async def read(self, descriptor: int) -> None:
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", buffering=0)
        )
        try:
            while chunk := await stream.read(65536):
                room = max(0, self.ceiling - len(self.kept))
                self.kept += chunk[:room]
                self.dropped += len(chunk) - len(chunk[:room])
        finally:
            transport.close()

    def text(self) -> str:
        return self.kept.decode("utf-8", "replace")
