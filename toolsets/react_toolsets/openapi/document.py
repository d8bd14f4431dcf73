"""An OpenAPI document, read from a file and accessed by JSON pointers. Nothing is fetched or copied."""

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
"""The most bytes of a document."""
DEEPEST = 32
"""The longest chain of references."""
_JSON_VALUES = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)
"""YAML scalars that are not text: type, pattern and first characters."""
CONVERT = "convert it to OpenAPI 3 (npx swagger2openapi, or converter.swagger.io)"


class SpecProblem(Exception):
    """An error in a document.

    Args:
        pointer: The place in the document.
        text: What is wrong there.
        code: ``spec_error``, or ``unsupported_spec`` if it is valid but not supported.
    """

    def __init__(self, pointer: str, text: str, code: str = "spec_error") -> None:
        super().__init__(f"{pointer}: {text}")
        self.pointer, self.text, self.code = pointer, text, code


class Document:
    """An OpenAPI 3 document.

    Args:
        data: The parsed content.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @classmethod
    def read(cls, path: Path) -> tuple[Document, bytes]:
        """The document in a JSON or YAML file, and the bytes of the file.

        Raises:
            SpecProblem: The file cannot be read, is too large, or is not an OpenAPI 3 document; the pointer is the
                place in the file.
        """
        if not path.is_file():
            raise SpecProblem(str(path), "there is no such file; react-run openapi fetch URL downloads one")
        if path.stat().st_size > LARGEST:
            raise SpecProblem(str(path), f"it is larger than {LARGEST // 1024 // 1024} MiB")
        content = path.read_bytes()
        return cls.parse(content, str(path)), content

    @classmethod
    def parse(cls, content: bytes, name: str) -> Document:
        """Parse the document in ``content``; messages call it ``name``.

        Raises:
            SpecProblem: It is not an OpenAPI 3 document.
        """
        data = _parsed(content, name)
        if not isinstance(data, Mapping):
            raise SpecProblem(name, "this is not an OpenAPI document: it has no keys")
        version = data.get("openapi")
        if version is None and "swagger" in data:
            raise SpecProblem(name, f"swagger {data['swagger']} is not supported: {CONVERT}", "unsupported_spec")
        if not isinstance(version, (str, float)) or not str(version).startswith("3."):
            said = "there is no key openapi:" if version is None else f"openapi: {version!r} is not 3.0, 3.1 or 3.2"
            raise SpecProblem(name, f"this is not an OpenAPI 3 document: {said}", "unsupported_spec")
        if not isinstance(data.get("paths"), Mapping):
            raise SpecProblem(f"{name}#/paths", "there are no paths, so there is nothing to call")
        return cls(data)

    @cached_property
    def _resolver(self) -> Resolver[Any]:
        from referencing import Registry, Resource  # as slow to import as the whole toolset

        root: Resource[Any] = Resource.opaque(self.data)
        registry: Registry[Any] = Registry()
        resolver: Resolver[Any] = registry.with_resource("", root).resolver()
        return resolver

    def at(self, reference: str, pointer: str) -> Any:
        """The target of ``reference``, which is at ``pointer``.

        Raises:
            SpecProblem: The target is outside the document, or does not exist.
        """
        if not reference.startswith("#"):
            text = f"$ref {reference!r} is outside the document, and nothing is fetched: bundle it into one file"
            raise SpecProblem(f"{pointer}/$ref", text)
        from referencing.exceptions import Unresolvable

        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, LookupError, ValueError, TypeError):
            raise SpecProblem(f"{pointer}/$ref", f"the target of $ref {reference!r} does not exist") from None

    def followed(self, node: Any, pointer: str) -> tuple[Mapping[str, Any], str]:
        """The object that ``node`` is or refers to, and its pointer.

        Raises:
            SpecProblem: It is not an object, or its reference is broken or circular.
        """
        for _ in range(DEEPEST):
            if not isinstance(node, Mapping):
                raise SpecProblem(pointer, f"{_short_repr(node)} should be an object")
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node, pointer
            node, pointer = self.at(reference, pointer), reference
        raise SpecProblem(pointer, "this reference is circular")


def token(key: str) -> str:
    """``key`` escaped for a JSON pointer."""
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
    """A YAML loader with only the types of JSON: ``no`` and dates are text."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # a base that is looked up
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            """Convert keys to text, as in JSON."""
            self.flatten_mapping(node)
            return {self._key(key): self.construct_object(value, deep=deep) for key, value in node.value}

        def _key(self, node: Any) -> str:
            return node.value if isinstance(node, yaml.ScalarNode) else str(self.construct_object(node, deep=True))

    for tag, pattern, first in _JSON_VALUES:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), list(first))
    return Loader


def _short_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
