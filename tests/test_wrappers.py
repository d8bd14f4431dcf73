"""Class-style wrappers: plain classes around tool calls, model calls and whole runs, nested like all other plugins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, Field, PrivateAttr, SecretStr
from tests.plugins.documented import documented

from react_run import (
    ChatCompletionRequest,
    ChatCompletionResponse,
    ClarificationNeeded,
    Component,
    ConfigError,
    LLMCallWrapper,
    Message,
    ModelError,
    NoResult,
    Observation,
    Outcome,
    PluginError,
    ReActAgent,
    ReActToolset,
    RequestPreprocessor,
    ResponsePostprocessor,
    Run,
    RunResult,
    ScriptedModel,
    StopReason,
    TextDiscarded,
    Tool,
    ToolCallResult,
    ToolCallWrapper,
    ToolFailed,
    ToolSkipResult,
    ToolSpec,
    hookimpl,
    tool,
)
from react_run.policies.model_retries import ModelRetries
from react_run.testing import agent_with, calls, run_agent, says

ADD = calls(("add", {"a": 1, "b": 2}))


def at(level: str, *wrappers: object) -> dict[str, Any]:
    """The key of an agent file for ``wrappers``."""
    return {level: list(wrappers)}


@tool
def add(a: int, b: int = 5) -> int:
    """Add two numbers."""
    return a + b


def counting() -> tuple[Tool, list[int]]:
    """A tool that remembers how often it ran."""
    ran: list[int] = []

    @tool
    def count(a: int) -> int:
        """Count."""
        ran.append(a)
        return a

    return Tool.from_function(count), ran


@tool
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


@tool
def broken() -> str:
    """Fail."""
    raise ValueError("no way")


# -- written as documented ------------------------------------------------------------------------------------------


def test_a_caching_wrapper_answers_the_second_run_from_the_first() -> None:
    count, ran = counting()
    wrapper = documented("CachingWrapper")()
    agent = agent_with([calls(("count", {"a": 1})), says("done")], tools=[count], tool_wrappers=[wrapper])
    first, second = agent.run_sync("go"), agent.run_sync("go")
    assert ran == [1]
    assert [step.executed for step in (*first.steps, *second.steps)] == [True, False]
    assert second.steps[0].observation == "1"
    assert second.success


def test_an_error_handling_wrapper_turns_exceptions_and_bad_results_into_text() -> None:
    wrapper = documented("ErrorHandlingWrapper")()
    replies = [calls(("broken", {}), ("shout", {"text": "a"})), says("done")]
    result = run_agent(replies, tools=[broken, shout], tool_wrappers=[wrapper])
    assert [(step.observation, step.failed) for step in result.steps] == [
        ("0", False),
        ("Tool execution failed: no number", False),
    ]
    assert result.success


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("llm_request_wrappers", ["Iteration 1: 2", "Response: done"]),
        ("iteration_wrappers", ["Iteration 1: 2", "Response: ", "Iteration 2: 4", "Response: done"]),
    ],
)
def test_a_debugging_wrapper_sees_the_run_or_each_model_call(level: str, said: list[str]) -> None:
    wrapper = documented("DebugWrapper")()
    run_agent([ADD, says("done")], tools=[add], **at(level, wrapper))
    assert wrapper.said == said


# -- order ----------------------------------------------------------------------------------------------------------


class Noting(ToolCallWrapper):
    """Notes when it is asked, and skips when told to."""

    def __init__(self, name: str, log: list[str], skip: bool = False) -> None:
        self.name, self.log, self.skip = name, log, skip

    def preprocess(self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel) -> Any:
        self.log.append(f"{self.name} pre")
        return ToolSkipResult(output="skipped") if self.skip else tool_input

    def postprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> ToolCallResult:
        self.log.append(f"{self.name} post")
        return ToolCallResult(output=f"{tool_output} {self.name}")


class Hooked:
    """A plugin in the other style, listed among wrappers."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Any]) -> Observation:
        self.log.append("hook in")
        observation: Observation = await proceed()
        self.log.append("hook out")
        return observation


def test_wrappers_and_hooks_nest_in_listed_order() -> None:
    log: list[str] = []
    result = run_agent(
        [ADD, says("done")], tools=[add], tool_wrappers=[Noting("a", log), Hooked(log), Noting("b", log)]
    )
    assert log == ["a pre", "hook in", "b pre", "b post", "hook out", "a post"]
    assert result.steps[0].observation == "3 b a"


def test_a_skipped_call_still_passes_the_postprocessors_outside_the_skipper() -> None:
    log: list[str] = []
    wrappers = [Noting("a", log), Noting("b", log, skip=True), Noting("c", log)]
    result = run_agent([ADD, says("done")], tools=[add], tool_wrappers=wrappers)
    assert log == ["a pre", "b pre", "a post"]
    assert (result.steps[0].observation, result.steps[0].executed) == ("skipped a", False)


