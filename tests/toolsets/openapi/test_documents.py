"""What becomes of documents: names, schemas and skills; what is broken is left out with its place, the rest works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.openapi.documents import document, operation, parameter, toolset

from react_run import ToolsetError
from react_run.testing import agent_with, calls, says
from react_toolsets.openapi import OpenApiToolset, OpenApiWarning
from react_toolsets.openapi.addresses import server_of
from react_toolsets.openapi.fetched import digest

GOOD = {"/good": {"get": operation(operationId="good")}}


def loaded(directory: Path, paths: dict[str, Any], **options: Any) -> OpenApiToolset:
    components = options.pop("components", {})
    return toolset(directory, document({**GOOD, **paths}, components=components), **options)


NOWHERE = {"$ref": "#/components/schemas/No"}
BROKEN = [
    ({"/a": {"get": 3}}, "#/paths/~1a/get: this is not an operation"),
    ({"/a": 3}, "#/paths/~1a: 3 should be an object"),
    ({"/a": {"get": {"parameters": {}, "x": [1]}}}, ""),
    ({"/a": {"get": {"parameters": 3}}}, "#/paths/~1a/get/parameters: the parameters are not a list"),
    ({"/a": {"get": {"parameters": [{"in": "query"}]}}}, "#/paths/~1a/get/parameters/0: a parameter without a name"),
    ({"/a": {"get": operation(parameter("x", "body"))}}, "parameters/0: in: 'body' is not one of path, query"),
    ({"/a/{id}": {"get": operation()}}, "the path has {id}, and no parameter describes it"),
    (
        {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/No"}]}}},
        "'#/components/parameters/No' does not",
    ),
    ({"/a": {"get": {"parameters": [{"$ref": "x.yaml#/y"}]}}}, "is outside the document, and nothing is fetched"),
    (
        {"/a": {"get": operation(parameter("x", schema=NOWHERE))}},
        "schema/$ref: the target of $ref '#/comp",
    ),
    ({"/a": {"get": operation(parameter("x", schema={"type": "strng"}))}}, "schema/type: 'strng' is not a type"),
    (
        {"/a": {"get": operation(parameter("x", schema={"properties": []}))}},
        "schema/properties: '[]' should be a mapping",
    ),
    ({"/a": {"get": operation(parameter("x", schema={"allOf": {}}))}}, "schema/allOf: '{}' should be a list"),
    ({"/a": {"get": operation(parameter("x", style="matrix"))}}, "style: 'matrix' is not a style of query parameters"),
    ({"/a": {"post": {"requestBody": {"content": {}}}}}, "#/paths/~1a/post/requestBody/content: a body without"),
    ({"/a": {"get": operation(parameter("x", schema={"$ref": "#/components/schemas/Bad"}))}}, "Bad/properties/y/type"),
    ({"/a": {"get": operation(servers=[{"url": "ftp://x"}])}}, "get/servers/0/url: 'ftp://x' is not an absolute URL"),
]


@pytest.mark.parametrize(("paths", "reason"), BROKEN)
def test_a_broken_operation_is_left_out_with_its_place_and_the_rest_works(
    tmp_path: Path, paths: dict[str, Any], reason: str
) -> None:
    made = loaded(tmp_path, paths, components={"schemas": {"Bad": {"properties": {"y": {"type": "no"}}}}})
    if not reason:
        assert len(made.tools()) == 2
        return
    with pytest.warns(OpenApiWarning, match="an operation is left out") as caught:
        assert [tool.name for tool in made.tools()] == ["good"]
    assert reason in str(caught[0].message)
    [(_, problem)] = made.left_out
    assert problem.code == "spec_error"


FILES = [
    ("", "spec.json: this is not an OpenAPI document"),
    ('{"openapi": "3.0.0",\n "paths": {,}}', "spec.json:2:12: this is not JSON"),
    ("openapi: 3.0.0\npaths:\n  /a: [", "spec.json:4:1: this is not YAML"),
    ('{"openapi": "3.0.0"}', "#/paths: there are no paths"),
    ('{"swagger": "2.0", "paths": {}}', "swagger 2.0 is not supported: convert it"),
    ('{"openapi": "4.0", "paths": {}}', "openapi: '4.0' is not 3.0, 3.1 or 3.2"),
    ('{"info": {}}', "there is no key openapi:"),
    ('{"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}', "#/servers: the document names no server"),
    ('{"openapi": "3.0.0", "paths": {}, "servers": [{"url": "/v1"}]}', "'/v1' is not an absolute URL"),
    ("\xff", "is not UTF-8"),
    ("[" * 100_000, "spec.json"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=[message[:40] for _, message in FILES])
def test_a_file_that_is_no_document_is_an_error_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "spec.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ToolsetError, match=re.escape(message)):
        OpenApiToolset(spec=path).tools()


def test_a_bomb_of_aliases_is_left_out(tmp_path: Path) -> None:
    lines = ["openapi: 3.0.0", "servers: [{url: https://a.example}]", "x0: &x0 {type: string}"]
    lines += [f"x{n}: &x{n} {{properties: {{a: *x{n - 1}, b: *x{n - 1}}}}}" for n in range(1, 40)]
    lines += ["paths:", "  /a: {get: {parameters: [{name: q, in: query, schema: *x39}]}}", "  /b: {get: {}}"]
    path = tmp_path / "spec.yaml"
    path.write_text("\n".join(lines))
    made = OpenApiToolset(spec=path)
    with pytest.warns(OpenApiWarning, match="more than 100000 parts"):
        assert [tool.name for tool in made.tools()] == ["get_b"]


def test_words_of_yaml_are_texts_unless_json_has_them(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("""openapi: 3.0.3
servers: [{url: "https://a.example"}]
paths:
  /a:
    get:
      operationId: a
      parameters:
        - {name: land, in: query, schema: {type: string, enum: [NO, SE, 2020-01-01, on]}}
      responses: {200: {description: x}}
