"""Saves full results next to a run, in files that no name, id or link can redirect (behaviour T4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from react_run.support.dataclasses import dataclass
from react_run.support.files.run_files import read_own, run_folders, safe_name, write_new

CHUNK = 1 << 18
"""Characters per write."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A result on disk: the name it is read by, and its path as the model sees it, relative to the workspace."""

    name: str
    path: str
    text: str
    """The content of the file; not kept beyond the iteration."""


class Spill:
    """The saved results of one run, in the order in which they were saved."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        """Path by name."""
        self.known: dict[tuple[int, str], str] = {}
        """The name by length and samples of the text, so that a result is saved only once."""
        self.count = 0

    def save(self, workspace: Path, run_id: str, tool: str, text: str, *, structured: bool = False) -> Saved:
        """Save ``text``, a result of ``tool``.

        Raises:
            OSError: It cannot be saved; nothing is left behind.
        """
        body = one_per_line(text) if structured else None
        suffix = "txt" if body is None else "json"
        body = text if body is None else body
        name = self._found(workspace, body)
        if name is None:
            folders = (*run_folders(run_id), "spill")
            name = self._write(workspace, folders, f"{safe_name(tool)}.{suffix}", body)
            self.known[sample(body)] = name
            self.names[name] = "/".join((*folders, name))
        return Saved(name=name, path=self.names[name], text=body)

    def _found(self, workspace: Path, body: str) -> str | None:
        """The name under which ``body`` was saved before."""
        name = self.known.get(sample(body))
        if name is None:
            return None
        try:
            return name if self.read(workspace, name) == body else None
        except OSError:  # it was removed
            return None

    def _write(self, workspace: Path, folders: Sequence[str], ending: str, text: str) -> str:
        while True:
            self.count += 1
            name = f"{self.count}-{ending}"
            try:
                write_new(workspace, folders, name, _pieces(text))
            except FileExistsError:  # a resumed run saves what it saved before
                if not _holds(workspace, folders, name, text):
                    continue
            return name

    def read(self, workspace: Path, name: str) -> str:
        """The full text of a saved result.

        Raises:
            KeyError: No result of this run has that name.
            OSError: It can no longer be read.
        """
        *folders, leaf = self.names[name].split("/")
        return read_own(workspace, folders, leaf).decode(errors="replace")


def sample(text: str) -> tuple[int, str]:
    """A cheap fingerprint that distinguishes most texts."""
    middle = len(text) // 2
    return len(text), text[:256] + text[middle : middle + 256] + text[-256:]


def one_per_line(text: str) -> str | None:
    """Format JSON with one element or member per line; ``None`` if ``text`` does not begin with an array or object."""
    import json

    from pydantic_core import to_json

    if not text.startswith(("[", "{")):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text)
        if isinstance(value, list):
            lines = [to_json(item) for item in value]
        else:
            lines = [to_json({key: item})[1:-1] for key, item in value.items()]
    except (ValueError, RecursionError):
        return None
    body = b",\n".join(lines).decode()
    return f"{text[0]}\n{body}\n{text[end - 1]}{text[end:]}"


def _pieces(text: str) -> Iterator[bytes]:
    """Encode ``text`` part by part, to avoid a second copy of a long text."""
    for start in range(0, len(text), CHUNK):
        yield text[start : start + CHUNK].encode(errors="replace")


def _holds(root: Path, folders: Sequence[str], name: str, text: str) -> bool:
    try:
        return read_own(root, folders, name) == text.encode(errors="replace")
    except OSError:
        return False
