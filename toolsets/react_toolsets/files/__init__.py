"""The ``files`` toolset: read, find and search files below one directory, and change them if allowed."""

from __future__ import annotations

from react_toolsets.files.toolset import FilesToolset

__all__ = ["FilesToolset"]
