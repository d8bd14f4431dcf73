"""The values of ``--engine``."""

from __future__ import annotations

from react_run.errors import ConfigError

EMBEDDED = "sqlite"


def is_embedded(engine: str) -> bool:
    """Return whether ``--engine`` means this machine.

    Raises:
        ConfigError: The value is invalid.
    """
    if engine == EMBEDDED:
        return True
    must_be_known(engine)
    return False


def must_be_known(engine: str) -> None:
    """Reject unknown engines.

    Raises:
        ConfigError: There is no such engine.
    """
    if engine.partition("://")[0] not in ("postgres", "postgresql"):
        raise ConfigError(f"--engine {engine}: write sqlite, or postgres://USER:PASSWORD@HOST/DATABASE")
