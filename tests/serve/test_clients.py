"""The clients that people have, unchanged: the openai SDK, LangChain, llm, curl."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
import yaml
from openai.types.chat import ChatCompletionMessageParam
from tests.serve.running_server import Running, agent_file, calling, events, serving

USAGE = {"input_tokens": 7, "output_tokens": 2, "cost": 0.5}
ASK: list[ChatCompletionMessageParam] = [{"role": "user", "content": "go"}]


@pytest.fixture
def running(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    one = agent_file(
        tmp_path, "one", [calling(("say", {"text": "x"}), text="Hm."), {"text": "It is 5.", "usage": USAGE}]
    )
    fails = agent_file(tmp_path, "fails", [{"error": {"status": 400, "message": "bad"}}])
    slow = agent_file(tmp_path, "slow", [calling(("slow", {"seconds": 0.3})), "done"])
    with serving(one, fails, slow, home=home, max_runs=1, queue=1) as found:
        yield found


def client(running: Running, max_retries: int = 2) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=max_retries)


def test_the_sdk_asks_streams_and_helps(running: Running) -> None:
    with client(running) as asks:
        assert [model.id for model in asks.models.list()] == ["one", "fails", "slow"]
        assert asks.models.retrieve("one").owned_by == "react-run"
        whole = asks.chat.completions.create(model="one", messages=ASK)
        assert whole.choices[0].message.content == "It is 5."
        assert whole.usage is not None
        chunks = [*asks.chat.completions.create(model="one", messages=ASK, stream=True)]
        assert all(type(chunk).model_validate(chunk.model_dump()) for chunk in chunks)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is 5."
        with asks.chat.completions.stream(model="one", messages=ASK) as stream:
            stream.until_done()
            assert stream.get_final_completion().choices[0].message.content == "It is 5."


def test_the_sdks_errors_are_of_their_types(running: Running) -> None:
    with client(running, max_retries=0) as asks:
        with pytest.raises(openai.NotFoundError, match="this server has: one"):
            asks.chat.completions.create(model="none", messages=ASK)
        with pytest.raises(openai.BadRequestError) as found:
            asks.chat.completions.create(model="one", messages=ASK, n=2)
        assert found.value.code == "unsupported_parameter"
        with pytest.raises(openai.InternalServerError):
            asks.chat.completions.create(model="fails", messages=ASK)
        with pytest.raises(openai.APIError):
            [*asks.chat.completions.create(model="fails", messages=ASK, stream=True)]


def test_the_asynchronous_sdk_comes_back_when_the_queue_was_full(running: Running) -> None:
    async def flood() -> list[str | None]:
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=5) as asks:
            answers = await asyncio.gather(
                *(asks.chat.completions.create(model="slow", messages=ASK) for _ in range(4))
            )
        return [answer.choices[0].message.content for answer in answers]

    assert asyncio.run(flood()) == ["done"] * 4


@pytest.mark.slow
def test_langchain_asks_and_streams(running: Running) -> None:
    langchain_openai = pytest.importorskip("langchain_openai")
    model = langchain_openai.ChatOpenAI(
        base_url=f"{running.url}/v1", api_key="none", model="one", http_client=httpx.Client(trust_env=False)
    )
    assert model.invoke("go").content == "It is 5."
    assert "".join(str(chunk.content) for chunk in model.stream("go")) == "It is 5."


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--no-stream"], []])
def test_llm_asks_and_streams(running: Running, tmp_path: Path, options: list[str]) -> None:
    pytest.importorskip("llm")
    known = [{"model_id": "mine", "model_name": "one", "api_base": f"{running.url}/v1", "api_key_name": "none"}]
    user = tmp_path / "llm"
    user.mkdir()
    (user / "extra-openai-models.yaml").write_text(yaml.safe_dump(known))
    done = subprocess.run(
        [sys.executable, "-m", "llm", "-m", "mine", "--key", "none", *options, "go"],
        env={**os.environ, "LLM_USER_PATH": str(user), "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "It is 5."), done.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_asks_without_saying_what_it_sends(running: Running) -> None:
    body = json.dumps({"model": "one", "messages": ASK})
    command = ["curl", "-s", "--noproxy", "*", f"{running.url}/v1/chat/completions", "-d", body]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["choices"][0]["message"]["content"] == "It is 5."


def test_what_open_webui_sends_is_answered(home: Path, tmp_path: Path) -> None:
    """The requests of Open WebUI 0.12.4 for two questions: its own tools (all but two cut), title, tags, follow-ups."""
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    lines = Path(__file__).with_name("open_webui.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [json.loads(line) for line in lines]
    file = agent_file(tmp_path, "calculator", [calling(("say", {"text": "x"})), "It is 5."])
    with serving(file, home=home, client_tools="ignore", title_model="offline") as running:
        for asked in recorded:
            body = asked["body"]
            content = None if body is None else json.dumps(body)
            answer = running.http.request(asked["method"], asked["path"], headers=asked["headers"], content=content)
            assert answer.status_code == 200, answer.text
            if body is None:
                assert [model["id"] for model in answer.json()["data"]] == ["calculator"]
            elif body["stream"]:
                chunks = [ChatCompletionChunk.model_validate(chunk) for chunk in events(answer.text)]
                assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is 5."
            else:
                assert ChatCompletion.model_validate(answer.json()).choices[0].message.content
        assert len(running.http.get("/api/runs").json()["runs"]) == 2  # the questions; nothing else ran the agent
    with serving(file, home=home) as running:
        refused = running.http.post("/v1/chat/completions", json=recorded[2]["body"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported_parameter")
        assert "--client-tools ignore" in refused.json()["error"]["message"]
