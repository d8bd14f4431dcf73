"""The URLs that requests go to: from the agent file, or from the servers of the document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from react_run import Fault, ToolsetError
from react_toolsets.openapi.document import SpecProblem
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import parse

if TYPE_CHECKING:
    from react_toolsets.openapi.document import Document
    from react_toolsets.openapi.operations import Operation


def base_of(document: Document, given: str | None, came_from: str = "") -> str:
    """The base URL of the service.

    Args:
        document: The document of the service.
        given: The ``base_url`` of the agent file.
        came_from: The URL that the document was fetched from; its servers may be relative to it.

    Raises:
        ToolsetError: There is no ``base_url``, and the document has no absolute one.
    """
    if given is not None:
        return given
    try:
        return _first(document.data.get("servers"), "#/servers", came_from)
    except SpecProblem as problem:
        text = f"{problem}: set base_url: https://… to the URL of the service"
        raise ToolsetError(text, code="openapi.base_url", faults=[Fault("openapi.base_url", text, ())]) from problem


def server_of(operation: Operation, base: str) -> str:
    """The base URL for ``operation``: its own server if it has one, else ``base``.

    Raises:
        SpecProblem: Its own server is not a valid URL.
    """
    return _first(operation.servers, f"{operation.pointer}/servers", base) if operation.servers else base


def _first(servers: Any, pointer: str, start: str) -> str:
    server = servers[0] if isinstance(servers, list) and servers else None
    url = server.get("url") if isinstance(server, Mapping) else None
    if not isinstance(server, Mapping) or not isinstance(url, str):
        raise SpecProblem(pointer, "the document names no server")
    variables = server.get("variables")
    for name, variable in (variables if isinstance(variables, Mapping) else {}).items():
        if isinstance(variable, Mapping) and "default" in variable:
            url = url.replace(f"{{{name}}}", str(variable["default"]))
    url = urljoin(start, url)
    try:
        parse(url)
    except Refused as error:
        raise SpecProblem(f"{pointer}/0/url", f"{url[:100]!r} is not an absolute URL: {error}") from error
    return url
