"""SKILL.md folders (agentskills.io) → skills: found, read, and checked like the reference validator does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from react_run.config.yaml import AgentFileError, Place, Report, Source
from react_run.config.yaml.problems import in_order
from react_run.config.yaml.text import read_text
from react_run.skills import AgentSkill
from react_run.skills.fields import FrontMatter, read_fields

FILE_NAMES = ("SKILL.md", "skill.md")
MAX_FILES = 500
"""Files of one skill that are listed."""

_FENCE = "---"
_TEXT_IN_YAML = ("yaml.ambiguous", "yaml.value")
_CODE_OR_COMMENT = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|`[^`\n]*`|<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkills:
    """Skills, and what is wrong with those left out: ``file:line:column: …`` with the line and a caret."""

    skills: tuple[AgentSkill, ...]
    problems: tuple[str, ...]


def read_skills(directories: Iterable[Path], *, strict: bool = False) -> FoundSkills:
    """The skills in ``directories``: each a skill folder, or a folder of skill folders.

    A skill with a mistake is left out; of two with one name the first counts. Nothing is run, and below a skill folder
    no link is followed.

    Raises:
        ConfigError: With ``strict``, everything that is wrong.
    """
    report = Report()
    found: dict[str, AgentSkill] = {}
    for directory in directories:
        for folder in _folders(directory, report):
            skill = read_skill(folder, report)
            if skill is None:
                continue
            first = found.setdefault(skill.name, skill)
            if first is not skill:
                text = f"skill {skill.name!r} is already in {first.directory}; rename one, or list one directory"
                report.add("skill.duplicate", text, Place(Source(str(folder / FILE_NAMES[0]))))
    if strict and report.problems:
        raise AgentFileError(report.problems)
    problems = tuple(problem.render() for problem in in_order(report.problems))
    return FoundSkills(skills=tuple(found.values()), problems=problems)


def _folders(directory: Path, report: Report) -> list[Path]:
    if _skill_file(directory):
        return [directory]
    folders = [entry for entry in sorted(directory.iterdir()) if entry.is_dir() and _skill_file(entry)]
    if not folders:
        report.add("skill.none", "no SKILL.md, neither in it nor in a folder of it", Place(Source(str(directory))))
    return folders


def _skill_file(folder: Path) -> Path | None:
    return next((path for name in FILE_NAMES if (path := folder / name).is_file()), None)


def read_skill(folder: Path, report: Report) -> AgentSkill | None:
    """The skill in ``folder``; ``None`` when something is wrong with it, which is then in the report."""
    before = len(report.problems)
    path = _skill_file(folder) or folder / FILE_NAMES[0]
    read = read_text(path, str(path), report)
    if read is None:
        return None
    split = _split(read[1], report)
    if split is None:
        return None
    front, body = split
    fields = read_fields(front, folder, report)
    if len(report.problems) > before:
        return None
    return AgentSkill(
        name=fields.name,
        description=fields.description,
        tool_names=(),
        instructions=visible(body),
        directory=folder,
        license=fields.license,
        compatibility=fields.compatibility,
        metadata=fields.metadata,
        allowed_tools=fields.allowed_tools,
        files=tuple(_files(folder)),
    )


def _split(source: Source, report: Report) -> tuple[FrontMatter, str] | None:
    lines, start = source.lines, Place(source, 1, 1)
    if not lines or lines[0].rstrip() != _FENCE:
        text = "a SKILL.md begins with front matter: a line '---', then name: and description:, then a line '---'"
        report.add("skill.front_matter", text, start)
        return None
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == _FENCE), None)
    if end is None:
        report.add("skill.front_matter", "the front matter is not closed: put a line '---' after its last field", start)
        return None
    front = _composed(lines[1:end], source, report)
    return None if front is None else (front, "\n".join(lines[end + 1 :]).strip())


def _composed(lines: Iterable[str], source: Source, report: Report) -> FrontMatter | None:
    from react_run.config.yaml.compose import compose

    found, start = Report(), Place(source, 1, 1)
    root = compose("\n".join(["", *lines]), source, found)  # the empty line stands for the first '---' of the file
    if any(problem.code == "yaml.empty" for problem in found.problems):
        report.add("skill.front_matter", "the front matter is empty: name: and description: are needed", start)
        return None
    problems = [problem for problem in found.problems if problem.code not in _TEXT_IN_YAML]  # here every scalar is text
    report.problems += problems
    if root is None or problems:
        return None
    if not isinstance(root.value, dict):
        report.add("skill.front_matter", "the front matter must be a mapping such as 'name: my-skill'", root.place)
        return None
    return FrontMatter(root, start)


def visible(body: str) -> str:
    """``body`` without its HTML comments: who reads the rendered page does not see them, nor shall the model."""
    return _CODE_OR_COMMENT.sub(lambda found: "" if found[0].startswith("<!--") else found[0], body).strip()


def _files(folder: Path) -> Iterator[str]:
    listed = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if relative in FILE_NAMES or name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            listed += 1
            if listed > MAX_FILES:
                return
            yield relative
