"""The service of openapi.yaml, for trying the openapi toolset. Run it: python agents/library/server.py."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BOOKS = [
    {"isbn": "9780141183534", "title": "A Room of One's Own", "author": "Virginia Woolf", "genre": "essay"},
    {"isbn": "9780156907392", "title": "To the Lighthouse", "author": "Virginia Woolf", "genre": "novel"},
    {"isbn": "9780140449266", "title": "The Count of Monte Cristo", "author": "Alexandre Dumas", "genre": "novel"},
    {"isbn": "9780374528379", "title": "The Brothers Karamazov", "author": "Fyodor Dostoevsky", "genre": "novel"},
    {"isbn": "9780811201193", "title": "Ficciones", "author": "Jorge Luis Borges", "genre": "novel"},
]
PAGE = 2


class Library(BaseHTTPRequestHandler):
    """Answers GET /books, /books/{isbn} and /loans, and POST /loans."""

    loans: list[dict[str, object]] = []  # noqa: RUF012  # one library

    def do_GET(self) -> None:
        """Send a page of books or loans, or one book."""
        parts = urlsplit(self.path)
        given = parse_qs(parts.query)
        if parts.path == "/books":
            wanted = [book for book in BOOKS if given.get("author", [""])[0].lower() in book["author"].lower()]
            self._page([book for book in wanted if book["genre"] in given.get("genre", [book["genre"]])], given)
        elif parts.path.startswith("/books/"):
            found = [book for book in BOOKS if book["isbn"] == parts.path.removeprefix("/books/")]
            self._answer(200, found[0]) if found else self._answer(404, {"message": "there is no such book"})
        elif parts.path == "/loans":
            self._page(self.loans, given)
        else:
            self._answer(404, {"message": "there is no such page"})

    def do_POST(self) -> None:
        """Lend a book."""
        loan = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.loans.append({"id": len(self.loans) + 1, **loan})
        self._answer(201, self.loans[-1])

    def _page(self, items: list[dict[str, object]] | list[dict[str, str]], given: dict[str, list[str]]) -> None:
        page = int(given.get("page", ["1"])[0])
        more = {"Link": f'</{self.path.strip("/").partition("?")[0]}?page={page + 1}>; rel="next"'}
        part = items[(page - 1) * PAGE : page * PAGE]
        self._answer(200, part, more if len(items) > page * PAGE else {})

    def _answer(self, status: int, data: object, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the agent's trace shows the requests."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8766
    print(f"the library is open at http://127.0.0.1:{port}; Ctrl-C closes it")
    ThreadingHTTPServer(("127.0.0.1", port), Library).serve_forever()
