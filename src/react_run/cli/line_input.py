"""Reads lines that a person types, with editing and history if prompt-toolkit is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from react_run.cli.terminal import is_dumb, is_terminal

PROMPT = "> "


class LineReader(Protocol):
    """A source of lines."""

    interactive: bool

    def read(self) -> str:
        """Return the next line.

        Raises:
            EOFError: There are no more.
            KeyboardInterrupt: The user pressed Ctrl-C.
        """


def line_reader(words: Sequence[str]) -> LineReader:
    """Return the best reader for this terminal; it completes ``words`` if it can."""
    if not is_terminal(sys.stdin):
        return _Piped()
    if is_terminal(sys.stdout) and not is_dumb():
        try:
            return _Edited(words)
        except ImportError:
            pass
    return _Plain()


class _Piped:
    interactive = False

    def read(self) -> str:
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            raise EOFError
        return line


class _Plain:
    interactive = True

    def __init__(self) -> None:
        with suppress(ImportError):
            import readline  # noqa: F401  # importing it gives input() line editing

    def read(self) -> str:
        if is_terminal(sys.stdout):
            return input(PROMPT)
        print(PROMPT, end="", file=sys.stderr, flush=True)
        return input()


class _Edited:
    interactive = True

    def __init__(self, words: Sequence[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory

        from react_run.support.user_dirs import state_directory

        directory = state_directory()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(directory / "chat-history")),
            completer=WordCompleter(list(words), sentence=True),
            complete_while_typing=False,
        )

    def read(self) -> str:
        return self._session.prompt(PROMPT)
