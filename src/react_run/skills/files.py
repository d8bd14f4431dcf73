"""SKILL.md folders (agentskills.io) → skills: found and read, with a word about every rule that one breaks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from react_run.config.yaml import AgentFileError, Node, Place, Report, Source
from react_run.config.yaml.problems import Problem, in_order
from react_run.config.yaml.text import read_text
from react_run.skills import AgentSkill
from react_run.skills.fields import FrontMatter, read_fields
from react_run.support.dataclasses import dataclass

FILE_NAMES = ("SKILL.md", "skill.md")
MAX_FILES = 500
"""Files of one skill that are listed."""
MAX_DEPTH = 4
"""The maximum depth below a directory at which skills are found."""
_NO_CATEGORIES = frozenset({"node_modules", "__pycache__"})

_FENCE = "---"
_TEXT_IN_YAML = ("yaml.ambiguous", "yaml.value")
_PLAIN_VALUE = re.compile(r"^([A-Za-z][\w-]*:[ \t]+)(?![\"'>|]|\[.*\]\s*$|\{.*\}\s*$)(.+)$")
"""A field whose value needs quotes but has none: ``description: Use when: …`` is not YAML."""
_CODE_OR_COMMENT = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|`[^`\n]*`|<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkills:
    """Skills, the problems of those left out, and the rules that others break: ``file:line:column: …`` with a caret."""

    skills: tuple[AgentSkill, ...]
    problems: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def read_skills(directories: Iterable[Path], *, strict: bool = False) -> FoundSkills:
    """Read the skills in ``directories``: each is a skill folder, or contains skill folders, possibly in categories.

    As the standard asks of clients, a skill that breaks a rule is still loaded. A skill that is unusable (without a
    description, or with unreadable front matter) is left out. Of two skills with the same name, the first counts.
    Nothing is executed, and links below a skill folder are not followed.

    Raises:
        ConfigError: With ``strict``, all problems and broken rules.
    """
    report = Report()
    doubts = report if strict else Report()
    found: dict[str, AgentSkill] = {}
    for directory in directories:
        for folder in _folders(directory, report):
            skill = read_skill(folder, report, doubts)
            if skill is None:
                continue
            first = found.setdefault(skill.name, skill)
            if first is not skill:
                text = f"skill {skill.name!r} is already in {first.directory}; rename one, or list one directory"
                report.add("skill.duplicate", text, Place(Source(str(folder / FILE_NAMES[0]))))
    if strict and report.problems:
        raise AgentFileError(report.problems)
    return FoundSkills(
        skills=tuple(found.values()),
        problems=tuple(problem.render() for problem in in_order(report.problems)),
        doubts=tuple(problem.render() for problem in in_order(doubts.problems)),
    )


def _folders(directory: Path, report: Report) -> list[Path]:
    if _skill_file(directory):
        return [directory]
    folders = list(_below(directory, MAX_DEPTH))
    if not folders:
        report.add("skill.none", "there is no SKILL.md in this directory or its folders", Place(Source(str(directory))))
    return folders


def _below(directory: Path, depth: int) -> Iterator[Path]:
    """Yield the skill folders in a directory and in the categories (folders that are not skills) below it."""
    for entry in sorted(directory.iterdir()):
        if entry.name.startswith(".") or entry.name in _NO_CATEGORIES or not entry.is_dir():
            continue
        if _skill_file(entry):
            yield entry
        elif depth > 1 and not entry.is_symlink():
            yield from _below(entry, depth - 1)


def _skill_file(folder: Path) -> Path | None:
    return next((path for name in FILE_NAMES if (path := folder / name).is_file()), None)


def read_skill(folder: Path, report: Report, doubts: Report) -> AgentSkill | None:
    """Read the skill in ``folder``; ``None`` if it is unusable, with the reasons in ``report``.

    Broken rules are added to ``doubts``; if that is the report as well, no rule may be broken.
    """
    before, doubted = len(report.problems), len(doubts.problems)
    path = _skill_file(folder) or folder / FILE_NAMES[0]
    read = read_text(path, str(path), report, "a SKILL.md")
    if read is None:
        return None
    split = _split(read[1], report, doubts)
    if split is None:
        return None
    front, body = split
    fields = read_fields(front, folder, report, doubts)
    if len(report.problems) > before:
        if doubts is not report:  # what is left out breaks no rule on top of that
            del doubts.problems[doubted:]
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


def _split(source: Source, report: Report, doubts: Report) -> tuple[FrontMatter, str] | None:
    lines, start = source.lines, Place(source, 1, 1)
    fences = [number for number, line in enumerate(lines) if line.rstrip() == _FENCE]
    before = _without_comments("\n".join(lines[: fences[0]])) if fences else "-"
    if before.strip():
        text = "a SKILL.md begins with front matter: a line '---', then name: and description:, then a line '---'"
        report.add("skill.front_matter", text, start)
        return None
    if fences[0]:
        doubts.add("skill.front_matter", "front matter must be the first thing in the file", start)
    if len(fences) < 2:
        report.add("skill.front_matter", "the front matter is not closed: add a line '---' after its last field", start)
        return None
    first, end = fences[:2]
    front = _composed([""] * (first + 1) + list(lines[first + 1 : end]), source, report, doubts)
    return None if front is None else (front, "\n".join(lines[end + 1 :]).strip())


def _without_comments(text: str) -> str:
    """``text`` without complete HTML comments; a pattern would search for the end again at each unclosed one."""
    kept, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        kept.append(text[at:begin])
        at = end + 3
    return "".join([*kept, text[at:]])


def _composed(lines: list[str], source: Source, report: Report, doubts: Report) -> FrontMatter | None:
    """Parse the front matter; in ``lines``, the lines before it are empty, to keep the positions."""
    start, (root, found) = Place(source, 1, 1), _yaml(lines, source)
    if any(problem.code == "yaml.empty" for problem in found):
        report.add("skill.front_matter", "the front matter is empty: name: and description: are required", start)
        return None
    if found:
        again, still = _yaml(_quoted(lines), source)
        if still:
            report.problems += found
            return None
        doubts.problems += found  # its values had to be quoted
        root = again
    if root is None or not isinstance(root.value, dict):
        place = start if root is None else root.place
        report.add("skill.front_matter", "the front matter must be a mapping such as 'name: my-skill'", place)
        return None
    return FrontMatter(root, start)


def _yaml(lines: list[str], source: Source) -> tuple[Node | None, list[Problem]]:
    from react_run.config.yaml.compose import compose

    found = Report()
    root = compose("\n".join(lines), source, found)
    return root, [
        problem for problem in found.problems if problem.code not in _TEXT_IN_YAML
    ]  # every scalar is text anyway


def _quoted(lines: list[str]) -> list[str]:
    """``lines`` with quotes around the plain values of fields, including values that continue on the next lines."""
    quoted: list[str] = []
    place, name, value = -1, "", ""
    for line in lines:
        if field := _PLAIN_VALUE.match(line):
            place, name, value = len(quoted), field[1], field[2].strip()
        elif place >= 0 and line[:1].isspace() and line.strip():
            value, line = f"{value} {line.strip()}", ""
        else:
            place = -1
        quoted.append(line)
        if place >= 0:
            quoted[place] = name + json.dumps(value, ensure_ascii=False)
    return quoted


def visible(body: str) -> str:
    """``body`` without HTML comments: they are invisible on a rendered page, and the model must not see them either."""
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
