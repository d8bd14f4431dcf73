"""The journal of a run: one append-only file that is trace, cassette and checkpoint (behaviour J)."""

from __future__ import annotations

from react_run.journal.canonical import canonical_records
from react_run.journal.reading import Journal, read_journal, read_journals
from react_run.journal.stats import RunStats, ToolStats

__all__ = ["Journal", "RunStats", "ToolStats", "canonical_records", "read_journal", "read_journals"]
