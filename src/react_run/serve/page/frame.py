"""The frame of every page: head, navigation, content security policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response, StreamingResponse

from react_run.journal.view.markup import escaped
from react_run.serve.errors import ApiError

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.page.site import Site

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
_ICONS = {
    "Runs": ("/runs", "M4 6h16M4 12h16M4 18h10"),
    "Chat": ("/chat", "M4 5h16v11H9l-5 4z"),
    "Approvals": ("/approvals", "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4"),
    "Agents": ("/agents", "M12 8a3 3 0 100-6 3 3 0 000 6zM5 21v-2a7 7 0 0114 0v2"),
    "Batches": ("/batches", "M3 5h4v4H3zM10 5h11M10 9h7M3 14h4v4H3zM10 14h11M10 18h7"),
    "Compare": ("/compare", "M8 4v16M16 4v16M8 8H3M8 14H3M21 8h-5M21 14h-5"),
    "Evals": ("/evals", "M4 20V10M10 20V4M16 20v-7M22 20H2"),
}
_BRAND = (
    '<div class="brand"><svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke-width="2.6" '
    'stroke-linecap="round" stroke-linejoin="round"><path class="arc" d="M12 2a10 10 0 109.5 7"/>'
    '<path class="tip" d="M21.5 2.5v6.6H15"/><circle class="eye" cx="12" cy="12" r="2.6"/></svg>'
    "<span>react-run</span></div>"
)
_KEYS = {
    "j k": "next, previous",
    "Enter": "open",
    "x": "mark a run",
    "c": "compare two marked runs",
    "/": "search",
    "n": "write a message",
    "a": "allow once",
    "d": "decline",
    "t": "light or dark",
    "?": "these keys",
}
_STATIC = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "hx-sse.min.js": "text/javascript",
    "htmx.LICENSE.txt": "text/plain",
    "page.css": "text/css",
    "evals.css": "text/css",
}
_ELSEWHERE = {"page.css": ("react_run.journal.view", "page.css"), "evals.css": ("react_run.evals", "page.css")}
"""Style sheets shared with stand-alone HTML files: a run's and an evaluation's."""


def page(site: Site, request: Request, title: str, body: Iterable[str], *, current: str) -> Response:
    """Build a whole page.

    Args:
        site: The server's pages.
        request: The request.
        title: The title.
        body: The content.
        current: The current entry of the navigation.
    """
    return StreamingResponse(_page_parts(site, title, body, current), media_type="text/html", headers=HEADERS)


def _page_parts(site: Site, title: str, body: Iterable[str], current: str) -> Iterator[str]:
    """Yield a page piece by piece. It is built in a thread, so a large page does not block the event loop."""
    token = escaped(site.gate.page_token)
    yield "".join(
        (
            _head(title),
            f'<body hx-headers:inherited=\'{{"X-React-Page": "{token}"}}\'>\n',
            '<a class="skip" href="#main">Skip to content</a>\n',
            rail(site, current),
            '<main id="main" tabindex="-1">\n',
        )
    )
    yield from body
    yield f"</main>\n{_keys()}</body>\n</html>\n"


def bare(title: str, body: str, status: int = 200) -> Response:
    """A page without navigation, for users who are not logged in."""
    text = f'{_head(title)}<body class="bare"><main id="main">{body}</main></body></html>\n'
    return HTMLResponse(text, status_code=status, headers=HEADERS)


def problem(error: ApiError) -> Response:
    """An error as a page, for browsers."""
    body = (
        f'<div class="login"><h1>{error.status}</h1><p class="card">{escaped(error.message)}</p>'
        '<p><a href="/runs">All runs</a></p></div>'
    )
    answer = bare(f"Error {error.status}", body, status=error.status)
    answer.headers.update(error.headers)
    return answer


def fragment(*parts: str) -> Response:
    """Part of a page, for htmx."""
    return HTMLResponse("".join(parts), headers=HEADERS)


def _head(title: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="htmx-config" content=\'{"includeIndicatorCSS": false}\'>\n'
        f'<title>{escaped(title)} · react-run</title>\n<link rel="icon" href="data:,">\n'
        '<link rel="stylesheet" href="/static/page.css">\n<link rel="stylesheet" href="/static/evals.css">\n'
        '<link rel="stylesheet" href="/static/app.css">\n'
        '<script src="/static/app.js"></script>\n<script src="/static/htmx.min.js" defer></script>\n'
        '<script src="/static/hx-sse.min.js" defer></script>\n</head>\n'
    )


def rail(site: Site, current: str) -> str:
    """The navigation."""
    links = []
    for name, (path, icon) in _ICONS.items():
        mark = ' aria-current="page"' if name == current else ""
        more = count(site) if name == "Approvals" else ""
        links.append(
            f'<a href="{path}"{mark} aria-label="{name}"><svg viewBox="0 0 24 24" aria-hidden="true">'
            f'<path d="{icon}"/></svg><span>{name}</span>{more}</a>\n'
        )
    names = len(site.service.agents)
    foot = (
        f'<div class="foot">{names} agent{"" if names == 1 else "s"} · {escaped(site.address)}<br>'
        f'today <b class="num">{site.cost_today()}</b><br>'
        '<button type="button" data-do="keys"><kbd>?</kbd> keys</button>'
        '<button type="button" data-do="theme"><kbd>t</kbd> theme</button></div>'
    )
    return f'<nav class="rail" aria-label="Main">{_BRAND}\n{"".join(links)}{foot}</nav>\n'


def count(site: Site, *, swaps: bool = False) -> str:
    """The badge with the number of open questions."""
    number = len(site.service.approvals)
    oob = ' hx-swap-oob="true"' if swaps else ""
    label = f' aria-label="{number} waiting" role="img"' if number else ""
    return f'<b class="count" id="waiting"{label}{oob}>{number or ""}</b>'


def _keys() -> str:
    rows = "".join(
        f"<tr><td>{' '.join(f'<kbd>{escaped(key)}</kbd>' for key in keys.split())}</td><td>{text}</td></tr>"
        for keys, text in _KEYS.items()
    )
    return (
        f'<dialog id="keys" aria-label="Keys"><h2>Keys</h2><table><tbody>{rows}</tbody></table>'
        '<div class="acts"><button type="button" class="btn" data-do="close">Close</button></div></dialog>\n'
    )


async def static(request: Request) -> Response:
    """``GET /static/{name}``: styles and scripts."""
    name = request.path_params["name"]
    if name not in _STATIC:
        raise ApiError(404, f"there is no {name}")
    package, own = _ELSEWHERE.get(name, ("react_run.serve.page", f"static/{name}"))
    headers = {"Cache-Control": "no-cache", "Content-Type": f"{_STATIC[name]}; charset=utf-8"}
    return Response((files(package) / own).read_bytes(), headers=headers)
