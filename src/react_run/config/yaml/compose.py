"""Parses YAML text into a tree of nodes: one pass over the parser's events, noting every problem and constructing no
objects.
"""

from __future__ import annotations

from dataclasses import field

import yaml

from react_run.config.yaml.nodes import Node, copy, set_paths, walk
from react_run.config.yaml.problems import Place, Report, Source
from react_run.config.yaml.scalars import CORE_TAGS, MERGE, Ambiguous, implicit_tag, plain_scalar, scalar
from react_run.config.yaml.syntax import note_syntax_error
from react_run.support.dataclasses import dataclass

MAX_ALIAS_NODES = 1_000
"""Maximum number of nodes that aliases may add."""
MAX_DEPTH = 100
"""Maximum nesting depth."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _GiveUpError(Exception):
    """The rest of the file cannot be read."""


@dataclass(slots=True)
class _Open:
    """A mapping or list that is still open."""

    node: Node
    children: list[Node] = field(default_factory=list)
    is_mapping: bool = False


AGENT_FILE = "an agent file is a mapping such as 'model: offline'"


def compose(text: str, source: Source, report: Report, *, wanted: str = AGENT_FILE) -> Node | None:
    """The tree of ``text``; if there is none, the report says so and what is ``wanted``."""
    composer = _Composer(source, report)
    try:
        for event in yaml.parse(text, _Loader):
            composer.feed(event)
    except yaml.YAMLError as error:
        note_syntax_error(error, text, source, report)
        return None
    except _GiveUpError:
        return None
    root = composer.root
    if root is None or root.value is None:
        report.add("yaml.empty", f"the file is empty: {wanted}", Place(source))
        return None
    set_paths(root)
    return root


class _Composer:
    def __init__(self, source: Source, report: Report) -> None:
        self.source, self.report = source, report
        self.root: Node | None = None
        self.stack: list[_Open] = []
        self.anchors: dict[str, Node] = {}
        self.documents = 0
        self.alias_nodes = 0

    def feed(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._add(self._scalar(event), event.anchor)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()
            case yaml.AliasEvent():
                self._add(self._alias(event))
            case yaml.DocumentStartEvent():
                self._document(event)
            case _:
                pass

    def _document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            text = "a second document starts here: an agent file is one document; remove the '---'"
            self.report.add("yaml.multi_document", text, self._place(event))
            raise _GiveUpError

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        assert mark is not None  # only hand-made events have none
        return Place(self.source, mark.line + 1, mark.column + 1)

    def _add(self, node: Node, anchor: str | None = None) -> None:
        if anchor:
            self.anchors[anchor] = node
        if self.stack:
            self.stack[-1].children.append(node)
        elif self.documents == 1:
            self.root = node

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._check_tag(event)
        node = Node({} if is_mapping else [], self._place(event))
        self._add(node, event.anchor)
        self.stack.append(_Open(node, is_mapping=is_mapping))
        if len(self.stack) > MAX_DEPTH:
            self.report.add("yaml.too_deep", f"nested more than {MAX_DEPTH} levels deep", node.place)
            raise _GiveUpError

    def _close(self) -> None:
        done = self.stack.pop()
        if done.is_mapping:
            done.node.value = self._entries(done.children)
        else:
            done.node.value = done.children

    def _scalar(self, event: yaml.ScalarEvent) -> Node:
        place, text = self._place(event), event.value
        node = Node(text, place, raw=text)
        if not self._check_tag(event):
            return node
        try:
            if event.implicit[0]:
                node.value = plain_scalar(text)
            elif event.tag is not None:
                node.value = scalar(text, event.tag)
        except Ambiguous as error:
            self.report.add("yaml.ambiguous", str(error), place)
        except ValueError as error:
            self.report.add("yaml.value", f"{text[:80]!r} cannot be read: {error}", place)
        return node

    def _check_tag(self, event: yaml.NodeEvent) -> bool:
        tag = event.tag  # type: ignore[attr-defined]  # only aliases have none, and they do not come here
        if tag is None or tag == "!" or tag in CORE_TAGS:
            return True
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        self.report.add(
            "yaml.unsafe_tag", f"tag {shown} is not allowed: agent files are plain data", self._place(event)
        )
        return False

    def _alias(self, event: yaml.AliasEvent) -> Node:
        place, name = self._place(event), event.anchor or ""
        node = self.anchors.get(name)
        if node is None:
            self.report.add("yaml.syntax", f"alias *{name} names no anchor before it", place)
            return Node(None, place)
        if any(opened.node is node for opened in self.stack):
            self.report.add("yaml.alias_loop", f"alias *{name} contains itself", place)
            return Node(None, place)
        self.alias_nodes += sum(1 for _ in walk(node))
        if self.alias_nodes > MAX_ALIAS_NODES:
            text = f"aliases multiply to more than {MAX_ALIAS_NODES} nodes (alias *{name})"
            self.report.add("yaml.alias_limit", text, place)
            raise _GiveUpError
        made = copy(node)
        made.place = place
        return made

    def _entries(self, children: list[Node]) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        merged: list[Node] = []
        for key, value in zip(children[::2], children[1::2], strict=True):
            if key.value == "<<" and implicit_tag(key.raw) == MERGE:
                merged += self._mappings_of(value)
            elif self._is_new(key, entries):
                assert isinstance(key.value, str)  # _is_new has checked it
                value.key_place = key.place
                entries[key.value] = value
        for mapping in merged:
            for name, value in mapping.mapping.items():
                entries.setdefault(name, value)
        return entries

    def _is_new(self, key: Node, entries: dict[str, Node]) -> bool:
        if not isinstance(key.value, str):
            shown = key.raw or "null" if not isinstance(key.value, (dict, list)) else "a list or mapping"
            shown = "null" if shown == "~" else shown
            self.report.add("yaml.key_type", f'keys must be text, not {shown}; quote it: "{shown}"', key.place)
            return False
        if key.value in entries:
            first = entries[key.value].key_place
            where = f" (first on line {first.line})" if first else ""
            self.report.add("yaml.duplicate_key", f"key {key.value!r} appears twice{where}", key.place)
            return False
        return True

    def _mappings_of(self, value: Node) -> list[Node]:
        choices = value.items if isinstance(value.value, list) else [value]
        for choice in choices:
            if not isinstance(choice.value, dict):
                self.report.add("yaml.merge", "only a mapping, or a list of them, can be merged with <<", choice.place)
        return choices
