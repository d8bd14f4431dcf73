"""How we log in to a remote server: what an agent file says about it, and who may be asked for it now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(kw_only=True, unsafe_hash=True)
class Login:
    """What an agent file says about logging in.

    Args:
        client_id: The client that was registered with the server's authority; one is registered when it is not given.
        client_secret: Its secret.
        scope: What to ask for; what the server wants, when it is not given.
        talk: Tells the user what to do; without it nobody is there, and a login that is needed is an error.
    """

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    talk: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
