"""Access to the files of a directory, and to nothing outside it, whatever the path."""

from __future__ import annotations

from react_run.support.files.entries import Entry
from react_run.support.files.folder import Folder
from react_run.support.files.names import PathRefused, parts_of
from react_run.support.files.replacing import Version

__all__ = ["Entry", "Folder", "PathRefused", "Version", "parts_of"]
