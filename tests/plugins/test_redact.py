"""The plugin ``redact``: what must not be seen is masked wherever it would be read or recorded."""

from __future__ import annotations

import asyncio
import json
import logging
from base64 import b64encode
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import SecretStr, ValidationError
from tests.plugins.traces import Proceed, Traces, requests_of

from react_plugins.cache import Cache
from react_plugins.inject import Inject
from react_plugins.logging import Logging
from react_plugins.redact import Redact
from react_run import (
    ChatCompletionRequest,
    ModelError,
    Observation,
    Outcome,
    ReActAgent,
    RequestPreprocessor,
    Run,
    RunResult,
    Signal,
    ToolCall,
    Verdict,
    hookimpl,
    tool,
)
from react_run.journal.canonical import canonical_records
from react_run.journal.reading import read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says

SECRET = "s3cr3t-t0k3n-42"
CARD = "4111 1111 1111 1111"
READ = [calls(("read", {"path": "a"})), says("done")]


def redact() -> Redact:
    return Redact(values=[SecretStr(SECRET)], patterns=[r"\b(?:\d{4} ){3}\d{4}\b"])


def everything(agent: ReActAgent, result: RunResult) -> str:
    """All that the model got to read and all that the run leaves behind, as one text."""
    seen = [
        [message.content, [request.arguments for request in message.tool_requests]]
        for request in requests_of(agent)
        for message in request.messages
    ]
    return json.dumps([seen, result.to_dict(), result.response.model_dump()], default=str)


def assert_masked(text: str) -> None:
    assert SECRET not in text
    assert CARD not in text
    assert "***" in text


@pytest.mark.parametrize("secret", [SECRET, CARD])
def test_values_and_patterns_are_masked_in_results_prompts_answers_and_records(secret: str) -> None:
    replies = [calls(("read", {"path": secret}), text=f"I look for {secret}."), says(f"It is {secret}.")]
    agent = agent_with(replies, tools=Traces(f"found {secret}").tools(), plugins=[redact()])
    history: list[dict[str, object]] = [
        {"role": "user", "content": [{"type": "text", "text": f"My number is {secret}"}]},
        {"role": "assistant", "content": f"I keep {secret}"},
    ]
    result = agent.run_sync(f"What about {secret}?", messages=history)
    assert_masked(everything(agent, result))
    assert result.answer == "It is ***."
    assert result.steps[0].observation == "found ***"


def test_the_tool_itself_gets_what_the_model_sent() -> None:
    traces = Traces()
    replies = [calls(("read", {"path": CARD})), says("done")]
    result = agent_with(replies, tools=traces.tools(), plugins=[redact()]).run_sync("go")
    assert traces.reads == [CARD]
    assert result.steps[0].action_input == {"path": "***"}


def test_errors_and_what_outcomes_say_are_masked() -> None:
    @tool
    def read(path: str) -> Observation:
        """Fail."""
        text = f"cannot use {SECRET}"
        return Observation(content=text, outcome=Outcome.retryable("failed", text))

    agent = agent_with([calls(("read", {"path": "a"}))], tools=[read], plugins=[redact()])
    result = agent.run_sync("go")
    assert_masked(everything(agent, result))
    assert result.unresolved[0].message == "cannot use ***"


def test_encoded_forms_of_a_value_are_masked() -> None:
    encoded = b64encode(f"key={SECRET}".encode()).decode()
    agent = agent_with(READ, tools=Traces(encoded).tools(), plugins=[redact()])
    result = agent.run_sync("go")
    assert encoded not in everything(agent, result)


def test_secrets_of_the_agent_file_are_masked_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "from-the-environment")
    path = tmp_path / "agent.yaml"
    path.write_text(
        "model: {kind: scripted, replies: [from-the-environment]}\n"
        "api_key: ${ACME_KEY}\n"
        "plugins: [{kind: redact, values: ['${ACME_KEY}']}]\n"
    )
    assert ReActAgent.from_yaml(path).run_sync("go").answer == "***"


