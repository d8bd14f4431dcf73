"""``kind: http``: a request as a tool, with arguments from the model, under the address rules of ``web``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import quote, urlencode

from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr, field_validator

from react_run import Outcome, Run, Tool
from react_toolsets.declared.base import DeclaredTool, Place
from react_toolsets.declared.templates import as_text, filled, filled_data, places, texts_in
from react_toolsets.http import READS, RequestError, RequestFailed
from react_toolsets.web.policy import HostPolicy, Pattern
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import parse

if TYPE_CHECKING:
    from react_toolsets.declared.requests import Request
    from react_toolsets.web.network import Network

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

_SECRET = re.compile(r"auth|key|token|secret|cookie|password|signature|session", re.IGNORECASE)


def _secret(headers: object) -> object:
    if not isinstance(headers, dict):
        return headers
    hidden = {name: SecretStr(value) for name, value in headers.items() if _holds_key(name) and isinstance(value, str)}
    return {**headers, **hidden}


def _holds_key(name: object) -> bool:
    return isinstance(name, str) and bool(_SECRET.search(name))


class HttpToolset(DeclaredTool):
    """Makes an HTTP request, with the model's arguments filled in."""

    kind: ClassVar[str] = "http"

    method: Method = "GET"
    """The method of the request."""
    url: str
    """The URL, with placeholders such as `{city}` after the host; values are encoded."""
    query: dict[str, Any] = Field(default_factory=dict)
    """The query parameters, with placeholders; an entry without a value is left out."""
    headers: Annotated[dict[str, str | SecretStr], BeforeValidator(_secret)] = Field(default_factory=dict)
    """Headers; those that contain keys (`Authorization`, `X-Api-Key`, `Cookie`, …) are kept secret."""
    body: Any = None
    """The request body: text, or anything else as JSON, with placeholders."""
    keep: str | list[str] | None = None
    """The parts of a JSON response to keep: a path such as `data.items.*.name`, or a list of paths; everything by
    default.
    """
    allow_hosts: list[str] = Field(default_factory=list)
    """The only hosts that may be reached, in the form of the `web` toolset. An IP address with a port may be
    non-public."""
    timeout: float = Field(default=30.0, gt=0, le=600)
    """Time limit for the whole request, in seconds, retries included."""

    _network: Any = PrivateAttr(default=None)

    @field_validator("allow_hosts")
    @classmethod
    def _valid_hosts(cls, hosts: list[str]) -> list[str]:
        for host in hosts:
            Pattern.parse(host)
        return hosts

    def using(self, network: Network) -> HttpToolset:
        """Use ``network`` instead of the machine's own, for tests and unusual networks."""
        self._network = network
        return self

    def needs_trust(self) -> str:
        """Requests that send secrets, change something or reach non-public addresses need trust."""
        if secret := [name for name in self.headers if _holds_key(name)]:
            return f"sends a secret to another machine ({', '.join(secret)})"
        if self.method not in READS:
            return f"changes things on other machines ({self.method})"
        private = [host for host in self.allow_hosts if Pattern.parse(host).is_private]
        return f"reaches non-public addresses ({', '.join(private)})" if private else ""

    def tools(self) -> list[Tool]:
        """The tool."""
        reads = self.method in READS
        return [
            Tool(
                name=self.name,
                description=self.description,
                parameters=self.schema_,
                function=self._run,
                toolset=self,
                context={"__run": "run"},
                read_only=reads if self.read_only is None else self.read_only,
                repeatable=True,
                idempotent=self.method in ("PUT", "DELETE"),
                network=True,
                timeout=self.timeout + 5.0,
            )
        ]

    def templates(self) -> Iterator[Place]:
        """Every text that may have placeholders, with its location in the options."""
        yield ("url",), self.url
        yield from texts_in(self.query, ("query",))
        yield from texts_in(self.body, ("body",))

    def _wrong(self) -> Iterator[Place]:
        host = self.url.partition("://")[2].partition("/")[0].partition("?")[0]
        if any(places(host)):
            yield ("url",), "the host is fixed: put placeholders after it, in the path or the query"
            return
        try:
            parse(_encoded(self.url, dict.fromkeys(places(self.url), "x")))
        except Refused as error:
            yield ("url",), str(error)
        if self.body is not None and self.method in READS:
            yield ("body",), f"{self.method} sends no body: use POST, PUT, PATCH or DELETE, or put it into query"

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """Every response is a verified fact."""
        return Outcome.success(f"{self.name} answered: {' '.join(str(result).split())[:200]}")

    async def _run(self, **arguments: Any) -> object:
        run: Run = arguments.pop("__run")
        arguments = self.with_defaults(arguments)
        from react_toolsets.declared.requests import decoded, exchange, kept

        try:
            policy = HostPolicy(allow=[Pattern.parse(host) for host in self.allow_hosts], deny=[])
            answer = await exchange(
                self._request(arguments), network=self._network, policy=policy, timeout=self.timeout
            )
            return decoded(answer) if self.keep is None else kept(decoded(answer), self.keep)
        except RequestFailed as failure:
            raise RequestError(run.agent.config.masker.mask(str(failure)), code=failure.code) from failure

    def _request(self, arguments: dict[str, Any]) -> Request:
        from react_toolsets.declared.requests import Request

        url = _encoded(self.url, arguments)
        pairs = [
            (name, as_text(value))
            for name, given in self.query.items()
            for value in _listed(filled_data(given, arguments))
            if value is not None
        ]
        if pairs:
            url += ("&" if "?" in url else "?") + urlencode(pairs)
        headers = {
            name: value.get_secret_value() if isinstance(value, SecretStr) else value
            for name, value in self.headers.items()
        }
        body = filled_data(self.body, arguments)
        if body is not None and not isinstance(body, str):
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(body, ensure_ascii=False)
        content = b"" if body is None else str(body).encode("utf-8", "replace")
        return Request(method=self.method, target=parse(url), headers=headers, body=content)


def _encoded(template: str, values: dict[str, Any]) -> str:
    """The URL with the encoded values filled in; values cannot change its structure.

    Raises:
        RequestFailed: A value in the path is empty, only dots, or missing.
    """
    path, mark, query = template.partition("?")
    for name in places(path):
        text = as_text(values.get(name, ""))
        if text.strip() in ("", ".", ".."):
            raise RequestFailed("invalid_path", f"{name} is part of the URL and must not be {text!r}.")
    start = filled(path, values, _quoted) or ""
    rest = filled(query, values, _quoted) if mark else None
    if mark and rest is None:
        missing = next(name for name in places(query) if name not in values)
        raise RequestFailed("invalid_path", f"{missing} is part of the URL and must be given.")
    return f"{start}{mark}{rest or ''}"


def _quoted(value: object) -> str:
    return quote(as_text(value), safe="", errors="replace")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
