"""An OpenAPI document: read from a file, and looked up by pointers. Nothing is fetched, and nothing is copied."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referencing._core import Resolver

LARGEST = 64 * 1024 * 1024
"""Bytes of a document."""
DEEPEST = 32
"""References that lead to references."""
_JSON_VALUES = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)
"""What plain words of YAML are that are no texts, with the characters that they begin with."""
CONVERT = "convert it to OpenAPI 3 (npx swagger2openapi, or converter.swagger.io)"


class SpecProblem(Exception):
    """Something in a document that cannot be used.

    Args:
        pointer: Where in the document.
        text: What is wrong there.
        code: ``spec_error``, or ``unsupported_spec`` for what is right and not supported.
    """

    def __init__(self, pointer: str, text: str, code: str = "spec_error") -> None:
        super().__init__(f"{pointer}: {text}")
        self.pointer, self.text, self.code = pointer, text, code


class Document:
    """A document of OpenAPI 3.

    Args:
        data: What it says.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @classmethod
    def read(cls, path: Path) -> tuple[Document, bytes]:
        """The document in a file of JSON or YAML, and the bytes of the file.

        Raises:
            SpecProblem: It cannot be read, is too large, or is no document of OpenAPI 3; the pointer is then the
                place in the file.
        """
        if not path.is_file():
            raise SpecProblem(str(path), "there is no such file; react-run openapi fetch URL brings one")
        if path.stat().st_size > LARGEST:
            raise SpecProblem(str(path), f"it is larger than {LARGEST // 1024 // 1024} MiB")
        content = path.read_bytes()
        return cls.parse(content, str(path)), content

    @classmethod
    def parse(cls, content: bytes, name: str) -> Document:
        """The document that ``content`` holds; ``name`` stands in messages.

        Raises:
            SpecProblem: It is no document of OpenAPI 3.
        """
        data = _parsed(content, name)
        if not isinstance(data, Mapping):
            raise SpecProblem(name, "this is no OpenAPI document: it has no keys")
        version = data.get("openapi")
        if version is None and "swagger" in data:
            raise SpecProblem(name, f"swagger {data['swagger']} is not supported: {CONVERT}", "unsupported_spec")
        if not isinstance(version, (str, float)) or not str(version).startswith("3."):
            said = "there is no key openapi:" if version is None else f"openapi: {version!r} is not 3.0, 3.1 or 3.2"
            raise SpecProblem(name, f"this is no OpenAPI 3 document: {said}", "unsupported_spec")
        if not isinstance(data.get("paths"), Mapping):
            raise SpecProblem(f"{name}#/paths", "there are no paths, so there is nothing to call")
        return cls(data)

    @cached_property
    def _resolver(self) -> Resolver[Any]:
        from referencing import Registry, Resource  # it takes as long to import as all of this toolset

        root: Resource[Any] = Resource.opaque(self.data)
        registry: Registry[Any] = Registry()
        resolver: Resolver[Any] = registry.with_resource("", root).resolver()
        return resolver

    def at(self, reference: str, pointer: str) -> Any:
        """What ``reference`` leads to; ``pointer`` is where it stands.

        Raises:
            SpecProblem: It leads out of the document, or to nothing in it.
        """
        if not reference.startswith("#"):
            text = f"$ref {reference!r} leads out of the document, and nothing is fetched: bundle it into one file"
            raise SpecProblem(f"{pointer}/$ref", text)
        from referencing.exceptions import Unresolvable

        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, LookupError, ValueError, TypeError):
            raise SpecProblem(f"{pointer}/$ref", f"$ref {reference!r} leads to nothing") from None

    def followed(self, node: Any, pointer: str) -> tuple[Mapping[str, Any], str]:
        """The object that ``node`` is, or refers to, and where that is.

        Raises:
            SpecProblem: It is no object, or refers to nothing, or to itself.
        """
        for _ in range(DEEPEST):
            if not isinstance(node, Mapping):
                raise SpecProblem(pointer, f"{_shown(node)} stands where an object should be")
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node, pointer
            node, pointer = self.at(reference, pointer), reference
        raise SpecProblem(pointer, "this refers to itself without end")


def token(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _parsed(content: bytes, name: str) -> Any:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecProblem(f"{name}", f"byte {error.start} is not UTF-8") from None
    if text.lstrip()[:1] == "{":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise SpecProblem(f"{name}:{error.lineno}:{error.colno}", f"this is not JSON: {error.msg}") from None
        except RecursionError:
            raise SpecProblem(name, "it is nested too deeply") from None
    return _yaml(text, name)


def _yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # a safe loader with fewer types
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise SpecProblem(place, f"this is not YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SpecProblem(name, f"this is not YAML: {type(error).__name__}") from None


def _loader() -> Any:
    """A YAML loader that knows the values of JSON and no others: ``no`` is a word, and a date is a text."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # a base that is looked up
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            """As in JSON, keys are texts."""
            self.flatten_mapping(node)
            return {self._key(key): self.construct_object(value, deep=deep) for key, value in node.value}

        def _key(self, node: Any) -> str:
            return node.value if isinstance(node, yaml.ScalarNode) else str(self.construct_object(node, deep=True))

    for tag, pattern, first in _JSON_VALUES:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), list(first))
    return Loader


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
