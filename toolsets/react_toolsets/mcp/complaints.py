"""Translates the SDK's exceptions into our messages and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_toolsets.mcp.target import Local, Target
from react_toolsets.mcp.troubles import LoginRequired, Lost, McpTrouble, shortened, too_large
from react_toolsets.mcp.words import Words

if TYPE_CHECKING:
    from react_toolsets.mcp.requests import Request

_LIMIT = "byte limit"
"""Part of the SDK's message for an event above its size limit."""
OLD_LIMIT = 2**20
"""The SDK's limit for an event of the transport from before 2025, in bytes."""
CLOSED, TIMED_OUT, URL_NEEDED, UNDECLARED = -32000, -32001, -32042, -32021


def complaint(error: Exception, name: str, request: Request) -> Exception:
    """The error for the model after a failed request.

    Args:
        error: The SDK's exception.
        name: The server.
        request: The failed request.
    """
    from mcp import MCPError
    from pydantic import ValidationError

    if isinstance(error, McpTrouble | LoginRequired):
        return error
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        text = f"the MCP server {name} sent something that does not fit the protocol ({where}: {first['msg']})"
        return McpTrouble(text, code="server_protocol")
    if isinstance(error, MCPError):
        return _of_protocol(error.code, error.message, name, request)
    if (isinstance(error, RuntimeError) and "structured content" in str(error)) or "output schema" in str(error):
        return McpTrouble(
            f"the tool ran, but its structured result does not match the schema that the MCP server {name} declares: "
            f"{shortened(_first_line(error), 500)}",
            code="invalid_result",
        )
    if _is_connection(error):
        return Lost(unsent=request.refused)
    return McpTrouble(shortened(f"the MCP server {name} failed: {type(error).__name__}: {error}"))


def _of_protocol(code: int, message: str, name: str, request: Request) -> Exception:
    if request.too_large or _LIMIT in message:
        return too_large(name)
    if code == CLOSED or request.forgotten:
        return Lost(unsent=request.refused)
    if code == TIMED_OUT:
        return McpTrouble(f"the MCP server {name} gave up: {message}", code="timeout")
    if code == UNDECLARED or "licitation not supported" in message:
        text = f"the MCP server {name} wants to ask the user, and the agent file says elicitation: decline"
        return McpTrouble(text, code="needs_answer")
    if "no back-channel" in message:
        text = f"the MCP server {name} asks as older protocols do: set protocol: legacy for it in the agent file"
        return McpTrouble(text, code="needs_answer")
    if code == URL_NEEDED:
        return McpTrouble(f"the MCP server {name} needs the user to visit a page: {message}", code="needs_answer")
    return McpTrouble(shortened(message) or f"the MCP server {name} answered with error {code}")


def not_started(error: BaseException, target: Target, words: Words) -> Exception:
    """The error for a server that did not become ready."""
    import httpx2

    while isinstance(error, BaseExceptionGroup) and error.exceptions:  # anyio wraps errors of its tasks
        error = error.exceptions[0]
    if isinstance(error, httpx2.SSEError) and _LIMIT in str(error):
        return too_large(target.name, limit=OLD_LIMIT)
    if isinstance(error, McpTrouble) and error.code == "server_protocol":
        return McpTrouble(f"the MCP server {target.name} breaks the protocol: {error}", code=error.code)
    if isinstance(error, McpTrouble | LoginRequired):
        return error
    why = _why(error, target)
    text = f"the MCP server {target.name} does not start: {why}{'' if why.endswith('?') else '.'}{words.last()}"
    return McpTrouble(shortened(text), code="server_start")


def _why(error: BaseException, target: Target) -> str:
    from mcp import MCPError

    if isinstance(error, FileNotFoundError) and isinstance(target, Local):
        if not target.cwd.is_dir():
            return f"the directory {target.cwd} does not exist"
        return f"there is no program {target.command[0]!r}; is it installed, and on the PATH?"
    if isinstance(error, PermissionError) and isinstance(target, Local):
        return f"{target.command[0]!r} may not be executed"
    if isinstance(error, MCPError) and error.code == CLOSED:
        return "it ended before it was ready" if isinstance(target, Local) else f"{target} closed the connection"
    if _is_connection(error):
        return f"{target} cannot be reached ({_first_line(error) or type(error).__name__})"
    return _first_line(error) or type(error).__name__


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), "").rstrip(".")


def _is_connection(error: BaseException) -> bool:
    import anyio
    import httpx2

    kinds = (httpx2.TransportError, anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)
    return isinstance(error, kinds)
