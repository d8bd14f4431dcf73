"""Thirty canaries in options, headers, addresses, arguments, results, errors: none comes out anywhere (J2)."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import pytest
import yaml
from tests.cli.command_line import views
from tests.journal.secret_holders import CANARIES, CORES

from react_run.cli.exit import ended
from react_run.journal.reading import read_journal


def agent_file() -> str:
    """An agent that has all secrets in its options, and whose model passes them on in every form."""
    names = iter(CANARIES)
    vault = {
        "kind": "tests.journal.secret_holders:Vault",
        "api_key": f"${{{next(names)}}}",
        "password": f"${{{next(names)}}}",
        "headers": {"Authorization": f"Bearer ${{{next(names)}}}"},
        "url": f"https://user:${{{next(names)}}}@example.org/?key=${{{next(names)}}}",
        "others": {f"token_{n}": f"${{{name}}}" for n, name in enumerate(names)},
    }
    data = {
        "model": {"kind": "tests.journal.secret_holders:Leaky"},
        "system_prompt": "The key is ${CANARY_KEY_05}.",
        "toolsets": [vault],
        "failure_handling": "legacy",
        "plugins": [{"kind": "model_retries", "first_wait": 0.001}],
        "max_iterations": 20,
    }
    return yaml.safe_dump(data, allow_unicode=True)


def leaks(text: str) -> list[str]:
    """The canaries of which a telling part stands in ``text``, as it is or in base64."""
    found = []
    for core in CORES:
        parts = [core[5:15]]
        for offset in range(3):
            encoded = base64.b64encode(b"x" * offset + core.encode()).decode()
            parts.append(encoded[4:20])
        found += [part for part in parts if part in text]
    return found


def pieced_together(text: str) -> str:
    """The answer that the events in ``text`` bring piece by piece."""
    lines = [line for line in text.splitlines() if line.startswith('{"type": "text_delta"')]
    return "".join(json.loads(line)["text"] for line in lines)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Everything that the command line wrote while it ran the agent and looked at the run in every way."""
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "agent.yaml"
    file.write_text(agent_file(), encoding="utf-8")
    prompt = f"go with {CANARIES['CANARY_KEY_06']}"
    texts: list[str] = []

    def call(*arguments: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        status = ended(list(arguments))
        texts.extend(capfd.readouterr())
        assert status in (0, 1, 5), texts[-2:]

    call("run", "agent.yaml", prompt, "--trust", "--session", "talk", "-vv", "--record", "run.jsonl")
    call("run", "agent.yaml", prompt, "--trust", "--output-format", "stream-json")
    for view in views():
        call(*view, "run.jsonl")
    call("trace", "run.jsonl", "--html", "run.html", "--chrome-trace", "run.json")
    for form in ("markdown", "json", "html"):
        call("runs", "export", "run.jsonl", "--format", form, "-o", f"run.{form}")
    call("runs", "list", "--json")
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    call("resume", "run.jsonl", "--trust")
    return [
        *texts,
        *(
            path.read_text(encoding="utf-8")
            for path in tmp_path.rglob("*")
            if path.is_file() and path != file and ".react-run" not in path.parts  # there the agent's own results are
        ),
    ]


def test_no_canary_comes_out_anywhere(written: list[str], tmp_path: Path) -> None:
    assert leaks(" ".join(CANARIES.values()))
    assert len(written) > 20
    for text in written:
        assert not leaks(text)
        assert not leaks(pieced_together(text))
    journal = read_journal(tmp_path / "run.jsonl")
    assert len(journal.records) > 500
    assert "***" in json.dumps(list(journal.records))
