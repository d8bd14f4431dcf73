"""How a server is reached. Equal targets mean one server, shared by everything in the process that names it."""

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
        name: The server's name in messages and in the name of the log file.
        start_timeout: Seconds until it must be ready.
        log: The file for its standard error, and for the SDK's log records about it.
        protocol: ``auto``, or ``legacy`` for the handshake from before 2026.
        roots: Directories that it is told about.
        asks: Whether it may ask the user questions.
        secrets: Values to mask in the log.
        owner: The id of the run that owns it, if it is not shared by the whole process.
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
    """A program that is started, and reached over its standard input and output."""

    command: tuple[str, ...]
    cwd: Path
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    sandbox: bool | Literal["required"] = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = True

    def confinement(self) -> Confinement:
        """The confinement of the program."""
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
