"""Thinking that stands in the text of a reply: neither answer nor call, and never shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from react_run import ReActAgent, RunResult, TextDelta, TextDiscarded
from react_run.support.thinking import heard, split_thinking
from react_run.support.visible_draft import VisibleDraft
from react_run.testing import agent_with, calls, run_agent, says

ANALYSIS, FINAL = "<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"
SPLITS = [
    ("plain", "", "plain"),
    ("", "", ""),
    ("<think>a</think>b", "<think>a</think>", "b"),
    ("\n<think>\na\n</think>\n\nb", "\n<think>\na\n</think>\n\n", "b"),
    ("<THINKING>a</THINKING> b", "<THINKING>a</THINKING> ", "b"),
    ("<reasoning>a</reasoning>b", "<reasoning>a</reasoning>", "b"),
    ("<seed:think>a</seed:think>b", "<seed:think>a</seed:think>", "b"),
    ("[THINK]a[/THINK]b", "[THINK]a[/THINK]", "b"),
    ("◁think▷a◁/think▷b", "◁think▷a◁/think▷", "b"),
    ("<think>a</think><think>c</think>b", "<think>a</think><think>c</think>", "b"),
    ("<|begin_of_thought|>a<|end_of_thought|>b", "<|begin_of_thought|>a<|end_of_thought|>", "b"),
    ("<|begin_of_thought|>cut", "<|begin_of_thought|>cut", ""),
    (f"{ANALYSIS}a<|end|>{FINAL}b", f"{ANALYSIS}a<|end|>{FINAL}", "b"),
    (f"{ANALYSIS}cut<|end|>", f"{ANALYSIS}cut<|end|>", ""),
    ("<|im_start|>b", "", "<|im_start|>b"),
    ("<|channel|>analyses", "", "<|channel|>analyses"),
    ("<think>a<think>b</think>c</think>d", "<think>a<think>b</think>c</think>", "d"),
    ("<think>\n<think>\na</think>b", "<think>\n<think>\na</think>", "b"),
    ("<think>a `<think>` c</think>b", "<think>a `<think>` c</think>", "b"),
    ("<think>a <think> c</think>b", "<think>a <think> c</think>", "b"),
    ("<think>a<think>b</think>c<think>d</think>e</think>f", "<think>a<think>b</think>c<think>d</think>e</think>", "f"),
    ("<Think>a<think n='1'>b</THINK>c</think >d", "<Think>a<think n='1'>b</THINK>c</think >", "d"),
    ("<think>a<reason>b</think>c", "<think>a<reason>b</think>", "c"),
    ("[THINK]a[THINK]b[/THINK]c[/THINK]d", "[THINK]a[THINK]b[/THINK]c[/THINK]", "d"),
    ("◁think▷a◁think▷b◁/think▷c◁/think▷d", "◁think▷a◁think▷b◁/think▷c◁/think▷", "d"),
    (f"{ANALYSIS}a<|end|>{ANALYSIS}c<|end|>{FINAL}b", f"{ANALYSIS}a<|end|>{ANALYSIS}c<|end|>{FINAL}", "b"),
    ("<think>cut", "<think>cut", ""),
    ("<think></think>", "<think></think>", ""),
    ("a\n</think>\nb", "a\n</think>\n", "b"),
    ('a</think>{"b": 1}', "a</think>", '{"b": 1}'),
    ("a</think>", "a</think>", ""),
    ("Write `</think>` at the end.", "", "Write `</think>` at the end."),
    ("A <think>b</think> c\n", "", "A <think>b</think> c\n"),
    ("<b>bold</b>", "", "<b>bold</b>"),
    ("[1, 2]", "", "[1, 2]"),
    ("<thinker>x", "", "<thinker>x"),
]


@pytest.mark.parametrize(("text", "thinking", "rest"), SPLITS)
def test_thinking_at_the_beginning_is_split_off(text: str, thinking: str, rest: str) -> None:
    assert split_thinking(text) == (thinking, rest)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(("text", "rest"), [(text, rest) for text, _, rest in SPLITS])
def test_a_draft_shows_the_same_wherever_it_is_cut(text: str, rest: str, size: int) -> None:
    draft, shown = VisibleDraft(), ""
    for start in range(0, len(text), size):
        withdrawn, piece = draft.feed(text[start : start + size])
        shown = piece if withdrawn else shown + piece
    withdrawn, piece = draft.end()
    assert (piece if withdrawn else shown + piece) == rest


HEARD = [
    ("x <a:think>1</A:think > [THINK]2[/THINK] ◁think▷3◁/think▷ y", "x y"),
    ("<think>a</think>b <think>c</think> d", "b d"),
    ("<think>a<think>b</think>c</think>d", "d"),
    ("<think>a<think>b<think>c</think>d</think>e</think>f", "f"),
    ("x <think>a<think>b</think>c</think> d", "x d"),
    ("x <think a='1'>b</think> c", "x c"),
    ("<think>a<thinking>b</thinking>c</think>d", "d"),
    ("<think>a<thinking>b</think>c", "c"),
    ("<think>\n<think>\na</think>b", "b"),
    ("<think>a `<think>` b</think>c", "c"),
    ("[THINK]a[THINK]b[/THINK]c[/THINK]d", "d"),
    ("<|begin_of_thought|>a<|begin_of_thought|>b<|end_of_thought|>c<|end_of_thought|>d", "d"),
    (f"{ANALYSIS}a{ANALYSIS}b<|channel|>final<|message|>c", "c"),
    ("a <think>b", "a"),
    ("<think>a<think>b</think>c", ""),
    ("a <reason>b", "a"),
    ("a no.</think> b", "b"),
    ("<think>a</think>b</think>c", "c"),
    ("x <think>a</thought>b", "x"),
    ("a `</think>` b", "a `</think>` b"),
    ('{"a": "<think>b</think>"} c', '{"a": "<think>b</think>"} c'),
]


@pytest.mark.parametrize(("text", "rest"), HEARD)
def test_in_doubt_no_thinking_is_heard(text: str, rest: str) -> None:
    said = heard(text, lambda text, start: text.find("}", start) + 1)
    assert said.text.split() == rest.split()
    assert len(said.text) == len(text)


def test_blanks_and_long_thinking_in_pieces_are_shown_as_in_one() -> None:
    for text, rest in [("  \n plain", "  \n plain"), (f"<think>{'a' * 5_000}</think>\n\nb", "b"), (" <think>a", "")]:
        draft, shown = VisibleDraft(), ""
        for one in text:
            shown += draft.feed(one)[1]
        assert shown + draft.end()[1] == rest


def answered(*replies: Any, **options: Any) -> RunResult:
    return run_agent([*replies], **options)


def test_thinking_is_kept_in_the_messages_and_left_out_of_the_answer() -> None:
    result = answered(says("<think>hm</think>\nfour"))
    assert result.answer == "four"
    assert result.messages[-1].content == "<think>hm</think>\nfour"


@pytest.mark.parametrize("reply", ["<think>hm</think>", "<think>\nI should say", "hm</think>\n", "[THINK]hm[/THINK]  "])
def test_a_reply_that_is_only_thinking_is_asked_again(reply: str) -> None:
    result = answered(says(reply), says("four"))
    assert (result.answer, result.usage.requests) == ("four", 2)


@pytest.mark.parametrize("reply", ['<think>ok</think>{"a":1}', 'ok\n</think>\n{"a":1}', '[THINK]ok[/THINK]{"a":1}'])
def test_json_behind_thinking_is_what_a_schema_checks(reply: str) -> None:
    result = answered(says(reply), output_schema={"type": "object", "required": ["a"]})
    assert (result.success, result.value, result.iterations) == (True, {"a": 1}, 1)


def test_the_thought_of_a_step_is_the_reasoning_then_the_text() -> None:
    def probe() -> str:
        """Probe."""
        return "ok"

    said = answered(calls(("probe", {}), text="<think>hm</think>I look."), says("x"), tools=[probe])
    thought = answered(calls(("probe", {}), text="<think>hm</think>"), says("x"), tools=[probe])
    assert said.steps[0].thought == "hm\n\nI look."
    assert thought.steps[0].thought == "hm"


def events(agent: ReActAgent) -> list[object]:
    async def collect() -> list[object]:
        return [event async for event in agent.stream("go")]

    return asyncio.run(collect())


def test_thinking_does_not_stream() -> None:
    found = events(agent_with(["<think>hm hm</think>\nfour five"]))
    assert "".join(event.text for event in found if isinstance(event, TextDelta)) == "four five"
    assert not any(isinstance(event, TextDiscarded) for event in found)


def test_what_turns_out_to_be_thinking_is_withdrawn() -> None:
    found = events(agent_with(["hm hm\n</think>\nfour five"]))
    last = max(index for index, event in enumerate(found) if isinstance(event, TextDiscarded))
    assert "".join(event.text for event in found[last:] if isinstance(event, TextDelta)) == "four five"
