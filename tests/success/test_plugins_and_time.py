"""Plugins that are slow, broken or in the way: deadlines hold, errors name who raised them, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from react_run import (
    ClarificationNeeded,
    Observation,
    Plugin,
    ReActAgent,
    RequestPreprocessor,
    ResponsePostprocessor,
    RunResult,
    ToolCallResult,
    ToolCallWrapper,
    ToolSkipResult,
    hookimpl,
    tool,
)
from react_run.cli.exit import ended
from react_run.models.scripted import ScriptedModel
from react_run.support.threads import run_blocking
from react_run.testing import agent_with, calls, run_agent, says


@tool(read_only=True)
def now() -> str:
    """Tell the time."""
    return "12:00"


# -- deadlines --------------------------------------------------------------------------------------------------------


class SlowGuide:
    @hookimpl
    async def react_guide(self, run: object) -> str:
        await asyncio.sleep(30)
        return "too late"


class BlockingGuide:
    @hookimpl
    def react_guide(self, run: object) -> str:
        time.sleep(3)
        return "too late"


class BlockingSensor:
    @hookimpl
    def react_sense(self, call: object) -> None:
        time.sleep(3)


class BlockingCheck:
    @hookimpl
    def react_check_answer(self, run: object, answer: str) -> None:
        time.sleep(3)


@pytest.mark.parametrize("plugin", [SlowGuide(), BlockingGuide(), BlockingSensor(), BlockingCheck()])
def test_a_time_limit_bounds_guides_sensors_and_checks(plugin: object) -> None:  # T2
    started = time.monotonic()
    result = run_agent([calls(("now", {})), "noon"], tools=[now], plugins=[plugin], run_timeout=0.2)
    assert (result.stop_reason, result.success) == ("timeout", False)
    assert time.monotonic() - started < 2.5


@pytest.mark.parametrize("plugin", [BlockingGuide(), BlockingSensor(), BlockingCheck()])
def test_a_blocking_plugin_holds_up_no_other_run(plugin: object) -> None:  # T2
    async def both() -> float:
        held = agent_with([calls(("now", {})), "noon"], tools=[now], plugins=[plugin], run_timeout=1.0)
        quick = agent_with([calls(("now", {})), "noon"], tools=[now])
        other = asyncio.ensure_future(held.run("go"))
        await asyncio.sleep(0)
        started = time.monotonic()
        await quick.run("go")
        taken = time.monotonic() - started
        await other
        return taken

    assert run_blocking(both()) < 0.8


@pytest.mark.parametrize("error", [GeneratorExit("g"), SystemExit(2), StopIteration(1)])
@pytest.mark.parametrize("is_async", [False, True])
def test_no_exception_of_a_tool_ends_the_run(error: BaseException, is_async: bool) -> None:  # T1
    async def later() -> str:
        """Fail."""
        raise error

    def at_once() -> str:
        """Fail."""
        raise error

    function = later if is_async else at_once
    result = run_agent([calls((function.__name__, {})), "it failed"], tools=[function])
    assert result.stop_reason == "completed"
    assert type(error).__name__ in result.steps[0].observation or isinstance(error, StopIteration)


@pytest.mark.parametrize("catches", ["asyncio.CancelledError", "BaseException"])
def test_a_tool_that_ignores_its_cancellation_leaves_no_noise(catches: str, tmp_path: Path) -> None:  # T2
    script = (
        "import asyncio\nfrom react_run import tool\nfrom react_run.testing import calls, run_agent\n"
        "ends = 0\n@tool(timeout=0.05)\nasync def stubborn() -> str:\n    'Wait.'\n    global ends\n"
        "    while ends < 50:\n        try:\n            await asyncio.sleep(10)\n"
        f"        except {catches}:\n            ends += 1\n    return ''\n"
        "print(run_agent([calls(('stubborn', {})), 'x'], tools=[stubborn]).stop_reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "completed\n"
    assert "never" not in done.stderr
    assert "pending" not in done.stderr


# -- errors name who raised them --------------------------------------------------------------------------------------


def boom(*_: object) -> None:
    raise RuntimeError("boom")


BROKEN = {
    "react_sense": (type("S", (Plugin,), {"react_sense": hookimpl(lambda self, call: boom())}), "the answer"),
    "react_guide": (type("G", (Plugin,), {"react_guide": hookimpl(lambda self, run: boom())}), ""),
    "react_tool_permit": (type("P", (Plugin,), {"react_tool_permit": hookimpl(lambda self, call: boom())}), ""),
    "react_settle": (type("T", (Plugin,), {"react_settle": hookimpl(lambda self, run: boom())}), ""),
}


@pytest.mark.parametrize("hook", BROKEN)
def test_an_error_of_a_plugin_names_it_and_carries_what_was_reached(hook: str) -> None:  # S6
    made = BROKEN[hook][0]
    with pytest.raises(RuntimeError, match="boom") as caught:
        run_agent([calls(("now", {})), "noon"], tools=[now], plugins=[made()])
    assert isinstance(caught.value.result, RunResult)  # type: ignore[attr-defined]  # what this is about
    assert any(hook in note and made.__name__ in note for note in caught.value.__notes__)


PLUGINS = """
from react_run import *
class P(ResponsePostprocessor):
    def postprocess(self, agent, ctx, final_prompt, llm_response, llm): raise RuntimeError("boom")
