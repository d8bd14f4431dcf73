"""What is left of a run that an exception ends (behaviours S6, F5, H3)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from react_run import ModelError, Run, RunResult, StopReason, hookimpl, tool
from react_run.errors import blamed, result_left
from react_run.testing import agent_with, calls, run_agent, says


@tool(read_only=True)
def look() -> str:
    """Look."""
    return "seen"


class Raises:
    """Raises in one hook."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class InRun(Raises):
    @hookimpl
    async def react_run(self, run: Run, proceed: Any) -> RunResult:
        await proceed()
        raise self.error


class InSettle(Raises):
    @hookimpl
    def react_settle(self) -> None:
        raise self.error


class InPermit(Raises):
    @hookimpl
    def react_tool_permit(self) -> None:
        raise self.error


class InSense(Raises):
    @hookimpl
    def react_sense(self) -> None:
        raise self.error


class InCheck(Raises):
    @hookimpl
    def react_check_answer(self) -> None:
        raise self.error


class InGuide(Raises):
    @hookimpl
    def react_guide(self) -> None:
        raise self.error


@pytest.mark.parametrize("kind", [InRun, InSettle, InPermit, InSense, InCheck, InGuide])
def test_every_exception_that_ends_a_run_names_its_plugin_and_has_the_result(kind: type[Raises]) -> None:  # S6
    with pytest.raises(PermissionError) as failed:
        run_agent([calls(("look", {})), says("done")], tools=[look], plugins=[kind(PermissionError("policy missing"))])
    result = result_left(failed.value)
    assert result is not None
    assert (result.stop_reason, result.success) == (StopReason.ERROR, False)
    assert blamed(failed.value).startswith(f"plugin '{kind.__name__}' in react_")


def test_the_answer_that_was_ready_is_left() -> None:  # S6
    with pytest.raises(RuntimeError) as failed:
        run_agent([calls(("look", {})), says("345")], tools=[look], plugins=[InRun(RuntimeError("boom"))])
    result = result_left(failed.value)
    assert result is not None
    assert (result.answer, len(result.steps), result.usage.requests) == ("345", 1, 2)


def test_a_journal_that_cannot_be_written_leaves_the_result() -> None:  # S6
    from react_run import JournalError, MemorySink, Recorder

    class Full(MemorySink):
        def write(self, record: Any, text: str) -> None:
            if record["type"] == "tool_finished":
                raise JournalError("the disk is full")
            super().write(record, text)

    agent = agent_with([calls(("look", {})), says("done")], tools=[look])
    with pytest.raises(JournalError) as failed:
        agent.replace(journal=Recorder.into(Full())).run_sync("go")
    left = result_left(failed.value)
    assert left is not None
    assert left.usage.requests == 1


def test_verified_results_are_kept_when_the_provider_fails() -> None:  # F5
    bad = {"error": {"status": 400, "message": "bad"}}
    with pytest.raises(ModelError) as failed:
        run_agent([calls(("calculate", {"expression": "2+2"})), bad], toolset="math")
    assert failed.value.result is not None
    assert failed.value.result.answer.startswith("Verified results:\n- 2+2 = 4\n\nUnresolved:\n- The model's provider")
    with pytest.raises(ModelError) as failed:
        run_agent([bad], toolset="math")
    assert failed.value.result is not None
    assert failed.value.result.answer == ""


def test_a_cancelled_run_leaves_its_result() -> None:  # S6
    async def scenario() -> BaseException:
        started = asyncio.Event()

        @tool(read_only=True)
        async def hang() -> str:
            """Hang."""
            started.set()
            await asyncio.Event().wait()
            return ""

        task = asyncio.ensure_future(agent_with([calls(("hang", {}))], tools=[hang]).run("go"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        return cancelled.value

    left = result_left(asyncio.run(scenario()))
    assert left is not None
    assert (left.stop_reason, left.iterations) == (StopReason.CANCELLED, 1)


PLUGIN = """
from react_run import ResponsePostprocessor, Plugin, hookimpl

class P(ResponsePostprocessor):
    def postprocess(self, agent, ctx, final_prompt, llm_response, llm):
        raise RuntimeError("boom")

class G(Plugin):
    @hookimpl
    def react_settle(self, run):
        raise PermissionError("policy file missing")
"""


@pytest.mark.parametrize(
    ("lines", "answer", "said"),
    [
        (
            "response_postprocessors: [p.P]\n",
            "the answer is 345\n",
            "plugin 'P' in react_run failed: RuntimeError: boom",
        ),
        (
            "toolset: math\nplugins: [p.G]\n",
            "",
            "plugin 'G' in react_settle failed: PermissionError: policy file missing",
        ),
    ],
)
def test_the_command_line_names_the_plugin_and_keeps_the_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: str,
    answer: str,
    said: str,
) -> None:  # S6
    from react_run.cli.exit import ended

    (tmp_path / "p.py").write_text(PLUGIN)
    calculate = '{tool_calls: [{name: calculate, arguments: {expression: "1+1"}}]}, ' if "math" in lines else ""
    (tmp_path / "f.yaml").write_text(f"model: {{kind: scripted, replies: [{calculate}the answer is 345]}}\n{lines}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert ended(["--trust", "f.yaml", "q"]) == 1
    shown = capsys.readouterr()
    assert said in shown.err
    assert "report" not in shown.err
    if answer:
        assert shown.out == answer
