"""What one check of ``doctor`` found."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from react_run.support.dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What one check found; ``fix`` is what to do about it."""

    status: Literal["ok", "note", "failed"]
    what: str
    detail: str
    fix: str = ""

    def to_dict(self) -> dict[str, str]:
        """For ``--json``."""
        return asdict(self)
