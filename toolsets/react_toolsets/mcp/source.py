"""A server as defined in a file, before the workspace of a run is known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from react_toolsets.mcp.login import Login
from react_toolsets.mcp.target import Local, Remote, Target

INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")


@dataclass(frozen=True, kw_only=True)
class Source:
    """The definition of a server: a command or a URL, and its settings."""

    name: str
    command: tuple[str, ...] = ()
    cwd: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    pass_environment: Sequence[str] = ()
    sandbox: bool | Literal["required"] = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = True
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: Literal["http", "sse"] = "http"
    login: Login | None = None
    protocol: Literal["auto", "legacy"] = "auto"
    roots: tuple[Path, ...] = ()
    asks: bool = True
    start_timeout: float = 30.0

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values to mask."""
        own = [*self.environment.values(), *self.headers.values()]
        bare = [value.partition(" ")[2] for value in self.headers.values()]  # "Bearer …"
        return tuple(value for value in (*own, *bare) if len(value) > 3)

    def target(self, workspace: Path, owner: str = "") -> Target:
        """The server for runs in ``workspace``."""
        log = workspace / ".react-run" / "logs" / f"mcp-{self.name}.log"
        if self.url:
            return Remote(
                name=self.name,
                start_timeout=self.start_timeout,
                log=log,
                protocol=self.protocol,
                roots=self.roots,
                asks=self.asks,
                secrets=self.secrets,
                owner=owner,
                url=self.url,
                headers=tuple(self.headers.items()),
                transport=self.transport,
                login=self.login,
            )
        return Local(
            name=self.name,
            start_timeout=self.start_timeout,
            log=log,
            protocol=self.protocol,
            roots=self.roots,
            asks=self.asks,
            secrets=self.secrets,
            owner=owner,
            command=self.command,
            cwd=self.cwd or workspace,
            environment=self._passed_on(),
            sandbox=self.sandbox,
            readable=self.readable,
            writable=self.writable,
            network=self.network,
        )

    def _passed_on(self) -> tuple[tuple[str, str], ...]:
        passed = {name: os.environ[name] for name in self.pass_environment if name in os.environ}
        return tuple(sorted({**passed, **self.environment}.items()))

    def __str__(self) -> str:
        return self.url or " ".join(self.command)
