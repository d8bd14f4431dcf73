"""``duckduckgo_instant_answer`` in a real run against a local server that answers in the service's shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from react_run import CompositeToolset, Disposition, ReActStep
from react_run.testing import calls, run_agent, says
from react_toolsets.duckduckgo import DuckDuckGoToolset
from react_toolsets.mediawiki import MediaWikiToolset

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer

EMPTY: dict[str, object] = {
    **dict.fromkeys(("Abstract", "AbstractSource", "AbstractText", "AbstractURL", "Answer", "AnswerType"), ""),
    **dict.fromkeys(("Definition", "DefinitionSource", "DefinitionURL", "Entity", "Heading", "Image", "Type"), ""),
    "Infobox": "",
    "Redirect": "",
    "RelatedTopics": [],
    "Results": [],
}
ICON = {"Height": "", "URL": "", "Width": ""}


def topic(text: str) -> dict[str, object]:
    url = f"https://duckduckgo.com/{text.split()[0]}"
    return {"FirstURL": url, "Icon": ICON, "Result": f"<a>{text}</a>", "Text": text}


ARTICLE: dict[str, object] = {
    **EMPTY,
    "Type": "A",
    "Heading": "Python (programming language)",
    "AbstractText": "Python is a general-purpose programming language. Its design philosophy is readability.",
    "AbstractSource": "Wikipedia",
    "AbstractURL": "https://en.wikipedia.org/wiki/Python_(programming_language)",
    "Infobox": {
        "content": [
            {"data_type": "string", "label": "Typing discipline", "value": "duck, dynamic", "wiki_order": 0},
            {"data_type": "twitter_profile", "label": "Twitter profile", "value": "somebody", "wiki_order": "1"},
            {"data_type": "instance", "label": "Instance of", "value": {"id": "Q9143"}, "wiki_order": "2"},
        ],
        "meta": [],
    },
    "Results": [{"FirstURL": "https://www.python.org/", "Icon": ICON, "Result": "…", "Text": "Official site"}],
    "RelatedTopics": [
        topic("CPython - the reference implementation"),
        {"Name": "Implementations", "Topics": [topic("PyPy - a fast one"), topic("Jython - on the JVM")]},
    ],
}


def ask(server: LocalServer, query: str = "Python language", **arguments: object) -> tuple[dict[str, Any], ReActStep]:
    toolset = DuckDuckGoToolset(endpoint=f"{server.url}/")
    call = calls(("duckduckgo_instant_answer", {"query": query, **arguments}))
    step = run_agent([call, says("done")], toolsets=[toolset]).steps[0]
    return json.loads(step.observation), step


def outcome(step: ReActStep) -> tuple[Disposition, str]:
    assert step.outcome is not None
    return step.outcome.disposition, step.outcome.code


def test_an_article_brings_everything_there_is(server: LocalServer) -> None:
    server.script = [server.json(ARTICLE)]
    result, step = ask(server, max_related_topics=2)
    assert result == {
        "query": "Python language",
        "status": "ok",
        "source": "DuckDuckGo Instant Answers",
        "heading": "Python (programming language)",
        "abstract": {
            "text": "Python is a general-purpose programming language. Its design philosophy is readability.",
            "source": "Wikipedia",
            "url": "https://en.wikipedia.org/wiki/Python_(programming_language)",
        },
        "infobox": {"Typing discipline": "duck, dynamic"},
        "official_site": "https://www.python.org/",
        "related_topics": [
            {"text": "CPython - the reference implementation", "url": "https://duckduckgo.com/CPython"},
            {"text": "PyPy - a fast one", "url": "https://duckduckgo.com/PyPy"},
        ],
    }
    assert outcome(step) == (Disposition.SUCCESS, "")
    assert step.outcome is not None
    assert step.outcome.verified_summary == (
        "Wikipedia on Python (programming language): Python is a general-purpose programming language. "
        "(https://en.wikipedia.org/wiki/Python_(programming_language))"
    )
    asked = server.requests[0].parameters
    assert asked["q"] == "Python language"
    assert asked["format"] == "json"


@pytest.mark.parametrize(
    ("fields", "expected", "summary"),
    [
        (
            {"Answer": "Bonn", "AnswerType": "fact"},
            {"answer": {"text": "Bonn", "type": "fact"}},
            "DuckDuckGo Instant Answers on Python language: Bonn",
        ),
        (
            {"Heading": "Snake", "Definition": "A limbless reptile."},
            {"heading": "Snake", "definition": "A limbless reptile."},
            "DuckDuckGo Instant Answers on Snake: A limbless reptile.",
        ),
        (
            {"RelatedTopics": [topic("Boa - a snake")]},
            {"related_topics": [{"text": "Boa - a snake", "url": "https://duckduckgo.com/Boa"}]},
            "",
        ),
    ],
)
def test_each_part_alone_is_an_answer(
    server: LocalServer, fields: dict[str, object], expected: dict[str, object], summary: str
) -> None:
    server.script = [server.json({**EMPTY, **fields})]
    result, step = ask(server)
    assert {key: result[key] for key in result if key not in ("query", "status", "source")} == expected
    assert step.outcome is not None
    assert (step.outcome.disposition, step.outcome.verified_summary) == (Disposition.SUCCESS, summary)


@pytest.mark.parametrize(
    "answer",
    [
        EMPTY,
        {},
        {**EMPTY, "Heading": "Only a heading"},
        {**EMPTY, "Answer": {"from": "calculator", "result": ""}},
        {**EMPTY, "RelatedTopics": [None, {"Topics": 3}, {"Name": "empty", "Topics": []}], "Results": {"a": 1}},
    ],
    ids=["empty", "nothing", "heading", "widget", "rubbish"],
)
def test_nothing_said_is_no_result_with_a_hint(server: LocalServer, answer: dict[str, object]) -> None:
    server.script = [server.json(answer)]
    result, step = ask(server)
    assert result["status"] == "no_result"
    assert "short name" in result["message"]
    assert "not a web search" in result["message"]
    assert outcome(step) == (Disposition.NO_RESULT, "no_result")


def test_a_disambiguation_page_asks_which_meaning(server: LocalServer) -> None:
    topics = [topic("Python - a snake"), {"Name": "Computing", "Topics": [topic("Python - a language")]}]
    server.script = [server.json({**EMPTY, "Type": "D", "Heading": "Python", "RelatedTopics": topics})]
    result, step = ask(server, "Python", max_related_topics=0)
    assert result["status"] == "ambiguous"
    assert [each["text"] for each in result["related_topics"]] == ["Python - a snake", "Python - a language"]
    assert "Python - a snake; Python - a language" in result["message"]
    assert outcome(step) == (Disposition.CLARIFICATION_REQUIRED, "ambiguous")


@pytest.mark.parametrize(("status", "body"), [(202, b""), (202, b"{}"), (200, b""), (429, b"{}")])
def test_throttling_is_seen_in_all_its_forms(server: LocalServer, status: int, body: bytes) -> None:
    server.script = [server.reply(body, status=status, headers={"Retry-After": "0"})]
    result, step = ask(server)
    assert result["error"]["code"] == "rate_limited"
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, "rate_limited")
    assert len(server.requests) == 3


def test_a_page_instead_of_json_is_an_invalid_response(server: LocalServer) -> None:
    server.script = [server.reply("<html>Are you human?</html>")]
    assert ask(server)[0]["error"]["code"] == "invalid_response"


def test_the_description_says_what_it_is_not() -> None:
    (tool,) = DuckDuckGoToolset().tools()
    assert "not a web search" in tool.description
    assert (tool.read_only, tool.network) == (True, True)


def test_both_knowledge_toolsets_are_one_skill() -> None:
    both = CompositeToolset(toolsets=[MediaWikiToolset(), DuckDuckGoToolset()])
    specs = both.get_skill_specs()
    assert {(spec.name, spec.description) for spec in specs} == {("knowledge_lookup", specs[0].description)}
    assert [name for spec in specs for name in spec.tool_names] == [tool.name for tool in both.tools()]
