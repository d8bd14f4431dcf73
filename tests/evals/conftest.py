"""What tests of evaluations need."""

from __future__ import annotations

import pytest


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that a provider failed are tried again at once."""
    monkeypatch.setattr("react_run.batch.row_run.waiting_time", lambda failures, error: 0.001)