class Both(LLMCallWrapper):
    """Notes when it is asked."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def preprocess(self, agent: Any, ctx: Run, request: ChatCompletionRequest, llm: Any) -> ChatCompletionRequest:
        self.log.append(f"{self.name} pre")
        return request

    def postprocess(self, agent: Any, ctx: Run, final_prompt: Any, llm_response: Any, llm: Any) -> None:
        self.log.append(f"{self.name} post")


def test_the_lists_of_all_levels_nest_within_each_other() -> None:
    log: list[str] = []
    levels: dict[str, Any] = {
        level: [Both(f"{short}1", log), Both(f"{short}2", log)]
        for level, short in {
            "request_preprocessors": "rp",
            "llm_request_wrappers": "lw",
            "response_postprocessors": "pp",
            "iteration_preprocessors": "ip",
            "iteration_wrappers": "iw",
            "iteration_postprocessors": "ipp",
        }.items()
    }
    run_agent([says("done")], **levels)
    assert log == [
        *["rp1 pre", "rp2 pre", "lw1 pre", "lw2 pre"],
        *["ip1 pre", "ip2 pre", "iw1 pre", "iw2 pre"],
        *["iw2 post", "iw1 post", "ipp2 post", "ipp1 post"],
        *["lw2 post", "lw1 post", "pp2 post", "pp1 post"],
    ]


# -- failing closed -------------------------------------------------------------------------------------------------


class Raising(ToolCallWrapper, LLMCallWrapper):
    """Raises in one of its methods."""

    def __init__(self, method: str) -> None:
        self.method = method

    def _do(self, method: str, value: object) -> Any:
        if method == self.method:
            raise KeyError("bug")
        return value

    def preprocess(self, agent: Any, ctx: Run, third: Any, fourth: Any) -> Any:
        return self._do("preprocess", fourth if isinstance(third, str) else third)

    def postprocess(self, *_: object) -> Any:
        return self._do("postprocess", None)

    def on_error(self, *_: object) -> Any:
        return self._do("on_error", None)


@pytest.mark.parametrize(
    ("level", "method", "hook"),
    [
        ("request_preprocessors", "preprocess", "react_run"),
        ("llm_request_wrappers", "preprocess", "react_run"),
        ("llm_request_wrappers", "postprocess", "react_run"),
        ("response_postprocessors", "postprocess", "react_run"),
        ("iteration_preprocessors", "preprocess", "react_model_call"),
        ("iteration_wrappers", "preprocess", "react_model_call"),
        ("iteration_wrappers", "postprocess", "react_model_call"),
        ("iteration_postprocessors", "postprocess", "react_model_call"),
        ("tool_wrappers", "preprocess", "react_tool_call"),
        ("tool_wrappers", "postprocess", "react_tool_call"),
        ("tool_wrappers", "on_error", "react_tool_call"),
    ],
)
def test_a_wrapper_that_raises_ends_the_run_with_a_note_naming_it(level: str, method: str, hook: str) -> None:
    call = calls(("broken", {})) if method == "on_error" else ADD
    with pytest.raises(KeyError) as caught:
        run_agent([call, says("done")], tools=[broken, add], **at(level, Raising(method)))
    assert f"raised by plugin 'Raising' in {hook}" in caught.value.__notes__


class Returning(ToolCallWrapper, LLMCallWrapper):
    """Returns something that no wrapper may."""

    def __init__(self, method: str) -> None:
        self.method = method

    def preprocess(self, agent: Any, ctx: Run, third: Any, fourth: Any) -> Any:
        return 5 if self.method == "preprocess" else fourth if isinstance(third, str) else third

    def postprocess(self, *_: object) -> Any:
        return 5 if self.method == "postprocess" else None


@pytest.mark.parametrize("level", ["llm_request_wrappers", "iteration_wrappers", "tool_wrappers"])
@pytest.mark.parametrize("method", ["preprocess", "postprocess"])
def test_a_wrapper_that_returns_something_else_is_told_what_to_return(level: str, method: str) -> None:
    with pytest.raises(PluginError, match=rf"Returning\.{method} returned int; return"):
        run_agent([ADD, says("done")], tools=[add], **at(level, Returning(method)))


# -- what a tool wrapper gets, and may change -----------------------------------------------------------------------


class Editing(ToolCallWrapper):
    """Lets a function change the input, and keeps what it saw."""

    def __init__(self, edit: Callable[[Any], Any] = lambda given: given) -> None:
        self.edit = edit
        self.inputs: list[BaseModel] = []
        self.outputs: list[str] = []

    def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel) -> Any:
        return self.edit(tool_input)

    def postprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str) -> None:
        self.inputs.append(tool_input)
        self.outputs.append(tool_output)


class Point(BaseModel):
    """Arguments of a declared tool."""

    x: int
    label: str = Field(default="P", alias="name")
    key: SecretStr = SecretStr("none")


class Declared(ReActToolset):
    """A tool declared with a model, and one with a schema."""

    def get_toolspecs(self) -> list[ToolSpec]:
        return [ToolSpec(name="point", description="Draw a point.", parameter_class=Point)]

    def execute(self, tool_name: str, args: BaseModel) -> str:
        assert isinstance(args, Point)
        return f"{args.label}{args.x} {args.key.get_secret_value()}"


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "copy": {"type": "boolean"}, "note": {"type": "string"}},
    "required": ["x"],
}
RAW = Tool(name="raw", description="Raw.", parameters=SCHEMA, function=lambda **given: repr(sorted(given.items())))


@pytest.mark.parametrize(
    ("name", "arguments", "seen"),
    [
        ("add", {"a": 1}, {"a": 1, "b": 5}),
        ("point", {"x": 2, "name": "Q"}, {"x": 2, "label": "Q"}),
        ("raw", {"x": 3, "copy": True}, {"x": 3, "note": None, "copy": True}),
    ],
)
def test_the_input_is_a_pydantic_model_whatever_the_tool_was_made_of(
    name: str, arguments: dict[str, object], seen: dict[str, object]
) -> None:
    wrapper = Editing()
    run_agent(
        [calls((name, arguments)), says("done")], tools=[add, RAW], toolsets=[Declared()], tool_wrappers=[wrapper]
    )
    (given,) = wrapper.inputs
    assert isinstance(given, BaseModel)
    assert {key: value for key, value in given.model_dump().items() if key in seen} == seen


def set_x(given: Any) -> Any:
    given.x = 7
    return given


@pytest.mark.parametrize(
    ("name", "arguments", "edit", "observation"),
    [
        ("add", {"a": 1}, lambda given: given.model_copy(update={"b": 1}), "2"),
        ("add", {"a": 1}, lambda given: type(given)(a=4), "9"),
        ("point", {"x": 2, "key": "hush"}, set_x, "P7 hush"),
        ("point", {"x": 2}, lambda given: Point(x=8, name="R"), "R8 none"),
        ("raw", {"x": 3, "copy": True}, set_x, "[('copy', True), ('x', 7)]"),
    ],
)
def test_a_changed_input_is_what_the_tool_gets(
    name: str, arguments: dict[str, object], edit: Callable[[Any], Any], observation: str
) -> None:
    result = run_agent(
        [calls((name, arguments)), says("done")],
        tools=[add, RAW],
        toolsets=[Declared()],
        tool_wrappers=[Editing(edit), Editing()],
    )
    assert result.steps[0].observation == observation


def test_an_input_that_was_spoilt_is_refused_and_the_wrapper_sees_that() -> None:
    wrapper = Editing(lambda given: given.model_copy(update={"a": "many"}))
    result = run_agent([ADD, says("done")], tools=[add], tool_wrappers=[wrapper])
    assert result.steps[0].error_code == "invalid_arguments"
    assert not result.steps[0].executed
    assert wrapper.outputs == []  # a refusal is not a result


def test_calls_that_cannot_run_do_not_reach_wrappers() -> None:
    log: list[str] = []
    replies = [calls(("nowhere", {}), ("add", {"b": 1})), says("done")]
    result = run_agent(replies, tools=[add], tool_wrappers=[Noting("a", log)], failure_handling="legacy")
    assert log == []
    assert [step.error_code for step in result.steps] == ["unknown_tool", "invalid_arguments"]


def test_each_wrapper_postprocesses_with_the_input_that_it_passed_on() -> None:
    outer, inner = Editing(), Editing(lambda given: given.model_copy(update={"a": 10}))
    run_agent([ADD, says("done")], tools=[add], tool_wrappers=[outer, inner])
    assert [wrapper.inputs[0].model_dump()["a"] for wrapper in (outer, inner)] == [1, 10]


# -- errors ---------------------------------------------------------------------------------------------------------


class Handling(ToolCallWrapper):
    """Has an answer to errors, or not."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.errors: list[BaseException] = []
        self.outputs: list[str] = []

    def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel) -> BaseModel:
        return tool_input

    def postprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str) -> None:
        self.outputs.append(tool_output)

    def on_error(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, error: BaseException) -> object:
        self.errors.append(error)
        return self.answer


