"""The tree of a YAML file; every node has its position and key path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from react_run.config.yaml.problems import Path_, Place
from react_run.support.dataclasses import dataclass


class Verbatim(str):
    """Text in which variables are not expanded."""


@dataclass(slots=True, eq=False)
class Node:
    """One value of a file.

    ``value`` is a ``dict[str, Node]``, a ``list[Node]``, a scalar, or (from Python) any object. ``raw`` is the text of
    a scalar as written, ``variables`` the names and values that were expanded in it.
    """

    value: object
    place: Place | None = None
    path: Path_ = ()
    key_place: Place | None = None
    raw: str = ""
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def mapping(self) -> dict[str, Node]:
        """The entries of a mapping; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Node]:
        """The elements of a list; empty for anything else."""
        return self.value if isinstance(self.value, list) else []

    @property
    def directory(self) -> Path | None:
        """The directory of the file that contains this value, if there is one."""
        path = self.place.source.path if self.place else None
        return path.parent.absolute() if path else None

    def like(self, value: object) -> Node:
        """A new node with ``value`` and this node's position."""
        return Node(value, self.place, self.path, self.key_place, self.raw, self.variables)


def wrap(value: object, place: Place | None = None, path: Path_ = ()) -> Node:
    """Build a tree of nodes over Python data; mappings with non-text keys are left unchanged."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return Node({key: wrap(item, place, (*path, key)) for key, item in value.items()}, place, path)
    if isinstance(value, (list, tuple)):
        return Node([wrap(item, place, (*path, index)) for index, item in enumerate(value)], place, path)
    return Node(value, place, path, raw=value if isinstance(value, str) else "")


def plain(node: Node) -> object:
    """The Python data of a tree."""
    if isinstance(node.value, dict):
        return {key: plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, outermost first."""
    yield node
    for child in (*node.mapping.values(), *node.items):
        yield from walk(child)


def copy(node: Node) -> Node:
    """A copy of the tree."""
    value = node.value
    if isinstance(value, dict):
        value = {key: copy(item) for key, item in value.items()}
    elif isinstance(value, list):
        value = [copy(item) for item in value]
    return Node(value, node.place, node.path, node.key_place, node.raw, dict(node.variables))


def set_paths(node: Node, path: Path_ = ()) -> None:
    """Give every node of a freshly read tree its key path."""
    node.path = path
    for key, item in node.mapping.items():
        set_paths(item, (*path, key))
    for index, item in enumerate(node.items):
        set_paths(item, (*path, index))


def locate(node: Node, loc: Path_) -> tuple[Node, Path_]:
    """The node at ``loc``, or the deepest one on the way, and the rest of ``loc``.

    Parts that are not children are skipped if a later part is one, because pydantic adds union branches to its paths.
    """
    rest = list(loc)
    missing: list[str | int] = []
    while rest:
        part = rest.pop(0)
        child = node.mapping.get(part) if isinstance(part, str) else _at(node.items, part)
        if child is None:
            missing.append(part)
        else:
            node, missing = child, []
    return node, tuple(missing)


def _at(items: list[Node], index: int) -> Node | None:
    return items[index] if -len(items) <= index < len(items) else None
