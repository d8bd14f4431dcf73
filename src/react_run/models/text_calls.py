"""Tool calls written as text: how to request them, and how to find them in a reply (behaviour H5).

Only the text protocol looks for calls in text. Parsing is generous (fences, tags, trailing commas, Python literals, the
usual field names), but never invents anything.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from react_run.models.coerce import as_list, as_mapping, as_text
from react_run.support.dataclasses import dataclass
from react_run.support.thinking import heard, split_thinking
from react_run.tools.arguments import decode_arguments

if TYPE_CHECKING:
    from react_run.tools.tool import Tool

FORM = '{"tool_calls": [{"name": "<tool>", "arguments": {<arguments>}}]}'

MARKS = "{[<`"
"""Characters that can begin a call; text before the first of them is certainly prose."""

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"<(tool_call|function_call|tool_calls)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_ATTEMPT = r"[\"']tool_calls[\"']\s*:|<tool_calls?>|<function_call>"
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "args", "parameters", "input", "tool_input", "action_input")
_MOST_BRACES = 50
_LONGEST_LITERAL = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class TextCall:
    """One call found in a text."""

    name: str
    arguments: dict[str, object] | str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A parsed reply: ``prose`` before the calls, the ``calls``, or the ``problem`` with an attempted call."""

    prose: str
    calls: tuple[TextCall, ...] = ()
    problem: str = ""


def instructions(tools: Iterable[Tool], *, required: bool) -> str:
    """The instructions for calling ``tools`` in text."""
    schemas = ((tool, json.dumps(tool.wire["function"]["parameters"], ensure_ascii=False)) for tool in tools)
    listed = "\n".join(f"- {tool.name}: {tool.description}\n  arguments: {schema}" for tool, schema in schemas)
    end = "Call a tool now." if required else "When you need no tool, answer in plain text, without JSON."
    return (
        f"You can call tools. To call one or more, reply with nothing but one JSON object of this form:\n{FORM}\n"
        f"The results follow as messages that begin with 'Result of'. Never write results yourself. {end}\n\n"
        f"Tools:\n{listed}"
    )


def written(calls: Iterable[TextCall]) -> str:
    """``calls`` in the requested form."""
    listed = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps({"tool_calls": listed}, ensure_ascii=False)


def read_calls(reply: str, known: Collection[str]) -> Reading:
    """Find the calls in ``reply``.

    Args:
        reply: What the model wrote.
        known: Names of the tools; outside tags and the requested form, only these count as calls.
    """
    said, certain = heard(reply, _values())  # thinking is not a call
    for region in _regions(said):
        calls = tuple(_calls(region.value, known, sure=region.sure))
        if calls:
            return Reading(prose=reply[: region.start], calls=calls)
    attempt = _attempt(known)
    if found := attempt.search(said):
        begin = min((position for mark in MARKS if (position := said.find(mark)) >= 0), default=found.start())
        return Reading(prose=reply[: min(begin, found.start())], problem="it is not valid JSON of that form")
    if not certain and attempt.search(split_thinking(reply)[1]):
        return Reading(prose="", problem="the call is inside thinking that does not end, or ends without a beginning")
    return Reading(prose=reply)


def _attempt(known: Collection[str]) -> re.Pattern[str]:
    """What every attempt to call one of the tools contains."""
    named = "|".join(map(re.escape, known))
    return re.compile(rf"{_ATTEMPT}|[\"']({'|'.join(_NAMES)})[\"']\s*:\s*[\"']({named})[\"']")


@dataclass(frozen=True, slots=True)
class _Region:
    start: int
    value: object
    sure: bool


def _regions(reply: str) -> Iterator[_Region]:
    """The parts of a reply that can be a call, decoded: tags first, then fences, then JSON anywhere."""
    tags = list(_TAG.finditer(reply))
    values = [value for tag in tags for value in as_list(_loads(tag[2])) or (_loads(tag[2]),)]
    if any(values):
        yield _Region(tags[0].start(), values, sure=True)
    for fence in _FENCE.finditer(reply):
        yield _Region(fence.start(), _loads(fence[1]), sure=False)
    yield from _json_anywhere(reply)


def _json_anywhere(reply: str) -> Iterator[_Region]:
    position = 0
    for _ in range(_MOST_BRACES):
        found = re.compile(r"[{\[]").search(reply, position)
        if found is None:
            return
        end = _closing(reply, found.start())
        value = _loads(reply[found.start() : end])
        if isinstance(value, dict | list):
            yield _Region(found.start(), value, sure=not reply[: found.start()].strip() and not reply[end:].strip())
            position = end
        else:
            position = found.start() + 1


def _values() -> Callable[[str, int], int]:
    """A function that finds where the value that begins at a position ends: 0 if none begins there."""
    left = iter(range(_MOST_BRACES))

    def value_end(reply: str, start: int) -> int:
        end = 0 if next(left, None) is None else _closing(reply, start)
        return end if isinstance(_loads(reply[start:end]), dict | list) else 0

    return value_end


def _closing(reply: str, start: int) -> int:
    """Where the bracket at ``start`` is closed, skipping strings; the end of the text if it never is."""
    depth, quoted, escaped = 0, False, False
    for position in range(start, len(reply)):
        character = reply[position]
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
    return len(reply)


def _loads(source: str) -> object:
    """JSON, JSON with trailing commas, or a Python literal; ``None`` for anything else."""
    source = source.strip()
    for candidate in (source, _TRAILING_COMMA.sub(r"\1", source)):
        try:
            value: object = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return value
    if len(source) > _LONGEST_LITERAL:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's opinion of a reply is not useful in our errors
        try:
            literal: object = ast.literal_eval(source)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    return literal


def _calls(value: object, known: Collection[str], *, sure: bool) -> Iterator[TextCall]:
    listed = as_mapping(value).get("tool_calls", value)
    sure = sure or "tool_calls" in as_mapping(value)
    for item in as_list(listed) or (listed,):
        call = as_mapping(item)
        function = call.get("function")
        call = function if isinstance(function, dict) else call
        name = next((found for key in _NAMES if (found := as_text(call.get(key)))), "")
        has_arguments = any(key in call for key in _ARGUMENTS)
        if name in known or (name and sure and has_arguments):
            yield TextCall(name=name, arguments=_arguments(call))


def _arguments(call: Mapping[str, object]) -> dict[str, object] | str:
    raw = next((call[key] for key in _ARGUMENTS if key in call), None)
    decoded = decode_arguments(raw)
    if isinstance(decoded, dict):
        return decoded
    return raw if isinstance(raw, str) else json.dumps(raw, default=str)
