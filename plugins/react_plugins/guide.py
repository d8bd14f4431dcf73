"""The plugin ``guide``: text for the system prompt, from the agent file, from a file, or from the nearest AGENTS.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from react_run import LocalPath, Origin, Plugin, Run, hookimpl

LONGEST = 64 * 1024
"""The most bytes of a file that are read."""


class Guide(Plugin):
    """Adds a section to the system prompt, once per run: `text`, a `file`, or the nearest file called `find`."""

    kind: ClassVar[str] = "guide"

    text: str = ""
    """The text."""
    file: LocalPath | None = None
    """A file with the text, read when a run starts."""
    find: str = Field(default="", pattern=r"^[^/\\]*$")
    """The name of a file, such as `AGENTS.md`: the nearest one in the workspace and its parent directories, up to the
    root of the repository. If there is none, nothing is added."""
    heading: str = ""
    """The heading of the section; by default the text's own, or the name of the file."""

    _outside: bool = PrivateAttr(default=False)
    _trusted: bool = PrivateAttr(default=True)
    _home: Path = PrivateAttr(default=Path())

    @model_validator(mode="after")
    def _check_source(self, info: ValidationInfo) -> Self:
        if bool(self.text.strip()) + (self.file is not None) + bool(self.find) != 1:
            raise ValueError("give one of text, file and find")
        if self.file is not None and not self.file.is_file():
            raise ValueError(f"there is no file {self.file}")
        if isinstance(info.context, Origin):
            home = info.context.directory.resolve()
            self._trusted, self._home = info.context.trusted, home
            self._outside = not all(path.is_relative_to(home) for path in self._looked_at())
        return self

    def _looked_at(self) -> list[Path]:
        """The paths that need trust; files that are meant to be read, such as AGENTS.md, do not."""
        if self.file is not None:
            return [self.file.resolve()]
        return list(_upwards(Path.cwd().resolve())) if self.find and not self.find.lower().endswith(".md") else []

    def needs_trust(self) -> str:
        """Reading outside the agent file's directory needs trust."""
        reads = f"reads {self.file}, which is" if self.file else f"looks for {self.find}"
        return f"{reads} outside its directory" if self._outside else ""

    @hookimpl
    async def react_guide(self, run: Run) -> str | None:
        if self.text:
            return self._section(self.text.strip(), "")

        async def find() -> list[str]:
            path = self.file or nearest(run.workspace, self.find)
            if path is None:
                return []
            if not self._trusted and self._leads_out(run.workspace, path):
                run.note(
                    self.kind, f"{path} is a link to another directory, which an agent file without trust cannot read"
                )
                return []
            return [path.name, _read(path)]

        found = await run.recorded(f"guide {self.file or self.find}", find)
        return self._section(found[1].strip(), found[0]) if found else None

    def _leads_out(self, workspace: Path, path: Path) -> bool:
        """Whether ``path`` has become a link to a place that must not be read."""
        places = [self._home] if self.file is not None else [*_upwards(workspace.resolve())]
        return not any(path.resolve().is_relative_to(place) for place in places)

    def _section(self, text: str, name: str) -> str | None:
        if not text:
            return None
        heading = self.heading or ("" if text.startswith("#") else name)
        return f"# {heading}\n\n{text}" if heading else text


def nearest(directory: Path, name: str) -> Path | None:
    """The file ``name`` in ``directory``, else in its nearest parent within the repository."""
    return next((path for above in _upwards(directory.resolve()) if (path := above / name).is_file()), None)


def _upwards(directory: Path) -> Iterator[Path]:
    """``directory`` and its parents up to the root of the repository; only ``directory`` if it is not in one."""
    yield directory
    above = [directory, *directory.parents]
    root = next((index for index, path in enumerate(above) if (path / ".git").exists()), 0)
    yield from above[1 : root + 1]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(LONGEST + 1)
    text = data[:LONGEST].decode("utf-8-sig", "replace")
    return text if len(data) <= LONGEST else f"{text}\n[{path.name} is longer; the rest is not shown]"
