"""Settings for logging in to a remote server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(kw_only=True, unsafe_hash=True)
class Login:
    """The ``auth`` of a server in an agent file.

    Args:
        client_id: A client registered with the authorization server; by default a new client is registered.
        client_secret: The client's secret.
        scope: The scopes to request; by default those that the server asks for.
        talk: Shows a message to the user; without it there is no user, and a required login is an error.
    """

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    talk: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
