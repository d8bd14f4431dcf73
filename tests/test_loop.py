"""The loop, with no policy in the way unless a test says so."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pydantic import PrivateAttr

from react_run import (
    ConfigError,
    Message,
    Model,
    ModelError,
    ModelRequest,
    ModelResponse,
    Observation,
    PluginError,
    ReActAgent,
    ScriptedModel,
    StopReason,
    TextDelta,
    ToolRequest,
    Usage,
    Verdict,
    hookimpl,
    tool,
)
from react_run.models.fallback import FallbackModel
from react_run.models.protocol import ProtocolChecker
from react_run.policies.model_retries import ModelRetries
from react_run.run import Iteration, Run, ToolCall
from react_run.testing import Functions, agent_with, calls, run_agent, says


@tool
def add(a: int, b: int = 5) -> int:
    """Add two numbers."""
    return a + b


@tool
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


def roles(messages: object) -> str:
    return " ".join(message.role[0] for message in messages)  # type: ignore[attr-defined]  # any sequence of messages


class Draft:
    """What somebody who listens has before their eyes."""

    text = ""

    @hookimpl
    def react_text_delta(self, text: str) -> None:
        self.text += text

    @hookimpl
    def react_text_discarded(self) -> None:
        self.text = ""


def test_a_plain_answer_ends_the_run_after_one_model_call() -> None:  # L1
    agent = agent_with(["hello"])
    result = agent.run_sync("hi")
    assert (result.answer, result.stop_reason, result.success) == ("hello", StopReason.COMPLETED, True)
    assert len(agent.model.requests) == 1  # type: ignore[attr-defined]  # a ScriptedModel


def test_a_tool_result_is_fed_back_and_the_step_tells_it_all() -> None:  # L9
    result = run_agent([calls(("add", {"a": 1, "b": 2}), text="Adding."), says("3")], tools=[add])
    assert result.answer == "3"
    assert roles(result.messages) == "s u a t a"
    (step,) = result.steps
    assert (step.thought, step.action, step.observation) == ("Adding.", "add", "3")
    assert (step.action_input, step.attempt, step.executed, step.iteration) == ({"a": 1, "b": 2}, 1, True, 1)


def test_iterations_are_counted_not_calls() -> None:  # L2
    result = run_agent([calls(*[("add", {"a": n}) for n in range(5)]), says("done")], tools=[add], max_iterations=2)
    assert (result.iterations, len(result.steps), result.stop_reason) == (2, 5, StopReason.COMPLETED)


def test_at_the_limit_a_legacy_run_ends_with_the_fixed_text() -> None:  # L2, F7
    result = run_agent([calls(("add", {"a": 1}))], tools=[add], max_iterations=1, failure_handling="legacy")
    assert result.stop_reason == StopReason.MAX_ITERATIONS
    assert result.answer.startswith("Maximum iterations reached")
    assert (result.finish_reason, result.success, result.iterations) == ("length", False, 1)


def test_every_request_gets_one_result_in_request_order_whatever_becomes_of_it() -> None:  # L3
    @tool
    def broken() -> str:
        """Fail."""
        raise ValueError("no\nway")

    reply = calls(("shout", {"text": "a"}), ("nowhere", {}), ("broken", {}), ("add", "{broken"), ("add", {"a": 1}))
    result = run_agent([reply, says("done")], tools=[add, shout, broken], failure_handling="legacy")
    observations = [step.observation for step in result.steps]
    assert observations[0] == "A"
    assert observations[1].startswith("Error: unknown tool 'nowhere'. Available tools: ")
    assert observations[2] == "Error: ValueError: no way"
    assert observations[3].startswith("Error: ")
    assert observations[4] == "6"
    assert [step.executed for step in result.steps] == [True, False, True, False, True]


def test_the_calls_of_one_reply_run_at_the_same_time() -> None:  # L3
    barrier = threading.Barrier(20, timeout=10)

    @tool
    def meet(number: int) -> int:
        """Wait for all the others."""
        barrier.wait()
        return number

    reply = calls(*[("meet", {"number": n}) for n in range(20)])
    result = run_agent([reply, says("done")], tools=[meet], parallel_tools=20)
    assert [step.observation for step in result.steps] == [str(n) for n in range(20)]


def test_tools_that_are_not_parallel_safe_run_one_at_a_time_in_order() -> None:  # L4
    log: list[str] = []

    @tool(serial=True)
    async def write(number: int) -> None:
        """Write."""
        log.append(f"{number} in")
        await asyncio.sleep(0)
        log.append(f"{number} out")

    run_agent([calls(*[("write", {"number": n}) for n in range(3)]), says("done")], tools=[write])
    assert log == ["0 in", "0 out", "1 in", "1 out", "2 in", "2 out"]


def test_a_reply_cut_by_the_token_limit_runs_none_of_its_calls() -> None:  # A5b
    reply = calls(("add", {"a": 1}), ("shout", '{"text": "hal'), finish_reason="length")
    result = run_agent([reply, says("done")], tools=[add, shout])
    assert not any(step.executed for step in result.steps)
    assert all("cut off" in step.observation for step in result.steps)
    assert (result.answer, result.success) == ("done", False)  # F6: nothing that was asked for was done


def test_usage_adds_up_and_an_unknown_part_makes_the_total_unknown() -> None:  # L8
    known = {"input_tokens": 10, "output_tokens": 2, "cost": 0.5}
    result = run_agent([calls(("add", {"a": 1}), usage=known), says("6", usage=known)], tools=[add])
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cost) == (20, 4, 1.0)
    assert result.usage.requests == 2
    result = run_agent([calls(("add", {"a": 1}), usage=known), says("6")], tools=[add])
    assert (result.usage.input_tokens, result.usage.cost, result.usage.requests) == (None, None, 2)


@pytest.mark.parametrize("plugins", [[], [Draft()]])
def test_requests_that_models_in_reserve_took_over_are_counted(plugins: list[object]) -> None:  # H3
    broken, reserve = ScriptedModel(replies=[{"error": {"status": 401}}]), ScriptedModel(replies=["done"])
    result = ReActAgent(model=FallbackModel(models=[broken, reserve]), plugins=plugins).run_sync("go")
    assert (result.answer, result.usage.requests) == ("done", 2)


def test_the_system_prompt_is_replaced_entirely() -> None:  # L6
    agent = agent_with(["hi"], system_prompt="Be brief.")
    agent.run_sync("hello")
    request = agent.model.requests[0]  # type: ignore[attr-defined]  # a ScriptedModel
    assert [message.text for message in request.messages] == ["Be brief.", "hello"]


def test_a_conversation_goes_on_in_order_and_a_new_one_starts_clean() -> None:  # L6
    agent = agent_with([lambda request: " / ".join(m.text for m in request.messages if m.role == "user")])
    first = agent.run_sync("one")
    second = agent.run_sync("two", messages=first.messages)
    assert second.answer == "one / two"
    assert roles(second.messages) == "s u a u a"
    assert agent.run_sync("three").answer == "three"


def test_earlier_turns_may_be_plain_mappings() -> None:
    agent = agent_with([lambda request: str([m.text for m in request.messages][-2:])])
    result = agent.run_sync("and?", messages=[{"role": "user", "content": "first"}])
    assert result.answer == "['first', 'and?']"


def test_a_provider_failure_raises_with_what_the_run_had_reached() -> None:  # S6
    replies = [calls(("add", {"a": 1})), {"error": {"status": 401, "message": "bad key"}}]
    with pytest.raises(ModelError, match="bad key") as caught:
        run_agent(replies, tools=[add])
    result = caught.value.result
    assert result is not None
    assert (result.stop_reason, len(result.steps), result.usage.requests) == (StopReason.MODEL_ERROR, 1, 2)


def test_cancellation_propagates_and_leaves_every_request_answered() -> None:  # L3
    runs: list[Run] = []
    hanging = asyncio.Event()

    class Watch:
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            runs.append(run)

    @tool
    async def hang() -> None:
        """Never return."""
        hanging.set()
        await asyncio.Event().wait()

    async def scenario() -> bool:
        agent = agent_with([calls(("hang", {}), ("add", {"a": 1}))], tools=[hang, add], plugins=[Watch()])
        task = asyncio.ensure_future(agent.run("go"))
        await hanging.wait()
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(scenario())
    assert roles(runs[0].messages) == "s u a t t"


def test_a_plugin_may_not_answer_cancellation_away() -> None:
    class Swallow:
        @hookimpl
        async def react_iteration(self, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]) -> Iteration:
            try:
                return await proceed()
            except asyncio.CancelledError:
                return iteration

    @tool
    async def hang() -> None:
        """Never return."""
        await asyncio.Event().wait()

    async def scenario() -> bool:
        task = asyncio.ensure_future(agent_with([calls(("hang", {}))], tools=[hang], plugins=[Swallow()]).run("go"))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(scenario())


@pytest.mark.parametrize("hook", ["react_run", "react_iteration", "react_model_call", "react_tool_call"])
def test_cancellation_is_not_answered_away_in_the_last_iteration_either(hook: str) -> None:
    started = asyncio.Event()
    runs: list[Run] = []

    async def swallow(self: object, run: Run, proceed: Callable[[], Awaitable[object]]) -> object:
        runs.append(run)
        try:
            return await proceed()
        except asyncio.CancelledError:
            run.stop("stopped")
            return {
                "react_run": run.result(),
                "react_iteration": run.iterations[-1],
                "react_model_call": ModelResponse(message=Message(role="assistant", content="swallowed")),
                "react_tool_call": Observation(content="swallowed"),
            }[hook]

    async def hang(request: object) -> object:
        started.set()
        return await asyncio.Event().wait()

    class Hangs(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelResponse:
            if hook == "react_model_call":
                await hang(request)
            return await super().complete(request)

    @tool(name="hang")
    async def hanging() -> None:
        """Never return."""
        await hang(None)

    async def scenario() -> bool:
        plugin = type("Swallow", (), {hook: hookimpl(swallow)})()
        model = Hangs(replies=[calls(("hang", {}))])
        agent = ReActAgent(model=model, toolsets=[Functions(functions=[hanging])], plugins=[plugin])
        task = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(scenario())
    ProtocolChecker().advance([*runs[0].messages, Message(role="user", content="and now?")])


def test_the_first_reason_to_stop_stands_in_request_order_not_in_order_of_time() -> None:
    gate = asyncio.Event()

    class Stopper:
        @hookimpl
        async def react_tool_call(self, run: Run, call: ToolCall) -> Observation | None:
            if call.arguments["text"] == "first":
                await gate.wait()
            call.stop(f"stopped by {call.arguments['text']}")
            gate.set()
            return None

    reply = calls(("shout", {"text": "first"}), ("shout", {"text": "second"}))
    result = run_agent([reply, says("never")], tools=[shout], plugins=[Stopper()])
    assert result.stop_reason == "stopped by first"
    assert [step.observation for step in result.steps] == ["FIRST", "SECOND"]


def test_a_run_layer_may_replace_the_result_and_hears_of_every_ending() -> None:
    from react_run import RunResult

    class Polite:
        @hookimpl
        async def react_run(self, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
            result = await proceed()
            return replace(result, answer=f"Please: {result.answer}")

    assert run_agent(["hi"], plugins=[Polite()]).answer == "Please: hi"


def test_a_failing_layer_ends_the_run_with_a_note_and_tells_the_listeners() -> None:
    failures: list[BaseException] = []

    class Broken:
        @hookimpl
        def react_tool_call(self) -> None:
            raise RuntimeError("boom")

    class Watch:
        @hookimpl
        def react_run_failed(self, error: BaseException) -> None:
            failures.append(error)

    with pytest.raises(RuntimeError, match="boom") as caught:
        run_agent([calls(("add", {"a": 1}))], tools=[add], plugins=[Broken(), Watch()])
    assert caught.value.__notes__ == ["raised by plugin 'Broken' in react_tool_call"]
    assert failures == [caught.value]


def test_a_model_that_streams_is_heard_piece_by_piece_and_gives_the_same_result() -> None:  # L10
    from react_run import RunResult

    async def scenario() -> tuple[str, RunResult]:
        text, last = "", None
        async for event in agent_with(["one two three"]).stream("go"):
            if isinstance(event, TextDelta):
                text += event.text
            last = event
        assert isinstance(last, RunResult)
        return text, last

    text, result = asyncio.run(scenario())
    assert text == result.answer == "one two three"


def test_a_draft_that_comes_with_calls_is_withdrawn_and_tools_are_announced() -> None:
    async def scenario() -> list[str]:
        agent = agent_with([calls(("add", {"a": 1}), text="thinking"), says("6")], tools=[add])
        return [type(event).__name__ async for event in agent.stream("go")]

    assert asyncio.run(scenario()) == [
        "TextDelta",
        "TextDiscarded",
        "ToolStarted",
        "ToolFinished",
        "TextDelta",
        "RunResult",
    ]


class Holds(Model):
    """Streams two pieces, and holds a connection meanwhile."""

    _open: int = PrivateAttr(default=0)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(message=Message(role="assistant", content="one two"))

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        self._open += 1
        try:
            yield TextDelta(text="one ")
            yield TextDelta(text="two")
            yield await self.complete(request)
        finally:
            self._open -= 1


@pytest.mark.parametrize("wrapped", [lambda model: model, lambda model: FallbackModel(models=[model])])
def test_what_a_model_holds_while_it_streams_is_let_go_when_a_run_ends_meanwhile(
    wrapped: Callable[[Model], Model],
) -> None:
    class Slow:
        @hookimpl
        async def react_text_delta(self) -> None:
            await asyncio.Event().wait()

    async def scenario() -> None:
        model = Holds()
        agent = ReActAgent({"run_timeout": 0.02}, model=wrapped(model), plugins=[Slow()])
        assert (await agent.run("go")).stop_reason == StopReason.TIMEOUT
        assert model._open == 0

    asyncio.run(scenario())


@pytest.mark.parametrize("hook", ["react_model_call_finished", "react_check_answer"])
def test_a_draft_that_did_not_become_the_answer_is_withdrawn(hook: str) -> None:  # L10
    draft = Draft()
    ends = type("Ends", (), {hook: hookimpl(lambda self, run: run.stop("enough", "the answer of a plugin"))})()
    assert run_agent(["the answer of the model"], plugins=[draft, ends]).answer == "the answer of a plugin"
    assert draft.text == ""


@pytest.mark.parametrize("when", ["it has failed", "it fails because of that"])
def test_a_stream_that_is_left_reports_no_failure_to_nobody(when: str) -> None:
    async def scenario() -> list[object]:
        reported: list[object] = []
        failed = asyncio.Event()

        class Broken:
            @hookimpl
            async def react_run(self, proceed: Callable[[], Awaitable[Any]]) -> Any:
                try:
                    return await proceed()
                finally:
                    raise RuntimeError("broken")

            @hookimpl
            def react_run_failed(self) -> None:
                failed.set()

        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
        stream = agent_with(["one two"], plugins=[Broken()]).stream("go")
        await anext(stream)
        if when == "it has failed":
            await failed.wait()
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        del stream
        gc.collect()
        return reported

    assert asyncio.run(scenario()) == []


def test_a_draft_without_a_response_is_withdrawn_before_the_next_attempt() -> None:  # L10, A5b
    class Ends(Model):
        async def complete(self, request: ModelRequest) -> ModelResponse:
            return ModelResponse(message=Message(role="assistant", content="the whole answer"))

        async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
            yield TextDelta(text="the whole answer")
            if request.call > 1:
                yield await self.complete(request)

    draft = Draft()
    result = ReActAgent(model=Ends(), plugins=[draft, ModelRetries(first_wait=0)]).run_sync("go")
    assert draft.text == result.answer == "the whole answer"


def test_leaving_a_stream_cancels_its_run() -> None:
    cancelled = asyncio.Event()

    @tool
    async def hang() -> None:
        """Never return."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def scenario() -> bool:
        stream = agent_with([calls(("hang", {}))], tools=[hang]).stream("go")
        async for _ in stream:
            break
        await asyncio.sleep(0.01)
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator
        return cancelled.is_set()

    assert asyncio.run(scenario())


