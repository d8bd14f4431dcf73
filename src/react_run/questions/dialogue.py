"""A question at the terminal: choices by their letters, forms field by field, and again when it does not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from react_run.questions import Answer, Question, Unfit, kind_of, printable
from react_run.questions.tty import ask_on_terminal

TRIES = 3
"""How often a person is asked for an answer that the question takes."""


async def asked_at_terminal(question: Question) -> Answer | None:
    """What the person at the terminal says; ``None`` without a terminal."""
    shown = f"\n{question.about}\n"
    if question.choices:
        return await _choice(question, shown)
    if question.schema is None:
        return _said(await ask_on_terminal(f"{shown}> "))
    if question.schema.get("properties"):
        return await _form(question, shown)
    return await _value(question, shown, "> ", question.schema)


async def _choice(question: Question, shown: str) -> Answer | None:
    keys = _keys(question)
    prompt = f"{shown}{', '.join(_marked(key, choice, question) for key, choice in keys.items())}: "
    words = {choice.lower(): choice for choice in question.choices} | keys
    for _ in range(TRIES):
        typed = await ask_on_terminal(prompt)
        if typed is None:
            return None
        if typed.lower() in words:
            return Answer(words[typed.lower()])
        if not typed and question.default:
            break
        *others, last = keys
        prompt = f"Please type {', '.join(others)} or {last}: "
    return Answer(question.default) if question.default else None


def _keys(question: Question) -> dict[str, str]:
    """What to type for each choice: its first letter, or its number where letters do not tell them apart."""
    letters = [choice[:1].lower() for choice in question.choices]
    apart = len(set(letters)) == len(letters) and all(letter.isalpha() for letter in letters)
    keys = letters if apart else [str(number) for number in range(1, len(letters) + 1)]
    return dict(zip(keys, question.choices, strict=True))


def _marked(key: str, choice: str, question: Question) -> str:
    if key.isdigit():
        return f"[{key}] {printable(choice)}"
    return f"[{key.upper() if choice == question.default else key}]{printable(choice[1:])}"


async def _form(question: Question, shown: str) -> Answer | None:
    assert question.schema is not None  # asked by it
    values: dict[str, object] = {}
    for name, part in question.schema["properties"].items():
        needed = name in question.schema.get("required", ())
        found = await _value(question, shown, f"{printable(name)} ({kind_of(part)}): ", part, needed=needed)
        if found is None:
            return None
        if found.value is not None:
            values[name] = found.value
        shown = ""
    try:
        return Answer(question.read(values))
    except Unfit:
        return None


async def _value(
    question: Question, shown: str, prompt: str, schema: Mapping[str, Any], *, needed: bool = True
) -> Answer | None:
    """What is typed, as a value that ``schema`` takes; of a field that is not needed, an empty line is none."""
    alone = Question(question.text, schema=schema)
    for _ in range(TRIES):
        typed = await ask_on_terminal(f"{shown}{prompt}")
        if typed is None:
            return None
        if not typed and not needed:
            return Answer(None)
        for value in _readings(typed, schema):
            try:
                return Answer(alone.read(value))
            except Unfit as error:
                shown = f"{printable(str(error))}\n"
    return None


def _readings(typed: str, schema: Mapping[str, Any]) -> list[object]:
    """What the typed text may stand for, the likeliest first."""
    if schema.get("type") == "string":
        return [typed]
    if schema.get("type") == "boolean" and typed.lower() in ("y", "yes", "n", "no"):
        return [typed.lower().startswith("y")]
    try:
        return [json.loads(typed), typed]
    except ValueError:
        return [typed]


def _said(typed: str | None) -> Answer | None:
    return None if typed is None else Answer(typed)
