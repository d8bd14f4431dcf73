"""Conversations that outgrow the model's context (behaviours S6, S7, H2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from react_run import Message, ModelError, ModelRequest, ReActAgent, RunResult, Tool, hookimpl
from react_run.engine.context import BYTES_PER_TOKEN, Gauge, size_in_bytes
from react_run.models.scripted import ScriptedModel
from react_run.policies.conversation import Conversation, Mover
from react_run.policies.summary import outline, question
from react_run.testing import Functions, calls, says

WINDOW = 16_000
PROMPT = "Add up the numbers of all pages. Constraint: answer in base seven, and say 'in base seven'."


def fetch(page: int) -> str:
    """Fetch a page."""
    return f"page {page}: number {page * page}. " + "lorem ipsum " * 150


def summing(request: ModelRequest) -> object:
    """Fetches 60 pages, then answers from what the conversation still says about the user's constraint."""
    if request.messages[0].text.startswith("Summarise"):
        found = re.findall(r"number (\d+)|summed so far: (\d+)", request.messages[-1].text)
        return says(f"summed so far: {sum(int(one or other) for one, other in found)}")
    done = sum(message.role == "assistant" for message in request.messages)
    assert done <= 60
    page = max([0, *[int(n) for n in re.findall(r"page (\d+):", "".join(m.text for m in request.messages))]]) + 1
    if page <= 60:
        return calls(("fetch", {"page": page}), text="I think. " * 60)
    constraint = next(message.text for message in request.messages if "Constraint" in message.text)
    return says(f"done {constraint.rpartition('answer ')[2][:13]}")


def run(replies: Sequence[object], prompt: str = PROMPT, window: int | None = WINDOW, **options: Any) -> RunResult:
    model = ScriptedModel(replies=replies, window=window)
    tools = Functions(functions=[Tool.from_function(fetch, inline=True)])
    options.setdefault("max_iterations", 100)
    agent = ReActAgent(options, model=model, toolsets=[tools])
    result = agent.run_sync(prompt)
    for request in model.requests:
        assert tokens(request.messages) <= (window or 10**9)
        assert request.messages[0].role == "system"
    return result


def tokens(messages: Sequence[Message]) -> float:
    return size_in_bytes(messages) / BYTES_PER_TOKEN


def test_sixty_iterations_fit_a_small_window_and_the_constraint_survives(workspace: Path) -> None:
    result = run([summing])
    assert result.answer == "done in base seven"
    assert result.success
    assert len(result.steps) == 60
    assert result.messages[1].text == PROMPT
    assert "summed so far" in result.messages[2].text


def test_each_call_keeps_its_result_and_the_last_iterations_stay_word_for_word(workspace: Path) -> None:
    result = run([summing])  # the scripted model refuses requests with orphans
    asked = [request.id for message in result.messages for request in message.tool_requests]
    given = [message.tool_request_id for message in result.messages if message.role == "tool"]
    assert asked == given
    last = [message.text for message in result.messages if message.role == "tool"][-3:]
    assert last == [fetch(page) for page in (58, 59, 60)]


def test_older_results_move_out_before_anything_is_summarised(workspace: Path) -> None:
    replies = [*[calls(("fetch", {"page": page})) for page in range(1, 31)], says("done")]
    result = run(replies)
    texts = [message.text for message in result.messages if message.role == "tool"]
    assert len(texts) == 30
    assert "this older result was moved to .react-run/" in texts[0]
    assert texts[0].startswith("page 1: number 1.")
    saved = [path.read_text() for path in workspace.rglob("*.txt")]
    assert fetch(1) in saved
    assert not any("Summary of the work" in message.text for message in result.messages)


def test_without_spill_older_results_are_dropped_and_say_so(workspace: Path) -> None:
    replies = [*[calls(("fetch", {"page": page})) for page in range(1, 31)], says("done")]
    result = run(replies, limits={"spill": False})
    assert "was dropped to make room" in next(m.text for m in result.messages if m.role == "tool")
    assert list(workspace.iterdir()) == []