def test_the_innermost_wrapper_with_an_answer_handles_an_error() -> None:
    outer, middle, inner = Handling("outer"), Handling({"fallback": True}), Handling(None)
    result = run_agent([calls(("broken", {})), says("done")], tools=[broken], tool_wrappers=[outer, middle, inner])
    assert [len(wrapper.errors) for wrapper in (outer, middle, inner)] == [0, 1, 1]
    assert isinstance(inner.errors[0], ValueError)
    assert inner.outputs == []
    assert middle.outputs == outer.outputs == ['{"fallback": true}']
    assert result.steps[0].observation == '{"fallback": true}'


def test_an_error_that_nobody_handles_stays_one_although_its_text_was_changed() -> None:
    class Helpful(Handling):
        def postprocess(
            self, agent: Any, ctx: Run, tool_name: str, tool_input: Any, tool_output: str, failed: bool = False
        ) -> Any:
            return ToolCallResult(output=f"{tool_output} Try another way." if failed else tool_output)

    result = run_agent([calls(("broken", {})), says("done")], tools=[broken], tool_wrappers=[Helpful(None)])
    assert result.steps[0].observation == "Error: ValueError: no way Try another way."
    assert result.steps[0].error_code == "execution_error"


def test_an_error_of_an_earlier_attempt_is_not_handled_again() -> None:
    class Once:
        @hookimpl
        async def react_tool_call(self, proceed: Callable[[], Any]) -> Any:
            await proceed()
            return await proceed()

    attempts: list[int] = []

    @tool
    def flaky() -> str:
        """Fail at first."""
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError
        return "fine"

    handler = Handling("handled")
    result = run_agent([calls(("flaky", {})), says("done")], tools=[flaky], tool_wrappers=[handler, Once()])
    assert (result.steps[0].observation, handler.errors) == ("fine", [])


