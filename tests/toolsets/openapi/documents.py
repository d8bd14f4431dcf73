"""Small documents, and the toolsets that read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.toolsets.running import step

from react_run import ReActStep
from react_toolsets.openapi import OpenApiToolset

ALL = ["get", "head", "post", "put", "patch", "delete"]


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A document with these paths."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "A service", "version": "1"},
        "servers": [{"url": "https://api.example.org/v1"}],
        "paths": paths,
        **more,
    }


def operation(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An operation with these parameters."""
    return {"parameters": list(parameters), "responses": {"200": {"description": "Done."}}, **more}


def parameter(name: str, place: str = "query", schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A parameter; those of a path are required."""
    required = {"required": True} if place == "path" else {}
    return {"name": name, "in": place, "schema": schema or {"type": "string"}, **required, **more}


def toolset(directory: Path, described: dict[str, Any], **options: Any) -> OpenApiToolset:
    """A toolset of everything in a document."""
    path = directory / "spec.json"
    path.write_text(json.dumps(described))
    return OpenApiToolset.model_validate({"spec": path, "methods": ALL, **options})


def called(workspace: Path, made: OpenApiToolset, tool: str, /, **arguments: object) -> ReActStep:
    """One call, as a model makes it."""
    return step(workspace, made, tool, **arguments)


def said(workspace: Path, made: OpenApiToolset, tool: str, /, **arguments: object) -> Any:
    """The JSON that one call brought."""
    done = called(workspace, made, tool, **arguments)
    assert not done.error_code, done.observation
    return json.loads(done.observation)
