"""The runtime's texts in a language that nobody knows: what a model gets to know is the same, the wording is not.

Every word that the runtime's own texts are made of is turned into another one, unless the world, the tools or the task
use it, too. Names, numbers, addresses of saved results, and what tools said stay as they are.
"""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import benchmarks.guards.tasks as tasks
import benchmarks.guards.world as world
import react_run
from react_run import Message, ModelRequest

SOURCE = Path(react_run.__file__).parent
WORD = re.compile(r"(?<![\w.=#/'-])[A-Za-z]{2,}(?![\w=#/']|[.-]\w)")
"""A word that is not a piece of a name, a code or a path."""


def reworded(request: ModelRequest, prompt: str) -> ModelRequest:
    """``request`` with everything reworded that the runtime has said in it."""
    given = frozenset(re.findall(r"[A-Za-z]+", prompt)) | _of_the_world()
    messages = [_message(message, prompt, given) for message in request.messages]
    return replace(request, messages=messages)


def _message(message: Message, prompt: str, given: frozenset[str]) -> Message:
    if message.role == "assistant" or not isinstance(message.content, str) or message.content == prompt:
        return message
    return replace(message, content=in_other_words(message.content, given))


def in_other_words(text: str, given: frozenset[str]) -> str:
    """``text`` with the words of the runtime replaced, but for those that are ``given``."""
    ours = _of_the_runtime()

    def other(found: re.Match[str]) -> str:
        word = found[0]
        return codecs.encode(word, "rot13") if word.lower() in ours and word not in given else word

    return WORD.sub(other, text)


@cache
def _of_the_runtime() -> frozenset[str]:
    """The words of all texts in the runtime."""
    files = [path for path in SOURCE.rglob("*.py") if "cli" not in path.parts]
    return frozenset(word.lower() for path in files for text in _texts(path) for word in re.findall(r"[A-Za-z]+", text))


@cache
def _of_the_world() -> frozenset[str]:
    """The words that the world, its tools and its tasks use."""
    paths = (Path(world.__file__), Path(tasks.__file__))
    names = {word for path in paths for word in re.findall(r"[A-Za-z]+", path.read_text(encoding="utf-8"))}
    return frozenset(names - _SAID_BY_US)


_SAID_BY_US = frozenset({"Error", "Answer", "iterations", "already", "again", "result", "run"})
"""Words that the sources above use, and that the runtime's texts are known by."""


def _texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
