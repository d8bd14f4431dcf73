"""Connections to PostgreSQL: pools that notice quickly when the server is gone, and its errors in plain words."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from react_run.errors import ConfigError

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

_CONNECTION = {
    "autocommit": True,
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
    "options": "-c idle_in_transaction_session_timeout=3000",
}
"""A connection that was cut silently is noticed within seconds, and a suspended process holds no locks."""


def normal_url(url: str) -> str:
    """The address as libpq knows it."""
    return "postgresql://" + url.partition("://")[2] if url.startswith("postgres") else url


def connect(url: str, *, size: int = 8) -> AsyncConnectionPool:
    """A pool of up to ``size`` connections, which is not open yet.

    Raises:
        ConfigError: The driver is not installed.
    """
    try:
        from psycopg_pool import AsyncConnectionPool
    except ImportError:
        raise ConfigError("--engine postgres://… needs: pip install 'react-run[batch-postgres]'") from None
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # its messages are reported in other words, once
    return AsyncConnectionPool(normal_url(url), min_size=1, max_size=size, timeout=5, open=False, kwargs=_CONNECTION)


def database_errors() -> tuple[type[Exception], ...]:
    """The exceptions that mean that the database is unavailable."""
    from psycopg import InterfaceError, OperationalError
    from psycopg_pool import PoolTimeout

    return (OperationalError, InterfaceError, PoolTimeout)


def database_error(error: BaseException) -> str:
    """The first line of a database's error message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def shown_url(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
