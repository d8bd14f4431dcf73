"""A directory whose files are reached by name, and nothing outside it, whatever the name says."""

from __future__ import annotations

from react_run.folder.entries import Entry
from react_run.folder.folder import Folder
from react_run.folder.names import PathRefused, parts_of
from react_run.folder.replacing import Version

__all__ = ["Entry", "Folder", "PathRefused", "Version", "parts_of"]
