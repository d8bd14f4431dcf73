"""Reads the operations of a document with their parameters; broken ones are left out, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from react_toolsets.openapi.document import Document, SpecProblem, token
from react_toolsets.openapi.schemas import Schema, Schemas

METHODS = ("get", "head", "post", "put", "patch", "delete")
"""The methods whose operations become tools; ``options`` and ``trace`` are of no use to a model."""
PLACES = ("path", "query", "header", "cookie")
STYLES: Mapping[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""The styles for each place, the default first."""
_NOT_PARAMETERS = ("accept", "content-type", "authorization")
"""Header parameters that the specification says to ignore."""
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter; ``argument`` is its name for the model."""

    name: str
    argument: str
    place: str
    required: bool
    schema: Schema
    style: str
    explode: bool
    as_json: bool = False
    reserved: bool = False
    """Whether reserved characters are not encoded."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """The request body; ``encoding`` describes the fields of a form."""

    media_type: str
    required: bool
    schema: Schema
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of the service: a method and a path."""

    method: str
    path: str
    id: str
    tags: tuple[str, ...]
    description: str
    pointer: str
    summary: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    servers: Any = None

    @property
    def place(self) -> str:
        """The name in agent files: ``GET /pets/{id}``."""
        return f"{self.method} {self.path}"


Wanted = Callable[[str, str, tuple[str, ...]], bool]
"""Decides by ``METHOD /path``, operationId and tags whether to use an operation."""


def operations(
    document: Document, schemas: Schemas, wanted: Wanted
) -> tuple[list[Operation], list[tuple[str, SpecProblem]]]:
    """The selected operations, and those among them that are left out, each with the reason."""
    found: list[Operation] = []
    left_out: list[tuple[str, SpecProblem]] = []
    for path, item in document.data["paths"].items():
        pointer = f"#/paths/{token(path)}"
        if path.startswith("x-"):
            continue
        try:
            node, pointer = document.followed(item, pointer)
        except SpecProblem as problem:
            left_out.append((path, problem))
            continue
        for method in METHODS:
            if method not in node:
                continue
            try:
                operation = _read(document, schemas, path, method, node, pointer, wanted)
            except SpecProblem as problem:
                left_out.append((f"{method.upper()} {path}", problem))
            except RecursionError:
                deep = SpecProblem(f"{pointer}/{method}", "its schemas are nested too deeply")
                left_out.append((f"{method.upper()} {path}", deep))
            else:
                if operation is not None:
                    found.append(operation)
    return found, left_out


def _read(
    document: Document,
    schemas: Schemas,
    path: str,
    method: str,
    item: Mapping[str, Any],
    at: str,
    wanted: Wanted,
) -> Operation | None:
    pointer = f"{at}/{method}"
    node = item[method]
    if not isinstance(node, Mapping):
        raise SpecProblem(pointer, "this is not an operation")
    given = node.get("operationId")
    name = given if isinstance(given, str) else ""
    tags = node.get("tags")
    tags = tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
    if not wanted(f"{method.upper()} {path}", name, tags):
        return None
    schemas.begin()
    parameters = list(_parameters(document, schemas, [(item, at), (node, pointer)]))
    body = _body(document, schemas, node, pointer)
    places = set(_places(path))
    known = {parameter.name for parameter in parameters if parameter.place == "path"}
    if missing := sorted(places - known):
        raise SpecProblem(f"{pointer}/parameters", f"the path has {{{missing[0]}}}, and no parameter describes it")
    operation = Operation(
        method=method.upper(),
        path=path,
        id=name,
        tags=tags,
        summary=_text(node.get("summary")) or _text(item.get("summary")),
        description=_text(node.get("description")) or _text(item.get("description")),
        pointer=pointer,
        parameters=tuple(_with_arguments([p for p in parameters if p.place != "path" or p.name in places], body)),
        body=body,
        servers=node.get("servers") or item.get("servers"),
    )
    schemas.reached([parameter.schema for parameter in parameters] + ([body.schema] if body else []))
    return operation


def _places(path: str) -> Iterator[str]:
    for part in path.split("{")[1:]:
        yield part.partition("}")[0]


