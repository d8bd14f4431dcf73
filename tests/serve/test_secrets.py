"""Thirty secrets, told in many forms by model, tools and people: none of them is in any answer or on any page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
from starlette.routing import Route
from tests.journal.secret_holders import CANARIES, CORES
from tests.secrets.test_masker import FORMS
from tests.serve.running_server import Running, agent_file, calling, serving, until

from react_run.launch.options import AgentOptions, built
from react_run.models.scripted import ScriptedModel
from react_run.secrets import MASK
from react_run.serve.app import application


def told() -> str:
    """Each secret in one form or another; they are looked for in all forms."""
    forms = cycle(("plain", "json", "url", "base64", "hex", "html", "repr"))
    return "\n".join(
        f"{FORMS[form](secret)} {'and so on ' * 20}" for secret, form in zip(CANARIES.values(), forms, strict=False)
    )


@pytest.fixture
def running(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    for name, secret in CANARIES.items():
        monkeypatch.setenv(name, secret)
    known = " ".join(f"${{{name}}}" for name in CANARIES)
    text = told()
    replies: list[object] = [
        calling(
            ("say", {"text": text}), ("slow", {"seconds": text}), (f"no {next(iter(CANARIES.values()))}", {}), text=text
        ),
        calling(("effect", {"name": text}), text=text),
        f"# They are\n\n{text}",
    ]
    about: dict[str, Any] = {"system_prompt": known, "description": known}
    files = [
        agent_file(tmp_path, "leaks", ["none"], **about, permissions=[{"tool": "effect", "action": "ask"}]),
        agent_file(tmp_path, "fails", ["none"], **about),
        agent_file(tmp_path, "plain", ["none"], **about),
    ]
    says: dict[str, list[Any]] = {
        "leaks": replies,
        "fails": [{"error": {"status": 401, "message": text}}],
        "plain": [calling(("say", {"text": text})), text],
    }
    with serving(*files, home=home, title_model="offline") as found:
        for name, words in says.items():  # not in the files: secrets that are written there are masked line by line
            served = found.service.agents.get(name)
            assert served is not None
            assert isinstance(served.agent.model, ScriptedModel)
            served.agent.model.replies = ScriptedModel(replies=words).replies
        yield found


def asked_for(running: Running) -> Iterator[str]:
    """What all kinds of requests are answered with; afterwards there are runs of all kinds."""
    text, http = told(), running.http
    for agent in ("plain", "fails", "leaks"):
        yield running.chat(agent, text).text
    for stream in (False, True):
        yield http.post("/v1/responses", json={"model": "plain", "input": text, "stream": stream}).text
    for agent in ("plain", "fails", "leaks"):
        yield running.chat(agent, text, stream=True).text
    yield http.post("/api/runs", json={"agent": "plain", "prompt": text}).text
    until(lambda: all(job.questions for job in running.service.jobs.live.values()))
    token = running.server.gate.page_token
    form = {"agent": "plain", "session": "talk", "message": text, "page_token": token}
    yield http.post("/chat", data=form, headers={"X-React-Page": token}).text
    until(lambda: not [job for job in running.service.jobs.live.values() if job.session == "talk"])
    answered = http.get("/api/approvals").json()["approvals"]
    for approval in answered[:1]:
        yield http.post(f"/api/approvals/{approval['id']}", json={"answer": "yes", "note": text}).text
        running.wait_for("completed", approval["run"])
    yield http.post(f"/runs/{answered[0]['run']}/replay", headers={"X-React-Page": token}).text
    yield http.post(f"/api/runs/{answered[0]['run']}/replay").text


async def batch_of(file: str) -> None:
    from react_run.batch import run_batch

    agent = built(AgentOptions(file=file, trust=True).config(), [], ())
    assert isinstance(agent.model, ScriptedModel)
    agent.model.replies = ScriptedModel(replies=[told()]).replies
    await run_batch(agent, [told(), {"prompt": told(), "id": "x"}], name="leaky", keep_going=True)


def addresses(running: Running) -> Iterator[str]:
    """Every address that can be got, with every kind of run, question, batch and file that there is."""
    app: Any = application(running.service, running.server.gate)
    listed = running.http.get("/api/runs?limit=100").json()["runs"]
    kinds = {(run["agent"], run["status"]): run["id"] for run in listed}
    assert {status for _, status in kinds} >= {"completed", "failed", "waiting"}
    values = {
        "/v1/models/{name:path}": ["plain"],
        "/v1/responses/{id}": [f"resp_{id_}" for id_ in kinds.values()],
        "/static/{name}": ["app.css"],
        "/batches/{name}": ["leaky"],
    }
    queries = {
        "/runs/{id}": ["", *(f"?tab={tab}" for tab in ("timeline", "tree", "messages", "changes", "usage", "agent"))],
        "/runs/{id}/iterations": [f"?tab={tab}&before=2" for tab in ("timeline", "tree", "messages")],
        "/runs": ["", "?part=1"],
        "/chat": ["?agent=plain&session=talk"],
        "/compare": ["?a={}&b={}".format(*list(kinds.values())[:2])],
    }
    for route in app.app.routes:
        if isinstance(route, Route) and "GET" in (route.methods or ()):
            for value in values.get(route.path, kinds.values() if "{" in route.path else [""]):
                path = route.path.replace("{id}", value).replace("{name}", value).replace("{name:path}", value)
                yield from (f"{path}{query}" for query in queries.get(route.path, [""]))


def read(http: httpx.Client, path: str) -> str:
    """An answer with its headers; of one that goes on, what comes within a moment."""
    said, end = b"", monotonic() + 2
    try:
        with http.stream("GET", path, timeout=1.5) as answer:
            said = repr(dict(answer.headers)).encode()
            for piece in answer.iter_raw():
                said += piece
                if monotonic() > end:
                    break
    except httpx.ReadTimeout:
        pass
    return said.decode()


@pytest.mark.slow
def test_no_answer_and_no_page_tells_a_secret(running: Running, tmp_path: Path) -> None:
    from react_run.support.threads import run_blocking

    shown: dict[object, str] = dict(enumerate(asked_for(running)))
    run_blocking(batch_of(str(tmp_path / "plain.yaml")))
    seen: dict[object, str] = dict(shown)
    seen.update((path, read(running.http, path)) for path in addresses(running))
    assert len(seen) > 60
    assert sum(MASK in text for text in seen.values()) > 20  # they were there to be hidden
    forms = [form(secret) for secret in CANARIES.values() for form in FORMS.values()]
    leaks = {(place, found) for place, text in seen.items() for found in (*CORES, *forms) if found in text}
    assert not leaks, sorted({str(place) for place, _ in leaks})