def test_one_agent_serves_concurrent_runs_without_mixing_them() -> None:  # T5
    def reply(request: object) -> object:
        words = [message.text for message in request.messages]  # type: ignore[attr-defined]  # a ModelRequest
        return calls(("shout", {"text": words[-1]})) if len(words) == 2 else answer_of(words[-1])

    def answer_of(text: str) -> ModelResponse:
        from react_run import Message

        return ModelResponse(message=Message(role="assistant", content=text))

    async def scenario() -> list[str]:
        agent = agent_with([reply], tools=[shout])
        results = await asyncio.gather(*(agent.run(f"marker {n}") for n in range(200)))
        return [result.answer for result in results]

    assert asyncio.run(scenario()) == [f"MARKER {n}" for n in range(200)]


def test_a_run_works_from_plain_code_and_inside_a_running_loop() -> None:
    async def notebook() -> str:
        return agent_with(["hi"]).run_sync("go").answer

    assert asyncio.run(notebook()) == "hi"


def test_arguments_that_a_plugin_changes_are_checked_again_before_the_tool_runs() -> None:
    class Change:
        def __init__(self, **values: object) -> None:
            self.values = values

        @hookimpl
        def react_tool_call(self, call: ToolCall) -> None:
            call.arguments.update(self.values)

    good = run_agent([calls(("add", {"a": 1})), says("x")], tools=[add], plugins=[Change(b="7")])
    assert good.steps[0].observation.startswith("8")
    bad = run_agent([calls(("add", {"a": 1})), says("x")], tools=[add], plugins=[Change(b="seven")])
    assert (bad.steps[0].executed, bad.steps[0].error_code) == (False, "invalid_arguments")


