"""Builds the request for a call, and converts the response for the model."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from react_toolsets.http import RequestFailed
from react_toolsets.openapi.operations import FORM, MULTIPART, Body, Operation, Parameter
from react_toolsets.openapi.styles import form_fields, in_cookie, in_header, in_path, in_query, quoted, text_of
from react_toolsets.web.url import parse

if TYPE_CHECKING:
    from react_toolsets.declared.requests import Answer, Request

CURSORS = ("next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken", "next_page")
"""Fields of a response that lead to the next page."""
_WITHIN = ("", "meta", "response_metadata", "pagination", "paging", "page_info", "cursors")
_HEADERS = ("content-type", "content-length", "etag", "last-modified", "link")


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Credentials as headers, query parameters and cookies."""

    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def basic(cls, user: str, password: str) -> str:
        """The value of the ``Authorization`` header for a user and a password."""
        return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def request_of(
    operation: Operation,
    arguments: Mapping[str, Any],
    *,
    base: str,
    credentials: Credentials,
    headers: Mapping[str, str],
    max_bytes: int,
) -> Request:
    """The request that calls ``operation`` at the base URL ``base``.

    Raises:
        RequestFailed: An argument is not a valid path segment (``invalid_path``) or header, or the URL is invalid.
    """
    from react_toolsets.declared.requests import Request

    given = [(p, arguments[p.argument]) for p in operation.parameters if arguments.get(p.argument) is not None]
    path, _, fixed = _path(operation, given).partition("#")[0].partition("?")
    query = [fixed] if fixed else []
    query += [part for parameter, value in given if parameter.place == "query" for part in _query(parameter, value)]
    query += [f"{quoted(name)}={quoted(value)}" for name, value in credentials.query.items()]
    sent = {**headers, **credentials.headers}
    for parameter, value in given:
        if parameter.place == "header":
            text = text_of(value) if not parameter.as_json else _json(value)
            written = text if parameter.as_json else in_header(value, explode=parameter.explode)
            sent[parameter.name] = _one_line(parameter.argument, written)
    cookies = [in_cookie(p.name, value, explode=p.explode) for p, value in given if p.place == "cookie"]
    cookies += [f"{name}={value}" for name, value in credentials.cookies.items()]
    if cookies:
        sent["Cookie"] = "; ".join(cookies)
    media_type, body = _body(operation.body, arguments.get("body")) if operation.body else ("", b"")
    if media_type:
        sent["Content-Type"] = media_type
    url = f"{base.rstrip('/')}{path}{'?' if query else ''}{'&'.join(query)}"
    return Request(method=operation.method, target=parse(url), headers=sent, body=body, max_bytes=max_bytes)


def _path(operation: Operation, given: list[tuple[Parameter, Any]]) -> str:
    values = {p.name: _in_path(p, value) for p, value in given if p.place == "path"}
    path = ""
    for part in operation.path.split("/"):
        written = part
        for name, value in values.items():
            written = written.replace(f"{{{name}}}", value)
        if written != part and unquote(written).strip() in ("", ".", ".."):
            raise RequestFailed("invalid_path", f"{part} is a path segment of the URL and must not be {written!r}.")
        path += f"/{written}"
    return path.replace("//", "/", 1)


def _in_path(parameter: Parameter, value: Any) -> str:
    if parameter.as_json:
        return quoted(_json(value))
    return in_path(parameter.name, value, parameter.style, explode=parameter.explode)


def _query(parameter: Parameter, value: Any) -> Iterator[str]:
    if parameter.as_json:
        yield f"{quoted(parameter.name)}={quoted(_json(value))}"
    else:
        how = {"explode": parameter.explode, "reserved": parameter.reserved}
        yield from in_query(parameter.name, value, parameter.style, **how)


def _one_line(argument: str, text: str) -> str:
    if not text.isprintable():
        raise RequestFailed("invalid_header", f"{argument} is sent as a header, so it must be one line of text.")
    return text


