"""The plugin of every agent on a server: it asks people through the server, and lets the server observe the run."""

from __future__ import annotations

import asyncio
from time import time
from typing import TYPE_CHECKING

from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.journal.header import goes_on
from react_run.questions import Answer, Question
from react_run.serve.approvals import Approval, Approvals
from react_run.serve.jobs import Job, current_job

if TYPE_CHECKING:
    from react_run.run import Iteration, Run
    from react_run.serve.spool import Spool

CLIENT = "# Instructions of the client"


class Desk:
    """Asks people through the server instead of the terminal.

    Args:
        approvals: The open questions.
        spool: The accepted runs that have not started.
        park_after: Seconds after which a waiting run is parked: it is stopped, and resumed when the answer arrives.
        expires: Seconds after which a question is answered with no.
    """

    kind = "desk"
    inherited_by_subagents = True

    def __init__(self, approvals: Approvals, spool: Spool, *, park_after: float, expires: float) -> None:
        self.approvals, self.spool, self.park_after, self.expires = approvals, spool, park_after, expires

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> str | None:
        job = current_job.get()
        if job is None or run.parent is not None:
            return None
        job.run = run
        return f"{CLIENT}\n\n{job.system}" if job.system else None

    @hookimpl
    def react_iteration_started(self, run: Run, iteration: Iteration) -> None:
        job = current_job.get()
        if iteration.number == 1 and job is not None and run is job.run and job.spooled:
            self.spool.drop(job.id)  # its journal has begun
            job.spooled = False

    @hookimpl
    async def react_ask(self, run: Run, question: Question) -> Answer:
        job = current_job.get()
        if job is None:
            return Answer(None)  # never ask at the server's own terminal
        now = time()
        approval = Approval(
            id=self.approvals.name(job.id, question),
            run_id=job.id,
            agent=job.served.name,
            question=question,
            asked=now,
            expires=now + self.expires,
            answered=asyncio.get_running_loop().create_future(),
        )
        return await self._wait(job, approval, may_park=goes_on(run))

    async def _wait(self, job: Job, approval: Approval, *, may_park: bool) -> Answer:
        assert approval.answered is not None  # react_ask sets it
        assert job.turn is not None  # a run that asks has its turn
        entry = (approval.id, approval.question)
        self.approvals.add(approval)
        job.questions.append(entry)
        job.changed.fire()
        try:
            async with job.turn.lent():
                await asyncio.wait((approval.answered,), timeout=self.park_after if may_park else None)
                if not approval.answered.done():
                    job.cancel("parked")
                return await approval.answered
        finally:
            job.questions.remove(entry)
            job.changed.fire()
            if job.ending in ("parked", "drained"):
                approval.answered = None
            else:
                self.approvals.remove(approval)
