"""Ways to run a case: through a real client and a real server, or with a model that fails in the case's way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.models.case_results import Seen, Watching
from tests.models.cases import TOOLS, Case, expanded
from tests.models.endings import CONTINUATION
from tests.models.stub_server import Chunks, Raw, Reply, StubServer, completion, sse

from react_run import ModelRequest, ModelResponse, ReActAgent, RunResult, Tool, hookimpl
from react_run.models.base import Model
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.policies.model_retries import ModelRetries
from react_run.testing import Functions

CLIENTS: dict[str, Callable[[str], Model]] = {
    "openai": lambda url: OpenAIModel(model="stub", base_url=url, timeout=20),
    "litellm": lambda url: LiteLLMModel(model="openai/stub", base_url=url, api_key="none", timeout=20),
}
BOTH = ["openai", pytest.param("litellm", marks=pytest.mark.slow)]
"""The names of the clients, as parameters of a test."""


class Drafts:
    """Has the loop stream: somebody listens to the draft."""

    @hookimpl
    def react_text_delta(self, text: str) -> None:
        pass


class Failing(Model):
    """Raises instead of answering."""

    error: Any
    """What it raises."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        raise self.error


def agent_for(
    model: Model, watching: Watching, tools: Sequence[Tool], *, stream: bool = False, **config: object
) -> ReActAgent:
    plugins: list[object] = [ModelRetries(attempts=2, first_wait=0), watching, *([Drafts()] if stream else [])]
    return ReActAgent(config, model=model, toolsets=[Functions(functions=list(tools))], plugins=plugins)


def tools_of(
    case: Case, ran: list[str], *, returns: Mapping[str, object] | None = None, repeatable: bool = False
) -> list[Tool]:
    """The tools of a case; each notes that it ran, and returns what it is said to return."""

    def noting(tool: Tool) -> Tool:
        def run(**_: object) -> object:
            ran.append(tool.name)
            return (returns or {}).get(tool.name, f"{tool.name} done")

        return replace(tool, function=run, repeatable=repeatable)

    return [noting(TOOLS[name]) for name in case.tools]


def outcome_of(
    agent: ReActAgent, prompt: str = "go", history: Sequence[Mapping[str, object]] = ()
) -> RunResult | BaseException:
    """The result, or what was raised instead."""
    try:
        return agent.run_sync(prompt, history)
    except BaseException as error:
        return error


def run_case(case: Case, client: str) -> Seen:
    """One reply of a provider, and what a run makes of it."""
    ran: list[str] = []
    watching = Watching()
    with StubServer(replies_of(case)) as server:
        agent = agent_for(CLIENTS[client](server.url), watching, tools_of(case, ran), stream=case.mode == "stream")
        outcome = outcome_of(agent)
    bodies = [request.body for request in server.requests]
    return Seen(case=case, client=client, outcome=outcome, watching=watching, bodies=bodies, ran=ran)


def reply_of(case: Case) -> Reply:
    data = expanded(case.input)
    if case.mode == "response":
        reply: Reply = data
        return reply
    if case.mode == "error":
        body = data["body"]
        sent = (body if isinstance(body, str) else json.dumps(body)).encode()
        return Raw(status=data["status"], headers=data["headers"], steps=[sent], length=len(sent))
    if not any("__raise__" in chunk or "__raw__" in chunk for chunk in data):
        return Chunks(chunks=data)
    steps: list[bytes | float | str] = []
    for chunk in data:
        if "__raise__" in chunk:
            steps.append("reset")
        else:
            steps.append(chunk["__raw__"].encode() if "__raw__" in chunk else sse([chunk], done=False))
    return Raw(headers={"content-type": "text/event-stream"}, steps=steps, chunked="reset" in steps)


def replies_of(case: Case) -> list[Reply]:
    """The case, and what the provider says to the requests that follow."""
    reply = reply_of(case)
    if case.expect["outcome"] == "error":
        return [reply]
    if "truncated" in case.expect.get("flags", ()):
        return [reply, completion(CONTINUATION, finish_reason="length")]  # S5: continued once, still cut
    return [reply, completion("done")]
