"""Reads the front matter of a SKILL.md, and checks each field against the rules of agentskills.io."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from os.path import abspath
from pathlib import Path
from unicodedata import normalize

from react_run.components.errors import near
from react_run.config.yaml import Node, Place, Report, plain
from react_run.support.dataclasses import dataclass

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
REQUIRED = ("name", "description")
MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY = 64, 1024, 500
"""Maximum lengths, in characters."""

_TOOL = re.compile(r"[^\s,()]++(?:\([^()]*+\))?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The mapping at the top of a SKILL.md, with its position."""

    root: Node
    start: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The fields of the front matter."""

    name: str
    description: str
    license: str
    compatibility: str
    metadata: Mapping[str, str]
    allowed_tools: tuple[str, ...] | None


def read_fields(front: FrontMatter, folder: Path, report: Report, doubts: Report) -> Fields:
    """Read the fields of ``front``.

    Problems that make a skill unusable go to ``report``, broken rules to ``doubts``.
    """
    entries = front.root.mapping
    for key, node in entries.items():
        if key not in FIELDS:
            known = f"{near(key, FIELDS)} Fields: {', '.join(FIELDS)}; others belong under metadata:"
            doubts.add("skill.field", f"unknown field {key!r}.{known}", node.key_place)
    if "description" not in entries:
        report.add("skill.description", "the field description: is missing", front.start)
    return Fields(
        name=_name(front, folder, doubts),
        description=_text("description", entries, report, doubts, MAX_DESCRIPTION),
        license=_text("license", entries, doubts, doubts),
        compatibility=_text("compatibility", entries, doubts, doubts, MAX_COMPATIBILITY),
        metadata=_metadata(entries.get("metadata"), doubts),
        allowed_tools=_allowed_tools(entries.get("allowed-tools"), doubts),
    )


def _name(front: FrontMatter, folder: Path, doubts: Report) -> str:
    """The name of the skill; by default, its folder's name."""
    called, entries = Path(abspath(folder)).name, front.root.mapping
    if "name" not in entries:
        doubts.add("skill.name", f"the field name: is missing; the folder's name {called!r} is used", front.start)
        return called
    name = " ".join(normalize("NFKC", _text("name", entries, doubts, doubts)).split())
    for text in wrong_with_name(name, called) if name else ():
        doubts.add("skill.name", text, entries["name"].place)
    return name or called


def _text(key: str, entries: Mapping[str, Node], report: Report, doubts: Report, limit: int | None = None) -> str:
    node = entries.get(key)
    if node is None:
        return ""
    if isinstance(node.value, (dict, list)):
        report.add(f"skill.{key}", f"{key}: must be text", node.place)
        return ""
    if key in REQUIRED and not node.raw.strip():
        report.add(f"skill.{key}", f"{key}: is empty", node.place)
    elif limit is not None and len(node.raw) > limit:
        doubts.add(f"skill.{key}", f"{key}: has {len(node.raw)} characters, more than {limit}", node.place)
    return node.raw.strip()


def wrong_with_name(name: str, folder: str) -> Iterator[str]:
    """The rules that ``name``, of a skill in a directory called ``folder``, breaks."""
    if len(name) > MAX_NAME:
        yield f"name {name[:MAX_NAME]!r}… has {len(name)} characters, more than {MAX_NAME}"
    if name != name.lower():
        yield f"name {name!r} must be lowercase: {name.lower()!r}"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield f"name {name!r} may have single hyphens between letters or digits only"
    if not all(character.isalnum() or character == "-" for character in name):
        yield f"name {name!r} may have letters, digits and hyphens only"
    if normalize("NFKC", folder) != name:
        yield f"name {name!r} must be the name of its directory, {folder!r}"


def _metadata(node: Node | None, report: Report) -> dict[str, str]:
    if node is None or (not node.raw and node.value is None):
        return {}
    if not isinstance(node.value, dict):
        report.add("skill.metadata", "metadata: must be a mapping such as 'author: me'", node.place)
        return {}
    return {key: _flat(item) for key, item in node.mapping.items()}


def _flat(node: Node) -> str:
    return json.dumps(plain(node), default=str) if isinstance(node.value, (dict, list)) else node.raw


def _allowed_tools(node: Node | None, report: Report) -> tuple[str, ...] | None:
    if node is None:
        return None
    if isinstance(node.value, list):
        names = [item.raw.strip() for item in node.items]
        if all(names):
            return tuple(dict.fromkeys(names))
    elif not isinstance(node.value, dict):
        return tuple(dict.fromkeys(_TOOL.findall(node.raw)))
    text = "allowed-tools: must be names separated by spaces, or a list of names"
    report.add("skill.allowed-tools", text, node.place)
    return None
