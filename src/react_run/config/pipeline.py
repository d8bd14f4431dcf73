"""Turns a tree into a validated configuration: shorthands, pydantic, conversions, and the place of every problem."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from react_run.components import Component, TextOfFile
from react_run.components.errors import how_to_trust
from react_run.config.loading import Loading
from react_run.config.shorthands import expand_shorthands, normalise
from react_run.config.texts import note_errors
from react_run.config.values import coerce_values, note_ambiguous
from react_run.config.yaml import AgentFileError, Node, Report, locate, walk, wrap
from react_run.secrets import Masker, looks_secret
from react_run.secrets.forms import MIN_LENGTH

T = TypeVar("T")
PASSES = 5
"""How many rounds of converting values to their intended type before the rest are errors."""


def loading_from_python(data: object) -> Loading:
    """Loading of a configuration created in Python: it has no file, and is trusted."""
    report = Report()
    tree = wrap(data if isinstance(data, (Mapping, Node)) else {})
    return Loading(directory=Path.cwd(), trusted=True, tree=normalise(tree, report), report=report)


def validated(loading: Loading, validate: Callable[[object], T]) -> T:
    """Run ``validate`` on the canonical form of the input.

    Raises:
        AgentFileError: Everything that is wrong.
    """
    tree = loading.tree
    find_secrets(tree, loading.masker)
    model = tree.mapping.get("model")
    object.__setattr__(loading, "model_id", model.value if model and isinstance(model.value, str) else None)
    note_ambiguous(tree, loading.report)
    expand_shorthands(tree, loading)
    for _ in range(PASSES):
        try:
            config = validate(_data(tree, loading.directory))
        except ValidationError as error:
            if coerce_values(tree, error, loading.reader):
                continue
            note_errors(error, tree, loading.report)
        else:
            inspect(config, loading)
            if not loading.report.problems:
                return config
        break
    loading.masker.update(written_secrets(tree))
    raise AgentFileError(loading.report.problems, loading.masker)


def _data(node: Node, home: Path) -> object:
    """The Python data of ``node``; text from files in other directories keeps the base directory of its paths."""
    if isinstance(node.value, dict):
        return {key: _data(item, home) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [_data(item, home) for item in node.value]
    if isinstance(node.value, str) and node.directory not in (None, home):
        text = TextOfFile(node.value)
        text.directory = node.directory or home
        return text
    return node.value


def find_secrets(tree: Node, masker: Masker) -> None:
    """Register the values in ``tree`` that came from variables and are secret, by the variable's or the field's
    name.
    """
    for node in walk(tree):
        for name, value in node.variables.items():
            if looks_secret(name) or _named_secret(node):
                masker.add(value, name)


def _named_secret(node: Node) -> bool:
    return any(isinstance(part, str) and looks_secret(part) for part in node.path)


def written_secrets(tree: Node) -> Masker:
    """Masks literal values next to the names of secrets, for error messages that quote the file."""
    values = [node.value for node in walk(tree) if isinstance(node.value, str) and _named_secret(node)]
    return Masker(value for value in values if len(value) >= 2 * MIN_LENGTH)


def inspect(config: object, loading: Loading) -> None:
    """Inspect everything that was built: which values are secret, and what needs trust."""
    if not loading.trusted:
        _check_session(config, loading)
    for part, loc in _parts(config, (), set()):
        if isinstance(part, SecretStr):
            _remember(part.get_secret_value(), loading)
            continue
        for name, value in _taken(part):
            loading.masker.add(value, name)
        if not loading.trusted:
            _check_trust(part, loc, loading)


def secrets_of(components: Iterable[object]) -> Iterator[str]:
    """The secrets in components created in Python, and those that they read from the environment."""
    for part, _ in _parts(list(components), (), set()):
        if isinstance(part, SecretStr):
            yield part.get_secret_value()
        else:
            yield from (value for _, value in _taken(part))


def _taken(part: object) -> Iterator[tuple[str, str]]:
    """The variables with secrets that a component reads by itself, and their values."""
    for name in part.secrets_from_environment() if isinstance(part, Component) else ():
        if value := os.environ.get(name, "").strip():
            yield name, value


def _parts(value: object, loc: tuple[str | int, ...], seen: set[int]) -> Iterator[tuple[Any, tuple[str | int, ...]]]:
    """The secrets, components and other options in ``value``, each with where it is."""
    inside: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, SecretStr):
        yield value, loc
    elif isinstance(value, (list, tuple)):
        inside = enumerate(value)
    elif isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, BaseModel) and id(value) not in seen:
        seen.add(id(value))
        yield value, loc
        inside = ((name, getattr(value, name)) for name in type(value).model_fields)
    for key, item in inside:
        yield from _parts(item, (*loc, key), seen)


def _remember(secret: str, loading: Loading) -> None:
    names = {value: name for node in walk(loading.tree) for name, value in node.variables.items()}
    loading.masker.add(secret, names.get(secret, ""))


def _check_session(config: object, loading: Loading) -> None:
    """A file that names a conversation can read it and add to it, whoever started it, so this needs trust."""
    name = getattr(config, "session", None)
    node, _ = locate(loading.tree, ("session",))
    if name is not None and not str(node.place).startswith("override "):
        text = (
            f"this continues the conversation {name!r}, which an agent file may do only in a trusted directory: "
            f"{how_to_trust(loading.directory)}; or name it on the command line: --session {name}"
        )
        loading.report.add("cfg.untrusted", text, node.place, node.path)


def _check_trust(part: BaseModel, loc: tuple[str | int, ...], loading: Loading) -> None:
    if not (reason := part.needs_trust() if isinstance(part, Component) else ""):
        _check_places(part, loc, loading)
        return
    node, _ = locate(loading.tree, loc)
    text = f"this {reason}, which an agent file may do only in a trusted directory: {how_to_trust(loading.directory)}"
    loading.report.add("cfg.untrusted", text, node.place, node.path)


def _check_places(part: BaseModel, loc: tuple[str | int, ...], loading: Loading) -> None:
    """Options that name files read or write them; outside the directory, that needs trust."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        for path in value if isinstance(value, (list, tuple)) else [value]:
            node, _ = locate(loading.tree, (*loc, name))
            given_to_us = str(node.place).startswith("override ")  # by the user, on the command line
            if isinstance(path, Path) and not given_to_us and not _is_below(path, loading.directory):
                text = f"{path} is outside {loading.directory}, which needs trust: {how_to_trust(loading.directory)}"
                loading.report.add("cfg.untrusted", text, node.place, node.path)


def _is_below(path: Path, directory: Path) -> bool:
    return path.resolve().is_relative_to(directory.resolve())