def _body(body: Body, value: Any) -> tuple[str, bytes]:
    plain = body.media_type.partition(";")[0].strip().lower()
    if value is None:
        return "", b""
    if plain == FORM and isinstance(value, Mapping):
        pairs = form_fields(value, body.encoding)
        return FORM, "&".join(f"{quoted(name)}={quoted(text)}" for name, text in pairs).encode()
    if plain == MULTIPART and isinstance(value, Mapping):
        return _multipart(body, value)
    if plain.endswith(("/json", "+json")) or plain == "*/*":
        return ("application/json" if plain == "*/*" else body.media_type), _json(value).encode()
    return body.media_type, text_of(value).encode("utf-8", "replace")


def _multipart(body: Body, value: Mapping[str, Any]) -> tuple[str, bytes]:
    import httpx

    binary = {name for name, part in _properties(body) if part.get("format") in ("binary", "byte")}
    fields = form_fields({name: item for name, item in value.items() if name not in binary}, body.encoding)
    parts: list[tuple[str, Any]] = [(name, (None, text.encode())) for name, text in fields]
    parts += [(name, (name, text_of(value[name]).encode())) for name in value if name in binary]
    made = httpx.Request("POST", "https://example.invalid/", files=parts)
    return made.headers["Content-Type"], made.read()


def _properties(body: Body) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, part in body.schema.get("properties", {}).items():
        if isinstance(part, Mapping):
            yield name, part


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def result_for_model(operation: Operation, answer: Answer, fields: list[str]) -> object:
    """The part of a response that the model gets.

    Raises:
        RequestFailed: The response cannot be read, or has none of ``fields``.
    """
    from react_toolsets.declared.requests import decoded

    if operation.method == "HEAD":
        return {name: answer.headers[name] for name in _HEADERS if name in answer.headers} or "(no headers)"
    if not answer.body:
        return f"(done: the response to {operation.place} has no content)"
    data = decoded(answer)
    shown = _kept(data, fields) if fields else data
    more = _next_page(operation, answer, data)
    if not more:
        return shown
    return f"{shown if isinstance(shown, str) else _json(shown)}\n\n{more}"


def _kept(data: object, fields: list[str]) -> object:
    from react_toolsets.declared.requests import kept

    found: dict[str, object] = {}
    failure: RequestFailed | None = None
    for path in fields:
        try:
            found[path] = kept(data, path)
        except RequestFailed as error:
            failure = error
    if failure is not None and not found:
        raise failure
    return found


def _next_page(operation: Operation, answer: Answer, data: object) -> str:
    """A line that says how to get the next page; empty if there is none."""
    import httpx

    link = httpx.Response(200, headers={"Link": answer.headers.get("link", "")}).links.get("next", {}).get("url")
    if link:
        query = dict(httpx.URL(answer.url).join(link).params)
        here = dict(httpx.URL(answer.url).params)
        changed = {
            p.argument: query[p.name]
            for p in operation.parameters
            if p.place == "query" and p.name in query and query[p.name] != here.get(p.name)
        }
        said = " and ".join(f"{name}={value}" for name, value in changed.items())
        return f"[There is more: call it again with {said}.]" if said else f"[There is more at {link[:300]}.]"
    for outer in _WITHIN:
        found = data if not outer else data.get(outer) if isinstance(data, Mapping) else None
        for name in CURSORS:
            value = found.get(name) if isinstance(found, Mapping) else None
            if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
                field_name = f"{outer}.{name}" if outer else name
                return f"[There is more: {field_name} is {str(value)[:300]}{_taken_by(operation, name)}.]"
    return ""


def _taken_by(operation: Operation, cursor: str) -> str:
    plain = cursor.lower().replace("_", "").removeprefix("next")
    for parameter in operation.parameters:
        if parameter.place == "query" and parameter.name.lower().replace("_", "") in (plain, f"next{plain}", "after"):
            return f"; call it again with {parameter.argument} set to that"
    return ""
