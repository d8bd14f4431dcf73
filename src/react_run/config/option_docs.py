"""The descriptions of options: the strings below the fields, read on demand.

pydantic could read them when a class is created, but then every start would parse the source of every component;
schemas and references are rarely needed.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel

_SECTIONS = re.compile(r"\n[^\S\n]*+\n(?:Args|Raises|Returns|Yields)[^\n]*:\n.*", re.DOTALL)
_ROLES = re.compile(r":\w+:`~?([^`]+)`")


def shown_text(docstring: str) -> str:
    """``docstring`` for lists and editors, without the parts for programmers."""
    text = _SECTIONS.sub("", inspect.cleandoc(docstring))
    return _ROLES.sub(r"`\1`", text).replace("``", "`").strip()


@cache
def documented(cls: type[BaseModel]) -> type[BaseModel]:
    """Fill in the descriptions of the fields of ``cls``, and of the models in them, and return ``cls``."""
    for inner in _models_in(cls):
        documented(inner)
    found = {name: text for kind in reversed(cls.__mro__) for name, text in _strings_below(kind).items()}
    for name, field in cls.model_fields.items():
        if field.description is None and name in found:
            field.description = found[name]
    cls.model_rebuild(force=True)
    return cls


def _models_in(cls: type[BaseModel]) -> Iterator[type[BaseModel]]:
    pending: list[Any] = [field.annotation for field in cls.model_fields.values()]
    while pending:
        part = pending.pop()
        if isinstance(part, type) and issubclass(part, BaseModel) and part is not cls:
            yield part
        pending += get_args(part)


def _strings_below(cls: type) -> dict[str, str]:
    if cls.__module__ in ("builtins", "pydantic.main"):
        return {}
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}  # created without a source file
    body = getattr(definition, "body", [])
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
