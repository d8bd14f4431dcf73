"""The plugin ``cache``: reuses results of read-only tools."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import cached_property, partial
from typing import ClassVar, TypeVar

from pydantic import Field, PrivateAttr

from react_plugins.cache_key import key_of, outlives_the_process
from react_plugins.cache_store import MemoryStore, SqliteStore, Store
from react_plugins.matching import matches
from react_run import Disposition, Iteration, LocalPath, Observation, Outcome, Plugin, Run, ToolCall, hookimpl

T = TypeVar("T")


LOCAL = "because its toolset contains objects that another process cannot recognise"


class Fresh:
    """The results of an iteration that are not stored yet (key, generation, observation), and the notes given."""

    def __init__(self) -> None:
        self.read: dict[ToolCall, tuple[str, int, Observation]] = {}
        self.told: set[str] = set()
        """Tools for which the run has a note that their results do not outlive the process."""


class Cache(Plugin):
    """Answers a tool call from an earlier result of the same tool with the same arguments and toolset options.

    Only results of tools declared `read_only` and not `repeatable` are cached. Failures are never cached. When a tool
    declared `read_only=False` runs, the cache is cleared. Permission is checked before a cached result is returned, as
    if the tool ran. In `react-run eval`, repeats do not share cached results.
    """

    kind: ClassVar[str] = "cache"

    path: LocalPath | None = None
    """A SQLite file that outlives the process and may be shared; by default the cache is in memory."""
    ttl: float | None = Field(default=None, gt=0)
    """Seconds for which a result may be used; by default until something changes."""
    tools: list[str] = Field(default=["*"])
    """The tools whose results may be cached, as globs; all by default."""
    also: list[str] = Field(default_factory=list)
    """Tools, as globs, to cache even though they are not declared `read_only`, or are `repeatable`."""
    max_entries: int = Field(default=10_000, ge=1)
    """Maximum number of results; the oldest are removed first."""

    _scope: Callable[[Run], str] | None = PrivateAttr(default=None)

    def keep_apart(self, scope: Callable[[Run], str]) -> None:
        """Separate the cache by the text from ``scope``; ``react-run eval`` gives each repeat of a case its own."""
        self._scope = scope

    @cached_property
    def _store(self) -> Store:
        if self.path is None:
            return MemoryStore(self.max_entries)
        return SqliteStore(self.path, self.max_entries)

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def _fresh(self) -> Fresh:
        """The state of this plugin, created by `run.state`; it is separate if the kind is listed twice."""
        return Fresh()

    @hookimpl
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        tool = call.tool
        if tool is None or call.problem is not None or not self._may_keep(call):
            try:
                return await proceed()
            finally:
                if tool is not None and tool.read_only is False and call.executed:
                    self._try(run, self._store.clear)
        scope = self._scope(run) if self._scope is not None else ""
        key = key_of(tool, call.arguments, scope)
        told = run.state(self._fresh).told
        if self.path is not None and call.name not in told and not outlives_the_process(tool):
            told.add(call.name)
            run.note(self.kind, f"{call.name}: cached for this process only, {LOCAL}")

        async def find() -> tuple[int, str | None]:
            return self._try(run, lambda: self._known(key)) or (-1, None)

        # Recorded, because the cache is outside of the run: a replay gets the same answers as the run.
        generation, text = await run.recorded(f"cache {call.name} {call.key}", find)
        if text is not None:
            refusal = await call.refusal()
            if refusal is not None:
                return refusal
            if key_of(tool, call.arguments, scope) == key:
                run.note(self.kind, f"{call.name}: answered from the cache")
                return _read(text)
        observation = await proceed()
        if call.executed and not observation.failed and not observation.repaired and not observation.parts:
            # The key for the arguments that were used: an inner plugin may have changed them.
            run.state(self._fresh).read[call] = (key_of(tool, call.arguments, scope), generation, observation)
        return observation

    @hookimpl(trylast=True)
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        """Store the results that are still successes after sensors and policies have judged them."""
        fresh = run.state(self._fresh).read
        for call in iteration.calls:
            if call in fresh and call.observation is not None and not call.observation.failed:
                self._try(run, partial(self._keep, run, *fresh[call]))
        fresh.clear()

    def _may_keep(self, call: ToolCall) -> bool:
        tool = call.tool
        if tool is None:
            return False
        sure = tool.read_only is True and not tool.repeatable and matches(call.name, self.tools)
        return sure or matches(call.name, self.also)

    def _known(self, key: str) -> tuple[int, str | None]:
        text = self._store.get(key, since=0.0 if self.ttl is None else self.now() - self.ttl)
        if text is not None:
            _read(text)  # an unreadable entry counts as missing
        return self._store.generation(), text

    def _keep(self, run: Run, key: str, generation: int, observation: Observation) -> None:
        text = _written(observation)
        if self.path is not None and run.agent.config.masker.mask(text) != text:
            return  # secrets are not written to a file
        self._store.put(key, text, now=self.now(), generation=generation)

    def _try(self, run: Run, work: Callable[[], T]) -> T | None:
        """Run ``work``; if the store cannot be used, note it and return ``None``."""
        try:
            return work()
        except (OSError, sqlite3.Error, ValueError) as error:
            run.note(self.kind, f"cannot be used: {error}")
            return None


def _written(observation: Observation) -> str:
    outcome = None if observation.outcome is None else asdict(observation.outcome)
    return json.dumps({"content": observation.content, "outcome": outcome}, ensure_ascii=False)


def _read(text: str) -> Observation:
    """Parse a result from :func:`_written`; a shared file may contain anything.

    Raises:
        ValueError: It is not a stored result.
    """
    try:
        data = json.loads(text)
        outcome = data["outcome"]
        if outcome is not None:
            outcome = Outcome(**{**outcome, "disposition": Disposition(outcome["disposition"])})
        return Observation(content=data["content"], outcome=outcome)
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"a stored result is damaged: {error}") from error
