"""Writes a configuration as an agent file that loads to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticSerializationError, to_jsonable_python

from react_run.components import Component
from react_run.components.kinds import GROUPS, Kind, installed
from react_run.config.yaml import Node, locate, plain
from react_run.config.yaml.problems import key_path
from react_run.errors import ConfigError, PluginError
from react_run.tools.toolset import OneTool, ReActToolset

if TYPE_CHECKING:
    from react_run.config.loading import Loading
    from react_run.tools.shared_keys import SharedKeys

_EXPANDED = ("extends", "env_file", "class_name", "guides", "skills", "subagents", "permissions", "output_schema")
"""Keys whose content is elsewhere in the canonical form."""

_Loc = tuple[str | int, ...]


def to_yaml(config: BaseModel, loading: Loading) -> str:
    """The canonical agent file of ``config``, the result of ``loading``."""
    data = to_data(config, loading)
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100))


def to_data(config: BaseModel, loading: Loading) -> dict[str, object]:
    """The canonical form of ``config`` as YAML data: defaults left out, secrets as ``${VARIABLE}``.

    Raises:
        ConfigError: A component was created in Python and cannot be written.
    """
    return _Dumper(loading).fields(config, (), leave_out=_EXPANDED)


class _Dumper:
    def __init__(self, loading: Loading) -> None:
        self.secrets = dict(loading.masker.names)
        self.loading = loading

    def fields(self, model: BaseModel, loc: _Loc, leave_out: tuple[str, ...] = ()) -> dict[str, object]:
        data: dict[str, object] = {}
        for name, field in type(model).model_fields.items():
            value = getattr(model, name)
            if name in leave_out or (
                not field.is_required() and _same(value, field.get_default(call_default_factory=True))
            ):
                continue
            data[field.alias or name] = self.value(value, (*loc, name))
        return data

    def value(self, value: object, loc: _Loc) -> object:
        match value:
            case None | bool() | int() | float():
                return value
            case SecretStr():
                return self.secret(value.get_secret_value(), loc)
            case Enum():
                return self.value(value.value, loc)
            case str():
                return self.text(value)
            case Path():
                return self.path(value)
            case Component():
                return self.component(value, loc)
            case BaseModel():
                return self.fields(value, loc)
            case Mapping():
                return {str(key): self.value(item, (*loc, str(key))) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.value(item, (*loc, index)) for index, item in enumerate(value)]
            case _:
                return self.other(value, loc)

    def text(self, text: str) -> str:
        """Escape the dollars in ``text``, and replace its secrets with variables."""
        known = sorted(self.secrets, key=len, reverse=True)
        if not known:
            return text.replace("$", "$$")
        parts = re.split("(" + "|".join(map(re.escape, known)) + ")", text)
        return "".join(
            self.secret(part, ()) if index % 2 else part.replace("$", "$$") for index, part in enumerate(parts)
        )

    def secret(self, value: str, loc: _Loc) -> str:
        name = self.secrets.get(value) or re.sub(r"\W+", "_", key_path(loc)).strip("_").upper() or "SECRET"
        return f"${{{name}}}"

    def path(self, path: Path) -> str:
        base = self.loading.directory
        shown = path.relative_to(base) if path.is_relative_to(base) and self.loading.path else path
        return self.text(str(shown))

    def component(self, component: Component, loc: _Loc) -> dict[str, object]:
        options = {} if isinstance(component, OneTool) else self.fields(component, loc)
        shared = shared_keys_of(component)
        if shared is not None:
            options |= self.fields(shared, loc)
        return {"kind": kind_name(component), **options}

    def other(self, value: object, loc: _Loc) -> object:
        written = _written(self.loading.tree, loc)
        if written is not None:
            return written
        with suppress(PydanticSerializationError):
            return self.value(to_jsonable_python(value), loc)
        cls = value if isinstance(value, type) else type(value)
        raise ConfigError(f"{key_path(loc)}: a {cls.__qualname__} created in Python cannot be written to an agent file")


def _written(tree: Node, loc: _Loc) -> object:
    node, missing = locate(tree, loc)
    data = plain(node)
    return data if not missing and isinstance(data, (str, dict)) else None


def _same(value: object, default: object) -> bool:
    return value is default or (not isinstance(value, Component) and value == default)


def shared_keys_of(component: object) -> SharedKeys | None:
    """The shared toolset keys given to ``component``, if it is a toolset and there are any."""
    return component._shared if isinstance(component, ReActToolset) else None


def kind_name(component: object) -> str:
    """The name that an agent file uses for the kind of ``component``."""
    return component.path if isinstance(component, OneTool) else kind_of(type(component))


def kind_of(cls: type) -> str:
    """The name that an agent file uses for ``cls``: an installed kind, else its dotted path."""
    for group in GROUPS:
        for kind in installed(group).values():
            if kind.target.rpartition(":")[2] == cls.__qualname__ and _is(kind, cls):
                return kind.name
    return f"{cls.__module__}:{cls.__qualname__}"


def _is(kind: Kind, cls: type) -> bool:
    try:
        return kind.load() is cls
    except PluginError:
        return False
