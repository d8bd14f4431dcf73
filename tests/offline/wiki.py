"""A small encyclopaedia on the loopback interface, behind a MediaWiki endpoint and an Instant Answer endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

_PAGES = {
    "Ada Lovelace": "Ada Lovelace (1815-1852) was an English mathematician and writer.",
    "Eiffel Tower": "The Eiffel Tower is a wrought-iron lattice tower in Paris. It is 330 metres tall.",
    "Great Barrier Reef": "The Great Barrier Reef is the largest coral reef system of the world.",
    "Marie Curie": "Marie Curie (born 7 November 1867) was a physicist and chemist.",
    "Mercury (planet)": "Mercury is the first planet from the Sun.",
    "Mercury (element)": "Mercury is a chemical element with the symbol Hg.",
}
_AMBIGUOUS = {"mercury": "Mercury may refer to:\nMercury (planet)\nMercury (element)"}


@contextmanager
def wiki() -> Iterator[str]:
    """Serve the encyclopaedia; yields the URL of both endpoints, which are told apart by their parameters."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/w/api.php"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parameters = parse_qs(urlsplit(self.path).query)
        found = _instant(parameters["q"][0]) if "q" in parameters else _searched(parameters["gsrsearch"][0])
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class named it
        """Keep the test output clean."""


def _instant(query: str) -> dict[str, object]:
    title = next((title for title in _PAGES if title.casefold() == query.casefold()), "")
    url = f"https://wiki.example/{title.replace(' ', '_')}"
    return {"Heading": title, "AbstractText": _PAGES.get(title, ""), "AbstractURL": url if title else "", "Type": "A"}


def _searched(query: str) -> dict[str, object]:
    return {"query": {"pages": _found(query)}}


def _found(query: str) -> list[dict[str, object]]:
    words = set(query.casefold().split())
    ranked = sorted(_PAGES, key=lambda title: -len(words & set(title.casefold().split())))
    titles = [title for title in ranked if words & set(title.casefold().split())]
    pages = [_page(title, _PAGES[title], index) for index, title in enumerate(titles, start=2)]
    if meaning := _AMBIGUOUS.get(query.casefold()):
        pages.insert(0, {**_page(query, meaning, 1), "pageprops": {"disambiguation": ""}})
    return pages


def _page(title: str, extract: str, index: int) -> dict[str, object]:
    url = f"https://wiki.example/{title.replace(' ', '_')}"
    return {"title": title, "extract": extract, "index": index, "canonicalurl": url}