def _parameters(
    document: Document, schemas: Schemas, nodes: list[tuple[Mapping[str, Any], str]]
) -> Iterator[Parameter]:
    """The parameters of a path and of its operation; those of the operation take precedence."""
    found: dict[tuple[str, str], tuple[Mapping[str, Any], str]] = {}
    for node, pointer in nodes:
        listed = node.get("parameters") or []
        if not isinstance(listed, list):
            raise SpecProblem(f"{pointer}/parameters", "the parameters are not a list")
        for index, entry in enumerate(listed):
            parameter, place = document.followed(entry, f"{pointer}/parameters/{index}")
            name, kind = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not name:
                raise SpecProblem(place, "a parameter without a name")
            if kind not in PLACES:
                raise SpecProblem(place, f"in: {kind!r} is not one of {', '.join(PLACES)}")
            found[name, kind] = parameter, place
    for (name, kind), (parameter, place) in found.items():
        if kind != "header" or name.lower() not in _NOT_PARAMETERS:
            yield _parameter(schemas, name, kind, parameter, place)


def _parameter(schemas: Schemas, name: str, kind: str, node: Mapping[str, Any], pointer: str) -> Parameter:
    content = node.get("content")
    as_json = isinstance(content, Mapping) and bool(content)
    if as_json:
        media, described = next(iter(content.items()))  # type: ignore[union-attr]  # checked a line above
        schema = _mapping(described).get("schema", {})
        at = f"{pointer}/content/{token(media)}/schema"
    else:
        schema, at = node.get("schema", {}), f"{pointer}/schema"
    style = node.get("style", STYLES[kind][0])
    if style not in STYLES[kind]:
        known = ", ".join(STYLES[kind])
        raise SpecProblem(f"{pointer}/style", f"{style!r} is not a style of {kind} parameters. Styles: {known}")
    explode = node.get("explode")
    converted = schemas.converted(schema, at)
    if said := _text(node.get("description")):
        converted = {**converted, "description": said}
    return Parameter(
        name=name,
        argument=name,
        place=kind,
        required=kind == "path" or node.get("required") is True,
        schema=converted,
        style=style,
        explode=explode if isinstance(explode, bool) else style == "form",
        as_json=as_json,
        reserved=node.get("allowReserved") is True,
    )


def _with_arguments(parameters: list[Parameter], body: Body | None) -> Iterator[Parameter]:
    """The parameters with unique argument names: if two places share a name, the later one gets its place appended."""
    taken = {"body"} if body else set[str]()
    for parameter in sorted(parameters, key=lambda parameter: PLACES.index(parameter.place)):
        argument = parameter.name
        if argument in taken:
            argument = f"{argument}_{parameter.place}"
        while argument in taken:
            argument += "_"
        taken.add(argument)
        yield parameter if argument == parameter.argument else replace(parameter, argument=argument)


def _body(document: Document, schemas: Schemas, node: Mapping[str, Any], pointer: str) -> Body | None:
    if node.get("requestBody") is None:
        return None
    body, at = document.followed(node["requestBody"], f"{pointer}/requestBody")
    content = body.get("content")
    if not isinstance(content, Mapping) or not content:
        raise SpecProblem(f"{at}/content", "a body without a media type")
    media = min(content, key=lambda name: (_rank(name.lower()), list(content).index(name)))
    described = _mapping(content[media])
    schema = schemas.converted(described.get("schema", {}), f"{at}/content/{token(media)}/schema")
    if _rank(media.lower()) > _rank(MULTIPART):
        schema = {"type": "string", "description": f"The text of the body, of type {media}."}
    if said := _text(body.get("description")):
        schema = {"description": said, **schema}
    return Body(
        media_type=media,
        required=body.get("required") is True,
        schema=schema,
        encoding=_mapping(described.get("encoding")),
    )


def _rank(media: str) -> int:
    """The preference among media types; lower is better."""
    plain = media.partition(";")[0].strip()
    if plain == JSON:
        return 0
    if plain.endswith(("/json", "+json")) or plain == "*/*":
        return 1
    return {FORM: 2, MULTIPART: 3}.get(plain, 4 if plain.startswith("text/") else 5)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
