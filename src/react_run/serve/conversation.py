"""Parses requests to OpenAI's API: the agent, the conversation and settings, or why the request is invalid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from react_run.errors import ReactError
from react_run.messages import Message
from react_run.models.stored import message_from_dict
from react_run.parts import read_part
from react_run.serve.errors import wrong
from react_run.support.dataclasses import dataclass

SETTINGS = (
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "min_p",
    "presence_penalty",
    "reasoning_effort",
    "repetition_penalty",
    "response_format",
    "seed",
    "stop",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "verbosity",
)
"""The settings passed to the model. Others are dropped: some libraries accept addresses and keys as settings."""
_NUMBERS = {
    "frequency_penalty": (-2, 2),
    "max_completion_tokens": (1, None),
    "max_tokens": (1, None),
    "presence_penalty": (-2, 2),
    "temperature": (0, 2),
    "top_p": (0, 1),
}
_OWN_TOOLS = ("tools", "functions", "function_call")
MOST_MESSAGES = 50_000


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A valid request."""

    model: object
    prompt: str
    messages: list[Message]
    system: str = ""
    stream: bool = False
    include_usage: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    overrides: dict[str, object] = field(default_factory=dict)


def json_of(body: bytes) -> dict[str, Any]:
    """Parse the JSON object in a request body.

    Raises:
        ApiError: The body is not a JSON object.
    """
    try:
        data = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise wrong(f"the body is not valid UTF-8 (byte {error.start})", code="invalid_json") from None
    except (ValueError, RecursionError) as error:
        raise wrong(f"the body is not valid JSON: {error}"[:300], code="invalid_json") from None
    if not isinstance(data, dict):
        raise wrong("the body must be a JSON object", code="invalid_json")
    return data


def asked_by(data: Mapping[str, Any], *, ignore_tools: bool = False) -> Asked:
    """Parse a request for a chat completion.

    Args:
        data: The body of the request.
        ignore_tools: Whether to ignore tools that the request offers.

    Raises:
        ApiError: The request is invalid, or asks for something that is not supported.
    """
    if "model" not in data:
        raise wrong("`model` is missing: it names the agent", "model", "missing_model")
    refuse_foreign(data, ignore_tools=ignore_tools)
    messages = _messages(data.get("messages"))
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    talk = [message for message in messages if message.role != "system"]
    if not talk or talk[-1].role not in ("user", "tool"):
        raise wrong("the last message must be the user's", "messages")
    last = talk[-1]
    plain = last.role == "user" and isinstance(last.content, str)
    if last.role == "user" and last.blank:
        raise wrong("the last message is empty: give the agent something to do", "messages")
    options = data.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise wrong("stream_options must be an object", "stream_options")
    return Asked(
        model=data["model"],
        prompt=last.text if plain else "",
        messages=talk[:-1] if plain else talk,
        system=system,
        stream=_flag(data, "stream"),
        include_usage=options is not None and options.get("include_usage") is True,
        settings=settings_in(data),
        overrides=overrides_in(data),
    )


def refuse_foreign(data: Mapping[str, Any], *, ignore_tools: bool = False) -> None:
    """Refuse settings that only the agent may decide.

    Args:
        data: The body of the request.
        ignore_tools: Whether to ignore tools that the request offers: a model is free to call none of them.

    Raises:
        ApiError: The request brings tools, or wants several answers.
    """
    for name in () if ignore_tools else _OWN_TOOLS:
        if data.get(name) not in (None, []):
            text = f"{name}: the tools are the agent's own; a request cannot add any"
            text += " (start the server with --client-tools ignore to ignore them)"
            raise wrong(text, name, "unsupported_parameter")
    choice = data.get("tool_choice")
    if choice not in (None, "auto", "none"):
        raise wrong("tool_choice: the agent decides about its tools", "tool_choice", "unsupported_parameter")
    if data.get("n") not in (None, 1):
        raise wrong("n: an agent gives one answer", "n", "unsupported_parameter")


def settings_in(data: Mapping[str, Any]) -> dict[str, object]:
    """The settings of a request that are passed to the model.

    Raises:
        ApiError: A number is out of range.
    """
    settings = {name: data[name] for name in SETTINGS if data.get(name) is not None}
    for name, (least, most) in _NUMBERS.items():
        value = settings.get(name)
        if value is None:
            continue
        fits = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= least
        if not fits or (most is not None and value > most):
            limits = f"from {least} to {most}" if most is not None else f"of at least {least}"
            raise wrong(f"{name} must be a number {limits}", name)
    return settings


def overrides_in(data: Mapping[str, Any]) -> dict[str, object]:
    """The agent options that a request overrides.

    Raises:
        ApiError: They are not an object of names and values.
    """
    own = data.get("react_run")
    if own is None:
        return {}
    if not isinstance(own, dict):
        raise wrong('react_run must be an object such as {"max_iterations": 3}', "react_run")
    return own


def _messages(given: object) -> list[Message]:
    if not isinstance(given, list) or not given:
        raise wrong("`messages` must be a list of at least one message", "messages")
    if len(given) > MOST_MESSAGES:
        raise wrong(f"a conversation may have at most {MOST_MESSAGES:,} messages", "messages")
    found = []
    for index, message in enumerate(given):
        try:
            found.append(message_from_dict(_checked(message)))
        except (ReactError, TypeError, ValueError) as error:
            raise wrong(f"messages[{index}]: {error}", f"messages[{index}]") from None
    return found


def _checked(message: object) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise ValueError("a message is an object with a role and content")
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list)):
        raise ValueError("content must be text, or a list of parts")
    if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
        raise ValueError("each part of the content must be an object")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        check_bytes(part, f"content[{number}]")
    return message


def check_bytes(part: Mapping[str, Any], where: str) -> None:
    """Refuse an image or file whose bytes cannot be decoded; it would otherwise be dropped silently.

    Raises:
        ValueError: The bytes cannot be decoded; the message says why.
    """
    try:
        read_part(part)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _flag(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise wrong(f"{name} must be true or false", name)
    return bool(value)