def test_an_error_of_an_earlier_attempt_does_not_make_a_refusal_look_like_one() -> None:
    class Once:
        def __init__(self) -> None:
            self.asked = 0

        @hookimpl
        async def react_tool_call(self, proceed: Callable[[], Any]) -> Any:
            await proceed()
            return await proceed()

        @hookimpl
        def react_tool_permit(self) -> Observation | None:
            self.asked += 1
            no = Observation(content="Error: no", outcome=Outcome.retryable("no", "no"))
            return no if self.asked > 1 else None

    handler = Handling("handled")
    result = run_agent([calls(("broken", {})), says("done")], tools=[broken], tool_wrappers=[handler, Once()])
    assert (result.steps[0].observation, handler.errors) == ("Error: no", [])


def test_an_error_is_handled_once_although_what_stands_for_the_result_is_no_success() -> None:
    class Fragile(ReActToolset):
        @tool
        def look(self) -> str:
            """Look."""
            raise ValueError

        def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome:
            return Outcome.retryable("lost", str(result))

    outer, inner = Handling("outer"), Handling("inner")
    replies = [calls(("look", {})), says("done")]
    result = run_agent(replies, toolsets=[Fragile()], tool_wrappers=[outer, inner])
    assert (result.steps[0].observation, outer.errors) == ("inner", [])


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (ToolFailed("gone"), StopReason.TOOL_FAILURE),
        (ClarificationNeeded("Which Paris?"), StopReason.CLARIFICATION_REQUIRED),
        (NoResult("nothing"), StopReason.UNRESOLVED_TOOL_FAILURE),
    ],
)
def test_what_a_tool_has_to_say_is_no_error_to_be_handled(error: Exception, ends: str) -> None:
    @tool
    def ask() -> str:
        """Ask."""
        raise error

    result = run_agent([calls(("ask", {})), says("Booked.")], tools=[ask], tool_wrappers=[Handling("from memory")])
    assert (result.stop_reason, result.success) == (ends, False)


class Caching(ToolCallWrapper):
    """The wrapper of the documents, word for word."""

    def __init__(self) -> None:
        self.cache: dict[str, Any] = {}

    def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: Any) -> Any:
        key = f"{tool_name}:{tool_input.model_dump_json()}"
        return ToolSkipResult(output=self.cache[key]) if key in self.cache else tool_input

    def postprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: Any, tool_output: Any) -> Any:
        self.cache[f"{tool_name}:{tool_input.model_dump_json()}"] = tool_output
        return ToolCallResult(output=tool_output)


def test_a_cached_answer_needs_permission_and_a_refusal_is_never_cached() -> None:  # F6
    allowed = [True]

    class Gate:
        @hookimpl
        def react_tool_permit(self) -> Observation | None:
            return None if allowed[0] else Observation(content="Error: denied")

    agent = agent_with([ADD, says("done")], tools=[add], tool_wrappers=[Caching()], plugins=[Gate()])
    first = agent.run_sync("1")
    allowed[0] = False
    denied = agent.run_sync("2")
    assert (denied.steps[0].observation, denied.success) == ("Error: denied", False)
    allowed[0] = True
    assert agent.run_sync("3").steps[0].observation == first.steps[0].observation

    fresh = agent_with([ADD, says("done")], tools=[add], tool_wrappers=[Caching()], plugins=[Gate()])
    allowed[0] = False
    assert not fresh.run_sync("1").success
    allowed[0] = True
    again = fresh.run_sync("2")
    assert (again.steps[0].executed, again.success) == (True, True)


