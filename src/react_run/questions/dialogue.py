"""Asks a question at the terminal: choices by letter, forms field by field, and again if the answer is invalid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from react_run.questions import ALWAYS, YES, Answer, Question, Unfit, kind_of
from react_run.questions.display import trusted
from react_run.questions.tty import ask_on_terminal

PAGE = 1_500
"""Characters per page when viewing something in full."""
TRIES = 3
"""How often to ask for a valid answer."""


async def asked_at_terminal(question: Question) -> Answer | None:
    """The answer of the person at the terminal; ``None`` without a terminal."""
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
    offered = ", ".join(_marked(key, choice, question) for key, choice in keys.items())
    unseen = question.is_cut and "v" not in keys
    prompt = f"{shown}{'[v]iew, ' if unseen else ''}{offered}: "
    words = {choice.lower(): choice for choice in question.choices} | keys
    for _ in range(TRIES):
        typed = await ask_on_terminal(prompt)
        while typed in ("v", "view") and question.is_cut:
            unseen = not await _viewed(question.in_full)
            typed = await ask_on_terminal(f"{offered}: ")
        if typed is None:
            return None
        choice = words.get(typed.lower())
        if choice in (YES, ALWAYS) and unseen:
            prompt = f"You have not seen all of it. View the rest first: [v]iew, {offered}: "
            continue
        if choice is not None:
            return Answer(choice)
        if not typed and question.default:
            break
        *others, last = keys
        prompt = f"Please type {', '.join(others)} or {last}: "
    return Answer(question.default) if question.default else None


async def _viewed(text: str) -> bool:
    """Show ``text`` page by page, and return whether it was viewed to the end."""
    for at in range(0, len(text), PAGE):
        last = at + PAGE >= len(text)
        ask = "\n-- that is all; press Enter -- " if last else "\n-- press Enter for more, q to stop -- "
        typed = await ask_on_terminal(f"{text[at : at + PAGE]}{ask}")
        if typed is None or (typed.lower() == "q" and not last):
            return False
    return True


def _keys(question: Question) -> dict[str, str]:
    """What to type for each choice: its first letter, or its number if the letters are ambiguous."""
    letters = [choice[:1].lower() for choice in question.choices]
    apart = len(set(letters)) == len(letters) and all(letter.isalpha() for letter in letters)
    keys = letters if apart else [str(number) for number in range(1, len(letters) + 1)]
    return dict(zip(keys, question.choices, strict=True))


def _marked(key: str, choice: str, question: Question) -> str:
    if key.isdigit():
        return f"[{key}] {trusted(choice)}"
    return f"[{key.upper() if choice == question.default else key}]{trusted(choice[1:])}"


async def _form(question: Question, shown: str) -> Answer | None:
    assert question.schema is not None  # asked by it
    values: dict[str, object] = {}
    for name, part in question.schema["properties"].items():
        needed = name in question.schema.get("required", ())
        found = await _value(question, shown, f"{trusted(name)} ({kind_of(part)}): ", part, needed=needed)
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
    """Convert typed text to a value for ``schema``; an empty line leaves out an optional field."""
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
                shown = f"{trusted(str(error))}\n"
    return None


def _readings(typed: str, schema: Mapping[str, Any]) -> list[object]:
    """Possible values of the typed text, likeliest first."""
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
