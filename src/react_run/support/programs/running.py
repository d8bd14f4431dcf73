"""Runs one program; whatever ends the wait for it also ends the program and all its children (behaviour T2)."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from react_run.support.dataclasses import dataclass
from react_run.support.programs.output import Output
from react_run.support.tasks import running_loop
from react_run.support.threads import given_up

GRACE = 0.25
"""Seconds between SIGTERM and SIGKILL."""
CEILING = 1024 * 1024
"""Default for the bytes of output to keep."""
_DRAIN = 0.25
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows knows one way to end a program


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """How a program ended.

    ``status`` is its exit status, negative for the signal that ended it; ``output`` what it wrote to standard output
    and standard error, interleaved, with a note if something is missing in the middle; ``dropped`` the number of bytes
    beyond the limit; ``timed_out`` is true if the timeout ended it.
    """

    status: int
    output: str
    dropped: int = 0
    timed_out: bool = False


async def run_program(
    command: Sequence[str],
    *,
    directory: Path | str = ".",
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,  # noqa: ASYNC109  # what it wrote until then is part of the result
    ceiling: int = CEILING,
    tail: int = 0,
    launcher: Sequence[str] = (),
    stdin: bytes | None = None,
) -> Finished:
    """Run ``command`` in its own process group.

    Whatever ends the wait (the program's exit, the timeout, cancellation) ends the whole group. In an ``async def``
    tool, the timeout of the call and the end of the run cancel it: await this function, and nothing is left behind. In
    a synchronous tool, call :func:`run_program_sync`.

    Args:
        command: Program and arguments, without a shell.
        directory: The working directory.
        environment: All its variables; by default those of this process, including keys of providers.
        timeout: Seconds until it is ended; the timeout of the call applies as well.
        ceiling: Maximum bytes of output to keep; the rest is read and dropped.
        tail: How many of them to keep from the end.
        launcher: A command that runs the program in a sandbox, such as ``bwrap …``.
        stdin: Its standard input.

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
            env=None if environment is None else dict(environment),
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
    _running.add((os.getpid(), process.pid))
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
    status = process.returncode if process.returncode is not None else -_KILL
    return Finished(status=status, output=output.text(), dropped=output.dropped, timed_out=timed_out)


def run_program_sync(command: Sequence[str], **options: Any) -> Finished:
    """:func:`run_program` for synchronous functions: the group is ended if the call times out or the run ends.

    Args:
        command: As there.
        options: As there.

    Raises:
        OSError: It could not be started.
        RuntimeError: It was called on the thread of an event loop, which it would block.
        CancelledError: The call was abandoned; the return value of the function is ignored.
    """
    if running_loop() is not None:
        raise RuntimeError("run_program_sync would block the event loop: await run_program instead")
    loop = asyncio.new_event_loop()
    try:
        task = loop.create_task(run_program(command, **options))
        with given_up(lambda: _cancel(loop, task)):
            return loop.run_until_complete(task)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Finished]) -> None:
    with suppress(RuntimeError):  # the loop is closed: it is over
        loop.call_soon_threadsafe(task.cancel)


def _file_of(stdin: bytes | None) -> int:
    """A file descriptor for ``stdin``, so that no task has to feed a program that does not read."""
    if stdin is None:
        return asyncio.subprocess.DEVNULL
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        return os.dup(file.fileno())


async def _end(process: asyncio.subprocess.Process) -> bool:
    """Terminate the group, and return whether we were cancelled in the meantime, for instance because the event loop is
    closing.

    A cancellation kills the group at once, but we still wait for it: nothing may be left behind, and it takes almost no
    time.
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
    _signal(process.pid, _KILL)
    while process.returncode is None:
        try:
            await process.wait()
        except asyncio.CancelledError:
            hurried = True
    _running.discard((os.getpid(), process.pid))
    return hurried


_running: set[tuple[int, int]] = set()
"""The running process groups, each with the process that started it: a fork does not end them."""


@atexit.register
def _end_all() -> None:
    """End the remaining groups when Python exits: an abandoned thread has no time to do so."""
    for owner, group in list(_running):
        if owner == os.getpid():
            _signal(group, _KILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(OSError):  # it has ended; macOS refuses a group of zombies
        if hasattr(os, "killpg"):
            os.killpg(group, number)
        else:  # without groups, its children are their own masters
            os.kill(group, number)
