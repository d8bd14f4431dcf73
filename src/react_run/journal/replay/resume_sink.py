"""The sink of a resumed run: what its journal has already is not written again (behaviour J4)."""

from __future__ import annotations

import json
from collections import Counter

from react_run.journal.canonical import canonical_record
from react_run.journal.files import Sink
from react_run.journal.lines import to_json
from react_run.journal.reading import Journal, kept
from react_run.journal.values import Record

_ANSWERED = ("model_response", "model_error", "tool_started")


class ContinuingSink:
    """Appends to the journal of a run that is driven once more from its beginning.

    The run does again what it did, so it makes the same records again; those that are there are dropped one for one.
    Until :meth:`go_live`, nothing is written: a run that turns out to do something else leaves its journal as it was.

    Args:
        sink: Takes what is new.
        journal: What is recorded already.
    """

    def __init__(self, sink: Sink, journal: Journal) -> None:
        self._sink = sink
        self._run = journal.run_id
        self._first_call = journal.first_unanswered
        self._offers = set(journal.offers)
        self._live = False
        self._held: list[tuple[Record, str]] = []
        records = kept(journal.valid, self._first_call)
        self._known = Counter(_key(record) for record in records if record["type"] not in ("header", "resumed"))

    def go_live(self) -> None:
        """The next effect is a new one: write from here on, first what was held back.

        Raises:
            JournalError: It cannot be written.
        """
        if not self._live:
            self._live = True
            for record, text in self._held:
                self._sink.write(record, text)
            self._held.clear()

    def write(self, record: Record, text: str) -> None:
        if record["run"] == self._run and self._is_known(record, text):
            return
        if record["type"] == "footer" and not _differs(record):
            self.go_live()
        if self._live:
            self._sink.write(record, text)
        else:
            self._held.append((record, text))

    def _is_known(self, record: Record, text: str) -> bool:
        if record["type"] == "header" or (not self._live and self._comes_from_the_journal(record)):
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

    def _comes_from_the_journal(self, record: Record) -> bool:
        """Whether it is about something that was answered from the journal, also when it is put differently today."""
        match record["type"]:
            case "model_request":
                return bool(record["call"] < self._first_call)
            case "tools":
                return str(record["digest"]) in self._offers
            case "tool_finished":
                return bool(record["executed"])
            case str(kind):
                return kind in _ANSWERED
        return False

    def attach(self, name: str, data: bytes) -> bool:
        attach = getattr(self._sink, "attach", None)
        return attach is not None and attach(name, data)

    async def sync(self) -> None:
        await self._sink.sync()

    def close(self) -> None:
        self._sink.close()


def _differs(footer: Record) -> bool:
    """Whether a run ended because it did not do again what it did."""
    return bool(footer["status"] == "failed" and footer["error"]["type"] == "ReplayMismatch")


def _key(record: Record) -> str:
    return to_json(canonical_record(record))
