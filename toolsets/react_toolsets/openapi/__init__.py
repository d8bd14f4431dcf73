"""``kind: openapi``: turns the operations of an HTTP service into tools, from its OpenAPI document."""

from __future__ import annotations

from react_toolsets.openapi.toolset import OpenApiToolset, OpenApiWarning

__all__ = ["OpenApiToolset", "OpenApiWarning"]
