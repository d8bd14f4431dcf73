"""The checked options of a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from react_run.errors import ConfigError
from react_run.support.dataclasses import dataclass

TOKEN_VARIABLE = "REACT_RUN_TOKEN"
SHORTEST_TOKEN = 16
"""The fewest characters of a token: a shorter one could be guessed."""
OVERRIDES = ("model", "max_cost", "max_iterations")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What the command line says about a server.

    Args:
        host: The address to listen on.
        port: The port; 0 lets the system choose.
        tokens: The accepted tokens, by the name that goes into journals.
        allow_hosts: More host names accepted in requests.
        allow_origins: Origins whose pages may send requests.
        max_runs: How many runs may be in flight.
        queue: How many runs may wait for their turn.
        max_body: The largest request body, in bytes.
        run_timeout: The most seconds that a run may take; waiting for a person does not count.
        grace: Seconds that runs may continue after SIGTERM.
        on_disconnect: What happens to a run whose client has left.
        drafts: Where to send text that may be withdrawn.
        client_tools: What to do with tools that a request brings.
        allow_override: What a request may set for its run.
        workspaces: The parent of the sessions' directories.
        title_model: The model that answers the side requests of chat pages.
        page: Whether to serve the page.
        save: Whether journals outlive the server.
        trust: Whether the directories of the agent files are trusted.
        resume: Whether to resume interrupted runs at start.
        park_after: Seconds after which a run that waits for a person is parked.
        expires: Seconds after which an unanswered question is answered with no.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: dict[str, str] = field(default_factory=dict, repr=False)
    allow_hosts: Sequence[str] = ()
    allow_origins: Sequence[str] = ()
    max_runs: int = 16
    queue: int = 64
    max_body: int = 10_000_000
    run_timeout: float | None = None
    grace: float = 30.0
    on_disconnect: Literal["cancel", "finish"] = "cancel"
    drafts: Literal["reasoning", "content", "none"] = "reasoning"
    client_tools: Literal["refuse", "ignore"] = "refuse"
    allow_override: Sequence[str] = ()
    workspaces: Path | None = None
    title_model: str | None = None
    page: bool = True
    save: bool = True
    trust: bool = False
    resume: bool = False
    park_after: float = 600.0
    expires: float = 7 * 86_400.0

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Refuse options that would let strangers in.

        Raises:
            ConfigError: Other machines could reach the server, and no token is required.
        """
        if not self.is_local and not self.tokens:
            raise ConfigError(
                f"--host {self.host} lets other machines reach the agents, so a token is required: "
                f"set {TOKEN_VARIABLE}, or write one into a file and give --token-file FILE"
            )


def is_loopback(host: str) -> bool:
    """Whether ``host`` is reachable from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def tokens_from(file: str | None) -> dict[str, str]:
    """The tokens of ``--token-file`` and ``REACT_RUN_TOKEN``, by name.

    A line of the file is a token, or ``NAME TOKEN``; ``#`` begins a comment. The name tells in journals who it was.

    Raises:
        ConfigError: The file cannot be read, a token is too short, or two tokens have the same name.
    """
    found: dict[str, str] = {}
    if file is not None:
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--token-file {file}: {getattr(error, 'strerror', None) or error}") from error
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if words:
                _add(found, words, f"{file}:{number}")
        if not found:
            raise ConfigError(f"--token-file {file}: no token in it; write one on a line of its own")
    if value := os.environ.get(TOKEN_VARIABLE, "").strip():
        _add(found, ["token", value], TOKEN_VARIABLE)
    return found


def _add(found: dict[str, str], words: list[str], place: str) -> None:
    if len(words) > 2:
        raise ConfigError(f"{place}: write a token, or NAME TOKEN, on a line")
    name, token = words if len(words) == 2 else (f"token-{len(found) + 1}", words[0])
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{place}: a token needs at least {SHORTEST_TOKEN} characters; "
            "`python -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one"
        )
    if not token.isascii():
        raise ConfigError(f"{place}: a token may contain ASCII characters only")
    if name in found:
        raise ConfigError(f"{place}: there is already a token named {name!r}")
    found[name] = token