def test_a_model_that_gives_no_summary_leaves_an_outline(workspace: Path) -> None:
    def mute(request: ModelRequest) -> object:
        if request.messages[0].text.startswith("Summarise"):
            return {"error": {"status": 400, "message": "no"}}
        return summing(request)

    result = run([mute])
    assert result.answer == "done in base seven"
    assert any("calls fetch" in message.text for message in result.messages if message.role == "user")


def test_an_overflow_nobody_foresaw_compacts_once_and_goes_on(workspace: Path) -> None:
    def small(request: ModelRequest) -> object:
        if tokens(request.messages) > 9_000:
            return {"error": {"status": 400, "message": "too long", "code": "context_overflow"}}
        return summing(request)

    assert run([small], window=None).answer == "done in base seven"


def test_another_error_is_no_reason_to_make_room(workspace: Path) -> None:
    wrong = {"error": {"status": 400, "message": "bad schema", "code": "invalid_request"}}
    with pytest.raises(ModelError, match="bad schema") as caught:
        run([calls(("fetch", {"page": 1})), wrong, says("never")])
    assert caught.value.result is not None
    assert caught.value.result.messages[-1].text == fetch(1)


def test_an_overflow_that_compaction_does_not_cure_ends_the_run(workspace: Path) -> None:
    overflow = {"error": {"status": 400, "message": "too long", "code": "context_overflow"}}
    with pytest.raises(ModelError, match="too long") as caught:
        run([calls(("fetch", {"page": 1})), overflow, overflow, says("never")])
    assert caught.value.result is not None
    assert len(caught.value.result.steps) == 1


def test_one_iteration_that_is_too_long_alone_is_shortened_too(workspace: Path) -> None:
    many = calls(*[("fetch", {"page": page}) for page in range(1, 40)])
    result = run([many, says("done")])
    assert result.answer == "done"


def test_earlier_turns_lose_their_results_but_not_what_the_user_said(workspace: Path) -> None:
    turn = [
        [Message(role="user", content=f"question {n}"), Message(role="assistant", content=f"answer {n} " + "x" * 3_000)]
        for n in range(20)
    ]
    model = ScriptedModel(replies=[says("a summary"), says("done")], window=WINDOW)
    result = ReActAgent(None, model=model).run_sync("last", messages=[message for pair in turn for message in pair])
    said = [message.text for message in result.messages if message.role == "user"]
    assert said[:21] == [*[f"question {n}" for n in range(20)], "last"]
    assert "a summary" in said[21]
    assert result.answer == "done"


def test_a_gauge_looks_at_each_message_once_and_learns_from_the_provider() -> None:
    messages = [Message(role="user", content="x" * 400)]
    gauge = Gauge()
    first = gauge.measure(ModelRequest(messages=messages))
    messages.append(Message(role="user", content="é" * 400))
    second = gauge.measure(ModelRequest(messages=messages))
    assert (first, second) == (104, 308)
    gauge.correct(616)
    assert gauge.measure(ModelRequest(messages=messages)) == 616
    gauge.correct(None)
    assert gauge.measure(ModelRequest(messages=messages[:1])) == 208


@pytest.mark.parametrize(("counted", "notes"), [(50, 0), (9_000, 1)])
def test_the_count_of_the_provider_decides_when_room_is_made(counted: int, notes: int, workspace: Path) -> None:
    class Noted:
        @hookimpl
        def react_guard_fired(self, guard: str) -> None:
            fired.append(guard)

    fired: list[str] = []
    page = calls(("fetch", {"page": 1}), usage={"input_tokens": counted, "output_tokens": 1})
    model = ScriptedModel(replies=[page, says("done")], window=2_400)
    tools = Functions(functions=[Tool.from_function(fetch, inline=True)])
    agent = ReActAgent({"system_prompt": "s"}, model=model, toolsets=[tools], plugins=[Noted()])
    assert agent.run_sync("p").answer == "done"
    assert fired.count("compaction") == notes


def conversation(iterations: int) -> Conversation:
    messages = [Message(role="system", content="s"), Message(role="user", content="u")]
    for n in range(iterations):
        messages.append(Message(role="assistant", content=f"thought {n}"))
        messages.append(Message(role="tool", content="r" * 2_000, tool_request_id=f"c{n}"))
    return Conversation.of(messages, 2)


