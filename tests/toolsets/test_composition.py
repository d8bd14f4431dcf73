"""Toolsets of one kind, and of others, in one agent: each does its own, whatever their tools are called."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.plugins.outside import install, on_path

from react_run import ReActAgent, ToolsetError, read_journal
from react_run.journal.replay.replay import replay

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer

OUTSIDE = '''
from react_run import ReActToolset, tool


class Archive(ReActToolset):
    """Keeps old papers."""

    kind = "archive"

    @tool(read_only=True)
    def read_file(self, path: str) -> str:
        """Read a paper."""
        return f"the archive has {path}"
'''
AGENT = """\
version: 1
model:
  kind: scripted
  replies:
    - tool_calls:
        - {name: mediawiki_search, arguments: {query: Canberra}}
        - {name: francais_mediawiki_search, arguments: {query: Canberra}}
        - {name: read_file, arguments: {path: a.txt}}
        - {name: b_read_file, arguments: {path: a.txt}}
        - {name: old_paper, arguments: {path: a.txt}}
    - Everything was read.
toolsets:
  - {kind: mediawiki, language: en, endpoint: "URL/en/api.php"}
  - {kind: mediawiki, language: fr, endpoint: "URL/fr/api.php", prefix: francais_}
  - {kind: files, name: first, root: a}
  - {kind: files, name: second, root: b, prefix: b_}
  - kind: archive
    rename: {read_file: old_paper}
"""


def found(title: str, text: str) -> dict[str, object]:
    page = {"pageid": 1, "ns": 0, "title": title, "index": 1, "extract": text, "fullurl": "https://example.org/x"}
    return {"batchcomplete": True, "query": {"pages": [page]}}


def written(folder: Path, server: LocalServer, text: str = AGENT) -> Path:
    for name in ("a", "b"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "a.txt").write_text(f"a file in {name}")
    path = folder / "agent.yaml"
    path.write_text(text.replace("URL", server.url))
    return path


def test_two_wikis_two_folders_and_an_outside_toolset_work_in_one_agent(tmp_path: Path, server: LocalServer) -> None:
    install(tmp_path / "site", "acme-archive", OUTSIDE, {"archive": "acme_archive:Archive"}, group="toolsets")
    server.script = [server.json(found("Canberra", "A city.")), server.json(found("Canberra", "Une ville."))]
    with on_path(tmp_path / "site"):
        agent = ReActAgent.from_yaml(written(tmp_path, server))
        result = asyncio.run(agent.replace(journal=tmp_path / "run.jsonl").run("Read everything."))
        assert asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), agent)).complete
    seen = [step.observation for step in result.steps]
    extracts = {json.loads(text)["results"][0]["extract"] for text in seen[:2]}
    assert extracts == {"A city.", "Une ville."}
    assert seen[2:] == ["a file in a", "a file in b", "the archive has a.txt"]
    assert {request.path.split("/")[1] for request in server.requests} == {"en", "fr"}
    assert result.success


def test_without_another_name_the_clash_names_both_with_their_places(tmp_path: Path, server: LocalServer) -> None:
    install(tmp_path / "site", "acme-archive", OUTSIDE, {"archive": "acme_archive:Archive"}, group="toolsets")
    path = written(tmp_path, server, AGENT.replace("    rename: {read_file: old_paper}\n", ""))
    with on_path(tmp_path / "site"), pytest.raises(ToolsetError) as caught:
        ReActAgent.from_yaml(path)
    assert f"{path}:17:5: " in str(caught.value)
    assert "toolsets files:first and archive both offer a tool 'read_file'" in str(caught.value)
    assert f"the other one: {path}:15:5" in str(caught.value)
    assert "rename: {read_file: …}" in str(caught.value)
