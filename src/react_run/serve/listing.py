"""Lists runs: the active ones and all saved ones."""

from __future__ import annotations

from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING, Any

from react_run.journal.summaries import Summary
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.serve.approvals import Approvals
    from react_run.serve.jobs import Job, Jobs
    from react_run.serve.shelf import Shelf


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run in a list.

    ``status`` is ``queued``, ``running``, ``waiting`` (for a person), ``interrupted``, ``failed``, ``unfinished``, or
    the reason why it stopped.
    """

    id: str
    agent: str
    prompt: str
    status: str
    started: float
    seconds: float
    model: str = ""
    session: str | None = None
    success: bool = False
    tokens: int | None = None
    cost: float | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is still queued or running."""
        return self.status in ("queued", "running")

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON, for API clients."""
        return {
            "id": self.id,
            "agent": self.agent,
            "prompt": self.prompt,
            "status": self.status,
            "success": self.success,
            "started": round(self.started, 3),
            "seconds": round(self.seconds, 3),
            "model": self.model,
            "session": self.session,
            "tokens": self.tokens,
            "cost": self.cost,
        }


def entries(jobs: Jobs, shelf: Shelf, approvals: Approvals) -> Iterator[Entry]:
    """All runs, latest first.

    Args:
        jobs: The runs of this server.
        shelf: The journals.
        approvals: The open questions.
    """
    live = jobs.live
    shown = set()
    for job in sorted(live.values(), key=lambda job: -job.created):
        shown.add(job.id)
        yield of_job(job)
    for summary in shelf.summaries():
        if summary.run_id not in shown:
            yield of_summary(approvals, summary)


def of_job(job: Job) -> Entry:
    """The entry of a run of this server."""
    usage = job.run.usage if job.run is not None and job.run.usage.requests else None
    prompt = job.prompt or next((message.text for message in reversed(job.messages) if message.role == "user"), "")
    agent = job.agent or job.served.agent
    return Entry(
        id=job.id,
        agent=job.served.name,
        prompt=str(job.served.mask(prompt)),
        status=job.status,
        started=job.created,
        seconds=time() - job.created,
        model=agent.model.name,
        session=job.session,
        tokens=usage.total_tokens if usage is not None else None,
        cost=usage.cost if usage is not None else None,
    )


def of_summary(approvals: Approvals, summary: Summary) -> Entry:
    """The entry of a saved run."""
    data = summary.to_dict()
    waits = bool(approvals.of_run(summary.run_id))
    usage = summary.usage
    return Entry(
        id=summary.run_id,
        agent=str(data["agent"]),
        prompt=summary.header["prompt"] or _last_words(summary.header["incoming"]),
        status="waiting" if waits else "interrupted" if summary.status == "unfinished" else summary.status,
        started=summary.header["time"],
        seconds=summary.last["time"] - summary.header["time"],
        model=str(data["model"]),
        session=summary.header["session"],
        success=summary.success,
        tokens=usage.total_tokens if usage is not None else None,
        cost=usage.cost if usage is not None else None,
    )


def _last_words(incoming: list[dict[str, Any]]) -> str:
    """The user's last message, for a run whose prompt was part of the conversation."""
    for message in reversed(incoming):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str):
            return content
        if message.get("role") == "user" and isinstance(content, list):
            return " ".join(str(part.get("text", f"({part.get('type')})")) for part in content)
    return ""


def full(approvals: Approvals, journal: Journal | None, job: Job | None) -> dict[str, Any]:
    """Everything about one run that fits into a JSON object."""
    entry = of_job(job) if job is not None else None
    if entry is None:
        assert journal is not None  # there is a job or a journal
        entry = next(of_summary(approvals, summary) for summary in [summary_of(journal)])
    data = entry.to_dict()
    footer = journal.footer if journal is not None and job is None else None
    if footer is not None:
        names = (
            "answer",
            "value",
            "stop_reason",
            "finish_reason",
            "unresolved",
            "unverified_answer",
            "usage",
            "iterations",
        )
        data |= {name: footer[name] for name in names if name in footer}
        if "error" in footer:
            data["error"] = {"type": footer["error"]["type"], "message": footer["error"]["message"]}
    data["approvals"] = [approval.to_dict() for approval in approvals.of_run(entry.id)]
    return data


def summary_of(journal: Journal) -> Summary:
    """A journal's first and last record."""
    assert journal.path is not None  # read from a file
    return Summary(path=journal.path, header=journal.header, last=journal.own[-1], running=False)
