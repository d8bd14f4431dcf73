"""The journal of a run: one append-only file that is trace, cassette and checkpoint (behaviour J)."""
