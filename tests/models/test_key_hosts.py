"""Keys of the environment go to their provider's own host over https, or to this machine; never where a file says."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
from typing import Any

import pytest
from pydantic import ValidationError
from tests.models.stub_server import Raw, StubServer, completion

from react_run import Message, ModelError, ModelRequest
from react_run.models.key_hosts import HOSTS, can_do_without, may_take_key
from react_run.models.known_ids import KEYS
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.models.remote import NO_MODELS

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic):UserWarning"
)
CANARY = "canary-0123456789-of-the-environment"
ELSEWHERE = "keys.example"
ASK = ModelRequest(messages=[Message(role="user", content="Hello?")])
VARIABLES = {name for names in KEYS.values() for name in names} | {
    *("AZURE_API_KEY", "AZURE_AD_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "WATSONX_TOKEN"),
    *("OLLAMA_API_KEY", "HOSTED_VLLM_API_KEY", "LM_STUDIO_API_KEY", "LITELLM_PROXY_API_KEY", "DATABRICKS_API_KEY"),
}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of another name, which is this machine; every variable of a key is set."""
    real = socket.getaddrinfo

    def looked_up(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.1" if name == ELSEWHERE else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.delenv(NO_MODELS, raising=False)
    for name in VARIABLES:
        monkeypatch.setenv(name, CANARY)


def sent_to(server: StubServer) -> str:
    return json.dumps([[it.path, dict(it.headers), it.body] for it in server.requests])


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("provider", sorted({*KEYS, "ollama", "hosted_vllm", "lm_studio", "litellm_proxy"}))
def test_a_server_of_another_name_gets_no_key_of_the_environment(provider: str) -> None:
    with StubServer([completion()], strict=False) as server:
        model = LiteLLMModel(model=f"{provider}/m", base_url=server.url.replace("127.0.0.1", ELSEWHERE), timeout=20)
        with suppress(ModelError):  # not every provider speaks as the stub does
            asyncio.run(model.complete(ASK))
    assert server.requests
    assert CANARY not in sent_to(server)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("provider", ["azure", "bedrock", "databricks", "huggingface", "vertex_ai", "watsonx"])
def test_providers_that_look_for_more_than_a_key_are_not_asked_elsewhere(provider: str) -> None:
    with StubServer([completion()], strict=False) as server:
        url = server.url.replace("127.0.0.1", ELSEWHERE)
        model = LiteLLMModel(model=f"{provider}/m", base_url=url, timeout=20)
        with pytest.raises(ModelError, match=f"{ELSEWHERE}.* which is not its own host: write api_key"):
            asyncio.run(model.complete(ASK))
    assert server.requests == []


@pytest.mark.usefixtures("elsewhere")
def test_this_machine_and_a_key_that_the_file_writes_are_as_ever() -> None:
    with StubServer([completion()], strict=False) as server:
        asyncio.run(LiteLLMModel(model="openai/m", base_url=server.url).complete(ASK))
        url = server.url.replace("127.0.0.1", ELSEWHERE)
        asyncio.run(LiteLLMModel(model="openai/m", base_url=url, api_key="sk-written-in-the-file").complete(ASK))
    first, second = (it.headers["authorization"] for it in server.requests)
    assert (first, second) == (f"Bearer {CANARY}", "Bearer sk-written-in-the-file")


@pytest.mark.usefixtures("elsewhere")
def test_the_other_client_sends_no_key_there_either() -> None:
    with StubServer([completion()], strict=False) as server:
        url = server.url.replace("127.0.0.1", ELSEWHERE)
        asyncio.run(OpenAIModel(model="m", base_url=url).complete(ASK))
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_base", "http://keys.example"),
        ("base_url", "http://keys.example"),
        ("fallbacks", [{"model": "openai/m", "api_base": "http://keys.example"}]),
        ("azure_endpoint", "http://keys.example"),
        ("aws_bedrock_runtime_endpoint", "http://keys.example"),
        ("vertex_location", "keys.example/"),
        ("aws_region_name", "x.keys.example/?"),
    ],
)
def test_no_setting_leads_elsewhere(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name):
        LiteLLMModel(model="openai/m", settings={name: value})
    request = ModelRequest(messages=ASK.messages, settings={name: value})
    with pytest.raises(ModelError, match=name):
        asyncio.run(LiteLLMModel(model="openai/m", api_key="sk-0123456789").complete(request))


@pytest.mark.parametrize(
    ("provider", "url", "may"),
    [
        ("openai", None, True),
        ("openai", "https://api.openai.com/v1", True),
        ("openai", "https://API.OPENAI.COM./v1", True),
        ("openai", "http://api.openai.com/v1", False),
        ("openai", "https://api.openai.com:1234/v1", False),
        ("openai", "https://api.openai.com.keys.example/v1", False),
        ("openai", "https://api.anthropic.com/v1", False),
        ("azure", "https://mine.openai.azure.com", True),
        ("azure", "https://openai.azure.com.keys.example", False),
        ("azure", "https://fakeopenai.azure.com", False),
        ("ollama", "http://localhost:11434", True),
        ("ollama", "http://ollama.example:11434", False),
        ("unheard_of", "https://keys.example", False),
    ],
)
def test_a_key_goes_to_its_own_host_over_https_only(provider: str, url: str | None, may: bool) -> None:
    assert may_take_key(provider, url) is may


def test_every_provider_with_a_key_has_hosts_of_its_own() -> None:
    assert set(KEYS) <= set(HOSTS)
    assert all(can_do_without(provider) for provider in KEYS)


@pytest.mark.parametrize("form", ["plain", "base64", "hex", "url", "json"])
@pytest.mark.parametrize("client", [OpenAIModel, LiteLLMModel])
def test_an_error_that_repeats_the_key_shows_none_of_its_forms(form: str, client: type[Any]) -> None:
    import base64
    from urllib.parse import quote

    key = 'canary/0123+456"789&abcdef'
    forms = {
        "plain": key,
        "base64": base64.b64encode(f"Bearer {key}".encode()).decode(),
        "hex": key.encode().hex(),
        "url": quote(key, safe=""),
        "json": json.dumps(json.dumps(key)),
    }
    body = json.dumps({"error": {"message": f"no such key: {forms[form]} (sent)"}}).encode()
    answer = Raw(status=401, headers={"content-type": "application/json"}, steps=[body])
    with StubServer([answer], strict=False) as server:
        model = client(model="openai/m", base_url=server.url, api_key=key)
        with pytest.raises(ModelError) as raised:
            asyncio.run(model.complete(ASK))
    said = str(raised.value)
    assert "***" in said
    for spelled in forms.values():
        assert spelled not in said
        assert spelled[6:-6] not in said
