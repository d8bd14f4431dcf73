"""The cases of provider data through real clients, a real server and the loop: what a run makes of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.models.cases import TOOLS, Case, Json, cases, codes, expanded
from tests.models.stub_server import Chunks, Raw, Reply, StubServer, completion, sse

from react_run import ModelError, ReActAgent, Run, RunResult, Tool, hookimpl
from react_run.models.base import Model
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.policies.model_retries import ModelRetries
from react_run.testing import Functions

CLIENTS: dict[str, Callable[[str], Model]] = {
    "openai": lambda url: OpenAIModel(model="stub", base_url=url, timeout=20),
    "litellm": lambda url: LiteLLMModel(model="openai/stub", base_url=url, api_key="none", timeout=20),
}
LITELLM_LOSES = {
    # LiteLLM reads these before we do, and what it makes of them is lost to us.
    "args_int_4301_digits": "the whole call is dropped",
    "content_part_null_text": "the whole content is dropped",
    "stream_no_index_with_ids": "the pieces of two calls are mixed up",
}

BOTH = ["openai", pytest.param("litellm", marks=pytest.mark.slow)]

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic serializer):UserWarning"
)


class Drafts:
    """Has the loop stream: somebody listens to the draft."""

    @hookimpl
    def react_text_delta(self, text: str) -> None:
        pass


def agent_for(
    case: Case, model: Model, *, stream: bool = False, tools: Sequence[Tool] = (), **config: Json
) -> ReActAgent:
    offered = list(tools) or [TOOLS[name] for name in case.tools]
    plugins: list[object] = [ModelRetries(attempts=2, first_wait=0)]
    return ReActAgent(
        config,
        model=model,
        toolsets=[Functions(functions=offered)],
        plugins=[*plugins, *([Drafts()] if stream else [])],
    )


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
    outcome = case.expect["outcome"]
    if outcome == "error":
        return [reply]
    if "truncated" in case.expect.get("flags", ()):
        return [reply, completion(" 4.", finish_reason="length")]  # S5: continued once, still cut
    return [reply, completion("done")]


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize(
    "case",
    [*cases("response", "stream"), *(c for c in cases("error") if "status" in c.input)],
    ids=lambda case: case.name,
)
def test_a_run_makes_the_best_of_what_a_provider_sends(case: Case, client: str) -> None:  # reliability 1, 2
    with StubServer(replies_of(case)) as server:
        agent = agent_for(case, CLIENTS[client](server.url), stream=case.mode == "stream")
        outcome = run_or_error(agent)
        sent = server.requests
    if client == "litellm" and case.name in LITELLM_LOSES:
        assert isinstance(outcome, RunResult)  # nothing is executed that was not asked for; the run goes on
        assert not any(step.executed and step.failed for step in outcome.steps)
    else:
        check(case, outcome, len(sent), client)


def run_or_error(agent: ReActAgent, prompt: str = "go") -> RunResult | ModelError:
    try:
        return agent.run_sync(prompt)
    except ModelError as error:
        return error


def check(case: Case, outcome: RunResult | ModelError, requests: int, client: str) -> None:
    expect = case.expect
    if isinstance(outcome, ModelError):
        assert expect["outcome"] == "error", outcome
        wanted = codes(expect["error"]["kind"]) | ({"server"} if client == "litellm" else set())
        assert outcome.code in wanted, outcome
        assert outcome.retryable == expect["error"]["retryable"]
        again = outcome.retryable or outcome.code == "context_overflow"  # S6: compacted once
        assert requests == (2 if again else 1)
        assert outcome.result is not None
        assert outcome.result.stop_reason == "model_error"
        assert all(word not in f"{outcome} {outcome!r}" for word in expect.get("never", ()))
        return
    steps = list(outcome.steps)
    if expect["outcome"] == "execute":
        ran = [(step.action, step.action_input) for step in steps if step.executed and not step.failed]
        assert ran == [(call["name"], call["args"]) for call in expect["calls"]]
    elif expect["outcome"] == "feedback":
        assert not any(step.executed for step in steps)
        for step, result in zip(steps, expect["results"], strict=True):
            assert step.failed
            assert all(word in step.observation for word in result["contains"])
            assert len(step.observation) < expect.get("limits", {}).get("echo_chars_max", 4000)
    elif expect["outcome"] == "refusal":
        assert outcome.stop_reason == "refused"
        return
    elif expect["outcome"] == "error":
        assert outcome.stop_reason == expect["error"]["kind"]
        return
    final = expect["outcome"] == "final"
    cut = "truncated" in expect.get("flags", ())
    assert outcome.answer == (expect["text"] + (" 4." if cut else "") if final else "done")
    assert outcome.finish_reason == ("length" if cut else "stop")
    assert requests == (1 if final and not cut else 2)


# -- whole runs --------------------------------------------------------------------------------------------------------

SEQUENCES = {case.name: case for case in cases("sequence")}


@pytest.fixture(params=BOTH)
def client(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def run_sequence(name: str, client: str, **options: Any) -> tuple[RunResult | ModelError, list[Json]]:
    """The outcome of a sequence, and the bodies of the requests it made."""
    case = SEQUENCES[name]
    with StubServer(case.input["turns"]) as server:
        agent = agent_for(case, CLIENTS[client](server.url), **options)
        history = case.input.get("history", ())
        try:
            outcome: RunResult | ModelError = agent.run_sync("" if history else "go", history)
        except ModelError as error:
            outcome = error
    return outcome, [request.body for request in server.requests]


def answer(outcome: RunResult | ModelError) -> RunResult:
    assert isinstance(outcome, RunResult), outcome
    return outcome


def test_a_stored_call_without_a_result_gets_a_neutral_one(client: str) -> None:  # H2
    outcome, (body,) = run_sequence("history_missing_result", client)
    assert answer(outcome).answer == "ok"
    results = {m["tool_call_id"]: m["content"] for m in body["messages"] if m["role"] == "tool"}
    assert results["call_1"] == "noon"
    assert "no result" in results["call_2"]
    assert "cancel" not in results["call_2"]


def test_a_stored_bad_call_does_not_wedge_the_conversation(client: str) -> None:  # H2
    outcome, (body,) = run_sequence("history_corrupt_args", client)
    assert answer(outcome).answer == "ok"
    (message,) = [m for m in body["messages"] if m.get("tool_calls")]
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_ids_used_again_in_a_later_turn_are_replaced(client: str) -> None:  # L5
    tool = Tool(**{**_options(TOOLS["now"]), "repeatable": True})
    outcome, bodies = run_sequence("same_id_across_turns", client, tools=[tool])
    assert answer(outcome).answer == "ok"
    ids = [call["id"] for m in bodies[-1]["messages"] for call in m.get("tool_calls", ())]
    assert ids[0] == "functions.now:0"
    assert len(set(ids)) == 2
    assert [m["tool_call_id"] for m in bodies[-1]["messages"] if m["role"] == "tool"] == ids


def _options(tool: Tool) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in ("name", "description", "parameters", "function")}


def test_an_empty_reply_is_asked_again_and_not_for_ever(client: str) -> None:  # S3
    outcome, bodies = run_sequence("empty_then_answer", client)
    assert (answer(outcome).answer, len(bodies)) == ("ok", 2)
    outcome, bodies = run_sequence("empty_for_ever", client)
    assert (answer(outcome).stop_reason, answer(outcome).success) == ("empty_reply", False)
    assert len(bodies) <= SEQUENCES["empty_for_ever"].expect["model_calls_max"]


def test_a_model_that_goes_on_calling_at_the_limit_runs_nothing_more(client: str) -> None:  # S2
    outcome, bodies = run_sequence("budget_gone_still_calls", client, max_iterations=2)
    assert (answer(outcome).stop_reason, answer(outcome).success) == ("max_iterations", False)
    assert sum(step.executed for step in answer(outcome).steps) <= 2
    assert "tools" not in bodies[-1]


def test_the_same_call_again_and_again_ends_the_run(client: str) -> None:  # S1
    outcome, bodies = run_sequence("same_call_again_and_again", client)
    assert (answer(outcome).stop_reason, answer(outcome).success) == ("stuck", False)
    assert sum(step.executed for step in answer(outcome).steps) == 1
    assert len(bodies) <= SEQUENCES["same_call_again_and_again"].expect["model_calls_max"]


def test_cancelling_between_parallel_tools_leaves_a_closed_history(client: str) -> None:  # L3
    case = SEQUENCES["cancel_between_parallel_tools"]
    begun = asyncio.Event()

    async def wait_for_ever(**_: object) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    class Keeper:
        """Keeps the run, whose history is looked at afterwards."""

        @hookimpl
        def react_run_started(self, run: Run) -> None:
            runs.append(run)

    runs: list[Run] = []
    hanging = Tool(**{**_options(TOOLS["add"]), "function": wait_for_ever})

    async def run(model: Model) -> None:
        functions = Functions(functions=[TOOLS["now"], hanging])
        task = asyncio.ensure_future(ReActAgent({}, model=model, toolsets=[functions], plugins=[Keeper()]).run("go"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with StubServer(case.input["turns"]) as server:
        asyncio.run(run(CLIENTS[client](server.url)))
    ids = [message.tool_request_id for message in runs[0].messages if message.role == "tool"]
    assert ids == ["c1", "c2"]


def test_two_runs_of_one_agent_have_their_own_histories(client: str) -> None:  # T5
    case = SEQUENCES["two_runs_same_agent"]

    def reply(body: Json) -> Reply:
        answered = any(message["role"] == "tool" for message in body["messages"])
        turn: Reply = case.input["turns"][1 if answered else 0]
        return turn

    async def both(agent: ReActAgent) -> list[RunResult]:
        return list(await asyncio.gather(agent.run("one"), agent.run("two")))

    with StubServer([reply]) as server:
        results = asyncio.run(both(agent_for(case, CLIENTS[client](server.url))))
    for result, prompt in zip(results, ("one", "two"), strict=True):
        assert [m.content for m in result.messages if m.role == "user"] == [prompt]
        assert result.answer == "ok"


def test_a_result_without_content_is_visible(client: str) -> None:  # T3
    nothing = Tool(**{**_options(TOOLS["now"]), "function": lambda: None})
    outcome, bodies = run_sequence("tool_returns_nothing", client, tools=[nothing])
    assert answer(outcome).answer == "ok"
    assert [m["content"] for m in bodies[-1]["messages"] if m["role"] == "tool"] == ["(no output)"]


def test_a_tool_that_calls_sys_exit_does_not_end_the_host(client: str) -> None:  # T1
    def leave() -> None:
        raise SystemExit(3)

    tool = Tool(**{**_options(TOOLS["now"]), "function": leave})
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    with StubServer([completion(None, tool_calls=[call]), completion("ok")]) as server:
        agent = ReActAgent({}, model=CLIENTS[client](server.url), toolsets=[Functions(functions=[tool])])
        result = agent.run_sync("go")
    assert result.answer
    assert "SystemExit" in result.steps[0].observation