class G(Plugin):
    @hookimpl
    def react_tool_permit(self, call): raise PermissionError("policy file missing")
class S(Plugin):
    @hookimpl
    def react_sense(self, call): raise ValueError("bad sensor")
"""


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("response_postprocessors: [faulty.P]", "plugin 'P' in react_run failed: RuntimeError: boom"),
        ("plugins: [faulty.G]", "plugin 'G' in react_tool_permit failed: PermissionError: policy file missing"),
        ("plugins: [faulty.S]", "plugin 'S' in react_sense failed: ValueError: bad sensor"),
    ],
)
def test_the_command_line_names_a_broken_plugin_and_prints_what_there_is(
    tmp_path: Path, listed: str, told: str
) -> None:  # S6
    (tmp_path / "faulty.py").write_text(PLUGINS, encoding="utf-8")
    call = "{tool_calls: [{name: calculate, arguments: {expression: 2+2}}]}"
    (tmp_path / "f.yaml").write_text(
        f"model: {{kind: scripted, replies: [{call}, the answer is 4]}}\ntoolsets: [math]\n{listed}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "react_run", "--trust", "--no-save", "f.yaml", "q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert told in done.stderr
    assert "report it" not in done.stderr
    as_json = subprocess.run(
        [*command, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert json.loads(as_json.stdout)["error"]["result"]["iterations"] >= 1


# -- class-style wrappers ----------------------------------------------------------------------------------------------


class Caching(ToolCallWrapper):
    """The example of docs/plugins.md."""

    def __init__(self) -> None:
        self.cache: dict[str, str] = {}

    def preprocess(self, agent: Any, ctx: Any, tool_name: str, tool_input: Any) -> Any:
        key = f"{tool_name}:{tool_input.model_dump_json()}"
        return ToolSkipResult(output=self.cache[key]) if key in self.cache else tool_input

    def postprocess(self, agent: Any, ctx: Any, tool_name: str, tool_input: Any, tool_output: str) -> ToolCallResult:
        self.cache[f"{tool_name}:{tool_input.model_dump_json()}"] = tool_output
        return ToolCallResult(output=tool_output)


class Gate:
    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)

    @hookimpl
    def react_tool_permit(self, call: object) -> Observation | None:
        return None if self.answers.pop(0) else Observation(content="Error: denied")


@pytest.mark.parametrize("answers", [(True, False), (True, True), (False, True), (False, False)])
def test_a_cache_neither_passes_by_permission_nor_remembers_a_refusal(answers: tuple[bool, bool]) -> None:  # F6
    @tool
    def secret(x: int) -> str:
        """Tell it."""
        return "TOP SECRET"

    agent = agent_with(
        [calls(("secret", {"x": 1})), says("d")] * 2,
        tools=[secret],
        tool_wrappers=[Caching()],
        plugins=[Gate(*answers)],
    )
    got = ["TOP SECRET" in agent.run_sync("go").steps[0].observation for _ in answers]
    assert got == list(answers)


@pytest.mark.parametrize("error", [ConnectionError("down"), TimeoutError("late"), ValueError("odd"), OSError(5, "io")])
def test_a_cache_does_not_remember_a_failure(error: Exception) -> None:  # F4
    failures = [error]

    @tool(read_only=True)
    def fetch(x: int) -> str:
        """Fetch."""
        if failures:
            raise failures.pop()
        return "data"

    fetched = calls(("fetch", {"x": 1}))
    result = run_agent([fetched, fetched, says("d")], tools=[fetch], tool_wrappers=[Caching()])
    assert [step.observation.startswith("Error") for step in result.steps] == [True, False]
    assert result.steps[0].outcome is not None


class Excuse(Caching):
    def on_error(self, agent: Any, ctx: Any, tool_name: str, tool_input: Any, error: BaseException) -> str:
        return f"failed: {error}"


def test_a_wrapper_is_told_why_a_tool_ran_out_of_time() -> None:  # T2
    @tool(timeout=0.05)
    async def slow() -> str:
        """Wait."""
        await asyncio.sleep(30)
        return ""

    (step,) = run_agent([calls(("slow", {})), "d"], tools=[slow], tool_wrappers=[Excuse()]).steps
    assert "no answer within 0.05 seconds" in step.observation


def test_a_question_for_the_user_is_no_error_to_handle() -> None:  # F2
    @tool
    def book(city: str) -> str:
        """Book."""
        raise ClarificationNeeded(f"Which {city}?")

    asked = calls(("book", {"city": "Paris"}))
    result = run_agent([asked, says("Booked.")], tools=[book], tool_wrappers=[Excuse()])
    assert (result.stop_reason, result.success) == ("clarification_required", False)
    assert "Which Paris?" in result.answer


class Scribbles(ResponsePostprocessor):
    def __init__(self, returned: object) -> None:
        self.returned = returned

    def postprocess(self, agent: Any, ctx: Any, final_prompt: Any, llm_response: Any, llm: Any) -> Any:
        llm_response.choices[0].message.content = "changed"
        return llm_response if self.returned == "it" else self.returned


@pytest.mark.parametrize("level", ["response_postprocessors", "iteration_postprocessors"])
@pytest.mark.parametrize(("returned", "answer"), [(None, "as it was"), ([], "as it was"), ("it", "changed")])
def test_only_a_response_that_is_returned_counts(level: str, returned: object, answer: str) -> None:  # L1
    config: dict[str, Any] = {level: [Scribbles(returned)]}
    assert run_agent(["as it was"], **config).answer == answer


class Sends(ResponsePostprocessor):
    def __init__(self, *messages: object) -> None:
        self.messages = list(messages)

    def postprocess(self, *_: Any, **__: Any) -> Any:
        return self.messages


@pytest.mark.parametrize("message", [{"kind": "note"}, "a word", {"role": "user", "content": "hi"}])
def test_what_plugins_send_along_reaches_every_reader(message: object) -> None:  # L9
    result = run_agent(["a"], response_postprocessors=[Sends(message)])
    assert result.emitted == [message]
    assert result.to_dict()["emitted"] == [message]
    assert json.dumps(message) in json.dumps(result.response.model_dump(mode="json"))


class Hides(RequestPreprocessor):
    def __init__(self, name: str, choice: str | None = None) -> None:
        self.name, self.choice = name, choice

    def preprocess(self, agent: Any, ctx: Any, request: Any, llm: Any) -> Any:
        request.tools = [each for each in request.tools or () if each["function"]["name"] != self.name]
        return request


CONVERT = ("convert_units", {"value": 1, "from_unit": "km", "to_unit": "m"})


@pytest.mark.parametrize(
    ("config", "hidden", "runs"),
    [
        ({"iteration_preprocessors": [Hides("convert_units")]}, "convert_units", False),
        ({"request_preprocessors": [Hides("convert_units")]}, "convert_units", False),
        ({"iteration_preprocessors": [Hides("calculate")]}, "calculate", True),
    ],
)
def test_a_tool_that_a_request_left_out_does_not_run(config: dict[str, Any], hidden: str, runs: bool) -> None:  # D3
    agent = agent_with([calls(CONVERT), says("x")], toolset="math", **config)
    (step,) = agent.run_sync("q").steps
    assert step.executed is runs
    assert isinstance(agent.model, ScriptedModel)
    assert hidden not in [offered.name for offered in agent.model.requests[0].tools]


def test_the_verbose_command_line_shows_what_a_sensor_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # G2
    monkeypatch.chdir(tmp_path)
    call = '{tool_calls: [{name: write_file, arguments: {path: a.py, content: "def f(:"}}]}'
    (tmp_path / "f.yaml").write_text(
        f"model: {{kind: scripted, replies: [{call}, done, done]}}\n"
        "toolsets: [{kind: files, read_only: false}]\nplugins: [syntax_sensor]\n",
        encoding="utf-8",
    )
    ended(["--trust", "--no-save", "-v", "f.yaml", "q"])
    assert "sensor_block: write_file" in capsys.readouterr().err


def test_models_given_as_objects_have_protocol_and_fallbacks() -> None:  # H5, S6
    refusing = ScriptedModel(replies=[{"error": {"status": 401, "message": "no"}}])
    reserve = {"kind": "scripted", "replies": ["from the reserve"]}
    assert ReActAgent({"fallback_models": [reserve]}, model=refusing).run_sync("q").answer == "from the reserve"
    model = ScriptedModel(replies=['{"tool": "calculate", "arguments": {"expression": "2+2"}}', "It is 4."])
    result = ReActAgent({"tool_protocol": "text", "toolsets": ["math"]}, model=model).run_sync("q")
    assert ([step.action for step in result.steps], model.requests[0].tools) == (["calculate"], ())
    again = ReActAgent({"fallback_models": [reserve]}, model=ScriptedModel(replies=["first"])).replace()
    assert again.replace().run_sync("q").answer == "first"
