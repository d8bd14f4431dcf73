"""Values in requests: the table of the specification, literally, and what an independent reader makes of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.toolsets.openapi.documents import called, document, operation, parameter, said, toolset
from tests.toolsets.openapi.stub import serving

from react_toolsets.openapi import OpenApiToolset
from react_toolsets.openapi.styles import in_header, in_path, in_query

STRING, ARRAY = "blue", ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}

PATHS = [
    ("matrix", False, "", ";color"),
    ("matrix", False, STRING, ";color=blue"),
    ("matrix", False, ARRAY, ";color=blue,black,brown"),
    ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
    ("matrix", True, "", ";color"),
    ("matrix", True, STRING, ";color=blue"),
    ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
    ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
    ("label", False, "", "."),
    ("label", False, STRING, ".blue"),
    ("label", False, ARRAY, ".blue,black,brown"),
    ("label", False, OBJECT, ".R,100,G,200,B,150"),
    ("label", True, STRING, ".blue"),
    ("label", True, ARRAY, ".blue.black.brown"),
    ("label", True, OBJECT, ".R=100.G=200.B=150"),
    ("simple", False, STRING, "blue"),
    ("simple", False, ARRAY, "blue,black,brown"),
    ("simple", False, OBJECT, "R,100,G,200,B,150"),
    ("simple", True, STRING, "blue"),
    ("simple", True, ARRAY, "blue,black,brown"),
    ("simple", True, OBJECT, "R=100,G=200,B=150"),
]
QUERIES = [
    ("form", False, "", "color="),
    ("form", False, STRING, "color=blue"),
    ("form", False, ARRAY, "color=blue,black,brown"),
    ("form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("form", True, "", "color="),
    ("form", True, STRING, "color=blue"),
    ("form", True, ARRAY, "color=blue&color=black&color=brown"),
    ("form", True, OBJECT, "R=100&G=200&B=150"),
    ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
    ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
]
"""The table "Style Examples" of OpenAPI 3.1.1."""


@pytest.mark.parametrize(("style", "explode", "value", "expected"), PATHS)
def test_a_path_is_written_as_the_specification_shows(style: str, explode: bool, value: Any, expected: str) -> None:
    assert in_path("color", value, style, explode=explode) == expected


@pytest.mark.parametrize(("style", "explode", "value", "expected"), QUERIES)
def test_a_query_is_written_as_the_specification_shows(style: str, explode: bool, value: Any, expected: str) -> None:
    assert "&".join(in_query("color", value, style, explode=explode)) == expected


def test_headers_have_commas_and_no_encoding() -> None:
    assert in_header(["a b", "ü"], explode=False) == "a b,ü"
    assert in_header(OBJECT, explode=True) == "R=100,G=200,B=150"


def test_objects_in_objects_and_lists_in_them_are_written_as_servers_read_them() -> None:
    parts = in_query("filter", {"age": {"gte": 3}, "tags": ["a", "b"]}, "deepObject", explode=True)
    assert [*parts] == ["filter%5Bage%5D%5Bgte%5D=3", "filter%5Btags%5D%5B0%5D=a", "filter%5Btags%5D%5B1%5D=b"]


def test_reserved_characters_stand_only_where_the_document_says_so() -> None:
    assert [*in_query("q", "a/b?c&d=e#f", "form", explode=True)] == ["q=a%2Fb%3Fc%26d%3De%23f"]
    assert [*in_query("q", "a/b?c&d=e#f", "form", explode=True, reserved=True)] == ["q=a/b?c%26d%3De%23f"]


NUMBERS = {"type": "array", "items": {"type": "integer"}}
COLORS = {"type": "object", "properties": {"R": {"type": "integer"}, "G": {"type": "integer"}}}
READ: list[tuple[str, dict[str, Any], dict[str, Any], object]] = [
    ("path", {}, {"type": "string"}, "a/b ü%2F"),
    ("path", {}, NUMBERS, [1, 2, 3]),
    ("path", {"explode": True}, COLORS, {"R": 1, "G": 2}),
    ("query", {}, {"type": "string"}, "a&b=c#d e+f%20/ü"),
    ("query", {}, {"type": "boolean"}, True),
    ("query", {}, NUMBERS, [1, 2, 3]),
    ("query", {"explode": False}, NUMBERS, [1, 2, 3]),
    ("query", {"style": "pipeDelimited", "explode": False}, NUMBERS, [1, 2, 3]),
    ("query", {"style": "deepObject", "explode": True}, COLORS, {"R": 1, "G": 2}),
    ("query", {"explode": False}, COLORS, {"R": 1, "G": 2}),
    ("header", {}, {"type": "string"}, "a b"),
    ("header", {}, NUMBERS, [1, 2]),
    ("cookie", {}, {"type": "integer"}, 7),
]


"""What openapi-core can read; it looks for label and matrix parameters under other names."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenApiToolset]:
    paths = {}
    for number, (place, how, schema, _) in enumerate(READ):
        path = f"/x{number}/{{it}}" if place == "path" else f"/x{number}"
        paths[path] = {"get": operation(parameter("it", place, schema, **how), operationId=f"see{number}")}
    described = document(paths)
    with serving(described) as stub:
        yield toolset(tmp_path_factory.mktemp("spec"), described, base_url=stub.url)


@pytest.mark.parametrize("number", range(len(READ)))
def test_what_is_sent_is_read_as_it_was_meant(tmp_path: Path, everything: OpenApiToolset, number: int) -> None:
    place, _, _, value = READ[number]
    got = said(tmp_path, everything, f"see{number}", it=value)
    assert got["errors"] == [], got["raw"]
    read = got[place]["it"]
    # A path is matched before it is decoded, which openapi-core leaves to others.
    assert (unquote(read) if place == "path" and isinstance(read, str) else read) == value


@pytest.mark.parametrize("value", ["", ".", "..", " "])
@pytest.mark.parametrize("path", ["/x/{it}", "/x/{it}/y"])
def test_a_value_cannot_lead_to_another_path(tmp_path: Path, path: str, value: str) -> None:
    described = document({path: {"get": operation(parameter("it", "path"), operationId="see")}})
    with serving(described) as stub:
        done = called(tmp_path, toolset(tmp_path, described, base_url=stub.url), "see", it=value)
        assert stub.targets == []
    assert done.error_code == "invalid_path"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b"])
def test_a_value_cannot_begin_another_header(tmp_path: Path, value: str) -> None:
    described = document({"/x": {"get": operation(parameter("X-It", "header"), operationId="see")}})
    with serving(described) as stub:
        done = called(tmp_path, toolset(tmp_path, described, base_url=stub.url), "see", **{"X-It": value})
        assert stub.targets == []
    assert done.error_code == "invalid_header"