def test_a_failure_is_never_cached() -> None:  # F4
    runs: list[int] = []

    @tool(read_only=True)
    def fetch(x: int) -> str:
        """Fetch."""
        runs.append(x)
        if len(runs) == 1:
            raise ConnectionError("down")
        return "data"

    again = calls(("fetch", {"x": 1}))
    result = run_agent([again, again, says("done")], tools=[fetch], tool_wrappers=[Caching()])
    assert (len(runs), result.steps[1].observation, result.success) == (2, "data", True)


def test_an_answer_from_a_cache_is_a_success() -> None:  # F6
    wrapper = Caching()
    run_agent([ADD, says("done")], tools=[add], tool_wrappers=[wrapper])
    served = run_agent([ADD, says("done")], tools=[add], tool_wrappers=[wrapper])
    assert (served.steps[0].executed, served.success) == (False, True)


def test_a_postprocessor_that_takes_failed_sees_a_refused_call() -> None:
    class Never:
        @hookimpl
        def react_tool_permit(self) -> Observation:
            return Observation(content="Error: never", outcome=Outcome.retryable("never", "never"))

    class Watching(Editing):
        def postprocess(
            self, agent: Any, ctx: Run, tool_name: str, tool_input: Any, tool_output: Any, failed: bool = False
        ) -> Any:
            self.outputs.append(f"{tool_output} {failed}")

    wrapper = Watching()
    result = run_agent([ADD, says("done")], tools=[add], tool_wrappers=[wrapper], plugins=[Never()])
    assert wrapper.outputs == ["Error: never True"]
    assert not result.steps[0].executed


class Judged(ReActToolset):
    """Interprets its results."""

    @tool
    def look(self, what: str) -> str:
        """Look."""
        return f"found {what}"

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        text = str(result)
        return Outcome.success(text) if text.startswith("found") else Outcome.retryable("lost", text)


@pytest.mark.parametrize(("output", "failed"), [("found again", False), ("lost it", True)], ids=["still found", "lost"])
def test_a_changed_or_skipped_result_is_interpreted_by_its_toolset(output: str, failed: bool) -> None:
    class Changes(Editing):
        def postprocess(self, *_: object) -> Any:
            return ToolCallResult(output=output)

    for wrapper in (Changes(), Editing(lambda _: ToolSkipResult(output=output))):
        result = run_agent(
            [calls(("look", {"what": "it"})), says("done")], toolsets=[Judged()], tool_wrappers=[wrapper]
        )
        assert (result.steps[0].observation, result.steps[0].failed) == (output, failed)


# -- async, messages ------------------------------------------------------------------------------------------------


