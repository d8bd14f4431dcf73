"""``Idempotency-Key``: repeating a request returns the same run, even if an earlier server started it."""

from __future__ import annotations

import asyncio
import json
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time
from uuid import uuid4

from react_run.serve.errors import ApiError
from react_run.serve.jobs import Job
from react_run.support.dataclasses import dataclass

LIFE = 86_400.0
"""Seconds for which a key is valid."""
_MOST = 2_000
"""How many runs are kept in memory with their events; for other keys the journals are read."""
_LONGEST = 255
_SWEEP = 600.0
_GOES_ON = ("disconnected", "drained", "parked")
"""Endings after which a run is resumed when its client repeats the request."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is stored for a key."""

    request: str
    run: str
    since: float


class Once:
    """The runs of requests with an idempotency key, each with a file that outlives the server.

    Args:
        directory: The directory of the files.
        earlier: Finds the run with an id for a caller; ``None`` if it never started.
    """

    def __init__(self, directory: Path, earlier: Callable[[str, str], Awaitable[Job | None]]) -> None:
        self._directory, self._earlier = directory, earlier
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()
        self._swept = float("-inf")

    async def started(self, key: str | None, by: str, path: str, body: bytes, start: Callable[[str], Job]) -> Job:
        """The run of a request: a new one, or the one that an identical request started.

        Args:
            key: The client's idempotency key.
            by: Who is asking; each user has keys of their own.
            path: The path of the request.
            body: The body of the request.
            start: Starts a run with the given id.

        Raises:
            ApiError: The key belongs to another request, or no run can be started now.
        """
        if key is None:
            return start(uuid4().hex)
        if not key or len(key) > _LONGEST:
            raise ApiError(400, f"Idempotency-Key must have 1 to {_LONGEST} characters", param="Idempotency-Key")
        name = sha256(f"{by}\n{key}".encode()).hexdigest()[:40]
        request = sha256(path.encode() + b"\n" + body).hexdigest()
        self._sweep()
        async with self._one_at_a_time:
            kept = self._read(name)
            if kept is None:
                return self._begin(name, request, start)
            if kept.request != request:
                text = "this Idempotency-Key was used for another request: use a new one"
                raise ApiError(409, text, code="idempotency_mismatch")
            job = self._jobs.get(name)
            if job is None or job.ending in _GOES_ON or (job.task is None and not job.ended):
                job = await self._earlier(kept.run, by) or start(kept.run)
            return self._remember(name, job)

    def _begin(self, name: str, request: str, start: Callable[[str], Job]) -> Job:
        run_id = uuid4().hex
        try:
            self._write(name, _Kept(request, run_id, time()))
        except OSError as error:
            raise ApiError(500, f"the Idempotency-Key cannot be stored: {error.strerror or error}") from None
        try:
            return self._remember(name, start(run_id))
        except BaseException:  # no run was started, so the key stays free
            self._path(name).unlink(missing_ok=True)
            raise

    def _remember(self, name: str, job: Job) -> Job:
        self._jobs[name] = job
        self._jobs.move_to_end(name)
        while len(self._jobs) > _MOST:
            self._jobs.popitem(last=False)
        return job

    def _write(self, name: str, kept: _Kept) -> None:
        """Store a key before its run starts, so that a crash cannot start it twice."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(name)
        part = path.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"request": kept.request, "run": kept.run, "since": kept.since}, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def _read(self, name: str) -> _Kept | None:
        try:
            data = json.loads(self._path(name).read_text(encoding="utf-8"))
            kept = _Kept(str(data["request"]), str(data["run"]), float(data["since"]))
        except (OSError, ValueError, KeyError, TypeError):  # missing, or not one of ours
            return None
        return kept if time() - kept.since < LIFE else None

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.json"

    def _sweep(self) -> None:
        """Delete expired keys."""
        if time() - self._swept < _SWEEP:
            return
        self._swept = time()
        with suppress(OSError):
            for path in self._directory.glob("*.json"):
                if time() - path.stat().st_mtime >= LIFE:
                    path.unlink(missing_ok=True)
                    self._jobs.pop(path.stem, None)
