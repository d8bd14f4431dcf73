"""What sensors say, and what becomes of it (behaviour G2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from react_run import Observation, PluginError, Run, Signal, StopReason, ToolCall, hookimpl, tool
from react_run.engine.sensors import SHOWN
from react_run.testing import agent_with, calls, says

FIX = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-teh end\n+the end\n"


@tool(read_only=False)
def write(text: str) -> str:
    """Write a note."""
    return f"wrote {text}"


@tool(read_only=True)
def look(name: str) -> str:
    """Read a note."""
    return Path(name).read_text()


class Sensor:
    """Says what it was told to, for each word in the arguments."""

    def __init__(self, **signals: Signal | list[Signal]) -> None:
        self.signals = signals
        self.asked: list[str] = []

    @hookimpl
    def react_sense(self, run: Run, call: ToolCall, observation: Observation) -> Signal | list[Signal] | None:
        word = str(next(iter(call.arguments.values())))
        self.asked.append(f"{call.name} {word}: {observation.content}")
        return self.signals.get(word)


BLOCK = Signal(severity="block", message="no such word", hint="use another", location="notes.txt:3")
WARN = Signal(severity="warn", message="long line", location="notes.txt:7")
HINT = Signal(severity="hint", message="there is a shorter way")


def run(replies: Sequence[object], *sensors: Sensor, where: Path | None = None, **options: Any) -> Any:
    agent = agent_with(replies, tools=[write, look], plugins=sensors, **options)
    if where is not None:
        agent.workspace = where
    return agent.run_sync("go"), agent.model


def test_the_model_sees_hint_and_location_of_a_block_in_the_next_request() -> None:
    result, model = run(
        [calls(("write", {"text": "bad"})), calls(("write", {"text": "good"})), says("ok")], Sensor(bad=BLOCK)
    )
    seen = model.requests[1].messages[-1].text
    assert seen == "wrote bad\n\n[block] notes.txt:3: no such word\n  Hint: use another"
    first, second = result.steps
    assert (first.error_code, first.failed, second.failed) == ("sensor_blocked", True, False)
    assert first.outcome.message == "no such word"
    assert result.success  # made good by the second call


def test_a_block_that_is_ignored_is_no_success() -> None:  # F6
    result, _ = run([calls(("write", {"text": "bad"})), says("all done")], Sensor(bad=BLOCK))
    assert not result.success
    assert result.stop_reason == StopReason.UNRESOLVED_TOOL_FAILURE
    assert result.unverified_answer == "all done"


def test_other_arguments_are_a_new_attempt_and_the_same_ones_are_not() -> None:  # F1
    sensor = Sensor(a=BLOCK, b=BLOCK, c=BLOCK)
    attempts = [calls(("write", {"text": word})) for word in "abcd"]
    assert run([*attempts, says("ok")], sensor)[0].success
    again = [calls(("write", {"text": "a"}))] * 3
    assert run([*again, says("ok")], sensor)[0].stop_reason == StopReason.TOOL_RETRY_EXHAUSTED


def test_warnings_and_hints_leave_the_call_as_it_is() -> None:
    result, model = run([calls(("write", {"text": "x"})), says("ok")], Sensor(x=[WARN, HINT]))
    assert result.success
    assert not result.steps[0].failed
    text = "wrote x\n\n[warn] notes.txt:7: long line\n[hint] there is a shorter way"
    assert model.requests[1].messages[-1].text == text


def test_a_warning_is_given_once_and_then_counted_as_standing() -> None:
    sensors = Sensor(a=[WARN, HINT], b=WARN, c=[WARN, HINT])
    replies = [calls(("write", {"text": "a"}), ("write", {"text": "b"})), calls(("write", {"text": "c"})), says("ok")]
    result, _ = run(replies, sensors)
    first, second, third = (step.observation for step in result.steps)
    assert first.count("long line") == 1
    assert second == "wrote b"  # same iteration: it has just been said
    assert third == "wrote c\n\n[still standing, as told before: 2 warnings]"


def test_every_executed_call_is_sensed_in_request_order_and_no_other() -> None:
    sensor = Sensor()
    run([calls(("write", {"text": "a"}), ("nowhere", {}), ("write", {}), ("write", {"text": "b"})), says("ok")], sensor)
    assert sensor.asked == ["write a: wrote a", "write b: wrote b"]


@pytest.mark.parametrize(
    ("answer", "given"), [("text", "str"), (["text"], "str in a list"), ((None,), "NoneType in a tuple")]
)
def test_what_is_no_signal_ends_the_run_and_names_its_sensor(answer: Any, given: str) -> None:
    with pytest.raises(PluginError, match=f"answered react_sense with {given}; allowed answers: Signal, list"):
        run([calls(("write", {"text": "x"})), says("ok")], Sensor(x=answer))


def test_all_sensors_are_heard() -> None:
    result, _ = run([calls(("write", {"text": "x"})), says("ok")], Sensor(x=BLOCK), Sensor(x=WARN))
    assert "no such word" in result.steps[0].observation
    assert "long line" in result.steps[0].observation


def test_what_is_too_long_to_show_is_shortened_and_says_so() -> None:
    result, _ = run(
        [calls(("write", {"text": "x"})), says("ok")], Sensor(x=Signal(severity="warn", message="m" * 9000))
    )
    assert "[5,000 more characters]" in result.steps[0].observation
    assert len(result.steps[0].observation) < SHOWN + 200


def test_a_signal_outlasts_the_ceiling_of_results() -> None:  # T4
    @tool
    def big(text: str) -> str:
        """Say a lot."""
        return text * 50_000

    agent = agent_with([calls(("big", {"text": "x"})), says("ok")], tools=[big], plugins=[Sensor(x=BLOCK)], spill=False)
    step = agent.run_sync("go").steps[0]
    assert step.observation.endswith("[block] notes.txt:3: no such word\n  Hint: use another")
    assert len(step.observation) < 30_000


# -- patches ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("teh end\n")
    return tmp_path / "notes.txt"


@pytest.mark.parametrize("severity", ["block", "warn"])
def test_a_patch_is_applied_first_and_the_model_is_told_what_changed(notes: Path, severity: Any) -> None:
    signal = Signal(severity=severity, message="a typing error", location="notes.txt:1", patch=FIX)
    result, model = run([calls(("write", {"text": "x"})), says("ok")], Sensor(x=signal), where=notes.parent)
    assert notes.read_text() == "the end\n"
    seen = model.requests[1].messages[-1].text
    assert "[corrected] notes.txt:1: a typing error\n  Changed for you: notes.txt (+1 -1)." in seen
    assert result.success
    assert not result.steps[0].failed


@pytest.mark.parametrize(
    "patch",
    [
        FIX.replace("teh", "het"),
        FIX.replace("notes.txt", "../outside.txt"),
        "no patch at all",
        FIX.replace("notes", "none"),
    ],
)
def test_a_patch_that_cannot_be_made_delivers_its_signal_unpatched(notes: Path, patch: str) -> None:
    outside = notes.parent.parent / "outside.txt"
    outside.write_text("teh end\n")
    signal = Signal(severity="block", message="a typing error", hint="read it again", patch=patch)
    result, _ = run([calls(("write", {"text": "x"})), says("ok")], Sensor(x=signal), where=notes.parent)
    assert (notes.read_text(), outside.read_text()) == ("teh end\n", "teh end\n")
    seen = result.steps[0].observation
    assert "[block] a typing error\n  Hint: read it again\n  This change was suggested, but could not be made" in seen
    assert patch.strip() in seen
    assert result.steps[0].error_code == "sensor_blocked"


def test_what_was_read_before_a_patch_is_read_again(notes: Path) -> None:  # F4
    signal = Signal(severity="warn", message="a typing error", patch=FIX)
    read = calls(("look", {"name": str(notes)}))
    replies = [read, calls(("look", {"name": "patch"})), read, says("ok")]

    @tool(read_only=True)
    def look(name: str) -> str:
        """Read a note, which changes nothing."""
        return notes.read_text()

    agent = agent_with(replies, tools=[look], plugins=[Sensor(patch=signal)])
    agent.workspace = notes.parent
    first, _, second = agent.run_sync("go").steps
    assert (first.observation, second.observation, second.executed) == ("teh end\n", "the end\n", True)


def test_everything_that_a_sensor_did_is_noted(notes: Path) -> None:
    guards: list[str] = []

    class Listener:
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            guards.append(f"{guard} {detail}")

    signals = [Signal(severity="warn", message="m", patch=FIX), Signal(severity="warn", message="m", patch=FIX), BLOCK]
    agent = agent_with(
        [calls(("write", {"text": "x"})), says("ok")], tools=[write], plugins=[Sensor(x=signals), Listener()]
    )
    agent.workspace = notes.parent
    agent.run_sync("go")
    assert [line.partition(" ")[0] for line in guards][:3] == ["sensor_patch", "sensor_unpatched", "sensor_block"]
    assert "notes.txt (+1 -1)" in guards[0]
