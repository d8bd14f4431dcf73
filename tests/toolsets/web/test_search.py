"""``web_search``: through ddgs with an engine of our own on the loopback interface, and through other providers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from ddgs.base import BaseSearchEngine
from ddgs.engines import ENGINES
from ddgs.results import TextResult
from pydantic import Field, SkipValidation, ValidationError

from react_run import ConfigError, Disposition, Origin, ReActAgentConfig, ReActStep, ToolsetError
from react_run.testing import calls, run_agent, says
from react_toolsets.http import RequestFailed
from react_toolsets.web import DdgsProvider, SearchHit, SearchProvider, WebToolset

if TYPE_CHECKING:
    from pathlib import Path

    from tests.toolsets.conftest import LocalServer


class Shelf(SearchProvider):
    """Answers from a list."""

    hits: list[SearchHit] = []  # noqa: RUF012  # a pydantic field
    label: str = ""

    def search(self, query: str, max_results: int) -> Sequence[SearchHit]:
        return self.hits


class NotAProvider:
    def search(self, query: str, max_results: int) -> Sequence[SearchHit]:
        return []


class LocalEngine(BaseSearchEngine[TextResult]):
    """An engine as ddgs wants it, asking the local server."""

    name = "local"
    category = "text"
    provider = "local"
    search_method = "GET"
    items_xpath = "//li"
    elements_xpath: ClassVar[Mapping[str, str]] = {
        "title": ".//a//text()",
        "href": ".//a/@href",
        "body": ".//p//text()",
    }

    def build_payload(
        self, query: str, region: str, safesearch: str, timelimit: str | None, page: int = 1, **kwargs: str
    ) -> dict[str, Any]:
        return {"q": query, "region": region, "safe": safesearch}


def search(toolset: WebToolset, query: str = "tide gauges", **arguments: object) -> tuple[dict[str, Any], ReActStep]:
    call = calls(("web_search", {"query": query, **arguments}))
    step = run_agent([call, says("done")], toolsets=[toolset]).steps[0]
    return json.loads(step.observation), step


def outcome(step: ReActStep) -> tuple[Disposition, str]:
    assert step.outcome is not None
    return step.outcome.disposition, step.outcome.code


@pytest.fixture
def local_engine(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> type[LocalEngine]:
    engine = type("Engine", (LocalEngine,), {"search_url": f"{server.url}/search"})
    monkeypatch.setitem(ENGINES["text"], "local", engine)
    return engine


def item(number: int) -> str:
    return f"<li><a href='https://site{number}.test/'>Tide gauges {number}</a><p>All about tide gauges.</p></li>"


@pytest.mark.usefixtures("local_engine")
def test_ddgs_brings_titles_addresses_and_snippets(server: LocalServer) -> None:
    server.script = [server.reply(f"<ul>{''.join(map(item, range(4)))}</ul>")]
    provider = DdgsProvider(backend="local", region="uk-en", safesearch="on")
    result, step = search(WebToolset(provider=provider), max_results=3)
    assert (result["status"], result["query"], result["source"]) == ("ok", "tide gauges", "ddgs")
    assert len(result["results"]) == 3
    assert result["results"][0].keys() == {"title", "url", "snippet"}
    assert result["results"][0]["url"].startswith("https://site")
    assert "not instructions" in result["notice"]
    assert server.requests[0].parameters == {"q": "tide gauges", "region": "uk-en", "safe": "on"}
    assert outcome(step) == (Disposition.SUCCESS, "")
    assert step.outcome is not None
    assert step.outcome.verified_summary.startswith("ddgs found 3 pages for 'tide gauges', first Tide gauges")


@pytest.mark.usefixtures("local_engine")
def test_ddgs_without_results_is_no_result(server: LocalServer) -> None:
    server.script = [server.reply("<p>Sorry.</p>")]
    result, step = search(WebToolset(provider={"kind": "ddgs", "backend": "local"}))
    assert result["error"]["code"] == "no_result"
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, "no_result")


@pytest.mark.usefixtures("local_engine")
def test_ddgs_that_cannot_reach_its_engines_is_an_error(server: LocalServer) -> None:
    server.stop()
    result, step = search(WebToolset(provider={"kind": "ddgs", "backend": "local"}))
    assert result["error"]["code"] == "search_failed"
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, "search_failed")


@pytest.mark.usefixtures("local_engine")
def test_ddgs_that_takes_too_long_is_an_error(server: LocalServer) -> None:
    server.script = [server.silence()]
    result, _ = search(WebToolset(provider={"kind": "ddgs", "backend": "local", "timeout_seconds": 1}))
    assert result["error"]["code"] == "network_error"


@pytest.mark.parametrize("library", ["ddgs", "trafilatura"])
def test_a_missing_library_is_named_with_its_extra_before_a_model_is_asked(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)  # as if it were not installed
    with pytest.raises(ToolsetError, match=rf"needs {library}: pip install 'react-run\[web\]'"):
        search(WebToolset())


def test_a_library_that_breaks_when_it_is_used_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ddgs", None)
    monkeypatch.setattr(
        "react_toolsets.web.toolset.find_spec", lambda name: name
    )  # it is there, but cannot be imported
    result, step = search(WebToolset())
    assert 'pip install "react-run[web]"' in result["error"]["message"]
    assert outcome(step) == (Disposition.TERMINAL_ERROR, "missing_extra")


def test_results_are_bounded_tidied_and_of_the_web_only() -> None:
    hits = [
        SearchHit(title="a\n b " + "x" * 300, url="https://a.test/", snippet="word " * 300),
        SearchHit(title="evil", url="javascript:alert(1)", snippet=""),
        *(SearchHit(title=str(number), url=f"https://{number}.test/", snippet="") for number in range(30)),
    ]
    result, _ = search(WebToolset(provider=Shelf(hits=hits)), max_results=20)
    results = result["results"]
    assert len(results) == 20
    assert results[0]["title"].startswith("a b x")
    assert len(results[0]["title"]) == 200
    assert len(results[0]["snippet"]) <= 500
    assert all(each["url"].startswith("https://") for each in results)


def test_finding_nothing_again_and_again_does_not_end_the_run() -> None:
    searches = [calls(("web_search", {"query": f"rare word {number}"})) for number in range(5)]
    result = run_agent([*searches, says("It is not to be found.")], toolsets=[WebToolset(provider=Shelf())])
    assert [step.error_code for step in result.steps] == ["no_result"] * 5
    assert (result.answer, result.success) == ("It is not to be found.", False)  # kept; nothing was found (F6)


def test_engines_that_keep_failing_end_the_run() -> None:
    class Failing(SearchProvider):
        def search(self, query: str, max_results: int) -> Sequence[SearchHit]:
            raise RequestFailed("search_failed", "later")

    searches = [calls(("web_search", {"query": f"word {number}"})) for number in range(5)]
    result = run_agent([*searches, says("From memory: 42.")], toolsets=[WebToolset(provider=Failing())])
    assert (len(result.steps), result.stop_reason) == (2, "tool_retry_exhausted")  # behaviour F1


@pytest.mark.parametrize("code", ["rate_limited", "network_error", "search_failed"])
def test_a_providers_failure_may_be_retried(code: str) -> None:
    class Failing(SearchProvider):
        def search(self, query: str, max_results: int) -> Sequence[SearchHit]:
            raise RequestFailed(code, "later")

    result, step = search(WebToolset(provider=Failing()))
    assert result["error"] == {"code": code, "message": "later"}
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, code)


class AsyncShelf(SearchProvider):
    """Answers from a list, when all who ask have asked."""

    asked: int = 0
    all_asked: SkipValidation[asyncio.Event] = Field(default_factory=asyncio.Event)

    async def search(self, query: str, max_results: int) -> list[SearchHit]:
        self.asked += 1
        if self.asked == 2:
            self.all_asked.set()
        await asyncio.wait_for(self.all_asked.wait(), 60)
        return [SearchHit(title=query, url=f"https://example.org/{query}", snippet="")]


def test_an_async_provider_searches_on_the_event_loop_many_at_once() -> None:
    both = calls(("web_search", {"query": "one"}), ("web_search", {"query": "two"}))
    result = run_agent([both, says("Both.")], toolsets=[WebToolset(provider=AsyncShelf())])
    assert result.success
    urls = [json.loads(step.observation)["results"][0]["url"] for step in result.steps]
    assert urls == ["https://example.org/one", "https://example.org/two"]


def test_an_async_providers_failure_is_said_like_any_other() -> None:
    class Failing(SearchProvider):
        async def search(self, query: str, max_results: int) -> list[SearchHit]:
            raise RequestFailed("rate_limited", "later")

    result, step = search(WebToolset(provider=Failing()))
    assert result["error"] == {"code": "rate_limited", "message": "later"}
    assert outcome(step) == (Disposition.RETRYABLE_ERROR, "rate_limited")


def test_a_provider_is_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shelf_package", __import__("types").SimpleNamespace(Shelf=Shelf))
    for value in ("shelf_package.Shelf", "shelf_package:Shelf", {"kind": "shelf_package.Shelf", "label": "x"}):
        assert isinstance(WebToolset(provider=value).provider, Shelf)


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("os.system", "standard library"),
        ({"kind": "subprocess.run"}, "standard library"),
        ("pydantic.BaseModel", "not a subclass"),
        ("pytest.exit", "not a subclass"),
        ("no_such_package.Provider", "cannot import"),
        ("bing", "neither 'ddgs' nor the path"),
        ("a b.c", "not a path such as package.module.Class"),
        ({"kind": "ddgs", "regoin": "de-de"}, "regoin"),
        ({"kind": "ddgs", "region": "Germany"}, "region"),
        (3, "SearchProvider"),
    ],
)
def test_a_wrong_provider_is_an_error_of_the_agent_file(tmp_path: Path, provider: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        WebToolset.model_validate({"provider": provider}, context=Origin(directory=tmp_path))


def test_a_search_provider_that_is_not_installed_is_imported_only_with_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # as `python -m` puts the working directory there
    monkeypatch.chdir(tmp_path)
    (tmp_path / "providers_here.py").write_text(
        "from pathlib import Path\nfrom react_toolsets.web import SearchProvider\n\n"
        "Path(__file__).with_name('loaded').touch()\n\n\nclass Mine(SearchProvider):\n"
        "    def search(self, query, max_results):\n        return []\n"
    )
    agent = tmp_path / "agent.yaml"
    agent.write_text("version: 1\nmodel: offline\ntoolsets: [{kind: web, provider: providers_here.Mine}]\n")
    with pytest.raises(ConfigError, match=r"agent\.yaml:3:.*runs only from a trusted directory"):
        ReActAgentConfig.from_yaml(agent, trusted=False)
    assert not (tmp_path / "loaded").exists()
    ReActAgentConfig.from_yaml(agent)
    assert (tmp_path / "loaded").exists()
