"""A database for the tests of the ``sql`` toolset."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.postgres import NoServer, Server

PASSWORD = "hunter2000-secret"
SCHEMA = """
CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, joined date, balance numeric(10, 2));
COMMENT ON TABLE customers IS 'Who buys';
COMMENT ON COLUMN customers.balance IS 'in EUR';
CREATE TABLE notes (id serial PRIMARY KEY, customer int REFERENCES customers, body jsonb);
INSERT INTO customers (name, joined, balance)
VALUES ('Ada', '2026-01-07', 12.50), ('Blaise', NULL, -3), ('100%', NULL, 0);
CREATE SCHEMA archive;
CREATE TABLE archive.old_orders (id int);
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL server of our own, which asks for a password."""
    pytest.importorskip("psycopg", reason="the extra sql is not installed")
    try:
        started = Server("fsync=off", password=PASSWORD)
    except NoServer as reason:
        pytest.skip(str(reason))
    started.psql(SCHEMA)
    yield started
    started.end()
