"""The login page, which asks for a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from react_run.serve.page.frame import bare
from react_run.serve.protection import COOKIE, COOKIE_LIFE, body_of, form_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.page.site import Site

_LARGEST = 10_000


async def show(site: Site, request: Request) -> Response:
    """``GET /login``."""
    return _form()


def _form(problem: str = "") -> Response:
    notice = f'<p class="notice" role="alert">{problem}</p>' if problem else ""
    body = (
        f'<div class="login"><h1>react-run</h1><p class="soft">This server requires a token.</p>{notice}'
        '<form method="post" action="/login" class="card"><label class="field">Token'
        '<input type="password" name="token" autocomplete="current-password" required autofocus></label>'
        '<div class="acts"><button class="btn primary">Log in</button></div></form></div>'
    )
    return bare("Token", body, status=401 if problem else 200)


async def enter(site: Site, request: Request) -> Response:
    """``POST /login``."""
    fields = form_of(await body_of(request, _LARGEST))
    name = site.gate.name_of(fields.get("token", "").strip())
    if name is None:
        return _form("This token is not valid.")
    answer = RedirectResponse("/runs", status_code=303)
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    answer.set_cookie(
        COOKIE, site.gate.cookie_for(name), max_age=COOKIE_LIFE, httponly=True, samesite="strict", secure=secure
    )
    return answer


async def leave(site: Site, request: Request) -> Response:
    """``POST /logout``."""
    await site.form(request)
    answer = RedirectResponse("/login", status_code=303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer
