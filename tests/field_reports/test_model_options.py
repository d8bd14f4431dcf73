"""Models from the command line: ids that are wrong, and options beside an id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command_line import Call
from tests.cli.conftest import call as call  # the fixture

WRONG = {
    "ofline": "Did you mean 'offline'?",
    "offlin": "Did you mean 'offline'?",
    "openai": "write openai/",
    "litellm": "write anthropic/",
    "replay": "write {kind: replay, …}",
    "anthropic": "write anthropic/",
    "gemini": "write gemini/",
    "azure": "write azure/MODEL",
    "openai/": "write openai/",
    "groq/": "write groq/MODEL",
    "gpt4o": "Did you mean 'gpt-4o'?",
    "gpt_4o": "Did you mean 'gpt-4o'?",
    "openai:gpt-5-mini": "Did you mean 'gpt-5-mini'?",
    "antropic/claude-sonnet-4-5": "Did you mean 'anthropic'?",
    "opena/gpt-5": "Did you mean 'openai'?",
    "OpenAI/gpt-5-mini": "Did you mean 'openai'?",
    "mistal/mistral-large-latest": "Did you mean 'mistral'?",
    "gemeni/gemini-2.5-flash": "Did you mean 'gemini'?",
    "nonsense": "Write provider/model, or set base_url",
    "llama3": "Write provider/model, or set base_url",
    " gpt-4o": "remove the spaces",
}


@pytest.mark.parametrize("name", WRONG)
def test_check_names_what_is_wrong_with_an_id_and_the_way_out(call: Call, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps({"model": name}))
    status, out, _ = call("check", "a.yaml")
    assert status == 2
    assert out.startswith("a.yaml:1:11: model: ")
    assert WRONG[name] in out


def test_a_wrong_id_is_judged_without_the_library_for_it(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "a.yaml").write_text("model: gpt4o\n")
    code = (
        "import sys; from react_run.cli.exit import ended; "
        "assert ended(['check', 'a.yaml']) == 2; assert not {'litellm', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)


FILES = {
    "id": "model: ${NONE_SUCH:-gpt-4o}\ntemperature: 0.1\n",
    "mapping": "model: {kind: openai, model: gpt-4o, base_url: http://a.example/v1}\n",
}


@pytest.mark.parametrize(
    ("file", "options", "expected"),
    [
        ("id", ["--set", "model.temperature=0.3"], {"kind": "openai", "model": "gpt-4o", "temperature": 0.3}),
        ("id", ["--set", "model.settings.seed=4"], {"model": "gpt-4o", "temperature": 0.1, "settings.seed": 4}),
        ("id", ["-m", "openai/small", "--set", "model.temperature=0.3"], {"model": "openai/small", "temperature": 0.3}),
        ("id", ["--set", "model.temperature=0.3", "-m", "openai/small"], {"model": "openai/small", "temperature": 0.3}),
        ("id", ["--base-url", "http://b.example/v1"], {"model": "gpt-4o", "base_url": "http://b.example/v1"}),
        ("mapping", ["--base-url", "http://b.example/v1"], {"model": "gpt-4o", "base_url": "http://b.example/v1"}),
        ("id", ["-m", "small", "--base-url", "http://b.example/v1"], {"kind": "openai", "model": "small"}),
        (
            "id",
            ["-m", "small", "--set", "model.temperature=0", "--set", "model.base_url=http://b.example/v1"],
            {"kind": "openai", "model": "small", "temperature": 0},
        ),
        ("id", ["-m", "gpt-4o", "--set", "model.kind=litellm"], {"kind": "litellm", "model": "gpt-4o"}),
    ],
)
def test_options_of_a_model_hold_whatever_names_the_model(
    call: Call, tmp_path: Path, file: str, options: list[str], expected: dict[str, object]
) -> None:
    (tmp_path / "a.yaml").write_text(FILES[file])
    status, out, err = call("explain", "a.yaml", "--json", *options)
    assert status == 0, err
    values = {entry["key"]: entry["value"] for entry in json.loads(out)["values"]}
    assert {key: values[f"model.{key}"] for key in expected} == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "model.tempature=1"], "--set model.tempature: unknown key 'tempature'. Did you mean 'temperature'?"),
        (["--base-url", "ftp://b.example"], "--base-url: model.base_url: must be a URL that begins with http://"),
        (["-m", "offline", "--set", "model.temperature=1"], "unknown key 'temperature'"),
    ],
)
def test_a_wrong_option_is_named_as_it_was_given(call: Call, tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "a.yaml").write_text(FILES["id"])
    status, _, err = call("explain", "a.yaml", *options)
    assert (status, said in err) == (2, True)
