"""Where the prompt comes from: the command line, standard input, or both."""

from __future__ import annotations

import codecs
import os
import select
import stat
import sys

import click

from react_run.cli.exit import complain
from react_run.cli.terminal import is_terminal

PATIENCE = 2.0
"""Seconds to wait for the first byte from a pipe if ``-`` was not given."""


def prompt_from(words: tuple[str, ...]) -> str | None:
    """Build the prompt from the command line and standard input; ``None`` means that there is none, so chat.

    Raises:
        UsageError: The prompt is empty.
    """
    explicit = "-" in words
    text = " ".join(word for word in words if word != "-")
    if is_terminal(sys.stdin) and not explicit:
        return text if text.strip() else None
    piped = _standard_input(patient=explicit or not text)
    prompt = "\n\n".join(part for part in (text.strip(), piped.strip()) if part)
    if not prompt:
        raise click.UsageError("the prompt is empty: give it as an argument, or pipe it in")
    return prompt


def _standard_input(*, patient: bool) -> str:
    try:
        if sys.stdin is None or not (patient or _has_something()):
            return ""
        return _decoded(sys.stdin.buffer.read())
    except (OSError, ValueError):  # closed, or a directory: nothing to read
        return ""


def _decoded(data: bytes) -> str:
    """Decode text, including Windows pipes: a byte order mark may announce UTF-16."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if marked else "utf-8-sig", errors="replace")
    if "\ufffd" in text and "\ufffd".encode() not in data:
        complain("standard input is not valid UTF-8: unreadable bytes are sent as \ufffd (--attach sends files)")
    return text


def _has_something() -> bool:
    """Whether to read standard input in addition to a prompt: not from an inherited pipe that stays idle."""
    descriptor = sys.stdin.fileno()
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    if select.select([descriptor], [], [], PATIENCE)[0]:
        return True
    complain(f"nothing arrived on standard input within {PATIENCE:g} s; continuing without it (give - to wait for it)")
    return False
