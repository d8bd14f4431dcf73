"""What can go wrong with a server, in terms that a model and a person can act on (codes: docs/toolsets/mcp.md)."""

from __future__ import annotations

from react_run import ToolError, ToolFailed

MAX_TEXT = 2_000
"""Characters of a server's own error text that are handed on."""


class McpTrouble(ToolError):
    """A call that a server did not answer well; other arguments are a new attempt."""

    default_code = "mcp_error"
    opaque = True


class LoginRequired(ToolFailed):
    """A server wants a login that only a person can give."""

    default_code = "login_required"


class Lost(Exception):
    """The connection ended during a request.

    Args:
        unsent: Whether the request certainly never reached the server.
    """

    def __init__(self, unsent: bool) -> None:
        super().__init__("connection lost")
        self.unsent = unsent


def shortened(text: str, limit: int = MAX_TEXT) -> str:
    """``text``, cut with a mark when it is longer than ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
