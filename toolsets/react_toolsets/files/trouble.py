"""Errors of the file tools. They say nothing about the next call, so they do not end a run."""

from __future__ import annotations

from react_run import ToolError


class FileTrouble(ToolError):
    """A file cannot be read or changed as asked."""

    opaque = True
