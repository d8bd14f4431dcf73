"""``react-run openapi fetch``: what it writes, what it shows and asks, and what it refuses."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.toolsets.conftest import LocalServer
from tests.toolsets.conftest import server as server

from react_run.cli.openapi import command

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "2"},
    "servers": [{"url": "https://api.example.org"}],
    "paths": {"/pets": {"get": {"tags": ["pets"]}, "post": {}}, "/shops": {"get": {}}},
}


def run(*arguments: str, answer: str = "") -> tuple[int, str]:
    # The tests of the whole command line drive it as a process; here only what it does counts.
    done = CliRunner().invoke(command, ["fetch", *arguments], input=answer, standalone_mode=False)
    if done.exception is not None:
        return 2, str(done.exception)
    return done.return_value or 0, done.output


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_document_is_written_with_its_digest_beside_it(server: LocalServer) -> None:
    server.site = {"/v1/openapi.json": server.json(DOCUMENT)}
    status, text = run(f"{server.url}/v1/openapi.json")
    assert (status, text.strip()) == (0, "openapi.json: Pets 2: 3 operations, 1 tags")
    content = Path("openapi.json").read_bytes()
    note = json.loads(Path("openapi.json.lock").read_text())
    assert json.loads(content) == DOCUMENT
    assert note["sha256"] == sha256(content).hexdigest()
    assert note["url"] == f"{server.url}/v1/openapi.json"


def test_localhost_is_this_machine_when_a_person_types_it(server: LocalServer) -> None:
    server.site = {"/api": server.reply("openapi: 3.0.0\npaths: {}\n", content_type="application/yaml")}
    assert run(f"http://localhost:{server.port}/api")[0] == 0
    assert Path("api.yaml").exists()


def test_what_is_different_is_shown_and_asked_about(server: LocalServer) -> None:
    server.site = {"/o.json": server.json(DOCUMENT)}
    run(f"{server.url}/o.json")
    assert "nothing has changed" in run(f"{server.url}/o.json")[1]
    paths = {"/pets": {"get": {"tags": ["animals"]}}, "/cats": {"get": {}}, "/shops": {"get": {}}}
    server.site = {"/o.json": server.json({**DOCUMENT, "paths": paths})}
    status, text = run(f"{server.url}/o.json", answer="n\n")
    assert status == 1
    assert {"- POST /pets", "+ GET /cats", "~ GET /pets"} <= set(text.splitlines())
    assert json.loads(Path("o.json").read_text()) == DOCUMENT
    assert run(f"{server.url}/o.json", "--yes")[0] == 0
    assert json.loads(Path("o.json").read_text())["paths"] == paths


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"swagger": "2.0", "paths": {}}', "swagger 2.0 is not supported: convert it"),
        ("<html>", "nothing was written"),
        ("", "nothing was written"),
    ],
)
def test_what_is_no_document_is_not_written(server: LocalServer, body: str, text: str) -> None:
    server.site = {"/o.json": server.reply(body)}
    status, said = run(f"{server.url}/o.json")
    assert status == 2
    assert text in said
    assert not Path("o.json").exists()


def test_errors_of_the_network_are_told_in_one_sentence(server: LocalServer) -> None:
    server.site = {"/o.json": server.redirect("http://169.254.169.254/latest")}
    assert "which is not followed" in run(f"{server.url}/o.json")[1]
    assert "404" in run(f"{server.url}/p.json")[1]
    assert "http" in run("file:///etc/passwd")[1]


def test_a_file_that_is_no_document_is_not_replaced(server: LocalServer) -> None:
    server.site = {"/o.json": server.json(DOCUMENT)}
    Path("notes.txt").write_text("mine")
    assert "not a document to replace" in run(f"{server.url}/o.json", "-o", "notes.txt", "--yes")[1]
    assert Path("notes.txt").read_text() == "mine"
