"""The effective values of a configuration, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr

from react_run.components import Component
from react_run.components.building import has_hooks, is_wrapper
from react_run.config.dump import kind_name, kind_of, shared_keys_of
from react_run.config.yaml import Node, locate
from react_run.config.yaml.problems import key_path
from react_run.secrets import MASK
from react_run.support.dataclasses import dataclass
from react_run.tools.toolset import OneTool

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig

Loc = tuple[str | int, ...]


@dataclass(frozen=True)
class Value:
    """One effective value."""

    key: str
    value: object
    source: str

    @property
    def shown(self) -> str:
        """The value on one line."""
        text = self.value if isinstance(self.value, str) else repr(self.value)
        line = " ".join(text.split()) if isinstance(text, str) else str(text)
        words = {"None": "-", "True": "true", "False": "false"}
        line = words.get(line, line) if not isinstance(self.value, str) else line
        return line if len(line) <= 60 else f"{line[:59]}…"

    def to_dict(self) -> dict[str, object]:
        """The value for ``explain``."""
        return {"key": self.key, "value": self.value, "shown": self.shown, "source": self.source}


def values_of(config: ReActAgentConfig) -> Iterator[Value]:
    """Yield every value of ``config``, including components and their options; secrets are masked before cutting."""
    for found in _fields(config, (), config.source):
        yield replace(found, value=config.masker.mask_data(found.value))


def _fields(model: BaseModel, loc: Loc, tree: Node) -> Iterator[Value]:
    for name, field in type(model).model_fields.items():
        yield from _value(getattr(model, name), (*loc, field.alias or name), tree)


def _value(value: object, loc: Loc, tree: Node) -> Iterator[Value]:
    if isinstance(value, Component):
        yield Value(key_path((*loc, "kind")), kind_name(value), source_of(tree, loc, "kind"))
        if not isinstance(value, OneTool):
            yield from _fields(value, loc, tree)
        if (shared := shared_keys_of(value)) is not None:
            given = [name for name in type(shared).model_fields if name in shared.model_fields_set]
            yield from (found for name in given for found in _value(getattr(shared, name), (*loc, name), tree))
    elif isinstance(value, BaseModel):
        yield from _fields(value, loc, tree)
    elif isinstance(value, list) and value and not all(isinstance(item, (str, int, float)) for item in value):
        for index, item in enumerate(value):
            yield from _value(item, (*loc, index), tree)
    elif isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _value(item, (*loc, str(key)), tree)
    elif isinstance(value, SecretStr):
        yield Value(key_path(loc), MASK, source_of(tree, loc))
    elif value is None or isinstance(value, (str, int, float, list, Mapping)):
        yield Value(key_path(loc), value, source_of(tree, loc))
    else:
        shown = kind_of(type(value)) if has_hooks(value) or is_wrapper(value) else str(value)
        yield Value(key_path(loc), shown, source_of(tree, loc))


def source_of(tree: Node, loc: Loc, part: str = "") -> str:
    """The source of the value at ``loc``: a position with the variables in it, the command line, or the default.

    ``part`` names a part of the value to point to, if it was written.
    """
    node, missing = locate(tree, loc)
    node = node.mapping.get(part, node)
    if missing or node is tree or node.place is None:
        return "default"
    place = str(node.place)
    if place.startswith("override "):
        return "command line"
    return f"{place}  {node.raw}" if node.variables else place