def test_nothing_executes_without_permission_however_often_it_is_retried() -> None:
    asked: list[dict[str, object]] = []

    class Retry:
        @hookimpl
        async def react_tool_call(self, proceed: Callable[[], Awaitable[Observation]]) -> Observation:
            await proceed()
            return await proceed()

    class Refuse:
        @hookimpl
        def react_tool_permit(self, call: ToolCall) -> Observation:
            asked.append(dict(call.arguments))
            return Observation(content="Error: not allowed")

    for plugins in ([Retry(), Refuse()], [Refuse(), Retry()]):
        result = run_agent([calls(("add", {"a": 1})), says("x")], tools=[add], plugins=plugins)
        assert (result.steps[0].observation, result.steps[0].executed) == ("Error: not allowed", False)
    assert asked == [{"a": 1}] * 4


def test_arguments_changed_while_permission_is_asked_keep_the_tool_from_running() -> None:
    class Sly:
        @hookimpl
        def react_tool_permit(self, call: ToolCall) -> None:
            call.arguments["a"] = 1_000_000

    result = run_agent([calls(("add", {"a": 1})), says("x")], tools=[add], plugins=[Sly()])
    assert not result.steps[0].executed
    assert "changed while waiting for permission" in result.steps[0].observation


def test_values_exchanged_while_permission_is_asked_keep_the_tool_from_running() -> None:
    class Sly:
        @hookimpl
        def react_tool_permit(self, call: ToolCall) -> None:
            call.prepared = replace(call.prepared, args=(), kwargs={"a": 1_000_000})  # the arguments shown stay

    result = run_agent([calls(("add", {"a": 1})), says("x")], tools=[add], plugins=[Sly()])
    assert not result.steps[0].executed
    assert "changed while waiting for permission" in result.steps[0].observation


