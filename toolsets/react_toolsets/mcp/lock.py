"""The lock next to an agent file: what its servers offered when someone reviewed and accepted it.

Tools come from the lock (docs/decisions, "The lock is the list"), so nothing unreviewed reaches a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from react_run import Tool, ToolsetError
from react_toolsets.mcp.listing import Listed, Listing
from react_toolsets.mcp.target import Target

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Lock:
    """The content of a lock file: a listing for each server, by name."""

    path: Path
    servers: Mapping[str, Listing] = field(default_factory=dict)

    @classmethod
    def beside(cls, agent: Path) -> Lock | None:
        """The lock of an agent file, if it has one.

        Raises:
            ToolsetError: The lock cannot be read, or was edited by hand (``mcp.lock``).
        """
        path = lock_path(agent)
        try:
            return cls._read(agent, path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise ToolsetError(f"cannot read the lock {path}: {error}", code="mcp.lock") from error

    @classmethod
    @lru_cache(maxsize=8)
    def _read(cls, agent: Path, text: str) -> Lock:
        """Parse a lock; cached, because each toolset of an agent file reads it."""
        path = lock_path(agent)
        try:
            data = json.loads(text)
            if data["version"] != VERSION:
                raise ValueError(f"it has version {data['version']!r}; this react-run knows {VERSION}")
            return cls(path=path, servers={name: _listing(server) for name, server in data["servers"].items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = f"the lock {path} cannot be used: {error}. Write it again: react-run mcp lock {agent}"
            raise ToolsetError(text, code="mcp.lock") from error


def lock_path(agent: Path) -> Path:
    """The path of an agent file's lock."""
    return agent.with_name(f"{agent.stem}.mcp.lock")


def _listing(data: Mapping[str, Any]) -> Listing:
    tools = [Listed.from_data(tool) for tool in data["tools"]]
    for tool, stored in zip(tools, data["tools"], strict=True):
        if tool.digest != stored["sha256"]:
            raise ValueError(f"the tool {tool.name!r} was changed by hand")
    server = data.get("server", {})
    return Listing(
        server=server.get("name", ""),
        version=server.get("version", ""),
        protocol=data.get("protocol", ""),
        instructions=data.get("instructions", ""),
        tools=tuple(tools),
    )


def lock_entry(target: Target, listing: Listing) -> dict[str, Any]:
    """The entry for one server in a lock."""
    entry = {
        "reached_by": str(target),
        "server": {"name": listing.server, "version": listing.version},
        "protocol": listing.protocol,
        "instructions": listing.instructions,
        "tools": [_locked(tool) for tool in listing.tools],
    }
    return {key: value for key, value in entry.items() if value or key == "tools"}


def _locked(tool: Listed) -> dict[str, Any]:
    """The entry for a tool in a lock. Its schema is checked here, so that agents with the lock need not check it."""
    data = {**tool.to_data(), "sha256": tool.digest}
    try:
        Tool(name="looked_at", description=tool.name, parameters=tool.parameters, function=_locked)
    except (ToolsetError, ValueError, TypeError) as error:
        return {**data, "unusable": str(error).removeprefix("tool 'looked_at': ")}
    return data


def differences(locked: Listing | None, live: Listing) -> Iterator[str]:
    """The differences, one line per tool."""
    if locked is None:
        yield f"the server is new, with {len(live.tools)} tools"
        return
    for name, tool in locked.by_name.items():
        now = live.by_name.get(name)
        if now is None:
            yield f"{name}: removed"
        elif now.digest != tool.digest:
            yield f"{name}: changed ({', '.join(_changed(tool, now))})"
    yield from (f"{name}: new" for name in live.by_name if name not in locked.by_name)
    if locked.instructions != live.instructions:
        yield "the instructions of the server: changed"


def _changed(before: Listed, now: Listed) -> Iterator[str]:
    old, new = before.to_data(), now.to_data()
    yield from (key for key in {**old, **new} if old.get(key) != new.get(key))
