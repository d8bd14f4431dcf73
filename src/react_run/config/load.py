"""Reads agent files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from copy import copy
from os import PathLike
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from react_run.config.limits import Limits
from react_run.config.loading import Loading
from react_run.config.shorthands import BY_ID, normalise
from react_run.config.texts import GROUP_OF
from react_run.config.yaml import AgentFileError, Node, Place, Problem, Report, Source, TreeReader, wrap
from react_run.config.yaml.tree import child_of, set_at
from react_run.config.yaml.variables import expand, variables_of
from react_run.secrets import Masker

C = TypeVar("C", bound=BaseModel)


def load_into(
    cls: type[C],
    path: str | PathLike[str],
    *,
    overrides: Mapping[str, object],
    trusted: bool | None,
    environment: dict[str, str] | None = None,
) -> C:
    """Load the configuration as in :func:`~react_run.config.schema.load_config`, for any class."""
    name = str(path)
    path = Path(path)
    if ":" in name:
        from react_run.config.packages import is_packaged, packaged

        if is_packaged(name):
            path, trusted = packaged(name), True if trusted is None else trusted
    if trusted is None:
        from react_run.config.trust import is_trusted

        trusted = is_trusted(path.parent)
    report, masker = Report(), Masker()
    variables = dict(os.environ) if environment is None else environment
    reader = TreeReader(environment=variables, trusted=trusted, report=report, normalise=normalise)
    tree = reader.read(path, str(path))
    if tree is None:
        raise AgentFileError(report.problems, masker)
    tree = _overridden(tree, overrides, report)
    expand(tree, variables, report)
    loading = Loading(
        directory=path.parent.absolute(),
        trusted=trusted,
        tree=tree,
        report=report,
        masker=masker,
        path=path,
        environment=variables,
        reader=reader,
    )
    return cls.model_validate(tree, context=loading)


def variables_in(path: Path) -> dict[str, str]:
    """The variables in an environment file.

    Raises:
        AgentFileError: The file cannot be read.
    """
    try:
        return variables_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise AgentFileError([Problem("cfg.path_missing", f"cannot read {path}: {reason}")]) from None


def _overridden(tree: Node, overrides: Mapping[str, object], report: Report) -> Node:
    for key, value in overrides.items():
        place = Place(Source(f"override {key}"))
        try:
            path, node = _canonical(key, value, place)
            _open_names(tree, path.split("."))
            set_at(tree, path, node, place)
        except ValueError as error:
            report.add("cfg.unknown_key", str(error), place)
    return tree


def _open_names(tree: Node, parts: list[str]) -> None:
    """Turn ``temporal`` into ``{kind: temporal}`` if an option of it is set; a model id stays until its kind is
    known.
    """
    node: Node | None = tree
    model = tree.mapping.get("model")
    if parts[0] == "model" and len(parts) > 1 and model is not None and isinstance(model.value, str):
        model.value, model.raw = {BY_ID: copy(model)}, ""
    for part in parts[:-1] if GROUP_OF.get(parts[0], "models") != "models" else ():
        node = node and child_of(node, part)
        if node is not None and isinstance(node.value, str):
            node.value, node.raw = {"kind": copy(node)}, ""


def _canonical(key: str, value: object, place: Place) -> tuple[str, Node]:
    key = re.sub(
        r"\[(\d+)\]", r".\1", key.removeprefix("properties.")
    )  # in the notation of explain and of error messages
    node = wrap(value, place, (key,))
    first, dot, rest = key.partition(".")
    if first == "toolset":
        return (
            (f"toolsets.0.{rest}", node)
            if dot
            else ("toolsets", normalise(Node({key: node}), Report()).mapping["toolsets"])
        )
    return (f"limits.{key}" if key in Limits.model_fields else key), node