@pytest.mark.parametrize("ids", [("c1", "c1"), ("", ""), (None, None)])
def test_calls_whose_ids_are_missing_or_repeated_keep_their_own_results(ids: tuple[str | None, str | None]) -> None:
    wanted = [{"name": "add", "arguments": {"a": n}, "id": id_} for n, id_ in enumerate(ids)]  # L5
    agent = agent_with([{"tool_calls": wanted}, {"tool_calls": wanted}, "done"], tools=[add], failure_handling="legacy")
    first = agent.run_sync("go")
    second = agent.run_sync("go on", messages=first.messages)
    assert [step.observation for step in second.steps] == ["5", "6", "5", "6"]
    given = [message.tool_request_id for message in second.messages if message.role == "tool"]
    assert len(set(given)) == len(given) == 8


def test_a_iteration_that_is_done_twice_goes_on_where_the_first_attempt_ended() -> None:
    class Twice:
        @hookimpl
        async def react_iteration(
            self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]
        ) -> Iteration:
            await proceed()
            return await proceed()

    replies = [calls(("add", {"a": 1})), calls(("add", {"a": 2})), says("7"), says("never asked for")]
    agent = agent_with(replies, tools=[add], plugins=[Twice()])
    result = agent.run_sync("go")
    assert [(step.observation, step.iteration) for step in result.steps] == [("6", 1), ("7", 1)]
    assert roles(result.messages) == "s u a t a t a"
    assert (result.answer, result.iterations, result.usage.requests) == ("7", 2, 3)