class Patient(ToolCallWrapper):
    """All methods are coroutines."""

    async def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel) -> BaseModel:
        await asyncio.sleep(0)
        return tool_input

    async def postprocess(
        self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> ToolCallResult:
        await asyncio.sleep(0)
        return ToolCallResult(output=f"{tool_output}!")

    async def on_error(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, error: Any) -> str:
        await asyncio.sleep(0)
        return "handled"


class PatientModel(LLMCallWrapper):
    async def preprocess(self, agent: Any, ctx: Run, request: ChatCompletionRequest, llm: Any) -> ChatCompletionRequest:
        await asyncio.sleep(0)
        request.messages[-1].content = "changed"
        return request

    async def postprocess(self, agent: Any, ctx: Run, final_prompt: Any, llm_response: Any, llm: Any) -> Any:
        await asyncio.sleep(0)
        llm_response.choices[0].message.content += "!"
        return llm_response


def test_methods_may_be_coroutines() -> None:
    agent = agent_with(
        [calls(("broken", {}), ("add", {"a": 1})), says("done")],
        tools=[add, broken],
        tool_wrappers=[Patient()],
        llm_request_wrappers=[PatientModel()],
    )
    result = agent.run_sync("go")
    assert [step.observation for step in result.steps] == ["handled!", "6!"]
    assert agent.model.requests[0].messages[-1].text == "changed"  # type: ignore[attr-defined]  # a ScriptedModel
    assert result.answer == "done!"


class Chart(BaseModel):
    """Something for the caller."""

    title: str


class Sending(ToolCallWrapper):
    """Sends messages along; the first call finishes last."""

    def __init__(self) -> None:
        self.second_is_done = asyncio.Event()

    def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel) -> BaseModel:
        return tool_input

    async def postprocess(
        self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> ToolCallResult:
        number = tool_input.model_dump()["a"]
        if number == 1:
            await self.second_is_done.wait()
        self.second_is_done.set()
        return ToolCallResult(output=tool_output, messages=[f"note {number}", Chart(title=f"chart {number}")])


def test_messages_reach_the_caller_in_request_order_and_text_reaches_the_model() -> None:
    agent = agent_with(
        [calls(("add", {"a": 1}), ("add", {"a": 2})), says("done")], tools=[add], tool_wrappers=[Sending()]
    )
    result = agent.run_sync("go")
    assert result.emitted == ["note 1", Chart(title="chart 1"), "note 2", Chart(title="chart 2")]
    roles = [(m.role, m.text) for m in agent.model.requests[-1].messages[-4:]]  # type: ignore[attr-defined]  # as above
    assert roles == [("tool", "6"), ("tool", "7"), ("user", "note 1"), ("user", "note 2")]


@pytest.mark.parametrize("message", [{"role": "user", "content": "so"}, Message(role="user", content="so")])
def test_a_message_of_the_user_joins_the_conversation_when_the_run_goes_on(message: object) -> None:
    class Sends(ResponsePostprocessor):
        def postprocess(self, agent: Any, ctx: Run, final_prompt: Any, llm_response: Any, llm: Any) -> list[object]:
            return [message]

    agent = agent_with([ADD, says("done")], tools=[add], iteration_postprocessors=[Sends()])
    result = agent.run_sync("go")
    assert [m.role for m in result.messages] == ["system", "user", "assistant", "tool", "user", "assistant"]
    assert result.emitted == [message, message]


# -- requests -------------------------------------------------------------------------------------------------------


class Asking(RequestPreprocessor):
    """Lets a function change the request."""

    def __init__(self, edit: Callable[[ChatCompletionRequest], object]) -> None:
        self.edit = edit
        self.times = 0

    def preprocess(self, agent: Any, ctx: Run, request: ChatCompletionRequest, llm: Any) -> ChatCompletionRequest:
        self.times += 1
        changed = self.edit(request)
        return changed if isinstance(changed, ChatCompletionRequest) else request


def hinting() -> Asking:
    """Adds a message, in a form of ours, to each request."""
    return Asking(lambda request: request.messages.append(Message(role="user", content="hint")))  # type: ignore[arg-type]  # any form of message will do


def requests_of(agent: ReActAgent) -> list[Any]:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model.requests


def test_a_request_preprocessor_changes_messages_once_and_settings_for_all_calls() -> None:
    def edit(request: ChatCompletionRequest) -> None:
        request.messages.append({"role": "system", "content": "Be brief."})  # type: ignore[arg-type]  # as people do
        request.temperature = 0.5

    wrapper = Asking(edit)
    agent = agent_with([ADD, says("done")], tools=[add], request_preprocessors=[wrapper])
    result = agent.run_sync("go")
    first, second = requests_of(agent)
    assert wrapper.times == 1
    assert [message.role for message in first.messages] == ["system", "system", "user"]
    assert first.settings == second.settings == {"temperature": 0.5}
    assert result.messages[1].text == "Be brief."


def test_settings_of_one_preprocessor_are_seen_and_kept_by_the_next() -> None:
    seen: list[float | None] = []

    def edit(request: ChatCompletionRequest) -> None:
        seen.append(request.temperature)
        request.max_tokens = 9

    first = Asking(lambda request: setattr(request, "temperature", 0.5))
    agent = agent_with([says("done")], request_preprocessors=[first, Asking(edit)])
    agent.run_sync("go")
    assert seen == [0.5]
    assert requests_of(agent)[0].settings == {"temperature": 0.5, "max_tokens": 9}


def test_a_tool_that_was_withdrawn_is_neither_offered_nor_run() -> None:
    agent = agent_with(
        [ADD, says("done")],
        tools=[add],
        request_preprocessors=[Asking(lambda request: setattr(request, "tools", None))],
    )
    result = agent.run_sync("go")
    assert requests_of(agent)[0].tools == ()
    assert result.steps[0].error_code == "unknown_tool"


def test_an_iteration_preprocessor_changes_one_request_and_not_the_conversation() -> None:
    agent = agent_with([ADD, says("done")], tools=[add], iteration_preprocessors=[hinting()])
    result = agent.run_sync("go")
    assert [request.messages[-1].text for request in requests_of(agent)] == ["hint", "hint"]
    assert "hint" not in [message.text for message in result.messages]


@pytest.mark.parametrize(
    "first", [{"error": {"status": 503}}, says(""), says("half", finish_reason="length")], ids=["retry", "empty", "cut"]
)
def test_what_is_asked_again_is_preprocessed_once_each_time(first: object) -> None:
    agent = agent_with([first, says("done")], iteration_preprocessors=[hinting()], plugins=[ModelRetries(first_wait=0)])
    agent.run_sync("go")
    assert len(requests_of(agent)) == 2
    for request in requests_of(agent):
        assert [message.text for message in request.messages].count("hint") == 1


@pytest.mark.parametrize(
    ("left_out", "sent"), [("assistant", ["system", "user"]), ("tool", ["system", "user", "assistant", "tool"])]
)
def test_messages_that_a_preprocessor_leaves_out_leave_no_half_of_a_call(left_out: str, sent: list[str]) -> None:
    def leave_out(request: ChatCompletionRequest) -> None:
        request.messages = [message for message in request.messages if message.role != left_out]

    agent = agent_with([ADD, says("done")], tools=[add], iteration_preprocessors=[Asking(leave_out)])
    agent.run_sync("go")
    assert [message.role for message in requests_of(agent)[-1].messages] == sent


def test_the_final_prompt_is_what_went_to_the_model() -> None:
    seen: list[tuple[str, int]] = []

    class Looks(LLMCallWrapper):
        def __init__(self, level: str) -> None:
            self.level = level

        def preprocess(self, agent: Any, ctx: Run, request: ChatCompletionRequest, llm: Any) -> ChatCompletionRequest:
            return request

        def postprocess(self, agent: Any, ctx: Run, final_prompt: ChatCompletionRequest, *_: object) -> None:
            seen.append((self.level, len(final_prompt.messages)))

    run_agent(
        [says("done")],
        llm_request_wrappers=[Looks("loop")],
        request_preprocessors=[hinting()],
        iteration_wrappers=[Looks("iteration")],
        iteration_preprocessors=[hinting()],
    )
    assert seen == [("iteration", 4), ("loop", 3)]


# -- responses ------------------------------------------------------------------------------------------------------


class Seeing(ResponsePostprocessor):
    """Keeps how runs ended."""

    def __init__(self) -> None:
        self.endings: list[tuple[str, str, str]] = []

    def postprocess(
        self, agent: Any, ctx: Run, final_prompt: Any, llm_response: ChatCompletionResponse, llm: Any
    ) -> None:
        choice = llm_response.choices[0]
        fields = choice.provider_specific_fields or {}
        self.endings.append((fields["termination_reason"], str(choice.message.content), fields.get("error", "")))


@pytest.mark.parametrize(
    ("reason", "replies", "config"),
    [
        ("completed", [says("done")], {}),
        ("max_iterations", [ADD], {"max_iterations": 1}),
        ("max_iterations", [ADD], {"max_iterations": 1, "failure_handling": "legacy"}),
        ("tool_retry_exhausted", [calls(("broken", {}))], {}),
        ("stuck", [ADD], {}),
        ("cost_limit", [{**ADD, "usage": {"cost": 1.0}}], {"max_cost": 0.5}),
        ("refused", [says("no", finish_reason="refusal")], {}),
        ("timeout", [{"text": "late", "delay": 30}], {"run_timeout": 0.05}),
    ],
)
def test_a_response_postprocessor_sees_every_ending(reason: str, replies: list[object], config: dict[str, Any]) -> None:
    seeing = Seeing()
    result = run_agent(replies, tools=[add, broken], response_postprocessors=[seeing], **config)
    assert result.stop_reason == reason
    assert seeing.endings == [(reason, result.answer, "")]


def test_a_response_postprocessor_sees_a_failed_provider_whose_error_ends_the_run() -> None:
    seeing = Seeing()
    with pytest.raises(ModelError) as caught:
        run_agent([{"error": {"status": 401, "message": "no key"}}], response_postprocessors=[seeing])
    assert seeing.endings == [("model_error", "", "no key")]
    assert caught.value.result is not None


def test_a_response_postprocessor_sees_a_plugin_that_failed() -> None:
    seeing = Seeing()
    with pytest.raises(KeyError):
        run_agent([ADD], tools=[add], response_postprocessors=[seeing], tool_wrappers=[Raising("preprocess")])
    assert [(reason, error) for reason, _, error in seeing.endings] == [("error", "'bug'")]


class Signing(ResponsePostprocessor):
    """Replaces the text of a response."""

    def postprocess(
        self, agent: Any, ctx: Run, final_prompt: Any, llm_response: ChatCompletionResponse, llm: Any
    ) -> ChatCompletionResponse:
        signed = llm_response.model_copy(deep=True)
        signed.choices[0].message.content = f"{llm_response.choices[0].message.content} -- signed"
        return signed


@pytest.mark.parametrize("level", ["response_postprocessors", "iteration_postprocessors"])
def test_a_replaced_response_is_the_answer_and_what_the_conversation_keeps(level: str) -> None:
    result = run_agent([says("done")], **at(level, Signing()))
    assert (result.answer, result.success) == ("done -- signed", True)
    assert result.messages[-1].text == "done -- signed"


@pytest.mark.parametrize("level", ["response_postprocessors", "iteration_postprocessors"])
def test_the_draft_of_a_replaced_answer_is_withdrawn(level: str) -> None:
    async def scenario() -> list[object]:
        return [event async for event in agent_with([says("done")], **at(level, Signing())).stream("go")]

    events = asyncio.run(scenario())
    assert TextDiscarded() in events
    assert isinstance(events[-1], RunResult)
    assert events[-1].answer == "done -- signed"


def test_an_emptied_answer_is_no_success() -> None:
    class Empties(ResponsePostprocessor):
        def postprocess(self, agent: Any, ctx: Run, final_prompt: Any, llm_response: Any, llm: Any) -> Any:
            llm_response.choices[0].message.content = None
            return llm_response

    result = run_agent([says("done")], response_postprocessors=[Empties()])
    assert (result.answer, result.success) == ("", False)


# -- where wrappers may stand ---------------------------------------------------------------------------------------


def test_a_tool_wrapper_may_stand_among_the_plugins() -> None:
    log: list[str] = []
    run_agent([ADD, says("done")], tools=[add], plugins=[Noting("a", log)])
    assert log == ["a pre", "a post"]


@pytest.mark.parametrize(
    ("wrapper", "lists"),
    [
        (Both("a", []), ("llm_request_wrappers", "iteration_wrappers")),
        (Asking(lambda _: None), ("request_preprocessors", "iteration_preprocessors")),
        (Seeing(), ("response_postprocessors", "iteration_postprocessors")),
    ],
)
def test_a_wrapper_whose_level_is_not_known_is_an_error_that_names_the_lists(
    wrapper: object, lists: tuple[str, str]
) -> None:
    class Listening(type(wrapper)):  # type: ignore[misc]  # whatever it is
        @hookimpl
        def react_run_started(self) -> None: ...

    with pytest.raises(ConfigError):  # its hooks alone would be half of it
        run_agent([says("done")], plugins=[object.__new__(Listening)])
    with pytest.raises(ConfigError) as caught:
        run_agent([says("done")], plugins=[wrapper])
    assert all(name in str(caught.value) for name in lists)


class Opened(Component, ToolCallWrapper):
    """A wrapper with checked options and a life of its own."""

    suffix: str = "!"
    """What to add."""

    _events: list[str] = PrivateAttr(default_factory=list)

    async def open(self) -> None:
        self._events.append("open")

    async def close(self) -> None:
        self._events.append("close")

    def preprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: BaseModel) -> BaseModel:
        return tool_input

    def postprocess(self, agent: Any, ctx: Run, tool_name: str, tool_input: Any, tool_output: str) -> ToolCallResult:
        return ToolCallResult(output=tool_output + self.suffix)

    @hookimpl
    def react_run_started(self) -> None:
        self._events.append("hook")


