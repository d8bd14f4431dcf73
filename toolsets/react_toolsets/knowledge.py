"""Shared by the knowledge toolsets: the form and meaning of results, and their skill."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from pydantic import HttpUrl

from react_run import Disposition, Outcome, ReActSkillSpec, __version__
from react_toolsets import answers
from react_toolsets.http import RequestFailed

USER_AGENT = f"react-run/{__version__}"


def result_as_json(result: Mapping[str, object]) -> str:
    """A result as compact JSON that can always be encoded."""
    return answers.answer(lambda: result)


def failed(error: RequestFailed, **fields: object) -> dict[str, object]:
    """The result for a failed request."""
    return {"status": "error", **fields, "error": {"code": error.code, "message": str(error)}}


def parsed(result: object) -> Mapping[str, object]:
    """Parse a tool's result; empty if it is not one of ours."""
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except ValueError:
            return {}
    return result if isinstance(result, Mapping) else {}


def interpret_lookup(result: object, verified_summary: Callable[[Mapping[str, object]], str]) -> Outcome | None:
    """The outcome of a result of the knowledge toolsets; all errors may be retried."""
    fields = parsed(result)
    match fields:
        case {"status": "ambiguous", "message": str(message)}:
            return Outcome(disposition=Disposition.CLARIFICATION_REQUIRED, code="ambiguous", message=message)
        case {"status": "no_result", "message": str(message)}:
            return Outcome(disposition=Disposition.NO_RESULT, code="no_result", message=message)
    return answers.interpret_answer(fields, verified_summary, ask=frozenset())


def cut(text: str, limit: int) -> str:
    """``text`` cut to ``limit`` characters at a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rpartition(" ")[0]
    return (at_word if len(at_word) > limit // 2 else head).rstrip() + "…"


def first_sentence(text: str, limit: int = 240) -> str:
    """The first sentence of ``text``, on one line."""
    line = " ".join(text.split())
    end = line.find(". ", 40)
    return cut(line if end < 0 else line[: end + 1], limit)


def web_address(value: object) -> str:
    """``value`` if it is an absolute http or https URL, else an empty text; a service may send anything."""
    text = value.strip() if isinstance(value, str) else ""
    return text if re.fullmatch(r"https?://[^\s/]\S*", text, re.IGNORECASE) else ""


def source_of(fact: str, url: object) -> str:
    """``fact`` with the URL of its source, if there is one."""
    return f"{fact} ({url})" if url else fact


def without_credentials(url: HttpUrl | None) -> HttpUrl | None:
    """Refuse an endpoint with a user name or password, because agent files are read, logged and shared."""
    if url is not None and (url.username or url.password):
        raise ValueError("must not contain credentials")
    return url


def lookup_skill(tool_name: str) -> ReActSkillSpec:
    """The skill group ``knowledge_lookup`` with one tool; several of them are merged by name."""
    return ReActSkillSpec(
        name="knowledge_lookup",
        description="Look up facts about people, places, organisations, works and ideas in reference sources.",
        tool_names=(tool_name,),
        instructions="Search with a short name of the thing asked about, and name the source's URL in the answer.",
        order=30,
    )
