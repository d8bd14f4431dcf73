"""Agent Skills (agentskills.io): folders with a SKILL.md, with files to read and scripts to run on demand."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, AliasChoices, Field, PrivateAttr

from react_run import (
    AgentSkill,
    Folder,
    LocalPath,
    Origin,
    ReActSkillSpec,
    ReActToolset,
    Run,
    SkillWarning,
    Tool,
    ToolError,
    read_skills,
    tool,
)
from react_toolsets.programs import Finished, NotConfined, RunsPrograms

MAX_FILE = 1024 * 1024
"""The most bytes of a skill's file that can be read."""
_GRACE = 5.0
_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
"""Keeps Python from writing bytecode next to the scripts, which must not change."""
_INTERPRETERS = {
    ".py": (sys.executable,),
    ".sh": ("sh",),
    ".bash": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".rb": ("ruby",),
    ".pl": ("perl",),
}


def _is_directory(path: Path) -> Path:
    if not path.is_dir():
        raise ValueError(f"there is no directory {path}; give a skill folder, or a folder of skill folders")
    return path


class SkillToolset(ReActToolset):
    """Skills from SKILL.md folders: the model sees names and descriptions, and unlocks instructions and files."""

    kind: ClassVar[str] = "skills"

    paths: list[Annotated[LocalPath, AfterValidator(_is_directory)]] = Field(
        min_length=1, validation_alias=AliasChoices("paths", "skill_paths")
    )
    """Skill folders, or folders of skill folders."""
    strict: bool = False
    """Whether a skill that breaks a rule is an error; otherwise it is loaded with a warning, or left out if it is
    unusable."""
    scripts: bool = True
    """Whether scripts of skills can run; this needs a trusted directory."""
    script_timeout: float = Field(default=60.0, gt=0)
    """Time limit for one script, in seconds."""
    sandbox: bool | Literal["required"] = True
    """Whether scripts are confined to the workspace, as far as this system supports it; `required`: they do not run
    without it."""
    network: bool = False
    """Whether confined scripts may use the network."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables for scripts; besides these, they get only PATH, the locale, the time zone and the like."""

    _skills: dict[str, AgentSkill] = PrivateAttr(default_factory=dict)
    _used: list[Tool] | None = PrivateAttr(default=None)
    _elsewhere: list[str] = PrivateAttr(default_factory=list)
    _sealed: dict[str, dict[str, str]] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: object) -> None:
        super().model_post_init(context)
        found = read_skills(self.paths, strict=self.strict)
        for problem in found.problems:
            warnings.warn(f"skill left out: {problem}", SkillWarning, stacklevel=2)
        for doubt in found.doubts:
            warnings.warn(f"skill loaded all the same: {doubt}", SkillWarning, stacklevel=2)
        self._skills = {skill.name: replace(skill, tool_names=tuple(self._file_tools(skill))) for skill in found.skills}
        with_scripts = (skill for skill in self.skills if "run_skill_script" in skill.tool_names)
        self._sealed = {skill.name: _digests(skill.directory) for skill in with_scripts}
        if isinstance(context, Origin):
            home = context.directory.resolve()
            self._elsewhere = [skill.name for skill in self.skills if not _is_below(home, skill.directory)]

    def _file_tools(self, skill: AgentSkill) -> Iterable[str]:
        if skill.files:
            yield "read_skill_file"
        if skill.scripts and self.scripts:
            yield "run_skill_script"

    @classmethod
    def from_paths(cls, paths: Iterable[str | os.PathLike[str]], **options: object) -> Self:
        """A toolset with the skills in ``paths``; ``options`` are its other fields."""
        return cls.model_validate({"paths": [os.fspath(path) for path in paths], **options})

    @property
    def skills(self) -> list[AgentSkill]:
        """The skills, in the order of their directories."""
        return list(self._skills.values())

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return list(self._skills.values())

    def get_combined_system_prompt(self) -> str:
        """The instructions of all skills as one text, for a system prompt that contains them from the start.

        It also lists their files. The tools to read and run them are still offered only once a skill is active (D8).
        """
        return "\n\n".join(
            "\n\n".join(filter(None, (f"## Skill: {skill.name}", skill.description, skill.instructions, _files(skill))))
            for skill in self.skills
        )

    def needs_trust(self) -> str:
        """Scripts of skills, and links to skills outside the directory, need trust."""
        if self._elsewhere:
            return f"reads skills outside its directory through links ({', '.join(self._elsewhere)})"
        with_scripts = [skill.name for skill in self.skills if "run_skill_script" in skill.tool_names]
        return f"runs the scripts of skills ({', '.join(with_scripts)})" if with_scripts else ""

    def tools(self) -> list[Tool]:
        """The tools that at least one skill needs."""
        if self._used is None:
            names = {name for skill in self.skills for name in skill.tool_names}
            used = [tool for tool in super().tools() if tool.name in names]
            limit = self.script_timeout + _GRACE
            online = self.network or not self.sandbox
            self._used = [replace(tool, timeout=limit, network=online) if tool.runs_programs else tool for tool in used]
        return list(self._used)

    @tool(read_only=True)
    def read_skill_file(self, skill: str, path: str) -> str:
        """Read a text file that comes with an active skill, such as one of its references or templates.

        Args:
            skill: The name of the skill.
            path: The file, relative to the folder of the skill, such as references/terms.md.
        """
        data = Folder(self._skill(skill).directory).read(path, MAX_FILE)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise ToolError(f"{path!r} is not text: {len(data)} bytes of something else", code="binary_file")
        return text

    @tool(runs_programs=True, serial=True)
    async def run_skill_script(self, skill: str, script: str, run: Run, arguments: list[str] | None = None) -> str:
        """Run a script that comes with an active skill, and get what it writes.

        It runs in the working directory of this conversation, with nothing on its standard input. The folder of the
        skill is in the variable SKILL_DIRECTORY.

        Args:
            skill: The name of the skill.
            script: The script, relative to the folder of the skill, such as scripts/report.py.
            arguments: Its command line arguments.
        """
        folder = self._skill(skill).directory.resolve()
        command = _command(folder, script)
        if _digests(folder) != self._sealed.get(skill):
            text = f"the scripts of {skill!r} have changed since the agent was built, so none of them is run"
            raise ToolError(text, code="script_changed")
        programs = self._programs(folder)
        programs.say(run, run.workspace)
        try:
            finished = await programs.launch([*command, *(arguments or ())], run.workspace)
        except NotConfined as error:
            raise ToolError(f"scripts are not run here: {error}", code="not_confined") from error
        except (OSError, ValueError) as error:
            raise ToolError(f"{script!r} cannot be started: {error}", code="script_not_started") from error
        return _result_for_model(script, finished, self.script_timeout)

    def _programs(self, folder: Path) -> RunsPrograms:
        """The settings for running the scripts of the skill in ``folder``."""
        return RunsPrograms(
            timeout=self.script_timeout,
            sandbox=self.sandbox,
            network=self.network,
            readable=[folder],
            environment={_UNCOMPILED: "1", **self.environment, "SKILL_DIRECTORY": str(folder)},
        )

    def _skill(self, name: str) -> AgentSkill:
        skill = self._skills.get(name)
        if skill is None:
            raise ToolError(f"there is no skill {name!r}. Skills: {', '.join(self._skills)}", code="unknown_skill")
        return skill


