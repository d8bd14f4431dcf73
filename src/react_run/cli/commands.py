"""The table of commands: what each does, and the module it lives in."""

from __future__ import annotations

COMMANDS = {
    "run": "Run an agent on a prompt (the default command).",
    "chat": "Talk with an agent.",
    "check": "Report everything that is wrong with agent files.",
    "explain": "Show what an agent file means: values, prompt, tools, hooks.",
    "list": "List what is installed: toolsets, plugins, models, checks, scorers, and agents.",
    "schema": "Print the JSON Schema of agent files.",
    "init": "Start an agent, a toolset package or a plugin package.",
    "doctor": "Find out what is wrong with the installation.",
    "trace": "Show what happened in a run: a tree, a page, or data.",
    "replay": "Run again on recorded replies, and show the first difference.",
    "resume": "Go on with a run that was interrupted, killed, or failed.",
    "runs": "List, show, export and remove runs.",
    "test": "Test an agent offline, with recorded or scripted replies.",
    "eval": "Measure an agent on cases, compare agents, and say how sure that is.",
    "batch": "Run an agent on many rows; interrupted, it goes on.",
    "worker": "Help with batches that are at work, from any machine.",
    "mcp": "Lock, compare, list and try the MCP servers of an agent; log in to one.",
    "openapi": "Fetch the OpenAPI document of a service.",
    "serve": "Serve agents to OpenAI clients, with a page to watch them.",
    "acp": "Talk with an editor (Agent Client Protocol).",
    "ui": "Look at the runs that are kept, in a browser.",
    "trust": "Let agent files of a directory start programs and load code beside them.",
    "completion": "Print the completion script for a shell.",
}
"""Every command, in the order of the help text; each is ``command`` of the module of its name in this package."""
