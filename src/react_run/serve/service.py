"""The server without HTTP: agents, runs, questions, journals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from react_run.errors import JournalBusy, JournalError, ReactError
from react_run.journal.replay.resume import prepare
from react_run.journal.sessions import Session
from react_run.questions import Answer
from react_run.serve.agents import Agents, ServedAgent
from react_run.serve.approvals import Approval, Approvals, open_questions
from react_run.serve.desk import Desk
from react_run.serve.earlier import earlier
from react_run.serve.errors import ApiError, wrong
from react_run.serve.helpers import Helper
from react_run.serve.jobs import Job, Jobs
from react_run.serve.listing import Entry, entries, full
from react_run.serve.measures import Measures
from react_run.serve.once import Once
from react_run.serve.options import ServeOptions
from react_run.serve.overrides import checked_overrides
from react_run.serve.parked import Parked
from react_run.serve.sessions import Sessions
from react_run.serve.shelf import Shelf, TellingSink, stopped_by_somebody
from react_run.serve.signals import Signal
from react_run.serve.slots import Slots
from react_run.serve.spool import Spool

if TYPE_CHECKING:
    from react_run.launch.options import AgentOptions
    from react_run.messages import Message

logger = logging.getLogger(__name__)
_LOOK_AGAIN = 0.05
_SWEEP = 20.0
"""Seconds between two checks for expired questions."""


class Service:
    """Everything a server does, apart from HTTP.

    Args:
        options: The server's options.
        files: The options of each agent file.
        directory: The directory of the journals.
    """

    def __init__(self, options: ServeOptions, files: Sequence[AgentOptions], directory: Path) -> None:
        self.options = options
        self.shelf = Shelf(directory)
        self.started = time()
        self.approvals = Approvals(go_on=self._go_on, note=self._note)
        self.spool = Spool(directory / "accepted")
        self.desk = Desk(self.approvals, self.spool, park_after=options.park_after, expires=options.expires)
        slots = Slots(options.max_runs, options.queue)
        self.measures = Measures(slots, self.approvals)
        self.agents = Agents(files, self._plugins, self.shelf.recorder)
        self.jobs = Jobs(slots, run_timeout=options.run_timeout)
        self.jobs.on_end += [self.measures.ended, self._over]
        self.once = Once(directory / "keys", self._earlier)
        self.helper = Helper(options.title_model or "offline")
        self.sessions = Sessions()
        self.parked = Parked(self.shelf, self.agents)

    async def _earlier(self, run_id: str, by: str) -> Job | None:
        return await earlier(
            run_id,
            by,
            jobs=self.jobs,
            shelf=self.shelf,
            agents=self.agents,
            approvals=self.approvals,
            resume=self.resume,
        )

    def _plugins(self) -> Iterable[object]:
        return [self.desk, self.measures.plugin]

    # -- the life of the server -------------------------------------------------------------------------------------

    async def begin(self) -> list[str]:
        """Open the agents and find the runs that an earlier server left; return one line about each run."""
        await self.agents.begin()
        said = []
        for journal in self.shelf.interrupted():
            served = self.agents.of_file(journal.header["agent"]["file"])
            if served is None or stopped_by_somebody(journal):
                continue
            if asked := open_questions(list(journal.records), journal.run_id):
                self.parked.take_up(self.approvals, served.name, journal, asked, self.options.expires)
                said.append(f"run {journal.run_id[:12]} is waiting for an answer")
            elif self.options.resume:
                said.append(f"run {journal.run_id[:12]} is being resumed")
                self.jobs.spawn(self._go_on_later(journal.run_id, ""))
            else:
                said.append(f"run {journal.run_id[:12]} was interrupted; --resume resumes it")
        said += self._accepted()
        self.jobs.spawn(self._sweep())
        return said

    def _accepted(self) -> Iterator[str]:
        """Start the runs that an earlier server accepted but did not start, if ``resume`` is on."""
        for data in self.spool.left():
            run_id = str(data["id"])
            if self.shelf.path_of(run_id) is not None:
                self.spool.drop(run_id)
            elif self.agents.get(str(data["agent"])) is None:
                continue
            elif self.options.resume:
                self.jobs.spawn(self._start_later(data))
                yield f"run {run_id[:12]} is being started"
            else:
                yield f"run {run_id[:12]} was accepted but not started; --resume starts it"

    async def _start_later(self, data: Mapping[str, Any]) -> None:
        while self.jobs.slots.full:
            await Signal().wait(_LOOK_AGAIN)
        try:
            served = await self.agents.variant(str(data["agent"]), data["overrides"])
            fields = {name: data[name] for name in ("session", "by", "id", "settings", "system")}
            self.start(self.new_job(served, data["prompt"], data["messages"], streams=True, detached=True, **fields))
        except (ApiError, ReactError) as error:
            logger.warning("run %s cannot start: %s", str(data["id"])[:12], error)

    def start(self, job: Job) -> Job:
        """Start a run that continues without a client, and store it first, so that it survives a crash.

        Raises:
            ApiError: It cannot be started or stored.
        """
        self.jobs.check()
        try:
            self.spool.keep(job)
        except OSError as error:
            raise ApiError(500, f"the run cannot be stored: {error.strerror or error}") from None
        job.spooled = True
        return self.jobs.start(job)

    def _over(self, job: Job) -> None:
        if job.spooled and job.ending != "drained":
            self.spool.drop(job.id)

    async def end(self) -> None:
        """Close the agents."""
        await self.agents.end()

    async def _sweep(self) -> None:
        while not self.jobs.draining:
            await asyncio.sleep(_SWEEP)
            self.approvals.expire()
            await self.agents.close_retired({job.served for job in self.jobs.live.values()})

    @property
    def ready(self) -> bool:
        """Whether new runs are accepted."""
        return self.agents.begun and not self.jobs.draining and not self.jobs.slots.full

    # -- new runs ---------------------------------------------------------------------------------------------------

    def agent(self, name: object) -> ServedAgent:
        """The agent that a request names.

        Raises:
            ApiError: There is no such agent.
        """
        if not isinstance(name, str):
            raise wrong("`model` must be the name of an agent", "model")
        served = self.agents.get(name)
        if served is None:
            known = ", ".join(self.agents.names) or "none"
            raise ApiError(
                404, f"there is no agent {name!r}; this server has: {known}", code="model_not_found", param="model"
            )
        return served

    async def chosen(self, served: ServedAgent, overrides: Mapping[str, object]) -> ServedAgent:
        """The agent with a request's overrides applied.

        Raises:
            ApiError: An override is not allowed or not valid.
        """
        if not overrides:
            return served
        values = dict(checked_overrides(served, overrides, self.options.allow_override))
        try:
            return await self.agents.variant(served.name, values)
        except ReactError as error:
            raise wrong(str(error), "react_run") from None

    def new_job(
        self,
        served: ServedAgent,
        prompt: str,
        messages: Sequence[Message],
        *,
        session: str | None = None,
        by: str = "",
        **fields: Any,
    ) -> Job:
        """Create a run, ready to be started.

        Args:
            served: The agent.
            prompt: The prompt.
            messages: The conversation so far; a stored one is read when the run gets its turn.
            session: The name of a stored conversation.
            by: Who is asking.
            fields: Other fields of :class:`Job`.

        Raises:
            ApiError: The session's name is not valid.
        """
        kept = None if session is None else self.sessions.named(served.name, session, by)
        job = Job(served=served, prompt=prompt, messages=messages, session=session, by=by, **fields)
        job.workspace = self._workspace(job.id if kept is None else kept.path.stem)
        if by:
            job.options["by"] = by
        if kept is not None:
            job.options["conversation"] = kept.path.stem
            job.around = lambda job: self.sessions.turn(job, kept)
        return job

    def _workspace(self, name: str) -> Path | None:
        if self.options.workspaces is None:
            return None
        path = self.options.workspaces.absolute() / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    # -- looking at runs --------------------------------------------------------------------------------------------

    def entries(self, *, agent: str | None = None, status: str | None = None, text: str = "") -> Iterator[Entry]:
        """The matching runs, latest first.

        Args:
            agent: Only runs of this agent.
            status: Only runs with this status.
            text: Only runs whose prompt contains this, or whose id starts with it.
        """
        text = text.casefold().strip()
        for entry in entries(self.jobs, self.shelf, self.approvals):
            if agent and entry.agent != agent:
                continue
            if status and entry.status != status:
                continue
            if text and text not in entry.prompt.casefold() and not entry.id.startswith(text):
                continue
            yield entry

    def run_named(self, name: str) -> str:
        """The id of the run whose id is, or starts with, ``name``.

        Raises:
            ApiError: There is no such run, or there are several.
        """
        if name in self.jobs.live:
            return name
        path = self.shelf.find(name)
        if path is not None:
            return path.stem
        found = [id_ for id_ in self.jobs.live if name and id_.startswith(name)]
        if len(found) == 1:
            return found[0]
        raise ApiError(404, f"there is no run {name!r}; GET /api/runs lists them", code="run_not_found")

    def about(self, run_id: str) -> dict[str, Any]:
        """Everything about one run that fits into a JSON object."""
        job = self.jobs.live.get(run_id)
        journal = self.shelf.read(run_id)
        if job is None and journal is None:
            raise ApiError(404, f"there is no run {run_id!r}", code="run_not_found")
        return full(self.approvals, journal, job)

    def stop(self, run_id: str, *, by: str = "") -> dict[str, Any]:
        """Stop a run; if it is parked, withdraw its questions.

        Raises:
            ApiError: The run has ended.
        """
        job = self.jobs.live.get(run_id)
        if job is not None:
            job.cancel("stopped", f"stopped by {by or 'someone at this machine'}")
            return {"id": run_id, "status": "stopping"}
        waiting = self.approvals.of_run(run_id)
        if not waiting:
            raise ApiError(409, f"run {run_id} is not running", code="run_ended")
        self.parked.stop(run_id, by)
        for approval in waiting:
            self.approvals.remove(approval)
        return {"id": run_id, "status": "stopped"}

    async def replayed(self, run_id: str) -> dict[str, Any]:
        """Replay a run from its journal, with recorded tool results, so that it has no outside effects.

        Raises:
            ApiError: The run does not exist, or its agent is not served here.
        """
        from react_run.errors import ReplayMismatch
        from react_run.journal.replay.replay import replay

        journal = self.shelf.read(run_id)
        if journal is None:
            raise ApiError(404, f"there is no run {run_id!r}", code="run_not_found")
        served = self.agents.of_file(journal.header["agent"]["file"])
        if served is None:
            raise ApiError(409, f"the agent of this run ({journal.header['agent']['file']}) is not served here")
        try:
            done = await replay(journal, served.agent, tools="recorded")
        except ReplayMismatch as error:
            return {"id": run_id, "identical": False, "difference": served.mask(str(error))}
        except ReactError as error:
            raise ApiError(409, str(served.mask(str(error)))) from None
        return {"id": run_id, "identical": True, "complete": done.complete, "difference": None}

    # -- runs that go on --------------------------------------------------------------------------------------------

    async def resume(self, run_id: str, *, by: str = "", force: bool = False, wait: bool = False) -> Job:
        """Resume an interrupted run.

        Args:
            run_id: The run.
            by: Who is asking.
            force: Resume although the agent has changed.
            wait: Wait for a free slot even if the queue is full.

        Raises:
            ApiError: The run does not exist, has ended, or cannot be resumed.
        """
        if run_id in self.jobs.live:
            raise ApiError(409, f"run {run_id} is already running", code="run_live")
        path = self.shelf.path_of(run_id)
        journal = self.shelf.read(run_id) if path is not None else None
        if path is None or journal is None:
            raise ApiError(404, f"there is no run {run_id!r}", code="run_not_found")
        served = self.agents.of_file(journal.header["agent"]["file"])
        if served is None:
            raise ApiError(409, f"the agent of this run ({journal.header['agent']['file']}) is not served here")
        while wait and self.jobs.slots.full:
            await Signal().wait(_LOOK_AGAIN)
        served = await self.agents.variant(served.name, journal.header["options"].get("overrides") or {})
        self.jobs.check()
        opened: list[TellingSink] = []

        def open_file(path: Path) -> TellingSink:
            opened.append(TellingSink.open(path))
            return opened[0]

        try:
            ready = prepare(path, served.agent, force=force, open_file=open_file)
        except JournalBusy:
            raise ApiError(409, f"run {run_id} is running in another process", code="run_live") from None
        except JournalError as error:
            raise ApiError(409, str(error), code="run_ended") from None
        except ReactError as error:
            raise ApiError(409, str(error), code="agent_changed") from None
        job = Job(
            served=served,
            agent=ready.agent,
            id=run_id,
            prompt=journal.header["prompt"],
            attached=[part for part in ready.prompt if not isinstance(part, str)],
            messages=ready.incoming,
            settings=journal.header.get("settings") or {},
            workspace=Path(journal.header["workspace"]),
            session=journal.header["session"],
            by=by,
            streams=True,
            detached=True,
            unused=opened[0].close,
        )
        if name := journal.header["options"].get("conversation"):
            kept = Session.named(str(name))
            job.around = lambda job: self.sessions.late_turn(job, kept)
        for approval in self.approvals.of_run(run_id):
            self.approvals.remove(approval)
        return self.jobs.start(job)

    def _go_on(self, approval: Approval, answer: Answer, note: str) -> None:
        """Record the decision about a parked run, and resume the run once it has no open questions."""
        if self.parked.decide(approval, answer, note):
            self.jobs.spawn(self._go_on_later(approval.run_id, answer.by))

    async def _go_on_later(self, run_id: str, by: str) -> None:
        try:
            await self.resume(run_id, by=by, wait=True)
        except ApiError as error:
            logger.warning("run %s cannot be resumed: %s", run_id[:12], error)

    def _note(self, run_id: str, text: str) -> None:
        job = self.jobs.live.get(run_id)
        if job is not None and job.run is not None:
            job.run.note("desk", text)
