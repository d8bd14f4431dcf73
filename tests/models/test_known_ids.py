"""Model ids are judged where they are written: by check, doctor and the run alike, without LiteLLM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.stub_server import StubServer, completion

from react_run import ConfigError, ModelError, ReActAgent
from react_run.cli import main
from react_run.models.known_ids import doubtful_id, missing_key, provider_of, wrong_id
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel

WRONG = {
    "ofline": "Did you mean 'offline'?",
    "openai": "openai/gpt-5-mini",
    "litellm": "anthropic/claude-sonnet-4-5",
    "replay": "{kind: replay, …}",
    "openai/": "openai/gpt-5-mini",
    "anthropic/": "anthropic/claude-sonnet-4-5",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
    "groq": "groq/MODEL",
    "anthropics/claude-sonnet-4-5": "Did you mean 'anthropic'?",
    "mistrl/mistral-large": "Did you mean 'mistral'?",
    "opneai/gpt-5": "Did you mean 'openai'?",
    "open ai/gpt-5": "Did you mean 'openai'?",
    "antropic/x": "Did you mean 'anthropic'?",
    "gtp-4o": "Did you mean 'gpt-4o'?",
    "gpt4o": "Did you mean 'gpt-4o'?",
    "claude-sonet-4-5": "Did you mean 'claude-sonnet-4-5",
    "nonsense": "Write provider/model",
    "llama3": "Write provider/model",
    "/x": "Write provider/model",
}
RIGHT = [
    *("openai/gpt-5-mini", "gpt-4o", "gpt-9-turbo", "o3", "o4-mini", "ft:gpt-4o:me::x", "chatgpt-4o-latest"),
    *("anthropic/anything-new", "ollama/llama3", "openrouter/a/b", "azure/my-deployment", "bedrock/x.y", "lm_studio/m"),
    *("hosted_vllm/m", "vertex_ai/m", "together_ai/a/b", "xai/grok-4", "deepseek/deepseek-chat"),
]


FAMILIES = {
    "bedrock/claude": "'anthropic.claude-",
    "bedrock/anthropic.claude": "'anthropic.claude-",
    "anthropic/claude": "'claude-",
    "anthropic/claude-sonnet": "'claude-",
    "openai/gpt": "'gpt-",
    "gpt": "'gpt-",
    "gemini/flash": "-flash",
    "deepseek/chat": "'deepseek-chat'",
    "xai/grok": "'grok-",
}
NEW_OR_OWN = [
    *("bedrock/x.y", "bedrock/arn:aws:bedrock:us-east-1:1:custom-model/abc", "bedrock/meta.llama9-x", "openai/gpt-9"),
    *(
        "anthropic/claude-sonnet-9",
        "anthropic/anything-new",
        "azure/gpt",
        "ollama/llama",
        "openrouter/auto",
        "ft:gpt-4o:x",
    ),
    *("hosted_vllm/llama", "openai/my-own", "groq/compound", "perplexity/sonar", "together_ai/llama", "lm_studio/qwen"),
]


@pytest.mark.parametrize(("name", "example"), FAMILIES.items())
def test_the_name_of_a_family_of_models_is_doubted_with_an_example(name: str, example: str) -> None:
    assert not wrong_id(name) or "/" not in name  # it may exist one day: a warning, no refusal
    assert "only longer names such as" in doubtful_id(name)
    assert example in doubtful_id(name)


@pytest.mark.parametrize("name", [*NEW_OR_OWN, *RIGHT])
def test_an_id_that_may_be_new_or_ones_own_is_not_doubted(name: str) -> None:
    assert doubtful_id(name) == ""


def agent_file(folder: Path, model: str) -> Path:
    path = folder / "agent.yaml"
    path.write_text(f"version: 1\nmodel: '{model}'\n")
    return path


def status_of(*arguments: str) -> object:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    return ended.value.code


@pytest.mark.parametrize(("name", "way_out"), WRONG.items())
def test_a_wrong_id_is_told_with_the_way_out(name: str, way_out: str, tmp_path: Path) -> None:
    assert way_out in wrong_id(name)
    with pytest.raises(ConfigError) as caught:
        ReActAgent.from_yaml(agent_file(tmp_path, name))
    assert "agent.yaml:2:8" in str(caught.value)
    assert way_out in str(caught.value)


@pytest.mark.parametrize("name", RIGHT)
def test_an_id_that_may_be_right_is_left_alone(name: str) -> None:
    assert wrong_id(name) == ""


def test_no_id_is_judged_for_a_server_of_ones_own() -> None:
    agent = ReActAgent({"model": "nonsense", "base_url": "http://127.0.0.1:9/v1"})
    assert agent.model.name == "nonsense"


@pytest.mark.parametrize("command", ["check", "doctor", "explain"])
def test_every_command_judges_alike(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = status_of(command, str(agent_file(tmp_path, "ofline")))
    told = capsys.readouterr()
    assert status != 0
    assert "Did you mean 'offline'?" in told.out + told.err


def test_litellm_is_not_imported_to_judge(tmp_path: Path) -> None:
    code = (
        "import sys; from react_run import ConfigError, ReActAgent\n"
        "try: ReActAgent.from_yaml(sys.argv[1])\n"
        "except ConfigError: print('litellm' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(agent_file(tmp_path, "antropic/x"))]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize(("name", "kind"), [("gpt-4o", OpenAIModel), ("o3", OpenAIModel), ("groq/x", LiteLLMModel)])
def test_bare_ids_of_openai_take_the_fast_client(name: str, kind: type) -> None:
    agent = ReActAgent({"model": name})
    assert isinstance(getattr(agent.model, "model", agent.model), kind)


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_the_gateway_of_the_environment_is_used(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-gateway")
    with StubServer([completion("hello")]) as server:
        monkeypatch.setenv(variable, server.url)
        result = ReActAgent({"model": "openai/gpt-5-mini"}).run_sync("go")
    assert result.answer == "hello"
    assert server.requests[0].body["model"] == "gpt-5-mini"
    assert server.requests[0].headers["authorization"] == "Bearer secret-of-the-gateway"


def test_a_missing_key_is_told_before_anything_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    assert missing_key("groq") == "GROQ_API_KEY"
    with pytest.raises(ModelError, match="no key for groq: set api_key, or GROQ_API_KEY"):
        ReActAgent({"model": "groq/llama"}).run_sync("go")
    monkeypatch.setenv("GROQ_API_KEY", "x")
    assert missing_key("groq") == ""


def test_doctor_says_that_a_key_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert status_of("doctor", "--offline", str(agent_file(tmp_path, "openai/gpt-5-mini"))) != 0
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().out


SLIPS = {
    "openai/gpt-4o-mni": "gpt-4o-mini",
    "gpt-5o-mini": "gpt-5-mini",
    "anthropic/claude-sonet-4-5": "claude-sonnet-4-5",
    "mistral/codestral-latst": "codestral-latest",
    "gemini/gemini-2.5-flsh": "gemini-2.5-flash",
}


@pytest.mark.parametrize(("name", "meant"), SLIPS.items())
def test_a_slip_of_the_hand_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, meant: str
) -> None:
    file = str(agent_file(tmp_path, name))
    assert status_of("check", file) == 0
    status_of("doctor", "--offline", file)
    assert capsys.readouterr().out.count(f"Did you mean {meant!r}?") == 2


@pytest.mark.parametrize("name", [*RIGHT, "gpt-5-mini", "gpt-5.9", "openai/gpt-9-mini", "groq/whatever", "nonsense"])
def test_what_may_be_new_is_not_asked_about(name: str) -> None:
    assert doubtful_id(name) == ""


def test_a_model_of_ones_own_server_is_not_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("model: gpt-4o-mni\nbase_url: http://127.0.0.1:9/v1\n")
    assert status_of("check", str(path)) == 0
    assert "Did you mean" not in capsys.readouterr().out


def test_who_serves_an_id() -> None:
    assert [provider_of(name) for name in ("groq/x", "claude-sonnet-4-5", "none")] == ["groq", "anthropic", ""]


def test_an_option_may_follow_a_model_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(agent_file(tmp_path, "offline"))
    sets = ["--set", "model.temperature=0.3", "--set", "model.settings.seed=7"]
    assert status_of("explain", file, "-m", "openai/small", *sets) == 0
    told = capsys.readouterr().out
    assert re_line("model.temperature", told).startswith("0.3")
    assert "seed" in re_line("model.settings", told)


def re_line(key: str, text: str) -> str:
    line = next(line for line in text.splitlines() if line.strip().startswith(key))
    return line.strip().removeprefix(key).strip()