def test_journals_and_logs_mask_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plugins = [Logging(), redact()]
    agent = agent_with(READ, tools=Traces(f"{SECRET} {CARD}").tools(), plugins=plugins)
    journalled = ReActAgent(agent.config, model=agent.model, plugins=plugins, journal=tmp_path / "run.jsonl")
    with caplog.at_level(logging.INFO, "react_run.events"):
        agent.run_sync(f"{SECRET} and {CARD}")
        journalled.run_sync(f"{SECRET} and {CARD}")
    assert_masked(caplog.text)
    assert_masked((tmp_path / "run.jsonl").read_text())


def test_a_failed_run_leaves_no_secret_behind() -> None:
    replies = [calls(("read", {"path": SECRET})), {"error": {"status": 400, "message": "no"}}]
    agent = agent_with(replies, tools=Traces(CARD).tools(), plugins=[redact()])
    with pytest.raises(ModelError) as caught:
        agent.run_sync(f"with {SECRET}")
    assert caught.value.result is not None
    assert_masked(everything(agent, caught.value.result))


# -- tried to be got round ------------------------------------------------------------------------------------------


class Leaks:
    """A plugin with a bug: it puts a secret into whatever it can reach, from outside or from inside."""

    @hookimpl(tryfirst=True)
    async def react_tool_call(self, proceed: Proceed) -> Observation:
        observation = await proceed()
        return Observation(content=f"{observation.content} {SECRET}", outcome=Outcome.success(CARD))

    @hookimpl
    def react_sense(self) -> Signal:
        return Signal(severity="warn", message=f"beware of {SECRET}", hint=CARD)

    @hookimpl
    def react_settle(self, run: Run, iteration: Any) -> None:
        for call in iteration.calls:
            call.append(f"also {SECRET}")

    @hookimpl
    def react_check_answer(self, run: Run) -> Verdict:
        return Verdict(accepted=len(run.iterations) > 2, feedback=f"not without {SECRET}")

    @hookimpl
    def react_guide(self) -> str:
        return f"Remember {CARD}."

    @hookimpl(tryfirst=True)
    async def react_model_call(self, run: Run, proceed: Proceed) -> Any:
        run.messages[0] = type(run.messages[0])(role="system", content=f"You know {SECRET}")
        return await proceed()


def test_what_is_saved_because_it_is_too_long_is_masked_although_a_plugin_leaked_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LeaksMuch:
        @hookimpl(tryfirst=True)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            await proceed()
            return Observation(content=f"{SECRET} {CARD}\n" * 5000)

    monkeypatch.chdir(tmp_path)
    agent_with(READ, tools=Traces().tools(), plugins=[LeaksMuch(), redact()]).run_sync("go")
    saved = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert_masked("\n".join(saved))


def test_whoever_listens_to_results_hears_them_masked() -> None:
    class Listens:
        def __init__(self) -> None:
            self.heard: list[str] = []

        @hookimpl
        def react_tool_call_finished(self, call: ToolCall, observation: Observation) -> None:
            self.heard.append(f"{observation.content} {observation.raw}")

    listens = Listens()
    agent_with(READ, tools=Traces(f"{SECRET} {CARD}").tools(), plugins=[listens, redact()]).run_sync("go")
    assert_masked(listens.heard[0])


class Prompts(RequestPreprocessor):
    """A wrapper with the same bug."""

    def preprocess(self, agent: Any, ctx: Run, request: ChatCompletionRequest, llm: Any) -> ChatCompletionRequest:
        request.messages[-1].content = f"{request.messages[-1].content} {SECRET}"
        return request


@pytest.mark.parametrize("redact_first", [True, False])
def test_a_plugin_that_leaks_secrets_does_not_get_them_past_it(redact_first: bool) -> None:
    plugins = [redact(), Leaks()] if redact_first else [Leaks(), redact()]
    agent = agent_with(
        READ,
        tools=Traces().tools(),
        plugins=plugins,
        iteration_preprocessors=[Prompts()],
        request_preprocessors=[Prompts()],
        iteration_wrappers=[Inject(text=f"The card is {CARD}")],
    )
    result = agent.run_sync("go")
    assert result.iterations == 3
    assert_masked(everything(agent, result))


