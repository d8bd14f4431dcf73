"""Answers to requests from a server: questions to the user, and the list of roots. Everything else is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequestParams, ElicitResult, Implementation, ListRootsResult, Root

from react_run import __version__
from react_toolsets.mcp.requests import Request, request_of_task

if TYPE_CHECKING:
    from mcp.client import ClientRequestContext

    from react_toolsets.mcp.target import Target


def ourselves() -> Implementation:
    """The client name and version that servers get."""
    return Implementation(name="react-run", version=__version__)


def callbacks(target: Target, in_flight: Sequence[Request]) -> dict[str, Any]:
    """The SDK's callbacks for a session, by argument name; only these capabilities are declared to the server.

    Args:
        target: The server.
        in_flight: The live list of requests that wait for an answer.
    """
    found: dict[str, Any] = {}
    if target.asks:
        found["elicitation_callback"] = _Asking(in_flight)
    if target.roots:
        found["list_roots_callback"] = _Roots(target.roots)
    return found


class _Asking:
    def __init__(self, in_flight: Sequence[Request]) -> None:
        self._in_flight = in_flight

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """Ask the user; decline if the run has no user."""
        last = self._in_flight[-1] if self._in_flight else None
        request = request_of_task.get() or last  # older servers do not say which request they ask for
        if request is None or request.ask is None:
            return ElicitResult(action="decline")
        with request.asking():
            return await request.ask(params)


class _Roots:
    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = roots

    async def __call__(self, context: ClientRequestContext) -> ListRootsResult:
        """The roots from the agent file."""
        roots = [Root(uri=root.resolve().as_uri(), name=root.name) for root in self._roots]
        return ListRootsResult(roots=roots)
