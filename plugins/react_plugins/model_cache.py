"""The plugin ``model_cache``: reuses replies of the model to identical requests."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from pydantic import Field, PrivateAttr

from react_plugins.cache_key import NotPlain, plain
from react_plugins.cache_store import MemoryStore, SqliteStore, Store
from react_run import (
    Iteration,
    LocalPath,
    Message,
    ModelRequest,
    ModelResponse,
    Plugin,
    Run,
    ToolRequest,
    Usage,
    hookimpl,
)

_log = logging.getLogger(__name__)
T = TypeVar("T")
DAY = 86_400.0
_WHOLE = ("stop", "tool_calls")
"""Finish reasons of replies that are cached."""


class ModelCache(Plugin):
    """Answers a request from an earlier reply to the same request: same model, messages, tools and settings.

    Only requests whose tools are all declared `read_only` are answered from the cache, and only complete replies are
    cached. An answer from the cache costs nothing, and counts as an iteration. In `react-run eval`, repeats do not
    share cached replies.
    """

    kind: ClassVar[str] = "model_cache"

    path: LocalPath | None = None
    """A SQLite file that outlives the process and may be shared; by default the cache is in memory."""
    ttl: float = Field(default=DAY, gt=0)
    """Seconds for which a reply may be used; a day by default."""
    max_entries: int = Field(default=10_000, ge=1)
    """Maximum number of replies; the oldest are removed first."""

    _scope: Callable[[Run], str] | None = PrivateAttr(default=None)
    _warned: bool = PrivateAttr(default=False)

    def keep_apart(self, scope: Callable[[Run], str]) -> None:
        """Separate the cache by the text from ``scope``; ``react-run eval`` gives each repeat of a case its own."""
        self._scope = scope

    @cached_property
    def _store(self) -> Store:
        return MemoryStore(self.max_entries) if self.path is None else SqliteStore(self.path, self.max_entries)

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    @hookimpl
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        key = self._key(run, iteration.request)
        if key is None:
            return await proceed()

        async def find() -> str | None:
            return self._try(run, lambda: self._known(key))

        # Recorded, because the cache is outside of the run: a replay gets the same answers as the run.
        text = await run.recorded(f"model cache {iteration.number}", find)
        if text is not None:
            run.note(self.kind, f"iteration {iteration.number}: answered from the cache")
            return _read(text)
        response = await proceed()
        if response.finish_reason in _WHOLE and (text := _written(response)) is not None:
            self._try(run, lambda: self._keep(run, key, text))
        return response

    def _key(self, run: Run, request: ModelRequest) -> str | None:
        """The key for ``request``; ``None`` if it must not be answered from the cache."""
        if not all(tool.read_only is True for tool in request.tools):
            return None
        try:
            model = plain(run.agent.model)
        except NotPlain:
            return None
        asked = [
            model,
            [_as_data(message) for message in request.messages],
            [tool.wire for tool in request.tools],
            request.tool_choice,
            dict(request.settings),
            request.output_schema,
        ]
        if self._scope is not None:
            asked.append(self._scope(run))
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"), default=repr)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _known(self, key: str) -> str | None:
        text = self._store.get(key, since=self.now() - self.ttl)
        if text is not None:
            _read(text)  # an unreadable entry counts as missing
        return text

    def _keep(self, run: Run, key: str, text: str) -> None:
        if self.path is not None and run.agent.config.masker.mask(text) != text:
            return  # secrets are not written to a file
        self._store.put(key, text, now=self.now(), generation=self._store.generation())

    def _try(self, run: Run, work: Callable[[], T]) -> T | None:
        """Run ``work``; if the store cannot be used, note it, warn once, and return ``None``."""
        try:
            return work()
        except (OSError, sqlite3.Error, ValueError) as error:
            run.note(self.kind, f"cannot be used: {error}")
            if not self._warned:
                self._warned = True
                _log.warning("%s cannot use %s, so the model is called: %s", self.kind, self.path, error)
            return None


def _as_data(message: Message) -> dict[str, Any]:
    content = message.content if isinstance(message.content, str) else [dict(part) for part in message.content]
    requests = [[request.id, request.name, request.arguments] for request in message.tool_requests]
    return {
        "role": message.role,
        "content": content,
        "requests": requests,
        "answers": message.tool_request_id,
        "extra": dict(message.extra),
    }


def _written(response: ModelResponse) -> str | None:
    """``response`` as text; ``None`` if it contains more than text and calls."""
    data = _as_data(response.message)
    try:
        return json.dumps(
            {**data, "finish_reason": response.finish_reason, "model": response.model}, ensure_ascii=False
        )
    except (TypeError, ValueError):  # from a custom model
        return None


def _read(text: str) -> ModelResponse:
    """Parse a reply from :func:`_written`, with no cost; a shared file may contain anything.

    Raises:
        ValueError: It is not a stored reply.
    """
    try:
        data = json.loads(text)
        requests = tuple(ToolRequest(id=id_, name=name, arguments=given) for id_, name, given in data["requests"])
        message = Message(role="assistant", content=data["content"], tool_requests=requests, extra=dict(data["extra"]))
        usage = Usage(input_tokens=0, output_tokens=0, cost=0.0, requests=0)
        return ModelResponse(message=message, usage=usage, finish_reason=data["finish_reason"], model=data["model"])
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"a stored reply is damaged: {error}") from error
