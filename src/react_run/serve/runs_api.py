"""The API for runs (start, list, follow, stop, resume, replay) and for their questions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from react_run.errors import ReactError
from react_run.models.stored import message_from_dict
from react_run.serve.chat_api import STREAM_HEADERS
from react_run.serve.conversation import json_of, overrides_in, settings_in
from react_run.serve.errors import wrong
from react_run.serve.jobs import Job
from react_run.serve.protection import body_of
from react_run.serve.shelf import follow

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.messages import Message
    from react_run.serve.service import Service

_MOST = 500
PAGE = 50


class RunsApi:
    """Answers requests about runs and their questions.

    Args:
        service: The server.
    """

    def __init__(self, service: Service) -> None:
        self.service = service

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/runs", self.create, methods=["POST"]),
            Route("/api/runs", self.listing, methods=["GET"]),
            Route("/api/runs/{id}", self.one, methods=["GET"]),
            Route("/api/runs/{id}/events", self.events, methods=["GET"]),
            Route("/api/runs/{id}/stop", self.stop, methods=["POST"]),
            Route("/api/runs/{id}/resume", self.resume, methods=["POST"]),
            Route("/api/runs/{id}/replay", self.replay, methods=["POST"]),
            Route("/api/approvals", self.approvals, methods=["GET"]),
            Route("/api/approvals/{id}", self.answer, methods=["POST"]),
        ]

    async def _data(self, request: Request) -> dict[str, Any]:
        body = await body_of(request, self.service.options.max_body)
        return json_of(body) if body.strip() else {}

    # -- runs -------------------------------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        """``POST /api/runs``: start a run that continues without a client."""
        service = self.service
        body = await body_of(request, service.options.max_body)
        data = json_of(body)
        prompt, session = data.get("prompt"), data.get("session")
        if not isinstance(prompt, str) or not prompt.strip():
            raise wrong("`prompt` must be text that says what the agent should do", "prompt")
        if session is not None and not isinstance(session, str):
            raise wrong("`session` must be the name of a conversation", "session")
        overrides, messages = overrides_in(data), _messages(data.get("messages", []))
        served = await service.chosen(service.agent(data.get("agent", data.get("model"))), overrides)

        def start(id_: str) -> Job:
            job = service.new_job(
                served,
                prompt,
                [] if session else messages,
                session=session,
                by=request.state.by,
                settings=settings_in(data),
                streams=True,
                detached=True,
                options={"overrides": overrides} if overrides else {},
                id=id_,
            )
            return service.start(job)

        key = request.headers.get("idempotency-key")
        job = await service.once.started(key, request.state.by, request.url.path, body, start)
        shown = {"id": job.id, "agent": served.name, "status": job.status, "events": f"/api/runs/{job.id}/events"}
        return JSONResponse(shown, status_code=202, headers={"X-Request-Id": job.id, "Location": f"/api/runs/{job.id}"})

    async def listing(self, request: Request) -> Response:
        """``GET /api/runs``: runs, latest first, filtered by ``agent``, ``status``, ``q``, ``limit`` and ``after``."""
        wanted = request.query_params
        limit = _number(wanted.get("limit"), "limit", PAGE, 1, _MOST)
        after = _number(wanted.get("after"), "after", 0, 0, None)
        found: list[dict[str, Any]] = []
        skipped = 0
        for entry in self.service.entries(
            agent=wanted.get("agent"), status=wanted.get("status"), text=wanted.get("q", "")
        ):
            if skipped < after:
                skipped += 1
            elif len(found) < limit:
                found.append(entry.to_dict())
            else:
                return JSONResponse({"runs": found, "next": after + limit})
        return JSONResponse({"runs": found, "next": None})

    async def one(self, request: Request) -> Response:
        """``GET /api/runs/{id}``: one run."""
        return JSONResponse(self.service.about(self._id(request)))

    def _id(self, request: Request) -> str:
        """The full id of the requested run; an unambiguous prefix is accepted.

        Raises:
            ApiError: There is no such run.
        """
        return self.service.run_named(request.path_params["id"])

    async def events(self, request: Request) -> Response:
        """``GET /api/runs/{id}/events``: stream the records of the journal as they are written."""
        run_id = self._id(request)
        last = request.headers.get("last-event-id") or request.query_params.get("after")
        after = _number(last, "Last-Event-ID", 0, 0, None)
        return StreamingResponse(
            self._records(run_id, after),
            media_type="text/event-stream",
            headers={**STREAM_HEADERS, "X-Request-Id": run_id},
        )

    async def _records(self, run_id: str, after: int) -> AsyncIterator[str]:
        service = self.service
        path = service.shelf.path_of(run_id) or service.shelf.directory / f"{run_id}.jsonl"
        async for found in follow(
            path,
            after,
            lambda: service.jobs.live.get(run_id),
            ends=lambda: service.jobs.draining,
            more=lambda: bool(service.approvals.of_run(run_id)),
        ):
            if found is None:
                yield ": waiting\n\n"
            else:
                number, line = found
                yield f"id: {number}\nevent: {_kind(line)}\ndata: {line}\n\n"
        yield "event: end\ndata: {}\n\n"

    async def stop(self, request: Request) -> Response:
        """``POST /api/runs/{id}/stop``: stop a run."""
        run_id = self._id(request)
        return JSONResponse(self.service.stop(run_id, by=request.state.by), status_code=202)

    async def resume(self, request: Request) -> Response:
        """``POST /api/runs/{id}/resume``: resume an interrupted run."""
        data = await self._data(request)
        job = await self.service.resume(self._id(request), by=request.state.by, force=data.get("force") is True)
        return JSONResponse({"id": job.id, "status": job.status}, status_code=202, headers={"X-Request-Id": job.id})

    async def replay(self, request: Request) -> Response:
        """``POST /api/runs/{id}/replay``: replay a run from its journal; the response names the first difference."""
        return JSONResponse(await self.service.replayed(self._id(request)))

    # -- questions --------------------------------------------------------------------------------------------------

    async def approvals(self, request: Request) -> Response:
        """``GET /api/approvals``: list the open questions."""
        self.service.approvals.expire()
        return JSONResponse({"approvals": [approval.to_dict() for approval in self.service.approvals]})

    async def answer(self, request: Request) -> Response:
        """``POST /api/approvals/{id}``: answer a question."""
        data = await self._data(request)
        if "answer" not in data:
            raise wrong("`answer` is missing: it is yes, always or no, or fits the question's schema", "answer")
        by, note = data.get("by", ""), data.get("note", "")
        if not isinstance(by, str) or not isinstance(note, str):
            raise wrong("`by` and `note` must be text", "by")
        who = request.state.by or by or "someone at this machine"
        found = self.service.approvals.answer(
            request.path_params["id"], data["answer"], by=who[:200], note=note[:2_000]
        )
        return JSONResponse(found)


def _kind(line: str) -> str:
    try:
        return str(json.loads(line)["type"])
    except (ValueError, KeyError, TypeError):
        return "record"


def _number(text: str | None, name: str, default: int, least: int, most: int | None) -> int:
    if text is None or text == "":
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 15 or int(text) < least:
        raise wrong(f"{name} must be a whole number of at least {least}", name)
    return int(text) if most is None else min(int(text), most)


def _messages(given: object) -> list[Message]:
    if not isinstance(given, list):
        raise wrong("`messages` must be a list of messages", "messages")
    try:
        return [message_from_dict(message) for message in given]
    except (ReactError, TypeError) as error:
        raise wrong(str(error), "messages") from None
