"""The table of commands: what each one does, and its module."""

from __future__ import annotations

COMMANDS = {
    "run": "Run an agent on a prompt (the default command).",
    "chat": "Chat with an agent.",
    "check": "Report every mistake in agent files.",
    "explain": "Show what an agent file means: values, prompt, tools, hooks.",
    "list": "List installed toolsets, plugins, models, checks and scorers, and agents.",
    "schema": "Print the JSON Schema of agent files.",
    "init": "Create an agent, a toolset package or a plugin package.",
    "doctor": "Check the installation, and say how to fix it.",
    "trace": "Show what happened in a run: a tree, a page, or data.",
    "replay": "Run again with recorded replies, and show the first difference.",
    "resume": "Continue a run that was interrupted, killed, or failed.",
    "runs": "List, show, export and remove runs.",
    "test": "Test an agent offline, with recorded or scripted replies.",
    "eval": "Measure an agent on cases, and compare agents, with confidence intervals.",
    "batch": "Run an agent on many rows; can be resumed.",
    "worker": "Process rows of running batches, from any machine.",
    "mcp": "Manage an agent's MCP servers: lock, compare, list, try, log in.",
    "openapi": "Fetch the OpenAPI document of a service.",
    "serve": "Serve agents to OpenAI clients, with a web page to watch them.",
    "acp": "Serve an agent to an editor (Agent Client Protocol).",
    "ui": "Browse saved runs.",
    "trust": "Trust a directory: its agent files may start programs and load code from it.",
    "completion": "Print the completion script for a shell.",
}
"""All commands, in the order of the help text; each is the object ``command`` in the module of the same name."""
