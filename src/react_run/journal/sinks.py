"""Where the records of a run go: what every place for them does, and a place in memory."""

from __future__ import annotations

from typing import Protocol

from react_run.journal.lines import from_json
from react_run.journal.values import Record


class Sink(Protocol):
    """Takes the records of one run and of the runs below it.

    One with a place for attachments has a method ``attach(name, data)``, which says whether it kept them; otherwise
    they stand in the first record that refers to them.
    """

    def write(self, record: Record, text: str) -> None:
        """Take one record, which is ``text`` as JSON.

        Raises:
            JournalError: It cannot be kept.
        """

    async def sync(self) -> None:
        """Return when everything taken so far would survive a crash of the machine.

        Raises:
            JournalError: It cannot be kept.
        """

    def close(self) -> None:
        """Take no more."""


class MemorySink:
    """Keeps records, as a reader of the file would see them."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.attachments: dict[str, bytes] = {}

    def write(self, record: Record, text: str) -> None:
        self.records.append(from_json(text))

    def attach(self, name: str, data: bytes) -> bool:
        """Keep an attachment."""
        self.attachments[name] = data
        return True

    async def sync(self) -> None:
        """Memory is as safe as it gets."""

    def close(self) -> None:
        """There is nothing to release."""
