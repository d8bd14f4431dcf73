"""What the knowledge toolsets share: the form of a result, what it means, and the skill they are found under."""

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
    """A finished result as compact JSON that every encoder accepts."""
    return answers.answer(lambda: result)


def failed(error: RequestFailed, **fields: object) -> dict[str, object]:
    """The result of a request that brought no answer."""
    return {"status": "error", **fields, "error": {"code": error.code, "message": str(error)}}


def parsed(result: object) -> Mapping[str, object]:
    """A tool's result as it was before it became text; empty when it is none of ours."""
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except ValueError:
            return {}
    return result if isinstance(result, Mapping) else {}


def interpret_lookup(result: object, verified_summary: Callable[[Mapping[str, object]], str]) -> Outcome | None:
    """What a result of the knowledge toolsets means; every error code may be retried."""
    fields = parsed(result)
    match fields:
        case {"status": "ambiguous", "message": str(message)}:
            return Outcome(disposition=Disposition.CLARIFICATION_REQUIRED, code="ambiguous", message=message)
        case {"status": "no_result", "message": str(message)}:
            return Outcome(disposition=Disposition.NO_RESULT, code="no_result", message=message)
    return answers.interpret_answer(fields, verified_summary, ask=frozenset())


def cut(text: str, limit: int) -> str:
    """``text`` with at most ``limit`` characters, ended at a word and marked when something is missing."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rpartition(" ")[0]
    return (at_word if len(at_word) > limit // 2 else head).rstrip() + "…"


def first_sentence(text: str, limit: int = 240) -> str:
    """The first sentence, on one line."""
    line = " ".join(text.split())
    end = line.find(". ", 40)
    return cut(line if end < 0 else line[: end + 1], limit)


def web_address(value: object) -> str:
    """``value`` when it is an absolute address of the web, else nothing: a service may send anything."""
    text = value.strip() if isinstance(value, str) else ""
    return text if re.fullmatch(r"https?://[^\s/]\S*", text, re.IGNORECASE) else ""


def source_of(fact: str, url: object) -> str:
    """``fact`` with the address it came from, if there is one."""
    return f"{fact} ({url})" if url else fact


def without_credentials(url: HttpUrl | None) -> HttpUrl | None:
    """Refuse an endpoint with a user name or password in it: agent files are read, logged and shared."""
    if url is not None and (url.username or url.password):
        raise ValueError("must not contain credentials")
    return url


def lookup_skill(tool_name: str) -> ReActSkillSpec:
    """The skill group ``knowledge_lookup``, for one toolset's tool; a composite merges them by name."""
    return ReActSkillSpec(
        name="knowledge_lookup",
        description="Look up facts about people, places, organisations, works and ideas in reference sources.",
        tool_names=(tool_name,),
        instructions="Search with a short name of the thing asked about, and name the source's URL in the answer.",
        order=30,
    )
