"""The sink of a resumed run: what its journal has already is not written again (behaviour J4)."""

from __future__ import annotations

import json
from collections import Counter

from react_run.journal.canonical import canonical_record
from react_run.journal.files import FileSink
from react_run.journal.lines import to_json
from react_run.journal.reading import Journal, kept
from react_run.journal.values import Record


class ContinuingSink:
    """Appends to the journal of a run that is driven once more from its beginning.

    The run does again what it did, so it makes the same records again; those that are there are dropped one for one.

    Args:
        file: The journal.
        journal: What is in it.
    """

    def __init__(self, file: FileSink, journal: Journal) -> None:
        self._file = file
        self._run = journal.run_id
        records = kept(journal.valid, journal.first_unanswered)
        self._known = Counter(_key(record) for record in records if record["type"] not in ("header", "resumed"))

    def write(self, record: Record, text: str) -> None:
        if record["run"] == self._run and self._is_known(record, text):
            return
        self._file.write(record, text)

    def _is_known(self, record: Record, text: str) -> bool:
        if record["type"] == "header":
            return True
        if not self._known:
            return False
        key = _key(json.loads(text))
        if key not in self._known:
            return False
        self._known[key] -= 1
        if not self._known[key]:
            del self._known[key]
        return True

    async def sync(self) -> None:
        await self._file.sync()

    def close(self) -> None:
        self._file.close()


def _key(record: Record) -> str:
    return to_json(canonical_record(record))
