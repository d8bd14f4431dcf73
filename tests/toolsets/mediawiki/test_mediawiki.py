"""``mediawiki_search`` in a real run against a local server that answers as MediaWiki sites do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from react_run import Disposition, ReActStep, RunResult
from react_run.testing import calls, run_agent, says
from react_toolsets.mediawiki import MAX_EXTRACT, MediaWikiToolset

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer


def page(title: str, extract: str | None = None, *, index: int = 1, **more: object) -> dict[str, object]:
    name = title.replace(" ", "_")
    urls = {"fullurl": f"https://en.wikipedia.org/wiki/{name}", "canonicalurl": f"https://en.wikipedia.org/wiki/{name}"}
    text = {} if extract is None else {"extract": extract}
    return {"pageid": 1000 + index, "ns": 0, "title": title, "index": index, **text, **urls, **more}


def found(*pages: dict[str, object]) -> dict[str, object]:
    return {"batchcomplete": True, "query": {"pages": list(pages)}}


CANBERRA = page("Canberra", "Canberra is the capital city of Australia. It was founded in 1913.\nMore follows.")
MERCURY = page("Mercury", "Mercury most commonly refers to:\n", pageprops={"disambiguation": ""})


def run(server: LocalServer, *arguments: Mapping[str, object], **options: Any) -> RunResult:
    """One call after the other, each in an iteration of its own."""
    toolset = MediaWikiToolset(endpoint=f"{server.url}/w/api.php", **options)
    replies = [calls(("mediawiki_search", each)) for each in arguments]
    return run_agent([*replies, says("done")], toolsets=[toolset])


def search(
    server: LocalServer, query: str = "capital of Australia", **options: Any
) -> tuple[dict[str, Any], ReActStep]:
    step = run(server, {"query": query}, **options).steps[0]
    return json.loads(step.observation), step


def outcome(step: ReActStep) -> tuple[Disposition, str]:
    assert step.outcome is not None
    return step.outcome.disposition, step.outcome.code


def test_one_request_brings_extracts_urls_and_markers(server: LocalServer) -> None:
    server.script = [server.json(found(page("Sydney", "A city in Australia.", index=2), CANBERRA))]
    result, step = search(server)
    assert result == {
        "query": "capital of Australia",
        "status": "ok",
        "source": "127.0.0.1",
        "results": [
            {
                "title": "Canberra",
                "extract": "Canberra is the capital city of Australia. It was founded in 1913.\nMore follows.",
                "url": "https://en.wikipedia.org/wiki/Canberra",
                "disambiguation": False,
            },
            {
                "title": "Sydney",
                "extract": "A city in Australia.",
                "url": "https://en.wikipedia.org/wiki/Sydney",
                "disambiguation": False,
            },
        ],
    }
    assert outcome(step) == (Disposition.SUCCESS, "")
    assert step.outcome is not None
    assert step.outcome.verified_summary == (
        "127.0.0.1 on Canberra: Canberra is the capital city of Australia. (https://en.wikipedia.org/wiki/Canberra)"
    )
    (request,) = server.requests
    asked = request.parameters
    assert asked["generator"] == "search"
    assert asked["gsrsearch"] == "capital of Australia"
    assert asked["redirects"] == "1"
    assert asked["prop"].split("|") == ["extracts", "info", "pageprops"]


def test_the_number_of_results_is_kept_and_pages_without_text_make_room(server: LocalServer) -> None:
    pages = [page(f"Australia {number}", f"Text {number}", index=number) for number in range(1, 9)]
    pages[0]["extract"] = ""
    pages[1]["missing"] = True
    server.script = [server.json(found(*pages))]
    step = run(server, {"query": "Australia", "max_results": 5}).steps[0]
    titles = [result["title"] for result in json.loads(step.observation)["results"]]
    assert titles == [f"Australia {number}" for number in (3, 4, 5, 6, 7)]


def test_a_long_extract_is_cut(server: LocalServer) -> None:
    server.script = [server.json(found(page("Australia", "Australia is large. " * 500)))]
    result, _ = search(server, "Australia")
    assert MAX_EXTRACT - 20 < len(result["results"][0]["extract"]) <= MAX_EXTRACT
    assert result["results"][0]["extract"].endswith("…")


def test_a_disambiguation_page_first_asks_which_meaning(server: LocalServer) -> None:
    planet, element = page("Mercury (planet)", "A planet.", index=2), page("Mercury (element)", "A metal.", index=3)
    server.script = [server.json(found(MERCURY, planet, element))]
    result, step = search(server, "Mercury")
    assert result["status"] == "ambiguous"
    assert result["meanings"] == ["Mercury (planet)", "Mercury (element)"]
    assert [each["title"] for each in result["results"]] == ["Mercury (planet)", "Mercury (element)"]
    assert outcome(step) == (Disposition.CLARIFICATION_REQUIRED, "ambiguous")
    assert "Mercury (planet); Mercury (element)" in result["message"]


def test_a_lone_disambiguation_page_lists_its_own_meanings(server: LocalServer) -> None:
    listing = "Mercury may refer to:\nMercury (planet), the closest planet to the Sun\n* Mercury (element), a metal"
    server.script = [server.json(found(page("Mercury", listing, pageprops={"disambiguation": ""})))]
    result, _ = search(server, "Mercury")
    assert result["status"] == "ambiguous"
    assert result["meanings"] == ["Mercury (planet), the closest planet to the Sun", "Mercury (element), a metal"]


def test_a_disambiguation_page_further_down_is_left_out(server: LocalServer) -> None:
    server.script = [server.json(found(CANBERRA, {**MERCURY, "index": 2}))]
    result, _ = search(server)
    assert [each["title"] for each in result["results"]] == ["Canberra"]


@pytest.mark.parametrize(
    "answer",
    [
        {"batchcomplete": True},
        {"batchcomplete": True, "query": {"pages": []}},
        found(page("Nothing", "")),
        found(page("Nothing")),
        found(page("Gone", "text", missing=True)),
        {"query": {"pages": [None, 7, {"title": 3}]}},
    ],
    ids=["no query", "no pages", "empty extract", "no extract", "missing", "rubbish"],
)
def test_nothing_usable_is_no_result(server: LocalServer, answer: dict[str, object]) -> None:
    server.script = [server.json(answer)]
    result, step = search(server)
    assert (result["status"], result["results"]) == ("no_result", [])
    assert outcome(step) == (Disposition.NO_RESULT, "no_result")


def test_a_first_hit_without_a_shared_word_is_not_verified(server: LocalServer) -> None:
    server.script = [server.json(found(page("Poland", "A country in Central Europe.")))]
    result, step = search(server, "what is the zorblatt of the frimple")
    assert result["results"][0]["relevance"] == "low"
    assert step.outcome is not None
    assert step.outcome.verified_summary == ""


@pytest.mark.parametrize(
    ("query", "title", "extract"),
    [
        ("volcanoes in Iceland", "Volcanism of Iceland", "…"),
        ("Who was ADA LOVELACE?", "Ada Lovelace", "English mathematician"),
        ("JFK", "John F. Kennedy", "often referred to as JFK"),
        ("who is who", "Who's Who", "A reference work."),
        ("東京の人口", "東京都", "日本の首都"),
    ],
)
def test_a_shared_word_is_enough(server: LocalServer, query: str, title: str, extract: str) -> None:
    server.script = [server.json(found(page(title, extract)))]
    assert "relevance" not in search(server, query)[0]["results"][0]


@pytest.mark.parametrize(
    ("answer", "code", "requests"),
    [
        ({"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}}, "rate_limited", 3),
        ({"error": {"code": "maxlag", "info": "Waiting for a database server: 7 seconds lagged."}}, "server_error", 3),
        ({"error": {"code": "readonly", "info": "The wiki is currently in read-only mode."}}, "server_error", 3),
        ({"error": {"code": "unknown_action", "info": "Unrecognized value."}}, "http_error", 1),
        ({"errors": [{"code": "ratelimited", "text": "Slow down."}]}, "rate_limited", 3),
        ({"error": "broken"}, "http_error", 1),
        ({"query": {"pages": "no list"}}, "invalid_response", 1),
        ({"query": []}, "invalid_response", 1),
    ],
)
def test_an_api_error_in_a_success_is_an_error(
    server: LocalServer, answer: dict[str, object], code: str, requests: int
) -> None:
    server.script = [server.json(answer, headers={"Retry-After": "0"})]
    result, step = search(server)
    assert (result["status"], result["error"]["code"]) == ("error", code)
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, code)
    assert len(server.requests) == requests


def test_network_trouble_is_an_error_the_model_may_retry(server: LocalServer) -> None:
    server.script = [server.reset()]
    result, step = search(server)
    assert result["error"]["code"] == "network_error"
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, "network_error")


def test_the_deadline_is_an_option(server: LocalServer) -> None:
    server.script = [server.silence()]
    result, _ = search(server, timeout_seconds=1)
    assert "within 1 s" in result["error"]["message"]


def test_the_same_query_is_asked_once_per_run(server: LocalServer) -> None:
    server.script = [server.json(found(CANBERRA))]
    first, second = {"query": "Canberra"}, {"query": " Canberra ", "max_results": 1}
    steps = run(server, first, second).steps
    assert [json.loads(step.observation)["status"] for step in steps] == ["ok", "ok"]
    assert len(server.requests) == 1
    run(server, first)
    assert len(server.requests) == 2  # another run asks again


def test_old_wikis_answer_with_a_mapping_of_pages(server: LocalServer) -> None:
    server.script = [server.json({"query": {"pages": {"7": CANBERRA, "8": page("Sydney", "A city.", index=2)}}})]
    assert [each["title"] for each in search(server)[0]["results"]] == ["Canberra", "Sydney"]


def test_half_a_surrogate_pair_breaks_nothing(server: LocalServer) -> None:
    server.script = [server.json(found(page("Canberra \ud83d", "Capital of Australia \x1b[31m\x00.")))]
    result, _ = search(server)
    assert result["results"][0]["title"] == "Canberra ?"


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_seconds": 0.5},
        {"timeout_seconds": 31},
        {"language": "en.evil.test/"},
        {"endpoint": "ftp://example.org/"},
        {"endpoint": "https://user:secret@example.org/w/api.php"},
        {"user_agent": "two\r\nlines"},
        {"languages": "en"},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MediaWikiToolset(**options)


@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"query": "x" * 301}, {"query": "x", "max_results": 6}])
def test_wrong_arguments_reach_no_server(server: LocalServer, arguments: dict[str, object]) -> None:
    step = run(server, arguments).steps[0]
    assert step.error_code == "invalid_arguments"
    assert server.requests == []


def test_the_language_chooses_the_wikipedia() -> None:
    assert MediaWikiToolset(language="de")._client().host == "de.wikipedia.org"


def test_a_question_with_one_choice_is_not_asked(server: LocalServer) -> None:
    band = page("Band", "Band may refer to:\n", pageprops={"disambiguation": ""})
    ensemble = page("Musical ensemble", "A musical ensemble, or band, is a group of musicians.", index=2)
    server.script = [server.json(found(band, ensemble))]
    result, _ = search(server, "band")
    assert (result["status"], [hit["title"] for hit in result["results"]]) == ("ok", ["Musical ensemble"])


def test_the_listed_meanings_are_the_choices_where_one_page_was_found(server: LocalServer) -> None:
    listing = "Band may refer to:\n* Musical ensemble\n* Rubber band\n* Frequency band"
    band = page("Band", listing, pageprops={"disambiguation": ""})
    server.script = [server.json(found(band, page("Musical ensemble", "A group of musicians.", index=2)))]
    result, _ = search(server, "band")
    assert result["meanings"] == ["Musical ensemble", "Rubber band", "Frequency band"]


def test_a_refusal_names_the_option_that_helps(server: LocalServer) -> None:
    server.script = [server.reply("Please set a user-agent and respect our robot policy", status=403)]
    result, _ = search(server)
    assert "set user_agent of this toolset" in json.dumps(result)
