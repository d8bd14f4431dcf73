"""Destinations of a run's records: the protocol, and a sink in memory."""

from __future__ import annotations

from typing import Protocol

from react_run.journal.lines import from_json
from react_run.journal.values import Record


class Sink(Protocol):
    """Takes the records of one run and its subagents.

    A sink that can store attachments has a method ``attach(name, data)``, which returns whether it stored them;
    otherwise they are part of the first record that refers to them.
    """

    def write(self, record: Record, text: str) -> None:
        """Take one record; ``text`` is its JSON form.

        Raises:
            JournalError: It cannot be written.
        """

    async def sync(self) -> None:
        """Return once everything written so far would survive a crash of the machine.

        Raises:
            JournalError: It cannot be made durable.
        """

    def close(self) -> None:
        """Release all resources; no more records follow."""


class MemorySink:
    """Keeps records in memory, in the form that a reader of a file would see."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.attachments: dict[str, bytes] = {}

    def write(self, record: Record, text: str) -> None:
        self.records.append(from_json(text))

    def attach(self, name: str, data: bytes) -> bool:
        """Store an attachment."""
        self.attachments[name] = data
        return True

    async def sync(self) -> None:
        """Do nothing: memory cannot be made more durable."""

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
