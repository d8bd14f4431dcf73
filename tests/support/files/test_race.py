"""Somebody who swaps a directory for a link while we use it gets nothing.

``REACT_RUN_LONG_TESTS`` makes it twenty seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.symlink_race import race


@pytest.mark.slow
def test_swapping_a_directory_for_a_link_leads_nowhere(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    counts = race(tmp_path, seconds=20.0 if os.environ.get("REACT_RUN_LONG_TESTS") else 3.0)
    record_property("faults", sum(counts.values()))
    assert counts["escapes"] == 0
    for attempt in ("read", "write", "list", "find"):  # it met both: otherwise this would prove nothing
        assert counts[f"{attempt}_done"] > 20
        assert counts[f"{attempt}_symbolic_link"] > 20
