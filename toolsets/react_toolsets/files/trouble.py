"""What the file tools refuse; it says nothing about the next call, so it is not a reason to end a run."""

from __future__ import annotations

from react_run import ToolError


class FileTrouble(ToolError):
    """A file cannot be read or changed as asked."""

    opaque = True
