"""Reads a file with everything it extends as one tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from react_run.components.errors import how_to_trust
from react_run.config.yaml.compose import compose
from react_run.config.yaml.nodes import Node, copy
from react_run.config.yaml.problems import Place, Report
from react_run.config.yaml.text import read_small_text, read_text
from react_run.config.yaml.variables import expand, variables_of
from react_run.support.dataclasses import dataclass
from react_run.support.user_dirs import from_home

MARKDOWN = ".md"
"""The extension of agent files in Markdown: keys and a system prompt."""
MOST_FILES = 200
"""Maximum number of files that one agent file may extend, repetitions included."""


@dataclass(kw_only=True)
class TreeReader:
    """Reads a file and its bases.

    Args:
        environment: Variables for the paths in ``extends``; files named by ``env_file`` add to it.
        trusted: Whether paths may leave the directory tree of the first file.
        normalise: Converts the tree of one file to the shape in which trees are merged.
    """

    environment: dict[str, str]
    trusted: bool
    report: Report
    normalise: Callable[[Node, Report], Node]
    root: Path = Path()
    _chain: list[Path] = field(default_factory=list)
    _files: int = 0

    def read(self, path: Path, name: str) -> Node | None:
        """The tree of ``path``; ``None`` if there is none, and the report says why."""
        self.root = path.parent.resolve()
        return self._read(path, name, None)

    def _read(self, path: Path, name: str, named_at: Node | None) -> Node | None:
        found = read_text(path, name, self.report)
        if found is None:
            return None
        (text, source), body = found, None
        if path.suffix.lower() == MARKDOWN:
            from react_run.config.yaml.markdown import split

            parts = split(text, source, self.report)
            if parts is None:
                return None
            text, body = parts
        tree = compose(text, source, self.report)
        if tree is None:
            return None
        if not isinstance(tree.value, dict):
            self.report.add("cfg.type", "an agent file is a mapping: key: value", tree.place)
            return None
        tree = self.normalise(tree, self.report)
        if body is not None:
            from react_run.config.yaml.markdown import add_body

            add_body(tree, body, self.report)
        self._add_env_file(tree, path.parent)
        self._files += 1
        if self._files > MOST_FILES:
            text = f"more than {MOST_FILES} files are extended here: some of them are named repeatedly"
            self.report.add("cfg.cycle", text, tree.place)
            return tree
        self._chain.append(path.resolve())
        merged = self._extended(tree, path.parent)
        self._chain.pop()
        return merged

    def _add_env_file(self, tree: Node, directory: Path) -> None:
        node = tree.mapping.get("env_file")
        if node is None or node.value is False:
            return
        name = ".env" if node.value is True else node.value
        if not isinstance(name, str):
            return  # reported when the keys are checked
        path = self.reachable(node, directory, name)
        if path is None:
            return
        try:
            added = variables_of(read_small_text(path))
        except (OSError, ValueError) as error:
            self.report.add("cfg.path_missing", f"cannot read {name}: {_reason(error)}", node.place, node.path)
        else:
            self.environment.update({key: value for key, value in added.items() if key not in self.environment})

    def _extended(self, tree: Node, directory: Path) -> Node:
        node = tree.mapping.get("extends")
        merged: Node | None = None
        for entry in [node] if node and not isinstance(node.value, list) else node.items if node else []:
            base = self._base(entry, directory)
            if base is not None:
                merged = base if merged is None else merge(merged, base)
        return merge(merged or tree.like({}), tree)

    def _base(self, entry: Node, directory: Path) -> Node | None:
        expand(entry, self.environment, self.report)
        if not isinstance(entry.value, str):
            return None  # reported when the keys are checked
        path = self.reachable(entry, directory, entry.value)
        if path is None:
            return None
        if path.resolve() in self._chain:
            text = f"{entry.value} extends itself: {' → '.join(p.name for p in [*self._chain, path])}"
            self.report.add("cfg.cycle", text, entry.place, entry.path)
            return None
        if not path.is_file():
            self.report.add("cfg.path_missing", f"there is no file {path}", entry.place, entry.path)
            return None
        return self._read(path, str(path), entry)

    def reachable(self, node: Node, directory: Path, name: str) -> Path | None:
        """The path for ``name``, unless it leaves the directory tree without trust."""
        path = directory / from_home(name)
        if self.trusted or path.resolve().is_relative_to(self.root):
            return path
        text = f"{name} is outside {self.root}, which needs trust: {how_to_trust(self.root)}"
        self.report.add("cfg.untrusted", text, node.place, node.path)
        return None

    def read_file_text(self, node: Node) -> str | None:
        """The text of ``{file: path}`` at ``node``."""
        entry = node.mapping["file"]
        path = self.reachable(entry, node.directory or self.root, str(entry.value))
        if path is None:
            return None
        try:
            return read_small_text(path)
        except (OSError, ValueError) as error:
            self.report.add("cfg.path_missing", f"cannot read {entry.value}: {_reason(error)}", entry.place, entry.path)
            return None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def merge(base: Node, over: Node) -> Node:
    """Merge ``over`` into ``base``: mappings merge, lists under ``+key`` append, everything else replaces."""
    merged = {key: copy(item) for key, item in base.mapping.items()}
    for key, item in over.mapping.items():
        name = key.removeprefix("+")
        known = merged.get(name)
        if key.startswith("+") and isinstance(item.value, list):
            merged[name] = _appended(known, item)
        elif known is not None and isinstance(known.value, dict) and isinstance(item.value, dict):
            merged[name] = merge(known, item)
        else:
            merged[key] = _without_plus(item)
    made = copy(over)
    made.value = merged
    return made


def _appended(known: Node | None, item: Node) -> Node:
    made = copy(item)
    made.value = [*(known.items if known else []), *made.items]
    return made


def _without_plus(item: Node) -> Node:
    return merge(item.like({}), item) if isinstance(item.value, dict) else item


def set_at(tree: Node, path: str, value: Node, place: Place) -> None:
    """Put ``value`` at the dotted ``path``, creating mappings on the way.

    Raises:
        ValueError: A part of the path leads through a value that has no such child.
    """
    parts = path.split(".")
    node = tree
    for part in parts[:-1]:
        child = child_of(node, part)
        if child is None:
            child = Node({}, place, key_place=place)
            _put(node, part, child)
        node = child
    _put(node, parts[-1], value)


def child_of(node: Node, part: str) -> Node | None:
    """The child called ``part``, which is a position in a list.

    Raises:
        ValueError: It is not a position in this list.
    """
    if isinstance(node.value, list):
        index = _index(node, part)
        return node.items[index] if index < len(node.items) else None
    return node.mapping.get(part)


def _put(node: Node, part: str, child: Node) -> None:
    if isinstance(node.value, dict):
        node.value[part] = child
    elif isinstance(node.value, list):
        index = _index(node, part)
        node.value[index : index + 1] = [child]
    else:
        raise ValueError(f"{part!r} has no place in {node.raw or node.value!r}; set that as a whole")


def _index(node: Node, part: str) -> int:
    if not part.isdecimal() or int(part) > len(node.items):
        raise ValueError(f"{part!r} is not a position in a list of {len(node.items)}")
    return int(part)
