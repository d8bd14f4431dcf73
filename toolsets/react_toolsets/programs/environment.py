"""The environment of programs: little of ours, for everything else may be a secret."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that programs get; besides, those that begin with ``LC_``."""


def scrubbed_environment(extra: Mapping[str, str] | None = None, also: Iterable[str] = ()) -> dict[str, str]:
    """The environment for programs: what :data:`PASSED_ON` and ``also`` list, then ``extra``."""
    names = {*PASSED_ON, *also}
    passed = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    return {**passed, **(extra or {})}
