"""Looking things up: a wiki's meanings, plurals and refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from tests.field_reports.rows import rows
from tests.toolsets.conftest import server as server  # the fixture
from tests.toolsets.mediawiki.test_mediawiki import found, page, search

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer


@pytest.mark.parametrize("row", rows("mediawiki"))
def test_a_reported_search_is_answered(row: Mapping[str, Any], server: LocalServer) -> None:
    given, expected = row["input"], row["expected"]
    if "http_status" in given:
        server.script = [server.reply(given["body"], status=given["http_status"])]
    else:
        pages = [page(index=number, **each) for number, each in enumerate(given["pages"], 1)]
        server.script = [server.json(found(*pages))]
    result, step = search(server, given["query"])
    assert result["status"] == expected["status"]
    assert expected.get("said", "") in step.observation
    assert step.outcome is not None
    assert step.outcome.verified_summary.startswith(expected.get("verified", ""))


def words() -> Iterator[tuple[str, str, str, bool]]:
    yield from [
        ("tomatoes", "Tomato", "A fruit.", True),
        ("churches", "Church", "A building.", True),
        ("boxes", "Box", "A container.", True),
        ("cities", "City", "A large place.", True),
        ("city", "Cities of the plain", "Five of them.", True),
        ("wolves", "Wolf", "An animal.", True),
        ("glasses", "Glass", "A material.", True),
        ("horses", "Horse", "An animal.", True),
        ("zorblattoes", "Poland", "A country.", False),
    ]


@pytest.mark.parametrize(("query", "title", "extract", "related"), [*words()])
def test_a_plural_finds_the_singular(query: str, title: str, extract: str, related: bool, server: LocalServer) -> None:
    server.script = [server.json(found(page(title, extract)))]
    assert ("relevance" not in search(server, query)[0]["results"][0]) == related
