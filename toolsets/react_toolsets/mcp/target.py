"""How a server is reached. Equal targets are one server, shared by everything in the process that names it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from react_toolsets.mcp.login import Login
from react_toolsets.programs import Confinement


@dataclass(frozen=True, kw_only=True)
class Target:
    """What local and remote servers have in common.

    Args:
        name: How messages and the log file call the server.
        start_timeout: Seconds until it must be ready.
        log: The file for what it writes to standard error, and for what the SDK says about it.
        protocol: ``auto``, or ``legacy`` for the handshake of 2025 and before.
        roots: Directories that it is told about.
        asks: Whether it may ask the user questions.
        secrets: Values that never reach the log.
        owner: Whose own server this is, when it is not shared by the whole process.
    """

    name: str = field(compare=False)
    start_timeout: float = field(compare=False)
    log: Path = field(compare=False)
    protocol: Literal["auto", "legacy"] = "auto"
    roots: tuple[Path, ...] = ()
    asks: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)
    owner: str = ""


@dataclass(frozen=True, kw_only=True)
class Local(Target):
    """A program that is started and talked to over its standard input and output."""

    command: tuple[str, ...]
    cwd: Path
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    sandbox: bool | Literal["required"] = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = True

    def confinement(self) -> Confinement:
        """What the program may touch when it is confined."""
        return Confinement(
            write=[self.cwd.resolve(), *(path.resolve() for path in self.writable)],
            read=[path.resolve() for path in self.readable],
            network=self.network,
        )

    def __str__(self) -> str:
        return " ".join(self.command)


@dataclass(frozen=True, kw_only=True)
class Remote(Target):
    """A server that is reached over HTTP."""

    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    transport: Literal["http", "sse"] = "http"
    login: Login | None = None

    def __str__(self) -> str:
        return self.url