@pytest.mark.parametrize("iterations", range(6))
@pytest.mark.parametrize("keep", range(1, 5))
def test_iterations_are_replaced_whole(iterations: int, keep: int) -> None:
    parts = conversation(iterations)
    before = parts.messages
    older = parts.older(keep)
    assert len(older) == 2 * max(0, iterations - keep)
    parts.replace_older(keep, "short")
    kept = 2 * min(iterations, keep)
    assert parts.messages[:2] == before[:2]
    assert parts.messages[3:] == before[len(before) - kept :]


def test_what_is_asked_about_older_iterations_is_bounded_and_leaves_no_message_out() -> None:
    older = conversation(50).messages[2:]
    for number, message in enumerate(older):
        older[number] = replace(message, content=f"mark {number}. {message.text}")
    earlier = Message(role="user", content="an earlier summary " * 50)
    system, user = question([earlier, *older], 30_000)
    assert (system.role, user.role) == ("system", "user")
    assert len(user.text) <= 31_000
    assert earlier.text in user.text
    assert all(f"mark {number}. " in user.text for number in range(len(older)))
    assert outline(older).count("\n") == len(older) - 1


def test_a_moved_result_is_moved_once(workspace: Path, fired: Any) -> None:
    from react_run import Run, hookimpl
    from react_run.testing import agent_with

    class Move:
        @hookimpl
        def react_run(self, run: Run) -> None:
            mover = Mover(run)
            message = Message(role="tool", content="r" * 2_000, tool_request_id="c1")
            moved = mover.moved(message)
            assert moved.tool_request_id == "c1"
            assert mover.moved(moved) is moved
            assert mover.moved(message) == moved

    agent_with(["hi"], plugins=[Move()]).run_sync("go")
    assert len(list(workspace.rglob("*.txt"))) == 1


def test_images_of_older_results_move_out_and_are_named(workspace: Path) -> None:
    from tests.pictures import png

    from react_run import ImagePart

    photo = ImagePart(png(), name="photo.png")

    def photograph() -> ImagePart:
        """Take a photograph."""
        return photo

    replies = [*[calls(("photograph", {}))] * 6, says("done")]
    model = ScriptedModel(replies=replies, window=7_000, reads=["image/*"])
    tool = Tool.from_function(photograph, repeatable=True)
    ReActAgent({}, model=model, toolsets=[tool]).run_sync("Look six times.")
    shown = [message for message in model.requests[-1].messages if message.role == "tool"]
    kept = [message for message in shown if not isinstance(message.content, str)]
    assert 0 < len(kept) < 6
    moved = [message.text for message in shown if isinstance(message.content, str)]
    assert all("photo.png" in text and "no longer shown, saved as .react-run/runs/" in text for text in moved)
    (saved,) = workspace.rglob("attachments/*.png")
    assert saved.read_bytes() == photo.data


def test_a_summary_that_does_not_fit_either_is_asked_for_once(workspace: Path, fired: Any) -> None:
    asked: list[int] = []

    def narrow(request: ModelRequest) -> object:
        if request.messages[0].text.startswith("Summarise"):
            asked.append(len(request.messages))
            assert len(asked) < 100, "a summary of a summary"
            return {"error": {"status": 400, "message": "too long", "code": "context_overflow"}}
        return summing(request)

    result = run([narrow], plugins=[fired])
    assert any("calls fetch" in message.text for message in result.messages if message.role == "user")
    assert sum(detail.startswith("no summary") for _, detail in fired.details) == len(asked) > 0


def test_no_room_is_made_for_the_question_about_a_long_summary(workspace: Path) -> None:
    """It contains the earlier summary whole, and is sent as it is, however full the window gets."""
    asked: list[float] = []

    def wordy(request: ModelRequest) -> object:
        if request.messages[0].text.startswith("Summarise"):
            asked.append(tokens(request.messages))
            return says("word " * 10_000 if len(asked) == 1 else "few words")
        return summing(request)

    assert run([wordy]).answer == "done in base seven"
    assert asked[1] > 0.75 * WINDOW
