"""The environment for programs: only a few of our variables, because others may be secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that programs get, besides those that start with ``LC_``."""


def scrubbed_environment(extra: Mapping[str, str] | None = None, also: Iterable[str] = ()) -> dict[str, str]:
    """The environment for a program: the variables in :data:`PASSED_ON` and ``also``, then ``extra``."""
    names = {*PASSED_ON, *also}
    passed = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    return {**passed, **(extra or {})}