def test_a_cached_result_is_masked_on_its_way_out_wherever_the_cache_stands() -> None:
    cache, traces = Cache(), Traces(SECRET)
    for plugins in ([redact(), cache], [cache, redact()], [redact(), cache]):
        agent = agent_with(READ, tools=traces.tools(), plugins=plugins)
        assert agent.run_sync("go").steps[0].observation == "***"
    assert traces.reads == ["a"]


@pytest.mark.parametrize(
    "hostile",
    [
        f"***{SECRET}***",
        f"{SECRET}{SECRET}",
        f"\\{SECRET}",
        f'{{"redact": false, "text": "{SECRET}"}}',
        f"a\u200b{SECRET}",
    ],
)
def test_a_hostile_result_does_not_talk_its_way_out(hostile: str) -> None:
    agent = agent_with(READ, tools=Traces(hostile).tools(), plugins=[redact()])
    assert_masked(everything(agent, agent.run_sync("go")))


def test_streamed_runs_are_masked_in_what_stays() -> None:
    import asyncio

    async def scenario() -> RunResult:
        agent = agent_with([says(f"It is {CARD}.")], plugins=[redact()])
        events = [event async for event in agent.stream("go")]
        assert type(events[-2]).__name__ == "TextDiscarded"
        assert isinstance(events[-1], RunResult)
        return events[-1]

    assert asyncio.run(scenario()).answer == "It is ***."


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "give values"),
        ({"values": ["abc"]}, "fewer than 4"),
        ({"patterns": ["("]}, "not a regular expression"),
        ({"patterns": ["x*"]}, "matches the empty text"),
        ({"patterns": [r"(a)\1"]}, "no named groups"),
        ({"patterns": ["(?i)abc"]}, "no named groups"),
        ({"patterns": ["(?P<x>abc)"]}, "no named groups"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Redact(**options)


@pytest.mark.parametrize("pattern", [r"(?i:abc)", r"(?<=x)abc", r"(?<!y)abc", "a(b|c)+", r"a\.bc"])
def test_usual_patterns_are_fine(pattern: str) -> None:
    assert Redact(patterns=[pattern])


def test_a_listener_sees_no_half_of_a_cut_answer_that_was_masked() -> None:  # L10, S5
    class Listens:
        draft = ""

        @hookimpl
        def react_text_delta(self, text: str) -> None:
            self.draft += text

        @hookimpl
        def react_text_discarded(self) -> None:
            self.draft = ""

    listens = Listens()
    replies = [says(f"It is {SECRET},", finish_reason="length"), says(" as I said.")]
    assert agent_with(replies, plugins=[listens, redact()]).run_sync("go").answer == "It is ***, as I said."
    assert listens.draft == ""


def test_one_plugin_serves_several_agents() -> None:
    plugin = redact()
    for _ in range(2):
        agent = agent_with(READ, tools=Traces(SECRET).tools(), plugins=[plugin])
        assert agent.run_sync("go").steps[0].observation == "***"


def test_a_call_that_is_refused_shows_no_secret() -> None:
    class Never:
        @hookimpl
        def react_tool_permit(self, call: ToolCall) -> Observation:
            return Observation(content=f"no: {SECRET}")

    agent = agent_with(READ, tools=Traces().tools(), plugins=[Never(), redact()])
    assert_masked(everything(agent, agent.run_sync("go")))


@pytest.mark.parametrize("secret", [SECRET, CARD])
@pytest.mark.parametrize("tools", ["recorded", "live"])
def test_a_masked_run_is_replayed_as_any_other(secret: str, tools: Literal["recorded", "live"], tmp_path: Path) -> None:
    def agent() -> ReActAgent:
        replies = [calls(("read", {"path": secret}), text=f"I look for {secret}."), says(f"It is {secret}.")]
        return agent_with(replies, tools=Traces(f"found {secret}").tools(), plugins=[redact()])

    path = tmp_path / "run.jsonl"
    history = [{"role": "user", "content": f"It was {secret}"}, {"role": "assistant", "content": f"I keep {secret}"}]
    agent().replace(journal=path).run_sync(f"What about {secret}?", messages=history)
    assert_masked(path.read_text())
    again = asyncio.run(replay(read_journal(path), agent(), tools=tools))
    assert again.complete
    assert canonical_records(again.journal) == canonical_records(path)
