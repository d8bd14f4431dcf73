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
"""Characters that a token must have at least: anything shorter can be guessed."""
OVERRIDES = ("model", "max_cost", "max_iterations")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What the command line says about a server.

    Args:
        host: The address to listen on.
        port: The port; 0 lets the system choose.
        tokens: The tokens that are accepted, by the name that goes into journals.
        allow_hosts: More host names that requests may name.
        allow_origins: Origins whose pages may send requests.
        max_runs: Runs at the same time.
        queue: Runs that may wait for their turn.
        max_body: Bytes of a request's body.
        run_timeout: Seconds that a run may work; waiting for a person does not count.
        grace: Seconds that runs may go on after SIGTERM.
        on_disconnect: What becomes of a run whose client left.
        drafts: Where text goes that may be withdrawn.
        client_tools: What becomes of tools that a request brings.
        allow_override: What a request may set for its run.
        workspaces: Where each session gets its directory.
        title_model: The model that answers the helper requests of chat pages.
        page: Whether the page is served.
        save: Whether journals outlive the server.
        trust: Whether the directories of the agent files are trusted.
        resume: Whether interrupted runs go on at the start.
        park_after: Seconds after which a run that waits for a person is put aside.
        expires: Seconds after which a question that nobody answered is answered with no.
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
        """Refuse what would let strangers in.

        Raises:
            ConfigError: Other machines could reach the server, and no token is required.
        """
        if not self.is_local and not self.tokens:
            raise ConfigError(
                f"--host {self.host} lets other machines reach the agents, so a token is required: "
                f"set {TOKEN_VARIABLE}, or write one into a file and give --token-file FILE"
            )


def is_loopback(host: str) -> bool:
    """Whether ``host`` names this machine, to itself alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def tokens_from(file: str | None) -> dict[str, str]:
    """The tokens of ``--token-file`` and ``REACT_RUN_TOKEN``, by name.

    A line of the file is a token, or ``NAME TOKEN``; ``#`` begins a comment. The name says in journals who it was.

    Raises:
        ConfigError: The file cannot be read, or a token in it is too short or named twice.
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
        raise ConfigError(f"{place}: a token is made of ASCII characters")
    if name in found:
        raise ConfigError(f"{place}: there is already a token named {name!r}")
    found[name] = token
