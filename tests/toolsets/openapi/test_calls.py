"""Calls of operations over real HTTP on loopback: bodies, credentials, answers, pages, redirects and errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.openapi.documents import called, document, operation, parameter, said, toolset
from tests.toolsets.openapi.stub import Stub, serving

from react_run import read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.openapi import OpenApiToolset

PET = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def body(media_type: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"required": True, "content": {media_type: {"schema": schema or PET, **more}}}


SERVICE = document(
    {
        "/pets": {
            "get": operation(parameter("page", schema={"type": "integer"}), parameter("cursor"), operationId="list"),
            "post": operation(operationId="add", requestBody=body("application/json")),
        },
        "/pets/{id}": {
            "get": operation(parameter("id", "path"), parameter("id"), parameter("id", "header"), operationId="get"),
            "delete": operation(parameter("id", "path"), operationId="remove"),
            "head": operation(parameter("id", "path"), operationId="has"),
        },
        "/form": {"post": operation(operationId="fill", requestBody=body("application/x-www-form-urlencoded"))},
        "/text": {"put": operation(operationId="write", requestBody=body("text/plain", {"type": "string"}))},
        "/other": {
            "get": operation(operationId="other", servers=[{"url": "http://127.0.0.1:8099/elsewhere"}]),
        },
    },
    openapi="3.0.3",  # where what is read-only is not required in a request
    components={
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "api_key"},
            "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
        }
    },
)


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with serving(SERVICE) as service:
        yield service


@pytest.fixture(autouse=True)
def fresh(stub: Stub) -> None:
    stub.answers.clear()
    stub.targets.clear()
    stub.headers.clear()


def service(directory: Path, stub: Stub, **options: Any) -> OpenApiToolset:
    return toolset(directory, SERVICE, base_url=stub.url, **options)


def test_a_json_body_arrives_without_what_only_servers_say(tmp_path: Path, stub: Stub) -> None:
    made = service(tmp_path, stub)
    sent = {"name": "Rex", "tags": ["a", "b"]}
    got = said(tmp_path, made, "add", body=sent)
    assert (got["body"], stub.headers[0]["content-type"]) == (sent, "application/json")
    done = called(tmp_path, made, "add", body={"id": 3, "tags": []})
    assert done.error_code == "invalid_arguments"
    assert "name" in done.observation


def test_a_form_is_encoded_field_by_field(tmp_path: Path, stub: Stub) -> None:
    got = said(tmp_path, service(tmp_path, stub), "fill", body={"name": "a&b=c d", "tags": ["x", "y"]})
    assert got["body"]["name"] == "a&b=c d"
    assert got["body"]["tags"] == ["x", "y"]


def test_text_is_sent_as_it_is(tmp_path: Path, stub: Stub) -> None:
    got = said(tmp_path, service(tmp_path, stub), "write", body="grüße\n")
    assert got["body"] == "grüße\n"
    assert stub.headers[0]["content-type"] == "text/plain"


def test_a_file_of_a_form_is_a_part_of_its_own(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "file": {"type": "string", "format": "binary"}},
    }
    described = document(
        {"/up": {"post": operation(operationId="up", requestBody=body("multipart/form-data", schema))}}
    )
    with serving(described) as service:
        service.answers["/up"] = (200, {}, b"")
        done = called(
            tmp_path, toolset(tmp_path, described, base_url=service.url), "up", body={"note": "n", "file": "x"}
        )
        assert service.headers[0]["content-type"].startswith("multipart/form-data; boundary=")
    assert done.observation == "(done: the response to POST /up has no content)"


def test_one_name_in_three_places_makes_three_arguments(tmp_path: Path, stub: Stub) -> None:
    made = service(tmp_path, stub)
    [tool] = [tool for tool in made.tools() if tool.name == "get"]
    assert [*tool.parameters["properties"]] == ["id", "id_query", "id_header"]
    got = said(tmp_path, made, "get", id="1", id_query="2", id_header="3")
    assert (got["path"]["id"], got["query"]["id"], got["header"]["id"]) == ("1", "2", "3")


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ({"bearer": "hunter2000"}, {"authorization": "Bearer hunter2000"}),
        ({"basic": {"user": "me", "password": "hunter2000"}}, {"authorization": "Basic bWU6aHVudGVyMjAwMA=="}),
        ({"api_key": {"header": "hunter2000"}}, {"x-key": "hunter2000"}),
        ({"api_key": {"cookie": "hunter2000"}}, {"cookie": "session=hunter2000"}),
    ],
)
def test_what_proves_who_we_are_is_sent_as_the_document_says(
    tmp_path: Path, stub: Stub, auth: dict[str, Any], expected: dict[str, str]
) -> None:
    path = tmp_path / "run.jsonl"
    made = service(tmp_path, stub, auth=auth)
    agent_with([calls(("list", {})), says("done")], toolsets=[made]).replace(journal=path).run_sync("go")
    assert expected.items() <= stub.headers[0].items()
    assert "hunter2000" not in path.read_text()


def test_a_key_in_the_query_is_sent_and_never_shown(tmp_path: Path, stub: Stub) -> None:
    got = said(tmp_path, service(tmp_path, stub, auth={"api_key": {"key": "hunter2000"}}), "list", page=2)
    assert stub.targets == ["/pets?page=2&api_key=hunter2000"]
    assert got["errors"] == []


def test_another_origin_never_gets_our_credentials(tmp_path: Path, stub: Stub) -> None:
    other = document({"/other": {"get": operation(operationId="other")}})
    described = json.loads(json.dumps(SERVICE))
    with serving(other) as elsewhere:
        described["paths"]["/other"]["get"]["servers"] = [{"url": elsewhere.url}]
        made = toolset(tmp_path, described, base_url=stub.url, auth={"bearer": "hunter2000"})
        done = called(tmp_path, made, "other")
        assert (done.error_code, elsewhere.targets) == ("host_not_allowed", [])  # one that is not public was not named
        request = made._sent_to(elsewhere.url)
    assert "hunter2000" not in repr(request)
    assert request["headers"] == {}


def test_a_redirect_to_another_origin_is_not_followed(tmp_path: Path, stub: Stub) -> None:
    made = service(tmp_path, stub, auth={"bearer": "hunter2000"})
    stub.answers["/pets"] = (302, {"Location": "http://127.0.0.1:8099/stolen"}, b"")
    assert "which is not followed" in called(tmp_path, made, "list").observation
    stub.answers["/pets"] = (307, {"Location": f"{stub.url}/pets/5"}, b"")
    assert said(tmp_path, made, "list")["path"] == {"id": "5"}
    done = called(tmp_path, made, "add", body={"name": "x"})
    assert (done.error_code, len(stub.targets)) == ("http_error", 4)  # what writes is not sent twice


@pytest.mark.parametrize(
    ("status", "code", "attempts"),
    [(404, "http_error", 1), (422, "http_error", 1), (429, "rate_limited", 3), (503, "server_error", 3)],
)
def test_errors_have_a_code_and_what_the_server_said(
    tmp_path: Path, stub: Stub, status: int, code: str, attempts: int
) -> None:
    stub.answers["/pets"] = (status, {"Retry-After": "0"}, b'{"message": "' + b"no such pet " * 100 + b'"}')
    made = service(tmp_path, stub)
    done = called(tmp_path, made, "list")
    assert (done.error_code, len(stub.targets)) == (code, attempts)
    assert "no such pet" in done.observation
    assert len(done.observation) < 900
    stub.targets.clear()
    assert called(tmp_path, made, "add", body={"name": "x"}).error_code == code
    assert len(stub.targets) == 1


def test_an_answer_that_is_too_large_shows_how_it_begins(tmp_path: Path, stub: Stub) -> None:
    stub.answers["/pets"] = (200, {"Content-Type": "text/plain"}, b"begin " + b"x" * 5_000)
    done = called(tmp_path, service(tmp_path, stub, max_bytes=2_048), "list")
    assert done.error_code == "too_large"
    assert "The response begins with: begin xxx" in done.observation


def test_nobody_there_is_a_failed_call(tmp_path: Path) -> None:
    made = toolset(tmp_path, SERVICE, base_url="http://127.0.0.1:8099")
    assert called(tmp_path, made, "add", body={"name": "x"}).error_code == "network_error"


@pytest.mark.parametrize("base", ["http://localhost:80", "http://169.254.169.254", "http://[::1]:8080"])
def test_servers_of_a_document_never_lead_to_what_is_not_public(tmp_path: Path, base: str) -> None:
    made = toolset(tmp_path, {**SERVICE, "servers": [{"url": base}]})
    assert called(tmp_path, made, "list").error_code == "address_refused"


PAGES = [
    (
        {"Link": '<{url}/pets?page=3&per=9>; rel="next", <{url}/pets?page=1>; rel="prev"'},
        {},
        "call it again with page=3",
    ),
    ({}, {"next_cursor": "abc"}, "next_cursor is abc; call it again with cursor set to that"),
    ({}, {"meta": {"nextPageToken": "t"}}, "meta.nextPageToken is t."),
    ({}, {"next_cursor": ""}, ""),
    ({}, {"items": []}, ""),
]


@pytest.mark.parametrize(("headers", "data", "line"), PAGES)
def test_a_next_page_is_told_in_one_line(
    tmp_path: Path, stub: Stub, headers: dict[str, str], data: dict[str, Any], line: str
) -> None:
    filled = {name: value.replace("{url}", stub.url) for name, value in headers.items()}
    stub.answers["/pets"] = (200, {"Content-Type": "application/json", **filled}, json.dumps(data).encode())
    text = called(tmp_path, service(tmp_path, stub), "list").observation
    first, _, rest = text.partition("\n\n")
    assert json.loads(first) == data
    assert (line in rest) if line else rest == ""


def test_only_some_fields_of_an_answer_are_kept(tmp_path: Path, stub: Stub) -> None:
    data = [{"name": "a", "owner": {"city": "Rome"}}, {"name": "b", "owner": {"city": "Oslo"}}]
    stub.answers["/pets"] = (200, {"Content-Type": "application/json"}, json.dumps(data).encode())
    made = service(tmp_path, stub, fields={"list": ["*.name", "*.age", "0.owner.city"]})
    assert said(tmp_path, made, "list") == {"*.name": ["a", "b"], "0.owner.city": "Rome"}
    made = service(tmp_path, stub, fields={"GET /pets": ["*.nam"]})
    assert called(tmp_path, made, "list").error_code == "missing_part"


def test_head_shows_headers_and_delete_says_that_it_is_done(tmp_path: Path, stub: Stub) -> None:
    made = service(tmp_path, stub)
    assert said(tmp_path, made, "has", id="1")["content-type"] == "application/json"
    stub.answers["/pets/1"] = (204, {}, b"")
    assert "has no content" in called(tmp_path, made, "remove", id="1").observation


def test_arguments_are_repaired_and_checked_as_those_of_any_tool(tmp_path: Path, stub: Stub) -> None:
    made = service(tmp_path, stub)
    assert '"query": {"page": 3}' in called(tmp_path, made, "list", page="3").observation
    done = called(tmp_path, made, "list", page="three")
    assert (done.error_code, len(stub.targets)) == ("invalid_arguments", 1)


def test_a_run_is_replayed_without_the_service(tmp_path: Path, stub: Stub) -> None:
    path = tmp_path / "run.jsonl"
    replies = [calls(("list", {"page": 1})), says("done")]
    agent_with(replies, toolsets=[service(tmp_path, stub)]).replace(journal=path).run_sync("go")
    stub.targets.clear()
    gone = toolset(tmp_path, SERVICE, base_url="http://127.0.0.1:8099")
    replayed = asyncio.run(replay(read_journal(path), agent_with(replies, toolsets=[gone])))
    assert replayed.result is not None
    assert '"page": 1' in replayed.result.steps[0].observation
    assert stub.targets == []
