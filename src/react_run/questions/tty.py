"""Asks the person at the controlling terminal, whatever standard input and output are connected to."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from select import select

LONGEST_LINE = 1_000
_one_at_a_time = threading.Lock()


async def ask_on_terminal(question: str) -> str | None:
    """Ask ``question`` and return the stripped answer; ``None`` if there is no terminal.

    If this is cancelled, the thread waiting for the answer ends. Questions of concurrent runs wait for each other.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()
    wake, hold = os.pipe()

    def wait() -> None:
        try:
            typed = _asked(question, wake)
        finally:
            os.close(wake)
        with suppress(RuntimeError):  # the loop is closed, and the question with it
            loop.call_soon_threadsafe(lambda: None if answer.done() else answer.set_result(typed))

    threading.Thread(target=wait, name="react-run-question", daemon=True).start()
    try:
        return await answer
    finally:
        os.close(hold)  # wakes the thread, if it still waits


def _asked(question: str, wake: int) -> str | None:
    try:
        import termios
    except ImportError:  # not a POSIX system: there is no terminal to ask at
        return None
    while not _one_at_a_time.acquire(timeout=0.1):
        if select([wake], [], [], 0)[0]:
            return None
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        try:
            if os.tcgetpgrp(terminal) != os.getpgrp():  # in the background, reading would stop the process
                return None
            termios.tcflush(terminal, termios.TCIFLUSH)  # text typed before the question does not answer it
            os.write(terminal, question.encode("utf-8", "replace"))
            return _line(terminal, wake)
        finally:
            os.close(terminal)
    except (OSError, termios.error):
        return None
    finally:
        _one_at_a_time.release()


def _line(terminal: int, wake: int) -> str | None:
    typed = b""
    while not typed.endswith(b"\n") and len(typed) < LONGEST_LINE:
        if wake in select([terminal, wake], [], [])[0]:
            return None
        piece = os.read(terminal, LONGEST_LINE)
        if not piece:  # end of input
            break
        typed += piece
    return typed.decode("utf-8", "replace").strip()
