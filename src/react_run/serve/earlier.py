"""Finds runs of an earlier server for clients that repeat a request with the same idempotency key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import time
from typing import TYPE_CHECKING

from react_run.errors import JournalError
from react_run.journal.replay.errors import error_from, model_error
from react_run.journal.result import result_of
from react_run.serve.jobs import Ending, Job
from react_run.serve.shelf import may_go_on, stopped_by_somebody

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.serve.agents import Agents, ServedAgent
    from react_run.serve.approvals import Approval, Approvals
    from react_run.serve.jobs import Jobs
    from react_run.serve.shelf import Shelf


async def earlier(
    run_id: str,
    by: str,
    *,
    jobs: Jobs,
    shelf: Shelf,
    agents: Agents,
    approvals: Approvals,
    resume: Callable[..., Awaitable[Job]],
) -> Job | None:
    """Find the run with this id: in flight, finished, waiting, or resumed now; ``None`` when it has no journal.

    Args:
        run_id: The run.
        by: Who is asking.
        jobs: The runs of this server.
        shelf: The journals.
        agents: The agents that are served.
        approvals: The open questions.
        resume: Resumes a run.

    Raises:
        ApiError: The run cannot be resumed.
    """
    if (job := jobs.live.get(run_id)) is not None:
        return job
    journal = shelf.read(run_id)
    if journal is None:
        return None
    served = agents.of_file(journal.header["agent"]["file"])
    if served is not None:
        if waiting := approvals.of_run(run_id):
            return _waiting_job(served, journal, waiting)
        if (over := _ended_job(served, journal)) is not None:
            return over
    return await resume(run_id, by=by)


def _waiting_job(served: ServedAgent, journal: Journal, waiting: Sequence[Approval]) -> Job:
    job = _job(served, journal)
    job.ended = False
    job.questions = [(approval.id, approval.question) for approval in waiting]
    return job


def _ended_job(served: ServedAgent, journal: Journal) -> Job | None:
    """A run that has ended for good; ``None`` for one that may continue."""
    footer = journal.footer
    if footer is None:
        return None
    job = _job(served, journal)
    if footer["status"] == "finished":
        job.result = result_of(journal)
        return job
    if stopped_by_somebody(journal):
        job.ending = _ending(journal)
        return None if job.ending == "disconnected" else job
    if may_go_on(footer):
        return None
    job.error = _error(journal)
    return job


def _job(served: ServedAgent, journal: Journal) -> Job:
    header = journal.header
    return Job(
        served=served, prompt=header["prompt"], id=journal.run_id, created=header["time"], started=time(), ended=True
    )


def _ending(journal: Journal) -> Ending:
    said = next(record["detail"] for record in reversed(journal.own) if record.get("guard") == "serve")
    return (
        "timeout" if said.startswith("the server's limit") else "disconnected" if "client left" in said else "stopped"
    )


def _error(journal: Journal) -> BaseException:
    """The error that ended the run; a provider's error keeps its status."""
    error = journal.own[-1]["error"]
    try:
        last = journal.calls[max(journal.calls)].error
    except (JournalError, ValueError):
        last = None
    if last is not None and last["error"]["message"] == error["message"]:
        return model_error(last["error"])
    return error_from(error)
