"""The application: maps paths to handlers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from react_run.serve.chat_api import ChatApi
from react_run.serve.errors import ApiError
from react_run.serve.measures import CONTENT_TYPE
from react_run.serve.protection import Gate, Protection
from react_run.serve.responses_api import ResponsesApi
from react_run.serve.runs_api import RunsApi

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from react_run.serve.service import Service

logger = logging.getLogger(__name__)
Endpoint = Callable[["Request"], Awaitable[Response]]


def application(service: Service, gate: Gate) -> ASGIApp:
    """Build the ASGI application.

    Args:
        service: The server.
        gate: Authenticates requests.
    """
    chat, runs = ChatApi(service), RunsApi(service)
    responses = ResponsesApi(chat)
    routes: list[BaseRoute] = [
        Route("/healthz", _healthy),
        Route("/readyz", _ready(service)),
        Route("/metrics", _measures(service)),
        Route("/v1/models", chat.models),
        Route("/v1/models/{name:path}", chat.model),
        Route("/v1/chat/completions", chat.completions, methods=["POST"]),
        Route("/v1/responses", responses.create, methods=["POST"]),
        Route("/v1/responses/{id}", responses.one),
        *runs.routes(),
    ]
    if service.options.page:
        from react_run.serve.page import routes as page_routes
        from react_run.serve.page.site import Site

        routes += page_routes.routes(Site(service, gate))
    app = Starlette(
        routes=routes,
        exception_handlers={ApiError: _api_error, HTTPException: _http_error, Exception: _unknown_error},
    )
    return Protection(app, gate)


async def _healthy(request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _ready(service: Service) -> Endpoint:
    async def ready(request: Request) -> Response:
        reason = "draining" if service.jobs.draining else "the queue is full" if service.jobs.slots.full else "ok"
        return PlainTextResponse(f"{reason}\n", status_code=200 if service.ready else 503)

    return ready


def _measures(service: Service) -> Endpoint:
    async def measures(request: Request) -> Response:
        return Response(service.measures.text(), headers={"Content-Type": CONTENT_TYPE})

    return measures


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # registered for it
    if "text/html" in request.headers.get("accept", "") and "hx-request" not in request.headers:
        from react_run.serve.page.frame import problem

        return problem(error)
    return error.response


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # registered for it
    status = error.status_code if error.status_code in (404, 405) else 400
    text = {404: f"there is nothing at {request.url.path}", 405: f"{request.method} is not allowed here"}
    found = ApiError(status, text.get(status, error.detail), headers=dict(error.headers or {}))
    return await _api_error(request, found)


async def _unknown_error(request: Request, error: Exception) -> Response:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return JSONResponse(
        ApiError(500, f"an internal error ({type(error).__name__}); the server's log says more").body, 500
    )
