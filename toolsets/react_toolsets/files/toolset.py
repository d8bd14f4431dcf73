"""Tools for the files below one directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from react_run import FilePart, Folder, ImagePart, LocalPath, Origin, Outcome, ReActToolset, Run, Tool, tool
from react_toolsets.files import searching
from react_toolsets.files.editing import replaced
from react_toolsets.files.reading import as_part, part_of
from react_toolsets.files.trouble import FileTrouble
from react_toolsets.texts import Form, NotText, decode, encode, with_line_ends

LARGEST = 20 * 1024 * 1024
"""Maximum bytes of a file to read or change."""
LISTED = 500
"""Maximum number of entries or matches to show."""
SKIPPED = frozenset(
    {
        ".git",
        ".mypy_cache",
        ".pytest_cache",
        ".react-run",
        ".ruff_cache",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "venv",
    }
)
"""Directories that wildcards skip; an explicit path can still enter them."""
CHANGING = ("write_file", "edit_file")

From = Annotated[int, Field(ge=0)]
UpTo = Annotated[int, Field(ge=1)]


class FilesToolset(ReActToolset):
    """Files below one directory, and none outside it: links are not followed, and no path can leave it."""

    kind: ClassVar[str] = "files"

    root: LocalPath | None = None
    """The directory; by default the workspace of the run."""
    read_only: bool = True
    """Whether files can only be read; if false, they can also be written and edited."""

    _outside: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _look_where_it_is(self, info: ValidationInfo) -> Self:
        if not isinstance(info.context, Origin):
            return self
        if self.root is not None and not self.root.is_dir():
            raise ValueError(f"there is no directory {self.root}; create it, or name another root")
        if self.root is None and self.read_only:
            return self  # the user chose the directory by starting the agent there
        if not (self.root or Path.cwd()).resolve().is_relative_to(info.context.directory.resolve()):
            what = self.root or f"the working directory ({Path.cwd()})"
            self._outside = f"{'reads in' if self.read_only else 'changes files in'} {what}"
        return self

    def needs_trust(self) -> str:
        """Without trust, an agent file may only read its own directory and the workspace.

        Changing files is as powerful as starting programs: a shell start-up file, a build file, a hook.
        """
        return f"{self._outside}, which is outside its directory" if self._outside else ""

    def tools(self) -> list[Tool]:
        """The tools; those that change files only if allowed."""
        return [tool for tool in super().tools() if not (self.read_only and tool.name in CHANGING)]

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """A successful write is a fact; reading proves nothing by itself."""
        return Outcome.success(str(result)) if tool_name in CHANGING else None

    @tool(read_only=True)
    def read_file(self, path: str, run: Run, offset: From = 1, limit: UpTo = 2000) -> str | ImagePart | FilePart:
        """Read a text file, or look at an image.

        Args:
            path: The file, such as src/main.py.
            offset: The line to start at, counting from 1.
            limit: How many lines to read at most.
        """
        data = self._folder(run).read(path, LARGEST)
        try:
            text, form = decode(data, path)
        except NotText:
            if (part := as_part(data, path, run.agent.model)) is None:
                raise
            return part
        note = "" if form.encoding == "utf-8" else f"[stored as {form.encoding}]\n"
        return note + part_of(text, max(1, offset), limit, run.agent.config.limits.max_result_bytes - 512)

    @tool(read_only=True)
    def list_directory(self, run: Run, path: str = ".") -> str:
        """List what is in a directory: files with their size, directories with a slash.

        Args:
            path: The directory, such as src.
        """
        entries = self._folder(run).entries(path)
        lines = [_shown(entry.path.rpartition("/")[2], entry.kind, entry.size) for entry in entries[:LISTED]]
        return "\n".join([*lines, *_more(len(entries))]) or "[the directory is empty]"

    @tool(read_only=True)
    def find_files(self, pattern: str, run: Run, path: str = ".") -> str:
        """Find files by name.

        Args:
            pattern: A glob such as **/*.py: * stays within a name, ** is any number of directories.
            path: The directory to look in.
        """
        found = list(self._folder(run).find(_below(path, pattern), SKIPPED))
        files = [entry.path for entry in found if entry.kind != "closed"]
        closed = len(found) - len(files)
        notes = _more(len(files)) + ([f"[{closed} directories could not be entered]"] if closed else [])
        return "\n".join([*files[:LISTED], *notes]) or f"[no file matches]{_not_below(pattern)}"

    @tool(read_only=True)
    async def search_files(
        self,
        pattern: str,
        run: Run,
        path: str = ".",
        files: str = "**/*",
        ignore_case: bool = False,
        context: Annotated[int, Field(ge=0, le=20)] = 0,
        limit: Annotated[int, Field(ge=1, le=500)] = 100,
    ) -> str:
        """Search the lines of files.

        Args:
            pattern: A regular expression (Python syntax).
            path: The directory to search.
            files: Which files in it, as a glob such as **/*.py.
            ignore_case: Whether upper and lower case are the same.
            context: Lines to show before and after each match.
            limit: How many matches to show at most.
        """
        found = await searching.search(
            self.root or run.workspace,
            pattern,
            _below(path, files),
            ignore_case=ignore_case,
            context=context,
            limit=limit,
            skipped=SKIPPED,
        )
        return f"{found}{_not_below(files) if found.startswith(searching.NOTHING) else ''}"

    @tool(read_only=False, idempotent=True, serial=True)
    def write_file(self, path: str, content: str, run: Run, line_ends: Literal["keep", "lf", "crlf"] = "keep") -> str:
        """Write a whole text file, new or instead of what is there; directories are made. To change a part of a file,
        use edit_file.

        Args:
            path: The file, such as src/main.py.
            content: All of its text.
            line_ends: How its lines end: as before, or all in LF or CRLF.
        """
        folder = self._folder(run)
        version, form, note = None, Form(), ""
        if existed := folder.exists(path):
            data, version = folder.read_version(path, LARGEST)
            _, form = decode(data, path)
        if line_ends != "keep":
            content, form = with_line_ends(content, form, crlf=line_ends == "crlf")
        elif form.crlf and "\n" in content.replace("\r\n", ""):
            note = ", with CRLF at the end of its lines as before; line_ends: lf changes them"
        try:
            data = encode(content, form)
        except UnicodeEncodeError:
            data = encode(content, Form(crlf=form.crlf))
            note = f", now as UTF-8 instead of {form.encoding}{note}"
        folder.replace(path, data, version)
        return f"{'Replaced' if existed else 'Made'} {path} ({len(data):,} bytes{note})."

    @tool(read_only=False, idempotent=True, serial=True)  # it checks that the passage is there
    def edit_file(self, path: str, old_text: str, new_text: str, run: Run, everywhere: bool = False) -> str:
        """Replace a passage of a text file.

        Args:
            path: The file, such as src/main.py.
            old_text: The passage as it is now, exactly, with enough around it to be there only once.
            new_text: What to put in its place.
            everywhere: Whether to replace it wherever it is, instead of at one place.
        """
        folder = self._folder(run)
        data, version = folder.read_version(path, LARGEST)
        text, form = decode(data, path)
        text, lines = replaced(text, old_text, new_text, everywhere=everywhere, path=path)
        try:
            data = encode(text, form)
        except UnicodeEncodeError as error:
            text = f"{path!r} is stored as {form.encoding}, which has no {error.object[error.start]!r}"
            raise FileTrouble(text, code="encoding") from None
        folder.replace(path, data, version)
        return f"Edited {path} at line {', '.join(map(str, lines[:20]))}{', …' if len(lines) > 20 else ''}."

    def _folder(self, run: Run) -> Folder:
        return Folder(self.root or run.workspace)


def _not_below(pattern: str) -> str:
    """A hint that a glob without matches only searched one directory: ``*.py`` is often meant recursively."""
    if "**" in pattern or not {"*", "?"} & set(pattern):
        return ""
    return f"\n[{pattern} looks in one directory only; **/{pattern} looks in those below it, too]"


def _below(path: str, pattern: str) -> str:
    return pattern if path in (".", "") else f"{path}/{pattern}"


def _shown(name: str, kind: str, size: int) -> str:
    match kind:
        case "file":
            return f"{name}  {size:,} bytes"
        case "directory":
            return f"{name}/"
        case "link":
            return f"{name}  (a symbolic link, which is not followed)"
        case _:
            return f"{name}  (no file)"


def _more(count: int) -> list[str]:
    return [f"[{count - LISTED:,} more are not shown]"] if count > LISTED else []
