"""Conversations stored by the server: one turn at a time, separate for each token and agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from react_run.errors import ReactError
from react_run.journal.locks import try_lock
from react_run.journal.sessions import Session
from react_run.serve.errors import wrong
from react_run.serve.signals import Signal

if TYPE_CHECKING:
    from react_run.serve.jobs import Job

_LOOK_AGAIN = 0.05
"""Seconds between two attempts to lock a conversation that another process is using."""


class Sessions:
    """The turns of stored conversations."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}

    def named(self, agent: str, name: str, by: str) -> Session:
        """The conversation that a user has with an agent under ``name``.

        Raises:
            ApiError: The name is not valid.
        """
        try:
            Session.named(name)
            return Session.named("-".join(part for part in ("serve", _plain(agent), _plain(by), name) if part)[:100])
        except ReactError as error:
            raise wrong(str(error), "X-React-Session") from None

    @asynccontextmanager
    async def turn(self, job: Job, kept: Session) -> AsyncIterator[None]:
        """Run one turn of a conversation, while turns of other requests and processes wait."""
        async with self._lock(kept), _file_lock(kept):
            job.messages = [*kept.read(), *job.messages]
            yield
            if job.result is not None:
                kept.write(job.result.messages, job.served.agent.config.masker)

    @asynccontextmanager
    async def late_turn(self, job: Job, kept: Session) -> AsyncIterator[None]:
        """Run a resumed turn. It is stored only if the conversation has not continued without it."""
        yield
        async with self._lock(kept), _file_lock(kept):
            if job.result is not None and list(kept.read()) == list(job.messages):
                kept.write(job.result.messages, job.served.agent.config.masker)

    def _lock(self, kept: Session) -> asyncio.Lock:
        return self._locks.setdefault(str(kept.path), asyncio.Lock())


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)


@asynccontextmanager
async def _file_lock(kept: Session) -> AsyncIterator[None]:
    """Lock a conversation against other processes."""
    kept.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(kept.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        while not try_lock(lock):
            await Signal().wait(_LOOK_AGAIN)
        yield
    finally:
        os.close(lock)
