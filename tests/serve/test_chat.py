"""OpenAI's chat completions: whole and streamed, wrong requests, settings, overrides, sessions, keys."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path

import httpx
import pytest
from tests.pictures import png
from tests.serve.running_server import Running, agent_file, at_once, calling, events, serving, until

from react_run import ImagePart, ModelRequest, Run, read_journal
from react_run.models.scripted import ScriptedModel
from react_run.serve.jobs import Job

USAGE = {"input_tokens": 7, "output_tokens": 2, "cost": 0.5}


def model_of(running: Running, name: str) -> ScriptedModel:
    served = running.service.agents.get(name)
    assert served is not None
    model = served.agent.model
    assert isinstance(model, ScriptedModel)
    return model


def requests_of(running: Running, name: str) -> list[ModelRequest]:
    return model_of(running, name).requests


def test_an_answer_has_openais_shape_and_the_id_of_its_run(home: Path, tmp_path: Path) -> None:
    file = agent_file(
        tmp_path, "one", [calling(("say", {"text": "hi"}), usage=USAGE), {"text": "done", "usage": USAGE}]
    )
    with serving(file, home=home) as running:
        answer = running.chat("one")
    data = answer.json()
    assert answer.status_code == 200
    assert data["choices"][0]["message"] == {"role": "assistant", "content": "done"}
    assert data["choices"][0]["finish_reason"] == "stop"
    assert (data["usage"]["prompt_tokens"], data["usage"]["total_tokens"], data["usage"]["usage_known"]) == (
        14,
        18,
        True,
    )
    assert data["id"] == f"chatcmpl-{answer.headers['x-request-id']}"
    assert (home / "data" / "runs" / f"{answer.headers['x-request-id']}.jsonl").is_file()


def test_unknown_usage_is_sent_as_numbers_and_said_to_be_unknown(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        usage = running.chat("one").json()["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["usage_known"]) == (0, 0, False)


def test_a_stream_sends_drafts_as_reasoning_and_the_answer_as_content(home: Path, tmp_path: Path) -> None:
    replies = [calling(("say", {"text": "x"}), text="Let me look."), {"text": "It is 5.", "usage": USAGE}]
    with serving(agent_file(tmp_path, "one", list(replies)), home=home) as running:
        answer = running.chat("one", stream=True, stream_options={"include_usage": True})
        plain = running.chat("one", stream=True, stream_options={})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    chunks = events(answer.text)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == "It is 5."
    thoughts = "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert "Let me look." in thoughts
    assert '→ say {"text":"x"}' in thoughts
    assert [chunk["choices"] for chunk in chunks if "usage" in chunk] == [[]]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert answer.text.endswith("data: [DONE]\n\n")
    assert not [chunk for chunk in events(plain.text) if "usage" in chunk]


@pytest.mark.parametrize(("drafts", "content"), [("content", "Let me look.\n\nIt is 5."), ("none", "It is 5.")])
def test_drafts_go_where_the_server_was_told(home: Path, tmp_path: Path, drafts: str, content: str) -> None:
    replies = [calling(("say", {"text": "x"}), text="Let me look."), "It is 5."]
    with serving(agent_file(tmp_path, "one", list(replies)), home=home, drafts=drafts) as running:
        deltas = [c["choices"][0]["delta"] for c in events(running.chat("one", stream=True).text)]
    assert "".join(delta.get("content", "") for delta in deltas) == content


WRONG: list[tuple[dict[str, object], int, str]] = [
    ({"model": "none"}, 404, "model_not_found"),
    ({"model": 5}, 400, "invalid_request"),
    ({"model": None}, 400, "invalid_request"),
    ({"messages": []}, 400, "invalid_request"),
    ({"messages": "hi"}, 400, "invalid_request"),
    ({"messages": [{"role": "wizard", "content": "x"}]}, 400, "invalid_request"),
    ({"messages": [{"role": "user", "content": 5}]}, 400, "invalid_request"),
    ({"messages": [{"role": "user", "content": ["x"]}]}, 400, "invalid_request"),
    ({"messages": [{"role": "user", "content": "  "}]}, 400, "invalid_request"),
    ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "invalid_request"),
    ({"messages": [7]}, 400, "invalid_request"),
    ({"tools": [{"type": "function", "function": {"name": "x"}}]}, 400, "unsupported_parameter"),
    ({"n": 2}, 400, "unsupported_parameter"),
    ({"temperature": 9}, 400, "invalid_request"),
    ({"temperature": "hot"}, 400, "invalid_request"),
    ({"max_tokens": 0}, 400, "invalid_request"),
    ({"stream": "yes"}, 400, "invalid_request"),
    ({"stream_options": 1}, 400, "invalid_request"),
    ({"react_run": 1}, 400, "invalid_request"),
    ({"react_run": {"max_iterations": 1}}, 400, "override_not_allowed"),
]


def test_every_wrong_request_has_its_status_and_code(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        for change, status, code in WRONG:
            for stream in (False, True):
                answer = running.chat("one", **{"stream": stream, **change})
                error = answer.json()["error"]
                assert (answer.status_code, error["code"]) == (status, code), change
                assert {"message", "type", "param", "code"} == error.keys()
        for body in (b"", b"{", b"\xff\xfe", b"[]", b"[" * 100_000, b"null"):
            answer = running.http.post("/v1/chat/completions", content=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_json")
        assert "this server has: one" in running.chat("none").json()["error"]["message"]
        assert running.http.get("/v1/chat/completions").status_code == 405
        assert running.http.get("/nothing").json()["error"]["code"] == "not_found"


def test_instructions_of_a_request_come_behind_the_agents_own(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"], system_prompt="Own prompt.")
    messages = [
        {"role": "system", "content": "Speak Latin."},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second"},
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": "third"},
    ]
    with serving(file, home=home) as running:
        running.chat("one", messages=messages, temperature=0.5, api_base="http://evil", user="me")
        (request,) = requests_of(running, "one")
    sent = request.messages
    assert [message.role for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[0].text == "Own prompt.\n\n# Instructions of the client\n\nSpeak Latin.\n\nBe short."
    assert request.settings == {"temperature": 0.5}


def test_limits_can_be_lowered_where_the_server_allows_it_and_never_raised(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("say", {"text": "x"}))], max_iterations=5)
    with serving(file, home=home, allow_override=("max_iterations",)) as running:
        lowered = running.chat("one", react_run={"max_iterations": 2})
        raised = running.chat("one", react_run={"max_iterations": 6})
        wrong = running.chat("one", react_run={"max_iterations": "many"})
    assert lowered.json()["choices"][0]["finish_reason"] == "length"
    assert lowered.json()["react_run"]["iterations"] == 2
    assert raised.json()["error"]["code"] == "override_too_high"
    assert wrong.status_code == 400


def test_a_session_is_kept_and_only_the_last_message_counts(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        for text in ("first", "second"):
            body = {"model": "one", "messages": [{"role": "user", "content": text}]}
            running.http.post("/v1/chat/completions", json=body, headers={"X-React-Session": "talk"})
        requests = requests_of(running, "one")
        bad = running.http.post("/v1/chat/completions", json=body, headers={"X-React-Session": "../up"})
    texts = [message.text for message in requests[-1].messages if message.role != "system"]
    assert texts == ["first", "done", "second"]
    assert bad.json()["error"]["param"] == "X-React-Session"


def test_a_session_takes_one_turn_at_a_time(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", [{"text": "done", "delay": 0.1}]), home=home) as running:

        def ask(number: int) -> None:
            body = {"model": "one", "messages": [{"role": "user", "content": str(number)}]}
            headers = {"X-React-Session": "talk"}
            httpx.post(f"{running.url}/v1/chat/completions", json=body, headers=headers, trust_env=False)

        at_once(ask, 4)
        last = requests_of(running, "one")[-1]
    assert [message.role for message in last.messages].count("user") == 4


def test_the_same_key_and_request_are_the_same_run(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", [calling(("effect", {"name": "e"})), "done"]), home=home) as running:
        body = {"model": "one", "messages": [{"role": "user", "content": "go"}]}
        headers = {"Idempotency-Key": "k"}
        first, again = (running.http.post("/v1/chat/completions", json=body, headers=headers) for _ in range(2))
        other = running.http.post("/v1/chat/completions", json={**body, "seed": 1}, headers=headers)
    assert first.json() == again.json()
    assert other.json()["error"]["code"] == "idempotency_mismatch"
    assert (tmp_path / "effects").read_text() == "e\n"


def test_the_same_key_gives_a_stream_from_its_beginning(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["one two three"]), home=home) as running:
        body = {"model": "one", "stream": True, "messages": [{"role": "user", "content": "go"}]}
        answers = [
            running.http.post("/v1/chat/completions", json=body, headers={"Idempotency-Key": "k"}).text
            for _ in range(2)
        ]
    assert answers[0] == answers[1]


def leave_early(url: str, *, stream: bool) -> None:
    """Ask, and hang up half a second later."""
    body = {"model": "one", "stream": stream, "messages": [{"role": "user", "content": "go"}]}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{url}/v1/chat/completions", json=body, timeout=0.5, trust_env=False)


@pytest.mark.parametrize("stream", [False, True])
def test_who_leaves_ends_the_run(home: Path, tmp_path: Path, stream: bool) -> None:
    with serving(agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"]), home=home) as running:
        leave_early(running.url, stream=stream)
        until((tmp_path / "cancelled").exists, 2)
        until(lambda: not running.service.jobs.live, 2)


def test_a_run_may_finish_without_its_client(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 1})), "done"])
    with serving(file, home=home, on_disconnect="finish") as running:
        leave_early(running.url, stream=False)
        (run,) = running.http.get("/api/runs").json()["runs"]
        assert running.wait_for("completed", run["id"])["answer"] == "done"


FAILURES = [
    ({"error": {"status": 401, "message": "no key"}}, 502, "model_failed"),
    ({"error": {"status": 400, "message": "bad"}}, 502, "model_failed"),
]


@pytest.mark.parametrize(("reply", "status", "code"), FAILURES)
def test_a_failing_provider_is_a_bad_gateway(home: Path, tmp_path: Path, reply: object, status: int, code: str) -> None:
    with serving(agent_file(tmp_path, "one", [reply]), home=home) as running:
        whole, streamed = running.chat("one"), running.chat("one", stream=True)
    assert (whole.status_code, whole.json()["error"]["code"]) == (status, code)
    assert whole.headers["x-request-id"]
    assert events(streamed.text)[-1]["error"]["code"] == code
    assert streamed.text.endswith("data: [DONE]\n\n")


def test_a_run_that_takes_too_long_is_a_gateway_timeout(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60}))])
    with serving(file, home=home, run_timeout=0.2) as running:
        answer = running.chat("one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "run_timeout")
    assert (tmp_path / "cancelled").exists()


def test_a_full_queue_says_so_and_when_to_come_back(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60}))])
    with serving(file, home=home, max_runs=1, queue=1) as running:
        for _ in range(2):
            assert running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).status_code == 202
        answer = running.chat("one")
        assert running.http.get("/readyz").status_code == 503
    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "rate_limit_error")
    assert int(answer.headers["retry-after"]) > 0


def test_many_requests_at_once_are_answered_or_refused_and_never_mixed_up(home: Path, tmp_path: Path) -> None:
    async def ask_all(url: str) -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits, trust_env=False) as client:

            def body(number: int) -> dict[str, object]:
                return {"model": "one", "messages": [{"role": "user", "content": f"marker-{number}"}]}

            asks = (client.post("/v1/chat/completions", json=body(number)) for number in range(200))
            return await asyncio.gather(*asks)

    with serving(agent_file(tmp_path, "one", ["none"]), home=home, max_runs=16, queue=64) as running:
        model_of(running, "one").replies = [
            lambda request: {"text": f"you said {request.messages[-1].text}", "delay": 0.2}
        ]
        answers = asyncio.run(ask_all(running.url))
    assert {answer.status_code for answer in answers} == {200, 429}
    assert sum(answer.status_code == 200 for answer in answers) >= 80
    for number, answer in enumerate(answers):
        if answer.status_code == 200:
            assert answer.json()["choices"][0]["message"]["content"] == f"you said marker-{number}"


def test_an_unknown_failure_names_its_run_and_shows_no_traceback(home: Path, tmp_path: Path) -> None:
    def broken(request: object) -> object:
        raise ZeroDivisionError("a secret of the code")

    with serving(agent_file(tmp_path, "one", ["none"]), home=home) as running:
        model_of(running, "one").replies = [broken]
        whole, streamed = running.chat("one"), running.chat("one", stream=True)
    assert (whole.status_code, whole.json()["error"]["code"]) == (500, "internal_error")
    assert whole.headers["x-request-id"] in whole.json()["error"]["message"]
    assert streamed.headers["x-request-id"] in events(streamed.text)[-1]["error"]["message"]
    assert "Traceback" not in whole.text + streamed.text
    assert "secret of the code" not in whole.text + streamed.text


def test_what_chat_pages_send_beside_the_conversation_does_no_harm(home: Path, tmp_path: Path) -> None:
    extras = {
        "chat_id": "5a0c",
        "session_id": "x",
        "id": "m1",
        "features": {"web_search": False, "memory": False},
        "background_tasks": {"title_generation": True},
        "params": {},
        "tool_ids": [],
        "stream_options": {"include_usage": True},
        "metadata": {"a": "b"},
        "parallel_tool_calls": True,
        "store": False,
    }
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        answer = running.chat("one", stream=True, **extras)
        assert requests_of(running, "one")[0].settings == {}
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in events(answer.text)[:-1]) == "done"


def test_prometheus_gets_runs_seconds_tokens_and_what_waits(home: Path, tmp_path: Path) -> None:
    fails = calling(("slow", {"seconds": "x"}), usage=USAGE)
    with serving(agent_file(tmp_path, "one", [fails, {"text": "done", "usage": USAGE}]), home=home) as running:
        running.chat("one")
        text = running.http.get("/metrics").text
    for line in (
        'react_run_runs_total{agent="one",reason="completed"} 1.0',
        'react_run_run_seconds_count{agent="one"} 1.0',
        'react_run_tokens_total{agent="one",kind="input"} 14.0',
        'react_run_cost_usd_total{agent="one"} 1.0',
        'react_run_tool_failures_total{agent="one",tool="slow"} 1.0',
        "react_run_working 0.0",
        "react_run_queued 0.0",
        "react_run_approvals_waiting 0.0",
    ):
        assert line in text


def test_helper_requests_of_chat_pages_go_to_the_small_model(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "e"})), "done"])
    text = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history."
    with serving(file, home=home, title_model="offline") as running:
        whole, streamed = running.chat("one", text), running.chat("one", text, stream=True)
    assert whole.status_code == 200
    assert json.loads(whole.text)["usage"]["prompt_tokens"] == 0
    assert streamed.text.endswith("data: [DONE]\n\n")
    assert not (tmp_path / "effects").exists()


def test_runs_that_have_ended_leave_nothing_in_memory(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("say", {"text": "x"})), "done"])
    with serving(file, home=home) as running:
        for number in range(150):
            assert running.chat("one", f"number {number}", stream=number % 2 == 0).status_code == 200
        until(lambda: not running.service.jobs.live)
        gc.collect()
        left = [thing for thing in gc.get_objects() if issubclass(type(thing), (Job, Run))]
    assert len(left) < 150  # of 300; those of a few timers that were cancelled and not cleared away yet


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("data:image/png;base64,AAAA", "not a file that models can read"),
        ("data:image/png;base64,%%%", "what follows base64, is none"),
        ("data:image/png;base64,", "is empty"),
        ("data:image/svg+xml,<svg/>", "no data: URL with base64"),
    ],
)
def test_an_image_that_cannot_be_read_is_no_empty_prompt(home: Path, tmp_path: Path, url: str, said: str) -> None:
    file = agent_file(tmp_path, "eyes", ["It is empty."])
    content = [{"type": "image_url", "image_url": {"url": url}}]
    with serving(file, home=home) as running:
        answer = running.http.post(
            "/v1/chat/completions", json={"model": "eyes", "messages": [{"role": "user", "content": content}]}
        )
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, "messages[0]")
    assert said in error["message"]


def test_an_image_in_a_message_reaches_the_model_and_the_journal_once(home: Path, tmp_path: Path) -> None:
    photo = ImagePart(png())
    file = agent_file(tmp_path, "eyes", [], model={"kind": "scripted", "reads": ["image/*"], "replies": ["A dot."]})
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": photo.url}}]
    with serving(file, home=home) as running:
        answer = running.http.post(
            "/v1/chat/completions", json={"model": "eyes", "messages": [{"role": "user", "content": content}]}
        )
        (request,) = requests_of(running, "eyes")
    assert answer.json()["choices"][0]["message"]["content"] == "A dot."
    assert request.messages[-1].content == [content[0], photo]
    (path,) = (home / "data" / "runs").glob("*.jsonl")
    assert photo.url not in path.read_text()
    assert read_journal(path).incoming[0].content == [content[0], photo]
