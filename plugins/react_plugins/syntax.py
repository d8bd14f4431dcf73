"""Finds syntax errors in JSON, YAML, TOML and Python."""

from __future__ import annotations

import re
import warnings

from react_run.support import dataclass

_DEEPEST_KEY = 100
_KEY = re.compile(r"^[^=\"'#\n]+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A syntax error with its line and column, counting from 1; 0 if unknown."""

    what: str
    line: int = 0
    column: int = 0


def in_json(text: str) -> Mistake | None:
    """The first mistake in a JSON document."""
    import json

    try:
        json.loads(text, parse_int=str)  # Python refuses to convert numbers with thousands of digits
    except json.JSONDecodeError as error:
        return Mistake(error.msg, error.lineno, error.colno)
    except RecursionError:
        return Mistake("it is nested too deeply")
    return None


def in_yaml(text: str) -> Mistake | None:
    """The first mistake in a stream of YAML documents; the meaning of tags is not checked."""
    import yaml

    try:
        for _ in yaml.compose_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it cannot be read"
        return Mistake(what, mark.line + 1, mark.column + 1) if mark else Mistake(what)
    except (yaml.YAMLError, RecursionError) as error:
        return Mistake(" ".join(str(error).split()))
    return None


def in_toml(text: str) -> Mistake | None:
    """The first mistake in a TOML document."""
    import tomllib

    if any(key[0].count(".") > _DEEPEST_KEY for key in _KEY.finditer(text)):
        return Mistake(
            "a key has too many parts"
        )  # the library takes quadratic time for them, minutes for a few thousand
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        what = str(error).rpartition(" (at ")[0] or str(error)
        return Mistake(what, int(found[1]), int(found[2])) if found else Mistake(what, text.count("\n") + 1, 1)
    except (RecursionError, ValueError) as error:
        return Mistake("it is nested too deeply" if isinstance(error, RecursionError) else str(error))
    return None


def in_python(text: str) -> Mistake | None:
    """The first mistake in a Python file, by the grammar of the running Python."""
    import ast

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return Mistake(error.msg, error.lineno or 0, error.offset or 0)
        except (ValueError, RecursionError, MemoryError) as error:
            return Mistake(str(error) or "it is nested too deeply")
    return None
