"""docs/models.md says what is true: its examples work, its tables are complete."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from react_run import Message, ModelRequest, ReActAgentConfig, ScriptedModel
from react_run.models.failures import RETRYABLE
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.models.remote import RemoteModel

TEXT = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("yaml", blocks("yaml"))
def test_every_agent_file_in_it_loads(yaml: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(yaml, encoding="utf-8")
    config = ReActAgentConfig.from_yaml(tmp_path / "agent.yaml")
    assert isinstance(config.model, (RemoteModel, ScriptedModel))


SERVED = [
    ("model: anthropic/x", LiteLLMModel, "anthropic/x"),
    ("model: openai/gpt-4o", OpenAIModel, "gpt-4o"),
    ("model: openai/x\nbase_url: http://localhost:1/v1", OpenAIModel, "openai/x"),
    ("model: {kind: openai, model: openai/x, base_url: 'http://localhost:1/v1'}", OpenAIModel, "openai/x"),
]


@pytest.mark.parametrize(("yaml", "kind", "sent"), SERVED)
def test_ids_are_served_as_the_table_says(yaml: str, kind: type[RemoteModel], sent: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(yaml, encoding="utf-8")
    model = ReActAgentConfig.from_yaml(tmp_path / "agent.yaml").model
    assert type(model) is kind
    assert isinstance(model, RemoteModel)
    assert getattr(model, "_sent_model", model.model) == sent


def test_the_keys_of_an_agent_file_reach_its_model(tmp_path: Path) -> None:  # agent-files.md: Model
    lines = [
        "model: m",
        "base_url: http://localhost:1/v1",
        "api_key: k",
        "temperature: 0.5",
        "max_tokens: 7",
        "timeout: 9",
        "model_settings: {seed: 1}",
    ]
    (tmp_path / "agent.yaml").write_text("\n".join(lines), encoding="utf-8")
    model = ReActAgentConfig.from_yaml(tmp_path / "agent.yaml").model
    assert isinstance(model, OpenAIModel)
    assert (model.base_url, model.api_key) == ("http://localhost:1/v1", SecretStr("k"))
    assert (model.temperature, model.max_tokens, model.timeout, model.settings) == (0.5, 7, 9, {"seed": 1})


def test_every_option_and_every_error_code_is_in_its_tables() -> None:
    options = {field.alias or name for name, field in RemoteModel.model_fields.items()}
    assert options == set(re.findall(r"^\| `(\w+)` \| .* \|$", TEXT, re.MULTILINE)) & options
    said = {
        code: row[2]
        for row in re.findall(r"^\| (`.+`) \| (.+) \| (yes|no) \|$", TEXT, re.MULTILINE)
        for code in row[0].split(", ")
    }
    assert {code.strip("`") for code, retried in said.items() if retried == "yes"} == RETRYABLE


def test_the_model_of_your_own_works() -> None:
    space: dict[str, object] = {}
    exec(blocks("python")[0], space)  # the document's own example
    model = space["Parrot"](times=2)  # type: ignore[operator]  # a class
    request = ModelRequest(messages=[Message(role="user", content="ha")])
    assert asyncio.run(model.complete(request)).text == "ha ha"
