"""Downloads a document for ``react-run openapi fetch``, and compares it with the file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from react_run import ConfigError
from react_toolsets.http import RequestFailed
from react_toolsets.openapi.document import LARGEST, Document, SpecProblem
from react_toolsets.openapi.fetched import digest, note_beside
from react_toolsets.openapi.operations import METHODS
from react_toolsets.web.address import parse as parse_address
from react_toolsets.web.policy import HostPolicy, Pattern
from react_toolsets.web.url import Target, parse

SECONDS = 120.0
"""Timeout for the whole document."""
ACCEPT = "application/json, application/yaml;q=0.9, text/*;q=0.8, */*;q=0.5"


class Fetched:
    """A downloaded document that is not written yet.

    Args:
        url: The URL it came from.
        content: The content.

    Raises:
        ConfigError: It is not an OpenAPI 3 document.
    """

    def __init__(self, url: str, content: bytes) -> None:
        self.url, self.content = url, content
        try:
            self.document = Document.parse(content, url)
        except SpecProblem as problem:
            raise ConfigError(f"nothing was written: {problem}") from problem

    @property
    def summary(self) -> str:
        """A summary of the document in one line."""
        operations, tags = _operations(self.document), _tags(self.document)
        info = self.document.data.get("info")
        about = info if isinstance(info, dict) else {}
        count = f"{len(operations)} operations, {len(tags)} tags"
        return f"{about.get('title', 'untitled')} {about.get('version', '')}: {count}".replace(" :", ":")

    @property
    def suffix(self) -> str:
        """The suffix for the file."""
        return ".json" if self.content.lstrip()[:1] == b"{" else ".yaml"

    def differences(self, path: Path) -> list[str]:
        """The differences from the document at ``path``, one line per operation; empty if there are none.

        Raises:
            ConfigError: The file is not an OpenAPI 3 document.
        """
        if path.read_bytes() == self.content:
            return []
        try:
            before, _ = Document.read(path)
        except SpecProblem as problem:
            raise ConfigError(f"{problem}: the file is not a document to replace; give another -o") from problem
        lines = list(_different(_operations(before), _operations(self.document)))
        return lines or ["something other than the operations"]

    def write(self, path: Path) -> None:
        """Write the document, and next to it the record with its URL and digest."""
        note = {
            "url": self.url,
            "sha256": digest(self.content),
            "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        for target, content in ((path, self.content), (note_beside(path), f"{json.dumps(note, indent=1)}\n".encode())):
            beside = target.with_name(f"{target.name}.new")
            beside.write_bytes(content)
            beside.replace(target)


def fetch(url: str) -> Fetched:
    """Download the document at ``url``.

    Raises:
        ConfigError: The download failed, or it is not an OpenAPI 3 document.
    """
    from react_toolsets.declared.requests import Request, exchange

    try:
        target = _typed(url)
        request = Request(method="GET", target=target, headers={"Accept": ACCEPT}, max_bytes=LARGEST)
        answer = asyncio.run(exchange(request, network=None, policy=_policy(target), timeout=SECONDS))
    except RequestFailed as failure:
        raise ConfigError(f"{url}: {failure}") from failure
    return Fetched(answer.url, answer.body)


def _typed(url: str) -> Target:
    """The URL that a person typed, with ``localhost`` replaced by its address."""
    target = parse(url)
    if target.host != "localhost":
        return target
    return Target(scheme=target.scheme, host="127.0.0.1", port=target.port, path=target.path)


def _policy(target: Target) -> HostPolicy:
    """A person may type a non-public IP address; a host name still has to resolve to a public one."""
    try:
        address = parse_address(target.host)
    except ValueError:
        return HostPolicy()
    return HostPolicy(allow=(Pattern(host=target.host, port=target.port, address=address),))


def _operations(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, item in document.data["paths"].items():
        if isinstance(item, dict):
            found |= {f"{method.upper()} {path}": item[method] for method in METHODS if method in item}
    return found


def _tags(document: Document) -> set[str]:
    operations = [node for node in _operations(document).values() if isinstance(node, dict)]
    listed = [node.get("tags") for node in operations]
    return {tag for tags in listed if isinstance(tags, list) for tag in tags if isinstance(tag, str)}


def _different(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    yield from (f"- {name}" for name in before if name not in after)
    yield from (f"+ {name}" for name in after if name not in before)
    yield from (f"~ {name}" for name in after if name in before and after[name] != before[name])
