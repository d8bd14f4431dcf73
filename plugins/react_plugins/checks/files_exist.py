"""The check ``files_exist``: an answer is accepted if the files exist."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from react_run import Check, Folder, LocalPath, Run, Verdict


class FilesExist(Check):
    """Files must exist, such as those the agent was asked to create."""

    kind: ClassVar[str] = "files_exist"

    files: list[str] = Field(min_length=1)
    """Names or globs, relative to `root`; a glob must match at least one file."""
    not_empty: bool = False
    """Whether an empty file counts as missing."""
    root: LocalPath | None = None
    """The directory; by default the workspace of the run."""

    async def check(self, run: Run, answer: str) -> Verdict:
        async def find() -> list[str]:
            folder = Folder(self.root or run.workspace)
            return [name for name in self.files if not self._is_there(folder, name)]

        missing = await run.recorded("files that do not exist", find)
        if not missing:
            return Verdict(accepted=True)
        state = "missing or empty" if self.not_empty else "missing"
        return Verdict(
            accepted=False, feedback=f"These files are {state}: {', '.join(missing)}. Create them, then answer."
        )

    def _is_there(self, folder: Folder, name: str) -> bool:
        found = [entry for entry in folder.find(name) if entry.kind != "closed"]
        return any(entry.size or entry.kind != "file" for entry in found) if self.not_empty else bool(found)
