"""The routes of all pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from react_run.serve.page import agents, approvals, batches, chat, compare, evals, login, run, runs
from react_run.serve.page.frame import static
from react_run.serve.page.site import Site

View = Callable[[Site, Request], Awaitable[Response]]


def routes(site: Site) -> list[BaseRoute]:
    """The routes of all pages of ``site``."""
    views: dict[str, View] = {
        "/runs": runs.runs,
        "/runs/{id}": run.show,
        "/runs/{id}/live": run.live,
        "/runs/{id}/call": run.call,
        "/runs/{id}/iterations": run.more,
        "/chat": chat.show,
        "/chat/{id}/live": chat.live,
        "/approvals": approvals.show,
        "/agents": agents.show,
        "/compare": compare.show,
        "/batches": batches.show,
        "/batches/{name}": batches.one,
        "/evals": evals.show,
        "/evals/{name}": evals.one,
    }
    posts: dict[str, View] = {
        "/runs/{id}/stop": run.stop,
        "/runs/{id}/resume": run.resume,
        "/runs/{id}/replay": run.replay,
        "/chat": chat.send,
        "/approvals/{id}": approvals.answer,
        "/batches/{name}/stop": batches.stop,
    }
    return [
        Route("/", _home),
        Route("/static/{name}", static),
        Route("/login", partial(login.show, site), methods=["GET"]),
        Route("/login", partial(login.enter, site), methods=["POST"]),
        Route("/logout", partial(login.leave, site), methods=["POST"]),
        *(Route(path, partial(view, site), methods=["GET"]) for path, view in views.items()),
        *(Route(path, partial(view, site), methods=["POST"]) for path, view in posts.items()),
    ]


async def _home(request: Request) -> Response:
    return RedirectResponse("/runs", status_code=303)
