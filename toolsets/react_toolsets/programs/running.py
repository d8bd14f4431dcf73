"""Running one program: a deadline, bounded output, and no process left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from react_toolsets.programs.output import Output

GRACE = 0.25
"""Seconds a program gets between being asked and being made to end."""
_DRAIN = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """How a program ended.

    ``status`` is its exit status, negative for the signal that ended it; ``output`` what it wrote to standard output
    and standard error, as it came, with a note where something was left out of its middle; ``dropped`` the bytes beyond
    the ceiling; ``timed_out`` says the deadline came first.
    """

    status: int
    output: str
    dropped: int = 0
    timed_out: bool = False


async def run_program(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109  # what it wrote until then is part of the result
    ceiling: int,
    tail: int = 0,
    launcher: Sequence[str] = (),
    stdin: bytes | None = None,
) -> Finished:
    """Run ``command`` in a process group of its own.

    Whatever ends the wait (the program, the deadline, cancellation) ends the whole group.

    Args:
        command: Program and arguments; no shell reads them.
        directory: The working directory.
        environment: All its variables.
        timeout: Seconds until it is ended.
        ceiling: Bytes of output that are kept; more is read and dropped.
        tail: How many of them are kept from its end.
        launcher: A command that confines what it is given and runs it, such as ``bwrap …``.
        stdin: What it reads on its standard input.

    Raises:
        OSError: It could not be started.
    """
    reading, writing = os.pipe()
    given = _file_of(stdin)
    try:
        process = await asyncio.create_subprocess_exec(
            *launcher,
            *command,
            cwd=directory,
            env=dict(environment),
            stdin=given,
            stdout=writing,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
        if given != asyncio.subprocess.DEVNULL:
            os.close(given)
    output = Output(ceiling, tail)
    reader = asyncio.ensure_future(output.read(reading))
    timed_out = hurried = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        hurried = await _end(process)
        try:  # a process that left the group may still hold the pipe
            await asyncio.wait((reader,), timeout=0 if hurried else _DRAIN)
        finally:
            reader.cancel()
    if hurried:
        raise asyncio.CancelledError
    await asyncio.wait((reader,))
    status = process.returncode if process.returncode is not None else -signal.SIGKILL
    return Finished(status=status, output=output.text(), dropped=output.dropped, timed_out=timed_out)


def _file_of(stdin: bytes | None) -> int:
    """A descriptor to read ``stdin`` from: of a file, so that nobody has to feed a program that does not read."""
    if stdin is None:
        return asyncio.subprocess.DEVNULL
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        return os.dup(file.fileno())


async def _end(process: asyncio.subprocess.Process) -> bool:
    """Ask the group to end, and make it; whether we were cancelled meanwhile, as when the event loop is closed.

    That makes it end at once, but it is waited for all the same: nothing may be left behind, and it is over in no time.
    """
    hurried = False
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE):
                await process.wait()
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            hurried = True
    _signal(process.pid, signal.SIGKILL)
    while process.returncode is None:
        try:
            await process.wait()
        except asyncio.CancelledError:
            hurried = True
    return hurried


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        os.killpg(group, number)