@pytest.mark.parametrize("hook", ["react_tool_call", "react_tool_permit"])
def test_a_plugin_that_breaks_a_call_leaves_a_valid_history(hook: str) -> None:  # H2
    runs: list[Run] = []

    class Watch:
        @hookimpl
        def react_run_failed(self, run: Run, error: BaseException) -> None:
            runs.append(run)

    careless = type("Careless", (), {hook: hookimpl(lambda self: "fine")})()
    with pytest.raises(PluginError, match=f"'Careless' answered {hook} with str"):
        run_agent([calls(("add", {"a": 1}), ("add", {"a": 2}))], tools=[add], plugins=[careless, Watch()])
    ProtocolChecker().advance([*runs[0].messages, Message(role="user", content="and now?")])


@pytest.mark.parametrize(
    "returned",
    [
        None,
        "text",
        {"role": "assistant"},
        Message(role="assistant", content="no response"),
        ModelResponse(message=Message(role="user", content="of the wrong role")),
        ModelResponse(message="text"),  # type: ignore[arg-type]  # what the test is about
        ModelResponse(message=Message(role="assistant", content="x"), usage=None),  # type: ignore[arg-type]  # as above
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_what_a_model_returns_instead_of_a_response_is_its_error(returned: object, streamed: bool) -> None:
    class Wrong(Model):
        async def complete(self, request: ModelRequest) -> ModelResponse:
            return returned  # type: ignore[return-value]  # as above

        async def stream(self, request: ModelRequest) -> object:  # type: ignore[override]  # as above
            yield TextDelta(text="a draft")
            yield returned

    draft = Draft()
    with pytest.raises(ModelError, match="Wrong") as caught:
        ReActAgent(model=Wrong(), plugins=[draft] if streamed else []).run_sync("go")
    assert caught.value.result is not None
    assert draft.text == ""


@pytest.mark.parametrize(
    ("prompt", "messages"),
    [
        (" \n", []),
        ("", [{"role": "system", "content": "only rules"}]),
        ("", [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]),
        (" ", [{"role": "user", "content": "  "}]),
        ("", [{"role": "tool", "content": "an orphan", "tool_call_id": "x"}]),
        (None, []),
        (b"bytes", []),
        ("go", "hello"),
        ("go", {"role": "user", "content": "not in a list"}),
        ("go", ["text"]),
        ("go", None),
    ],
)
def test_a_conversation_that_asks_for_nothing_or_is_none_is_refused_before_any_call(
    prompt: str, messages: list[object]
) -> None:
    agent = agent_with(["never said"])
    with pytest.raises(ConfigError):
        agent.run_sync(prompt, messages)  # type: ignore[arg-type]  # what the test is about
    assert agent.model.requests == []  # type: ignore[attr-defined]  # a ScriptedModel


def test_text_that_cannot_be_encoded_never_reaches_a_model() -> None:  # L5
    agent = agent_with([says("caf\udce9")], system_prompt="\udce9 rules")
    result = agent.run_sync("caf\udce9?", [{"role": "user", "content": "\udce9"}])
    assert [message.text for message in result.messages] == ["\ufffd rules", "\ufffd", "caf\ufffd?", "caf\ufffd"]
    assert result.answer == "caf\ufffd"


def test_what_a_tool_notes_from_its_thread_is_heard_on_the_thread_of_the_loop() -> None:
    heard: list[tuple[str, bool]] = []

    def hear(how: str) -> None:
        heard.append((how, threading.current_thread() is threading.main_thread()))

    class Plain:
        @hookimpl
        def react_guard_fired(self, guard: str) -> None:
            hear(guard)

    class Awaited:
        @hookimpl
        async def react_guard_fired(self, guard: str) -> None:
            hear(f"{guard}, awaited")

    @tool
    def look(run: Run) -> str:
        """Look."""
        run.note("mine", "seen")
        return "ok"

    result = run_agent([calls(("look", {})), says("done")], tools=[look], plugins=[Plain(), Awaited()])
    assert result.steps[0].observation == "ok"
    assert heard == [("mine", True), ("mine, awaited", True)]


def test_tools_in_threads_share_one_state_of_their_run() -> None:
    both_in = threading.Barrier(4)
    seen: list[Shared] = []

    class Shared:
        def __init__(self) -> None:
            both_in.wait(timeout=60)

    @tool
    def look(n: int, run: Run) -> str:
        """Look."""
        seen.append(run.state(Shared))
        return "ok"

    run_agent([calls(*(("look", {"n": n}) for n in range(4))), says("done")], tools=[look])
    assert len(seen) == 4
    assert len({id(shared) for shared in seen}) == 1


class Untold:
    def __repr__(self) -> str:
        raise ValueError("no")


ODD = [
    {"when": date(2024, 2, 29)},
    {"set": {1}, "bytes": b"\xff", "nan": float("nan"), 1: {(2, 3): 4}},
    {"big": 10**5000},
    {"untold": [Untold()]},
]


@pytest.mark.parametrize("odd", ODD, ids=["date", "kinds", "big", "untold"])
def test_a_result_is_json_whatever_plugins_and_models_put_into_it(odd: dict[Any, object]) -> None:
    @tool
    def look(**anything: object) -> str:
        """Look."""
        return "seen"

    class Meddler:
        @hookimpl
        def react_tool_call(self, call: ToolCall) -> None:
            call.arguments.update(odd)

        @hookimpl
        async def react_run(self, run: Run, proceed: Callable[[], Awaitable[object]]) -> object:
            await proceed()
            run.outcome.value, run.outcome.disclosure = odd, odd
            return run.result()

    def asks(request: ModelRequest) -> ModelResponse:
        wanted = ToolRequest(id="x", name="look", arguments=odd)
        return ModelResponse(message=Message(role="assistant", tool_requests=(wanted,), extra=odd))

    result = run_agent([asks, says("done")], tools=[look], plugins=[Meddler()])
    assert result.answer == "done"
    json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(result.response.model_dump_json())["choices"][0]["message"]["content"] == "done"


@pytest.mark.parametrize(("name", "shown"), [("a\nb\x1b[2J", "a b\\x1b[2J"), ("\ud800", "\ufffd")])
def test_the_name_of_an_unknown_tool_is_safe_text(name: str, shown: str) -> None:  # A6
    (step,) = run_agent([calls((name, {})), says("done")], tools=[add]).steps
    assert step.observation.startswith(f"Error: unknown tool '{shown}'")


@pytest.mark.parametrize(
    "numbers", [{"input_tokens": -1}, {"output_tokens": "5"}, {"cost": -0.1}, {"cost": float("nan")}, {"requests": 1.5}]
)
def test_a_usage_that_takes_something_away_is_an_error_of_its_model(numbers: dict[str, Any]) -> None:
    def answers(request: ModelRequest) -> ModelResponse:
        usage = Usage(**{"input_tokens": 1, "output_tokens": 1, "cost": 0.0, **numbers})
        return ModelResponse(message=Message(role="assistant", content="done"), usage=usage)

    with pytest.raises(ModelError, match="Usage without negative numbers"):
        run_agent([answers])


@pytest.mark.parametrize(
    "requests",
    [*((ToolRequest(id="x", name=name, arguments={}),) for name in ("", None, 5)), ("add",), ({"name": "add"},), None],  # type: ignore[arg-type]  # what the test is about
)
def test_a_call_without_a_name_is_an_error_of_its_model(requests: tuple[ToolRequest, ...]) -> None:
    def asks(request: ModelRequest) -> ModelResponse:
        return ModelResponse(message=Message(role="assistant", tool_requests=requests))

    with pytest.raises(ModelError, match="whose calls have names"):
        run_agent([asks], tools=[add])


def test_a_message_with_calls_may_have_no_content() -> None:
    def asks(request: ModelRequest) -> ModelResponse:
        wanted = ToolRequest(id="x", name="add", arguments={"a": 1})
        return ModelResponse(message=Message(role="assistant", content=None, tool_requests=(wanted,)))  # type: ignore[arg-type]  # what the test is about

    assert run_agent([asks, says("6")], tools=[add]).steps[0].thought == ""


@pytest.mark.parametrize("content", [5, b"bytes", ["text"], {"type": "text"}])
def test_a_message_says_at_once_that_its_content_is_none(content: Any) -> None:
    with pytest.raises(TypeError, match="content of Message must be text or a list of content parts"):
        Message(role="user", content=content)


def test_an_answer_that_is_refused_without_a_reason_is_told_so() -> None:  # G3
    class Check:
        @hookimpl
        def react_check_answer(self, answer: str) -> Verdict:
            return Verdict(accepted=answer == "better")

    agent = agent_with(["bad", "better"], plugins=[Check()])
    assert agent.run_sync("go").answer == "better"
    assert agent.model.requests[-1].messages[-1].text.startswith("This answer is not accepted")  # type: ignore[attr-defined]  # a scripted model has them


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_answer_that_is_refused_leaves_a_history_that_providers_accept(empty: str) -> None:  # L5, F7
    class Check:
        @hookimpl
        def react_check_answer(self, answer: str) -> Verdict:
            return Verdict(accepted=bool(answer.strip()), feedback="Say something.")

    agent = agent_with([empty, "something"], plugins=[Check()], failure_handling="legacy")
    assert agent.run_sync("go").answer == "something"
    assert [message.text for message in agent.model.requests[-1].messages][1:] == ["go", "Say something."]  # type: ignore[attr-defined]  # a scripted model has them


def test_an_id_that_comes_again_in_a_later_reply_is_a_new_one() -> None:  # L5
    again = {"tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}]}
    other = {"tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 2, "b": 2}}]}
    result = run_agent([again, other, says("done")], tools=[add])
    ids = [request.id for message in result.messages for request in message.tool_requests]
    assert len(set(ids)) == 2
