"""A database for the tests of batches on many machines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.postgres import NoServer, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of our own."""
    pytest.importorskip("dbos", reason="the extra batch-postgres is not installed")
    try:
        started = Server("fsync=off")  # what is killed here is a process, never the machine
    except NoServer as reason:
        pytest.skip(str(reason))
    yield started
    started.end()
