"""Errors of servers that a model or a person can act on (codes: docs/toolsets/mcp.md)."""

from __future__ import annotations

from react_run import ToolError, ToolFailed
from react_toolsets.mcp import lines

MAX_TEXT = 2_000
"""The most characters of a server's own error text that the model gets."""

TOO_LARGE = "too_large"


class McpTrouble(ToolError):
    """A failed call of a server; other arguments are a new attempt."""

    default_code = "mcp_error"
    opaque = True


class LoginRequired(ToolFailed):
    """A server needs a login, which only a person can do."""

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
    """``text``, cut to ``limit`` characters with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def too_large(name: str, last_words: str = "", limit: int | None = None) -> McpTrouble:
    """The error for a message of more than ``limit`` bytes from the server ``name``."""
    mebibytes = (limit or lines.MAX_MESSAGE) / 2**20
    text = (
        f"the MCP server {name} sent a message of more than {mebibytes:g} MiB, which was not read; the call may have "
        f"taken effect. Ask for less at once, or have it written to a file.{last_words}"
    )
    return McpTrouble(text, code=TOO_LARGE)


def not_a_message(error: Exception) -> str:
    """The line that the SDK could not parse, shortened; the SDK's message if the line is unknown."""
    errors = getattr(error, "errors", None)  # of pydantic
    line = errors()[0].get("input") if errors is not None else None
    return shortened(repr(line) if isinstance(line, str | bytes) else " ".join(str(error).split()), 300)
