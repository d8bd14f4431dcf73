"""The sink of a resumed run, which does not write again what the journal already contains (behaviour J4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from react_run.journal.canonical import canonical_record, says_nothing_new
from react_run.journal.lines import from_json, to_json
from react_run.journal.reading import Journal, kept
from react_run.journal.sinks import Sink
from react_run.journal.values import Record

_ANSWERED = ("model_response", "model_error", "tool_started")


class _Recorded:
    """The records of one run that is being repeated."""

    def __init__(self, journal: Journal) -> None:
        self._first_call = journal.first_unanswered
        self._offers = set(journal.offers)
        self._left: dict[Hashable, list[Record]] = {}
        """The records at each place; most places are never looked up."""
        self._counted: dict[Hashable, Counter[str]] = {}
        """The places that were looked up, with the number of times that each record occurs."""
        for record in kept(journal.valid, self._first_call):
            if not (record["type"] in ("header", "resumed") or says_nothing_new(record)):
                self._left.setdefault(_place(record), []).append(record)

    def has(self, record: Record, text: str) -> bool:
        """Whether the journal contains a record that is not used up yet; if so, use it up."""
        place = _place(record)
        if place not in self._left:
            return False
        if place not in self._counted:
            self._counted[place] = Counter(map(_key, self._left[place]))
        key, counted = _key(from_json(text)), self._counted[place]
        if not counted[key]:
            return False
        counted[key] -= 1
        return True

    def answered(self, record: Record) -> bool:
        """Whether a record is about something answered from the journal, even if it would read differently today."""
        match record["type"]:
            case "model_request":
                return bool(record["call"] < self._first_call)
            case "tools":
                return str(record["digest"]) in self._offers
            case "tool_finished":
                return bool(record["executed"])
            case "iteration_finished":
                return says_nothing_new(record)
            case str(kind):
                return kind in _ANSWERED
        return False


class ContinuingSink:
    """Appends to the journal of a run that is repeated from its start.

    The run repeats its effects, and so its records; those that the journal already contains are dropped one by one.
    Nothing is written before :meth:`go_live`, so a run that diverges leaves its journal unchanged.

    Args:
        sink: Takes new records.
        journal: The recorded run.
    """

    def __init__(self, sink: Sink, journal: Journal) -> None:
        self._sink = sink
        self._live = False
        self._held: list[tuple[Record, str]] = []
        self._recorded = {journal.run_id: _Recorded(journal)}

    def follow(self, journal: Journal, resumed: Record, text: str) -> None:
        """Continue a subagent's run as well; ``resumed`` is its record of that."""
        self._sink.write(resumed, text)
        self._recorded[journal.run_id] = _Recorded(journal)

    def go_live(self) -> None:
        """Write from here on, first what was held back: the next effect is a new one.

        Raises:
            JournalError: The journal cannot be written.
        """
        if not self._live:
            self._live = True
            for record, text in self._held:
                self._sink.write(record, text)
            self._held.clear()

    def write(self, record: Record, text: str) -> None:
        recorded = self._recorded.get(record["run"])
        if recorded is not None and self._is_known(recorded, record, text):
            return
        if record["type"] == "footer" and not _differs(record):
            self.go_live()
        if self._live:
            self._sink.write(record, text)
        else:
            self._held.append((record, text))

    def _is_known(self, recorded: _Recorded, record: Record, text: str) -> bool:
        return (
            record["type"] == "header" or (not self._live and recorded.answered(record)) or recorded.has(record, text)
        )

    def attach(self, name: str, data: bytes) -> bool:
        attach = getattr(self._sink, "attach", None)
        return attach is not None and attach(name, data)

    async def sync(self) -> None:
        await self._sink.sync()

    def close(self) -> None:
        self._sink.close()


def _differs(footer: Record) -> bool:
    """Whether a run ended because it diverged from the recording."""
    return bool(footer["status"] == "failed" and footer["error"]["type"] == "ReplayMismatch")


def _place(record: Record) -> Hashable:
    """The record's type and iteration, which never change when a run is repeated."""
    return record["type"], record.get("iteration")


def _key(record: Record) -> str:
    return to_json(canonical_record(record))