def test_a_wrapper_with_hooks_is_opened_once_and_asked_as_both() -> None:
    wrapper = Opened(suffix="?")

    async def scenario() -> RunResult:
        async with agent_with([ADD, says("done")], tools=[add], tool_wrappers=[wrapper]) as agent:
            return await agent.run("go")

    assert asyncio.run(scenario()).steps[0].observation == "3?"
    assert wrapper._events == ["open", "hook", "close"]


def test_two_hundred_runs_at_once_mix_nothing() -> None:
    class Marks(ToolCallWrapper, LLMCallWrapper):
        def preprocess(self, agent: Any, ctx: Run, third: Any, fourth: Any) -> Any:
            return fourth if isinstance(third, str) else third

        def postprocess(self, agent: Any, ctx: Run, *rest: Any) -> Any:
            if isinstance(rest[0], str):
                return ToolCallResult(output=f"{ctx.prompt}:{rest[2]}", messages=[ctx.prompt])
            rest[1].choices[0].message.content += f"[{ctx.prompt}]"
            return rest[1]

    def number(request: Any) -> object:
        mark = int(request.messages[1].text)
        return calls(("add", {"a": mark, "b": 0})) if request.call == 1 else says(request.messages[3].text)

    marks = Marks()
    agent = agent_with(
        [number], tools=[add], tool_wrappers=[marks], iteration_wrappers=[marks], llm_request_wrappers=[marks]
    )

    async def scenario() -> list[RunResult]:
        return list(await asyncio.gather(*(agent.run(str(mark)) for mark in range(200))))

    for mark, result in enumerate(asyncio.run(scenario())):
        assert result.answer == f"{mark}:{mark}[{mark}][{mark}]"
        assert result.emitted == [str(mark)]
