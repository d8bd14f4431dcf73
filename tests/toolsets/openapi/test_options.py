"""Options of ``kind: openapi`` in agent files: what is chosen, what is wrong with its place, and what needs trust."""

from __future__ import annotations

import importlib.util
import json
import re
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.openapi.documents import document, operation, toolset

from react_run import ConfigError, ReActAgent, ReActAgentConfig, ReactError, ToolsetError
from react_run.config.json_schema import agent_file_schema
from react_toolsets.openapi import OpenApiToolset

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/toolsets/openapi.md").read_text(encoding="utf-8")
SOURCES = [
    *(ROOT / "toolsets/react_toolsets/openapi").glob("*.py"),
    ROOT / "toolsets/react_toolsets/declared/requests.py",
]
PETS = document(
    {
        "/pets": {
            "get": operation(operationId="listPets", tags=["pets"]),
            "post": operation(operationId="addPet", tags=["pets"]),
        },
        "/shops/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": operation(operationId="getShop", tags=["shops"]),
            "delete": operation(operationId="closeShop", tags=["shops", "admin"]),
        },
    },
    components={"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
)

CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["listPets", "getShop"]),
    ({"tags": ["pets"]}, ["listPets"]),
    ({"tags": ["s*"], "methods": ["get", "delete"]}, ["getShop", "closeShop"]),
    ({"operations": ["*Pet*"], "methods": ["get", "post"]}, ["listPets", "addPet"]),
    ({"operations": ["GET /shops/*"]}, ["getShop"]),
    (
        {"tags": ["admin", "pets"], "operations": ["*S*", "list*"], "methods": ["get", "delete"]},
        ["listPets", "closeShop"],
    ),
]


@pytest.mark.parametrize(("options", "names"), CHOICES)
def test_tags_operations_and_methods_choose(tmp_path: Path, options: dict[str, Any], names: list[str]) -> None:
    given = {"methods": ["get", "head"], **options}
    assert [tool.name for tool in toolset(tmp_path, PETS, **given).tools()] == names


def agent_file(directory: Path, lines: str) -> Path:
    (directory / "pets.json").write_text(json.dumps(PETS))
    path = directory / "agent.yaml"
    path.write_text(f"version: 1\nmodel: offline\ntoolsets:\n  - kind: openapi\n    spec: pets.json\n    {lines}\n")
    return path


AT = "base_url: https://a.example"
WRONG = [
    ("tags: [pet, shops]", "6:12", "'pet': no operation of the document has this tag. Did you mean 'pets'?"),
    ("operations: [listPets, 'GET /pet']", "6:28", "no operation of the document has this operationId, or is"),
    ("auth: {bearer: x}", "6:5", "auth: is sent only to the origin of base_url, so set base_url"),
    ("headers: {X-Key: x}", "6:5", "headers: is sent only to the origin of base_url"),
    (f"auth: {{api_key: {{kee: x}}}}\n    {AT}", "6:22", "the document has no scheme 'kee' for a key. It has: key"),
    ("fields: {listPet: [a]}", "6:14", "no tool of this document is called 'listPet'"),
    ("max_operations: 1", "6:5", "pets.json has 2 matching operations, more than max_operations (1): select some"),
    ("base_url: ftp://x", "6:15", "http"),
    ("base_url: 'https://x.example/?a=1'", "6:15", "must not have a query"),
    ("base_url: 'https://me:pw@x.example/'", "6:15", "password"),
    ("auth: {bearer: a, basic: {user: b, password: c}}", "6:11", "bearer and basic are sent in the same header"),
    ("methods: [fetch]", "6:15", "must be"),
    ("tag: [pets]", "6:5", "tags"),
]


@pytest.mark.parametrize(("lines", "place", "text"), WRONG)
def test_what_is_wrong_in_the_file_is_reported_with_its_place(
    tmp_path: Path, lines: str, place: str, text: str
) -> None:
    path = agent_file(tmp_path, lines)
    with pytest.raises(ReactError, match=re.escape(text)) as caught:
        ReActAgent.from_yaml(path)
    assert f"{path}:{place}: " in str(caught.value), str(caught.value)


def test_a_document_that_is_missing_names_the_command(tmp_path: Path) -> None:
    path = agent_file(tmp_path, "timeout: 9")
    (tmp_path / "pets.json").unlink()
    with pytest.raises(ReactError, match="there is no such file; react-run openapi fetch URL downloads one") as caught:
        ReActAgent.from_yaml(path)
    assert f"{path}:5:5: " in str(caught.value)


