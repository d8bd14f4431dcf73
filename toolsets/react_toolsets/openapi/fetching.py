"""Bringing a document from the network, for ``react-run openapi fetch``: what it says, and what is different."""

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
"""For the whole document."""
ACCEPT = "application/json, application/yaml;q=0.9, text/*;q=0.8, */*;q=0.5"


class Fetched:
    """A document that was brought and is not written yet.

    Args:
        url: Where it came from.
        content: What came.

    Raises:
        ConfigError: It is no document of OpenAPI 3.
    """

    def __init__(self, url: str, content: bytes) -> None:
        self.url, self.content = url, content
        try:
            self.document = Document.parse(content, url)
        except SpecProblem as problem:
            raise ConfigError(f"nothing is written: {problem}") from problem

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        operations, tags = _operations(self.document), _tags(self.document)
        info = self.document.data.get("info")
        about = info if isinstance(info, dict) else {}
        count = f"{len(operations)} operations, {len(tags)} tags"
        return f"{about.get('title', 'untitled')} {about.get('version', '')}: {count}".replace(" :", ":")

    @property
    def suffix(self) -> str:
        """How its file's name ends."""
        return ".json" if self.content.lstrip()[:1] == b"{" else ".yaml"

    def differences(self, path: Path) -> list[str]:
        """What is different from the document at ``path``, an operation a line; nothing when it is the same.

        Raises:
            ConfigError: What is there is no document of OpenAPI 3.
        """
        if path.read_bytes() == self.content:
            return []
        try:
            before, _ = Document.read(path)
        except SpecProblem as problem:
            raise ConfigError(f"{problem}: this is no document that could be replaced; give another -o") from problem
        return list(_different(_operations(before), _operations(self.document))) or ["something beside the operations"]

    def write(self, path: Path) -> None:
        """Write it, and beside it where it came from, with its digest."""
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
    """Bring the document at ``url``.

    Raises:
        ConfigError: It cannot be had, or is no document of OpenAPI 3.
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
    """The address as a person typed it: ``localhost`` is this machine."""
    target = parse(url)
    if target.host != "localhost":
        return target
    return Target(scheme=target.scheme, host="127.0.0.1", port=target.port, path=target.path)


def _policy(target: Target) -> HostPolicy:
    """A person may name an address that is not public; a name still has to lead to a public one."""
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
