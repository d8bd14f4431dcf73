"""The options of ``kind: mcp``, and the servers they define."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, StringConstraints, ValidationInfo, model_validator

from react_run import LocalPath, Options, Origin, ReActToolset
from react_toolsets.mcp.login import Login
from react_toolsets.mcp.servers_file import servers_in
from react_toolsets.mcp.source import Source

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,20}$")]
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OAuth(Options):
    """A client registered with a server's authorization server."""

    client_id: str = Field(min_length=1)
    """The client id."""
    client_secret: SecretStr = SecretStr("")
    """The client secret, if there is one."""
    scope: str = ""
    """The scopes to request, separated by spaces."""


class McpOptions(ReActToolset):
    """Options that define servers."""

    name: Name | None = None
    """The name of the server in messages, the log and the names of its tools."""
    command: str | None = Field(default=None, min_length=1)
    """The server program, started without a shell."""
    args: list[str] = Field(default_factory=list)
    """Its arguments."""
    cwd: LocalPath | None = None
    """The working directory; by default the workspace of the run."""
    env: dict[str, SecretStr] = Field(default_factory=dict)
    """Environment variables for the program."""
    pass_environment: list[str] = Field(default_factory=list)
    """Names of environment variables to pass on, besides HOME, LOGNAME, PATH, SHELL, TERM and USER."""
    sandbox: bool | Literal["required"] = False
    """Whether the program is confined to its directory; `required`: it does not start if that is impossible."""
    readable: list[LocalPath] = Field(default_factory=list)
    """Additional files and directories that a confined program may read."""
    writable: list[LocalPath] = Field(default_factory=list)
    """Additional files and directories that a confined program may change."""
    network: bool = True
    """Whether a confined program may use the network."""
    url: str | None = None
    """The URL of a remote server."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Headers for every request to it."""
    transport: Literal["http", "sse"] = "http"
    """`sse` for servers from before 2025."""
    insecure: bool = False
    """Whether `http://` to other machines is allowed."""
    auth: Literal["oauth"] | OAuth | None = None
    """`oauth`, or a registered client; log in with `react-run mcp login`."""
    file: LocalPath | None = None
    """A JSON file with "mcpServers", instead of command and url."""
    servers: list[str] = Field(default_factory=lambda: ["*"])
    """Which servers of the file, by names with * in them."""
    protocol: Literal["auto", "legacy"] = "auto"
    """`legacy` for servers that push questions, as protocols before 2026 do."""
    prefix: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{0,40}$")
    """A prefix for the names of tools; by default `NAME__`."""
    include: list[str] = Field(default_factory=lambda: ["*"])
    """Which tools, by the server's own names with * in them."""
    exclude: list[str] = Field(default_factory=list)
    """Tools to exclude, in the same form."""
    read_only: list[str] = Field(default_factory=list)
    """Tools that change nothing, in the same form."""
    changes: list[str] = Field(default_factory=list)
    """Tools that change something."""
    trust_hints: bool = False
    """Whether to trust the server's claims that a tool changes nothing, or can be repeated."""
    required: bool = False
    """Whether a server that fails keeps the run from starting; otherwise it is left out with a warning."""
    timeout: float = Field(default=60.0, gt=0)
    """Time limit for a call without progress, in seconds."""
    max_timeout: float = Field(default=600.0, gt=0)
    """Total time limit for a call, in seconds."""
    start_timeout: float = Field(default=30.0, gt=0)
    """Time limit for the server to get ready, in seconds."""
    resources: bool = False
    """Whether the model may list and read the server's resources, with two more tools."""
    instructions: bool = False
    """Whether to put the server's instructions before the description of its first tool."""
    roots: list[LocalPath] = Field(default_factory=list)
    """Directories to announce to the server."""
    elicitation: Literal["ask", "decline"] = "ask"
    """Whether the server may ask the user questions."""
    lock: Literal["auto", "required", "off"] = "auto"
    """`required`: no tools without a lock; `off`: locks are ignored."""
    share: Literal["process", "run"] = "process"
    """`process`: all runs share one server; `run`: every run has its own."""

    _origin: Origin | None = PrivateAttr(default=None)
    _sources: list[Source] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _one_way_to_reach_it(self, info: ValidationInfo) -> Self:
        self._origin = info.context if isinstance(info.context, Origin) else None
        ways = [key for key in ("command", "url", "file") if getattr(self, key) is not None]
        if len(ways) != 1:
            given = " and ".join(ways) or "none"
            raise ValueError(f"give one of command, url and file; here it is {given}")
        if self.file is None and self.name is None:
            raise ValueError("name is missing: a short word for the server, such as name: files")
        if self.file is not None and self.name is not None:
            raise ValueError("file: already names its servers, so it cannot be combined with name:")
        self._sources = list(self._named())
        for source in self._sources:
            if source.url and not self.insecure:
                _check_url(source.url)
        return self

    def needs_trust(self) -> str:
        """Every server needs trust: it is foreign code, on this machine or another."""
        programs = [source.command[0] for source in self._sources if source.command]
        if programs:
            return f"starts programs ({', '.join(dict.fromkeys(programs))})"
        return f"sends data to another machine ({', '.join(source.url for source in self._sources)})"

    @property
    def _login(self) -> Login | None:
        if self.auth is None:
            return None
        if self.auth == "oauth":
            return Login()
        secret = self.auth.client_secret.get_secret_value()
        return Login(client_id=self.auth.client_id, client_secret=secret, scope=self.auth.scope)

    def _named(self) -> Iterator[Source]:
        if self.file is None:
            assert self.name is not None  # checked before
            yield self._source(
                self.name,
                command=self.command,
                args=self.args,
                cwd=self.cwd,
                env={key: value.get_secret_value() for key, value in self.env.items()},
                url=self.url or "",
                headers={key: value.get_secret_value() for key, value in self.headers.items()},
                transport=self.transport,
            )
            return
        environment = os.environ if self._origin is None else self._origin.environment
        known = servers_in(self.file, self.servers, os.environ if environment is None else environment)
        for name, options in known:
            yield self._source(name, **options)

    def _source(self, name: str, *, command: str | None = None, url: str = "", **given: Any) -> Source:
        return Source(
            name=name,
            command=(command, *given.get("args", ())) if command else (),
            cwd=given.get("cwd"),
            environment=given.get("env", {}),
            pass_environment=self.pass_environment,
            sandbox=self.sandbox,
            readable=tuple(self.readable),
            writable=tuple(self.writable),
            network=self.network,
            url=url,
            headers=given.get("headers", {}),
            transport=given.get("transport", self.transport),
            login=self._login if url else None,
            protocol=self.protocol,
            roots=tuple(self.roots),
            asks=self.elicitation == "ask",
            start_timeout=self.start_timeout,
        )


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the URL of a server: it must start with https://, or http:// on this machine")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError(f"{url} is not encrypted: use https://, or insecure: true if you accept that")
    if parts.username or parts.password:
        raise ValueError("a URL with a password would end up in logs: use headers: or auth:")
