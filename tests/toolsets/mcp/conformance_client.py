"""What the official conformance suite drives as a client: an agent that calls every tool of one server.

python conformance_client.py URL       with the scenario's name in MCP_CONFORMANCE_SCENARIO
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any

from react_run import Answer, ReActAgent, ScriptedModel, hookimpl
from react_run.testing import calls, says
from react_toolsets.mcp import McpToolset

VALUES = {"number": 5, "integer": 5, "boolean": True}


class User:
    """Accepts every form as it is."""

    @hookimpl
    def react_ask(self) -> Answer:
        return Answer({})


def visit(url: str) -> bool:
    """A browser whose user agrees to everything."""
    threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=20).read(), daemon=True).start()
    return True


def main(url: str, scenario: str, context: dict[str, Any]) -> None:
    """Log in where that is what the scenario is about, then call every tool."""
    options: dict[str, Any] = {"name": "server", "url": url, "prefix": "", "timeout": 30}
    if scenario.startswith("auth/"):
        client = {key: context[key] for key in ("client_id", "client_secret") if key in context}
        options["auth"] = client or "oauth"
    toolset = McpToolset.model_validate(options)
    if "auth" in options:
        webbrowser.open = visit  # type: ignore[assignment]  # it takes less than the real one
        toolset.inspection().login("server", lambda text: print(text, file=sys.stderr))
    wanted = [
        (tool.name, {name: VALUES.get(part.get("type"), "x") for name, part in properties.items()})
        for tool in toolset.tools()
        for properties in [tool.parameters.get("properties", {})]
    ]
    model = ScriptedModel(replies=[*(calls(call) for call in wanted), says("done")])
    config = {"max_iterations": len(wanted) + 1, "failure_handling": "legacy"}
    agent = ReActAgent(config, model=model, toolsets=[toolset], plugins=[User()])
    agent.workspace = Path.cwd()

    async def run() -> None:
        async with agent:
            for step in (await agent.run("go")).steps:
                print(step.action, step.observation[:200], file=sys.stderr)

    asyncio.run(run())


if __name__ == "__main__":
    main(
        sys.argv[-1],
        os.environ.get("MCP_CONFORMANCE_SCENARIO", ""),
        json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")),
    )
