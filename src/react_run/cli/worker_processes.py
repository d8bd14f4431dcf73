"""A worker for several agents on a database: one process per agent, ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

import click
from click.core import ParameterSource


def one_process_each(context: click.Context, files: Sequence[str]) -> int:
    """Process the rows of each agent in its own process, and return the exit status of the first one that failed.

    The queue serves one agent per process. If one process cannot start, the others end as well.

    Args:
        context: The command line; every process gets its options.
        files: The agent files.
    """
    options = [*_options(context)]
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "react_run", "worker", file, *options],
            start_new_session=True,  # a Ctrl-C reaches them from here, once
        )
        for file in files
    ]
    with _passing_on(workers):
        return _ended(workers)


def _ended(workers: Sequence[subprocess.Popen[bytes]]) -> int:
    left, status = list(workers), 0
    while left:
        with suppress(subprocess.TimeoutExpired):
            left[0].wait(timeout=0.2)
        for worker in [worker for worker in left if worker.poll() is not None]:
            left.remove(worker)
            status = status or abs(worker.returncode)
            if worker.returncode:
                _tell(left, signal.SIGTERM)
    return status


def _options(context: click.Context) -> Iterator[str]:
    """The options as given on the command line."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name in context.params
        if not given or not isinstance(parameter, click.Option):
            continue
        value = context.params[name]
        if parameter.is_flag:
            yield parameter.opts[-1]
        else:
            for one in value if parameter.multiple else (value,):
                yield f"{parameter.opts[-1]}={one}"


@contextmanager
def _passing_on(workers: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Every worker receives the signals."""

    def heard(number: int, frame: FrameType | None) -> None:
        _tell(workers, number)

    before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _tell(workers, signal.SIGTERM)


def _tell(workers: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    for worker in workers:
        if worker.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(worker.pid, number)