""")
    [tool] = OpenApiToolset(spec=path).tools()
    assert tool.parameters["properties"]["land"]["enum"] == ["NO", "SE", "2020-01-01", "on"]


NAMES = [
    ({"operationId": "repos/list"}, "repos_list"),
    ({}, "get_things_id_parts"),
    ({"operationId": "x" * 90}, f"{'x' * 55}_0b5"),
    ({"operationId": "activate_tool_skill"}, "activate_tool_skill_"),
]


@pytest.mark.parametrize(("more", "start"), NAMES)
def test_names_come_from_the_operation_id_or_the_path(tmp_path: Path, more: dict[str, Any], start: str) -> None:
    made = loaded(tmp_path, {"/things/{id}/parts": {"get": operation(parameter("id", "path"), **more)}})
    name = made.tools()[1].name
    assert name.startswith(start[:55])
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)


def test_operations_that_share_an_id_are_named_by_their_paths(tmp_path: Path) -> None:
    paths = {f"/{name}": {"get": operation(operationId="same")} for name in "ab"}
    assert [tool.name for tool in loaded(tmp_path, paths).tools()] == ["good", "get_a", "get_b"]


TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    },
}
EXPRESSION = {
    "type": "object",
    "properties": {"not": {"allOf": [{"$ref": "#/components/schemas/Expression"}, {"description": "Not so."}]}},
}


@pytest.mark.parametrize(("name", "schema"), [("Tree", TREE), ("Expression", EXPRESSION)])
def test_schemas_that_contain_themselves_build_and_check(tmp_path: Path, name: str, schema: dict[str, Any]) -> None:
    body = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
    made = loaded(
        tmp_path, {"/a": {"post": operation(requestBody=body, operationId="a")}}, components={"schemas": {name: schema}}
    )
    tool = made.tools()[1]
    assert len(json.dumps(tool.wire)) < 2_000
    assert not tool.prepare({"body": {"children": [{"name": "a", "children": []}], "not": {"not": {}}}}).problem
    assert tool.prepare({"body": {"children": [{"name": 3.5}], "not": 3}}).problem


def test_old_words_of_schemas_are_understood(tmp_path: Path) -> None:
    schema = {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "nullable": True, "example": 3}
    made = loaded(tmp_path, {"/a": {"get": operation(parameter("n", schema=schema), operationId="a")}})
    tool = made.tools()[1]
    assert tool.prepare({"n": 1}).problem
    assert not tool.prepare({"n": None}).problem
    assert "example" not in json.dumps(tool.wire)


def test_a_schema_that_is_too_large_is_cut_below_and_says_so(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for level in range(8):
        deep = {"type": "object", "properties": {f"level{level}_{n}": deep for n in range(3)}}
    body = {"content": {"application/json": {"schema": deep}}}
    made = loaded(tmp_path, {"/a": {"post": operation(requestBody=body, operationId="a")}}, max_schema=3_000)
    tool = made.tools()[1]
    text = json.dumps(tool.wire)
    assert len(text) < 4_000
    assert "not listed here" in text
    assert "level7_0" in text
    assert not tool.prepare({"body": {"level7_0": {"anything": {"goes": 1}}}}).problem


def test_servers_of_a_document_are_filled_in_with_their_defaults(tmp_path: Path) -> None:
    server = {
        "url": "https://{region}.example.org/v{n}",
        "variables": {"region": {"default": "eu"}, "n": {"default": 2}},
    }
    made = toolset(tmp_path, {**document(GOOD), "servers": [server]})
    made.tools()
    assert made._base == "https://eu.example.org/v2"


def test_servers_may_be_relative_to_the_service_and_to_where_the_document_came_from(tmp_path: Path) -> None:
    item = {"get": operation(operationId="other", servers=[{"url": "/v2"}]), "post": operation(operationId="same")}
    described = {**document({"/a": item}), "servers": [{"url": "../api/v1"}]}
    content = json.dumps(described).encode()
    note = {"url": "https://docs.example.org/spec/openapi.json", "sha256": digest(content)}
    (tmp_path / "spec.json.lock").write_text(json.dumps(note))
    made = toolset(tmp_path, described)
    made.tools()
    assert made._base == "https://docs.example.org/api/v1"
    bases = [server_of(entry.operation, made._base) for entry in made._entries]
    assert bases == ["https://docs.example.org/v2", made._base]


def test_flags_follow_from_the_method(tmp_path: Path) -> None:
    item = {method: operation(operationId=method) for method in ("get", "head", "post", "put", "patch", "delete")}
    tools = {tool.name: tool for tool in loaded(tmp_path, {"/a": item}).tools()}
    assert [name for name, tool in tools.items() if tool.read_only] == ["good", "get", "head"]
    assert [name for name, tool in tools.items() if tool.idempotent] == ["put", "delete"]
    assert all(tool.network for tool in tools.values())


def many(tags: int, each: int) -> dict[str, Any]:
    """A document with ``each`` operations in each of ``tags`` tags, in three directories."""
    return document({
        f"/tag{tag}/{'abc'[n % 3]}/item{n}": {
            "get": operation(operationId=f"get_{tag}_{n}", tags=[f"tag{tag}"], summary=f"Get item {n} of {tag}")
        }
        for tag in range(tags)
        for n in range(each)
    })  # fmt: skip


def test_skills_are_tags_and_large_tags_are_split_by_path(tmp_path: Path) -> None:
    made = toolset(tmp_path, many(2, 30), group_tools=12)
    skills = made.get_skill_specs()
    names = [name for skill in skills for name in skill.tool_names]
    assert sorted(names) == sorted(tool.name for tool in made.tools())
    assert [skill.name for skill in skills] == [f"tag{tag}_{part}" for tag in range(2) for part in "abc"]
    assert "Get item 0 of 0" in skills[0].description


def test_a_first_request_stays_small_however_many_operations_there_are(tmp_path: Path) -> None:
    made = toolset(tmp_path, many(60, 20))
    replies = [
        calls(("activate_tool_skill", {"search": "items of tag33"})),
        calls(("activate_tool_skill", {"skill": "tag33"})),
        says("done"),
    ]
    agent = agent_with(replies, toolsets=[made], tool_disclosure="skills")
    result = agent.run_sync("go")
    first, _, last = agent.model.requests  # type: ignore[attr-defined]
    assert len(json.dumps([tool.wire for tool in first.tools])) + sum(len(m.text) for m in first.messages) < 6_000
    assert "tag33" in result.steps[0].observation
    assert "get_33_7" in [tool.name for tool in last.tools]


def test_a_tool_that_is_not_disclosed_yet_is_refused(tmp_path: Path) -> None:
    agent = agent_with(
        [calls(("get_0_0", {})), says("done")], toolsets=[toolset(tmp_path, many(2, 3))], tool_disclosure="skills"
    )
    assert agent.run_sync("go").steps[0].error_code == "tool_not_disclosed"


def test_schemas_are_made_only_when_they_are_looked_at(tmp_path: Path) -> None:
    made = toolset(tmp_path, many(3, 20))
    agent_with([says("hi")], toolsets=[made], tool_disclosure="skills")
    assert not any("wire" in vars(tool) or "schema" in vars(tool.checker) for tool in made.tools())