TRUST = [
    ("timeout: 9", ""),
    ("base_url: https://api.example.org", ""),
    ("methods: [get, post]", "changes things on other machines (POST)"),
    ("auth: {bearer: x}", "sends a secret to another machine"),
    ("headers: {X-Key: x}", "sends a secret to another machine"),
    ("base_url: http://10.0.0.1:8080", "reaches a non-public address (10.0.0.1:8080)"),
    ("base_url: http://127.0.0.1", "reaches a non-public address"),
]


@pytest.mark.parametrize(("lines", "why"), TRUST)
def test_what_an_untrusted_file_may_not_do(tmp_path: Path, lines: str, why: str) -> None:
    path = agent_file(tmp_path, lines)
    if not why:
        assert ReActAgentConfig.from_yaml(path, trusted=False).toolsets
        return
    with pytest.raises(ConfigError, match=re.escape(why)):
        ReActAgentConfig.from_yaml(path, trusted=False)


def test_a_document_elsewhere_needs_trust(tmp_path: Path) -> None:
    path = agent_file(tmp_path, "timeout: 9")
    inner = tmp_path / "inner"
    inner.mkdir()
    moved = inner / "agent.yaml"
    moved.write_text(path.read_text().replace("pets.json", "../pets.json"))
    with pytest.raises(ConfigError, match="reads a file in another directory"):
        ReActAgentConfig.from_yaml(moved, trusted=False)


def test_shared_keys_rename_tools_and_skills_follow(tmp_path: Path) -> None:
    path = agent_file(tmp_path, "prefix: p_\ntool_disclosure: skills")
    agent = ReActAgent.from_yaml(path)
    assert [tool.name for tool in agent.tools] == ["p_listPets", "p_getShop"]


def test_the_schema_for_editors_has_every_option() -> None:
    text = json.dumps(agent_file_schema())
    assert all(f'"{name}"' in text for name in OpenApiToolset.option_names())


def test_a_document_changed_since_it_was_fetched_is_refused(tmp_path: Path) -> None:
    path = agent_file(tmp_path, "timeout: 9")
    note = {"url": "https://api.example.org/openapi.json", "sha256": "0" * 64}
    (tmp_path / "pets.json.lock").write_text(json.dumps(note))
    with pytest.raises(
        ReactError, match=re.escape("has changed since it was fetched from https://api.example.org/openapi.json")
    ):
        ReActAgent.from_yaml(path)


def test_the_agent_that_ships_works_with_the_service_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("library_server", ROOT / "agents/library/server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = ThreadingHTTPServer(("127.0.0.1", 0), module.Library)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("LIBRARY_URL", f"http://127.0.0.1:{server.server_address[1]}")
    try:
        agent = ReActAgent.from_yaml(ROOT / "agents/library.yaml").replace(journal=tmp_path / "run.jsonl")
        result = agent.run_sync("What of Virginia Woolf do you have?")
    finally:
        server.shutdown()
        server.server_close()
    assert result.success
    assert "To the Lighthouse" in result.steps[1].observation


def test_every_option_and_every_code_is_on_the_page() -> None:
    table = PAGE.partition("## Options")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line[:2] == "| ")))
    assert set(OpenApiToolset.option_names()) <= named
    codes = {
        code
        for path in SOURCES
        for code in re.findall(r'(?:RequestFailed|SpecProblem|_fault)\(\s*"([a-z_]+)"', path.read_text())
    }
    assert {"invalid_path", "invalid_response", "missing_part"} <= codes
    assert [code for code in sorted(codes) if f"`{code}`" not in PAGE] == []


def test_the_examples_of_the_page_load(tmp_path: Path) -> None:
    import yaml

    described = document({"/issues": {"get": operation(operationId="issues/list", tags=["issues", "pulls"])}})
    (tmp_path / "github.json").write_text(json.dumps(described))
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / "agent.yaml").write_text(block)
        config = ReActAgentConfig.from_yaml(tmp_path / "agent.yaml", environment={"GITHUB_TOKEN": "t"})
        assert yaml.safe_load(block)["toolsets"][0]["kind"] == "openapi"
        for made in config.toolsets:
            try:
                made.tools()
            except ToolsetError as error:  # the small document does not have everything that the page names
                assert "no operation of the document" in str(error)  # noqa: PT017
