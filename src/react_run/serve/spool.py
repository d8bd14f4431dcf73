"""Accepted runs that have not started: stored on disk, so that they survive a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_run.models.stored import message_from_dict, message_to_dict

if TYPE_CHECKING:
    from react_run.serve.jobs import Job


class Spool:
    """Stores a file for each waiting run, with secrets masked, until its journal begins.

    Args:
        directory: The directory of the files.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def keep(self, job: Job) -> None:
        """Store an accepted run.

        Raises:
            OSError: The file cannot be written.
        """
        data = {
            "id": job.id,
            "agent": job.served.name,
            "prompt": job.prompt,
            "messages": [message_to_dict(message) for message in job.messages],
            "settings": dict(job.settings),
            "system": job.system,
            "session": job.session,
            "by": job.by,
            "overrides": job.options.get("overrides", {}),
        }
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(job.id)
        part = path.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(job.served.mask(data), file, ensure_ascii=False, default=str)
        part.replace(path)

    def drop(self, run_id: str) -> None:
        """Delete the file of a run that has started or ended."""
        with suppress(OSError):
            self._path(run_id).unlink()

    def left(self) -> Iterator[dict[str, Any]]:
        """The runs that an earlier server accepted but did not start, earliest first."""
        try:
            paths = sorted(self._directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        except OSError:
            return
        for path in paths:
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                data["messages"] = [message_from_dict(message) for message in data["messages"]]
            except (OSError, ValueError, KeyError, TypeError):
                continue  # not one of our files
            yield data

    def _path(self, run_id: str) -> Path:
        return self._directory / f"{run_id}.json"
