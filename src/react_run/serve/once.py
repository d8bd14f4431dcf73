"""``Idempotency-Key``: the same request again is the same run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from time import time

from react_run.serve.errors import ApiError
from react_run.serve.jobs import Job

LIFE = 86_400.0
"""Seconds for which a key is remembered."""
_MOST = 2_000
_LONGEST = 255


@dataclass(frozen=True, slots=True)
class _Seen:
    digest: bytes
    job: Job
    since: float


class Once:
    """The runs of requests that came with a key."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], _Seen] = OrderedDict()

    def started(self, key: str | None, by: str, path: str, body: bytes, start: Callable[[], Job]) -> Job:
        """The run of a request: a new one, or that of the same request before.

        Args:
            key: What the client calls the request.
            by: Who asks; keys of different people are different.
            path: Where the request went.
            body: What it said.
            start: Starts the run.

        Raises:
            ApiError: The key stands for another request, or no run can be started now.
        """
        if key is None:
            return start()
        if not key or len(key) > _LONGEST:
            raise ApiError(400, f"Idempotency-Key must have 1 to {_LONGEST} characters", param="Idempotency-Key")
        digest = sha256(path.encode() + b"\n" + body).digest()
        seen = self._seen.get((by, key))
        if seen is not None and time() - seen.since < LIFE:
            if seen.digest != digest:
                text = "this Idempotency-Key was used for another request: take a new one"
                raise ApiError(409, text, code="idempotency_mismatch")
            return seen.job
        job = start()
        self._seen[by, key] = _Seen(digest, job, time())
        self._seen.move_to_end((by, key))
        while len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return job