def _is_below(home: Path, folder: Path) -> bool:
    return all((folder / name).resolve().is_relative_to(home) for name in ("SKILL.md", "skill.md"))


def _digests(folder: Path) -> dict[str, str]:
    """The digest of each file in scripts/ by path, to detect changes: a model must not write them."""
    inside = Folder(folder)
    files = list(inside.walk("scripts"))
    return {file.path: _digest(inside, file.path) if file.kind == "file" else file.kind for file in files}


def _digest(inside: Folder, path: str) -> str:
    with os.fdopen(inside.open(path), "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files(skill: AgentSkill) -> str:
    """The files of a skill, for the instructions."""
    return f"Files, once activate_tool_skill has made it active: {', '.join(skill.files)}" if skill.files else ""


def _command(folder: Path, script: str) -> list[str]:
    if not (folder / script).exists() and (folder / "scripts" / script).is_file():
        raise ToolError(f"there is no {script!r}. Did you mean 'scripts/{script}'?", code="not_found")
    os.close(Folder(folder).open(script))
    path = Path(os.path.normpath(folder / script))  # there is no link in the path, so this is the opened file
    if not path.is_relative_to(folder / "scripts"):
        raise ToolError(f"{script!r} is not in scripts/; only files there can be run", code="outside")
    if command := _first_line(path):
        return [*command, str(path)]
    if interpreter := _INTERPRETERS.get(path.suffix.lower()):
        return [*interpreter, str(path)]
    if os.access(path, os.X_OK):
        return [str(path)]
    known = ", ".join(_INTERPRETERS)
    problem = f"{script!r} is not executable, has no '#!' in its first line, and its name ends in none of {known}"
    raise ToolError(problem, code="script_not_started")


def _first_line(path: Path) -> list[str]:
    """The command in the first line of a script (``#!/usr/bin/env bash``); empty if there is none.

    Raises:
        ToolError: The program is not installed.
    """
    with path.open("rb") as file:
        line = file.readline(1000).decode("utf-8", "replace")
    words = line[2:].split() if line.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    if not words:
        return []
    name = Path(words[0]).name
    if name.startswith("python"):
        return [sys.executable, *words[1:]]
    program = words[0] if os.access(words[0], os.X_OK) else shutil.which(name)
    if program is None:
        problem = f"{path.name!r} needs {words[0]}, which is not installed here"
        raise ToolError(problem, code="script_not_started")
    return [program, *words[1:]]


def _result_for_model(script: str, finished: Finished, timeout: float) -> str:
    output = finished.output.rstrip() or "(no output)"
    if finished.timed_out:
        raise ToolError(f"{script} was ended after {timeout:g} seconds. It wrote:\n{output}", code="timeout")
    if finished.status:
        raise ToolError(f"{script} ended with status {finished.status}. It wrote:\n{output}", code="script_failed")
    return output
