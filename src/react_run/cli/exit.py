"""How the command line exits: every error has its exit status; tracebacks are shown only with ``--debug``."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import NoReturn, TextIO

from react_run.cli.terminal import plain_letters
from react_run.support.text import printable

DEBUG = "--debug"
COMPLETE = "_REACT_RUN_COMPLETE"
PATIENCE = 0.9
"""Seconds to wait at exit for threads that others started."""
INTERRUPTED = 128 + signal.SIGINT
_debugging = ContextVar("debugging", default=False)
_lost = threading.Event()


class Interrupted(Exception):  # this is an exit, not an error
    """The user or the system ended the run by a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(f"interrupted by signal {status - 128}")
        self.status = status


def ended(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    debug = DEBUG in arguments
    _debugging.set(debug)
    arguments = [argument for argument in arguments if argument != DEBUG]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=plain_letters())
    try:
        with lost_interrupts(), nullcontext() if debug else warnings_to(complain):
            status = _called(arguments, debug)
    except BrokenPipeError:
        return _pipe_closed()
    except KeyboardInterrupt:
        return INTERRUPTED
    return _flushed(status)


def leave(status: int) -> NoReturn:
    """Exit; neither a late Ctrl-C nor a thread that hangs longer than :data:`PATIENCE` can prevent it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Python remembers a Ctrl-C that interrupted an exec() of text, as in dataclasses during import, even if it was
    # caught, and would then kill itself with SIGINT instead of exiting with a status. Another exec() makes it forget.
    exec("")
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        watch = threading.Timer(PATIENCE, os._exit, (status,))
        watch.daemon = True
        watch.start()
    gc.freeze()  # Python collects garbage twice more at exit, which takes a tenth of a short run
    sys.exit(status)


@contextmanager
def lost_interrupts() -> Iterator[None]:
    """Remember a Ctrl-C that Python cannot raise, as in a callback of a C library, and suppress its traceback."""
    before = sys.unraisablehook

    def hear(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            _lost.set()
        else:
            before(lost)

    sys.unraisablehook = hear
    try:
        yield
    finally:
        sys.unraisablehook = before
        _lost.clear()


def end_if_interrupted() -> None:
    """Exit now if a Ctrl-C was lost earlier.

    Raises:
        Interrupted: One was lost.
    """
    if _lost.is_set():
        _lost.clear()
        raise Interrupted(INTERRUPTED)


@contextmanager
def warnings_to(say: Callable[[str], None]) -> Iterator[None]:
    """Print warnings as plain text, without the line of code that issued them."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"warning: {printable(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def logs_to(say: Callable[[str], None]) -> Iterator[None]:
    """Print log records that no other handler takes: what failed and why, without the traceback."""
    import logging

    class Words(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            first, *more = record.getMessage().splitlines() or [""]
            say(f"warning: {printable(f'{first}: {more[-1].strip()}' if more else first)}")

    own = logging.lastResort
    if not _debugging.get():
        logging.lastResort = Words(logging.WARNING)
    try:
        yield
    finally:
        logging.lastResort = own


def _called(arguments: list[str], debug: bool) -> int:
    from click.exceptions import Abort, ClickException, Exit, UsageError

    from react_run.cli.app import application, no_such_file
    from react_run.errors import ReactError, blamed, pass_on_interrupt

    try:
        if COMPLETE in os.environ:
            application.main(arguments, prog_name="react-run", complete_var=COMPLETE)
        with application.make_context("react-run", arguments) as context:  # main() would turn a closed pipe into 1
            result = application.invoke(context)
        return result if isinstance(result, int) else 0
    except Exit as error:
        return error.exit_code
    except Interrupted as error:
        return error.status
    except Abort:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
            error.show()
        else:
            asked = error.ctx if isinstance(error, UsageError) else None
            way_out = f"\n`{asked.command_path} --help` shows the options." if asked else ""
            complain(f"{error.format_message()}{way_out}")
        return error.exit_code
    except Exception as error:
        pass_on_interrupt(error)
        if debug:
            print(printable(traceback.format_exc().rstrip()), file=sys.stderr)
        elif isinstance(error, ReactError):
            missing = getattr(error, "missing", "")  # the user may have meant a command
            complain(no_such_file(missing) if missing else str(error))
        elif where := blamed(error):
            complain(f"{where} failed: {type(error).__name__}: {error}\n{DEBUG} shows the traceback.")
        elif isinstance(error, OSError):
            complain(reason_of(error))
        else:
            complain(f"internal error: {type(error).__name__}: {error}\nPlease report it; {DEBUG} shows the traceback.")
        return error.exit_status if isinstance(error, ReactError) else 1


def complain(text: str) -> None:
    """Print an error on stderr."""
    write_error_line(f"react-run: {printable(text)}")


def write_error_line(line: str) -> bool:
    """Print a line on stderr, and return whether anybody still reads it. If not, what is under way continues."""
    if sys.stderr is None:
        return False
    try:
        print(line, file=sys.stderr, flush=True)
    except BrokenPipeError:
        _to_nowhere(sys.stderr)
        return False
    return True


@contextmanager
def unread_output() -> Iterator[None]:
    """Continue when the reader of stdout has gone; nothing more is written there."""
    try:
        yield
    except BrokenPipeError:
        _to_nowhere(sys.stdout)


def reason_of(error: OSError) -> str:
    """Describe an error with a file or stream."""
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF) and not error.filename:
        return f"cannot write the output: {error.strerror}"
    if error.errno == errno.ENOENT and not error.filename:
        return "the working directory no longer exists; change to another one"
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"


def _flushed(status: int) -> int:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        _pipe_closed()
        return status
    except OSError as error:
        _to_nowhere(sys.stdout)
        complain(reason_of(error))
        return status or 1
    return status


def _pipe_closed() -> int:
    """The reader closed the pipe: this is not a failure, and nothing more is written."""
    for stream in (sys.stdout, sys.stderr):
        _to_nowhere(stream)
    return 0


def _to_nowhere(stream: TextIO | None) -> None:
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def settle_in() -> None:
    """Tune the garbage collector for a long-lived process: skip what is already loaded, and collect seldom.

    With thousands of concurrent runs, Python's default thresholds spend more time collecting than the runs take, and
    finished runs need no collector. Only programs do this: a library must not decide it for its host process.
    """
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
