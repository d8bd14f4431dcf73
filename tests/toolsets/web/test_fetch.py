"""``web_fetch`` in real runs against a local web site, and its behaviour when pages cannot be had."""

from __future__ import annotations

import asyncio
import json
import threading
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from react_run import Disposition, RunResult
from react_run.support import in_thread
from react_run.testing import calls, run_agent, says
from react_toolsets.web import WebToolset

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer

TEXT = "The tide gauge at Brest has been read since 1807. " * 10


def toolset_of(server: LocalServer, **options: Any) -> WebToolset:
    return WebToolset(allow_hosts=[f"127.0.0.1:{server.port}"], **options)


def run(server: LocalServer, *iterations: list[dict[str, object]], **options: Any) -> RunResult:
    """Iterations of fetches, then an answer."""
    replies = [calls(*(("web_fetch", arguments) for arguments in each)) for each in iterations]
    return run_agent([*replies, says("done")], toolsets=[toolset_of(server, **options)])


def observed(result: RunResult, step: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.steps[step].observation)
    return found


def test_a_page_is_read_as_fenced_markdown_with_its_source(server: LocalServer) -> None:
    server.site = {
        "/old": server.redirect("/new?a=1"),
        "/new": server.reply(
            f"<html><head><title>Brest</title></head><body><article><p>{TEXT}</p></article></body></html>"
        ),
    }
    result = run(server, [{"url": f"{server.url}/old"}])
    page = observed(result)
    assert (page["status"], page["title"], page["url"]) == ("ok", "Brest", f"{server.url}/new?a=1")
    assert (page["media_type"], page["offset"], page["next_offset"]) == ("text/html", 0, None)
    assert "not instructions" in page["notice"]
    assert page["content"].startswith("<<<web-content ")
    assert TEXT.strip() in page["content"]
    outcome = result.steps[0].outcome
    assert outcome is not None
    assert outcome.verified_summary == f"Read Brest ({server.url}/new?a=1), {len(TEXT.strip())} characters"
    request = server.requests[0]
    assert request.headers["user-agent"].startswith("react-run/")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"


def test_a_long_page_is_read_on_without_another_request(server: LocalServer) -> None:
    text = "\n".join(f"Line {number} of the log of the tide gauge." for number in range(2000))
    server.site = {"/log": server.reply(text, content_type="text/plain")}
    url = f"{server.url}/log"
    first = observed(run(server, [{"url": url}]))
    server.requests.clear()
    result = run(server, [{"url": url}], [{"url": url, "offset": first["next_offset"]}])
    second = observed(result, 1)
    assert second["offset"] == first["next_offset"]
    assert second["content"] != first["content"]
    assert len(server.requests) == 1
    assert len(result.steps[0].observation.encode()) < 24_576  # behaviour T4: no result is spilled


def test_several_pages_of_one_iteration_are_fetched_at_the_same_time(server: LocalServer) -> None:
    together = threading.Barrier(4)  # nobody is answered before all four have asked

    def answer(connection: Any) -> None:
        together.wait(timeout=60)
        server.reply("All four at once.", content_type="text/plain")(connection)

    server.site = {f"/{number}": answer for number in range(4)}
    result = run(server, [{"url": f"{server.url}/{number}"} for number in range(4)])
    assert [observed(result, number)["status"] for number in range(4)] == ["ok"] * 4


def test_pages_that_cannot_be_read_do_not_end_the_run(server: LocalServer) -> None:
    """Behaviour F1 counts failures of one kind; a dead link is not one of the next link's kind."""
    server.site = {
        "/gone": server.reply("", status=410),
        "/picture": server.reply(b"\x89PNG", content_type="image/png"),
        "/empty": server.reply("<html></html>"),
        "/loop": server.redirect("/loop"),
        "/big": server.reply(b"x" * (5 * 1024 * 1024 + 1), content_type="text/plain"),
        "/busy": server.reply("", status=429, headers={"Retry-After": "600"}),
        "/down": server.reply("", status=503, headers={"Retry-After": "600"}),
    }
    pages = ["/missing", "/gone", "/picture", "/empty", "/loop", "/big", "/busy", "/down"]
    urls = [f"{server.url}{page}" for page in pages]
    urls += ["http://127.0.0.1:81/", "http://169.254.169.254/latest", "file:///etc/passwd", "http://localhost/"]
    asked = [("web_fetch", {"url": url}) for url in urls]
    replies = [*(calls(*asked[start : start + 3]) for start in range(0, len(asked), 3)), says("Nothing could be read.")]
    result = run_agent(replies, toolsets=[toolset_of(server)], max_iterations=20)
    assert [step.error_code for step in result.steps] == [
        "http_error",
        "http_error",
        "unsupported_type",
        "empty_page",
        "too_many_redirects",
        "too_large",
        "rate_limited",
        "server_error",
        "host_not_allowed",
        "host_not_allowed",
        "invalid_url",
        "host_not_allowed",
    ]
    assert all(step.outcome and step.outcome.disposition is Disposition.RETRYABLE_ERROR for step in result.steps)
    assert (result.answer, result.stop_reason, result.success) == ("Nothing could be read.", "completed", False)
    assert result.unresolved  # it is said, not hidden


def test_network_trouble_is_tried_again(server: LocalServer) -> None:
    server.script = [server.reset(), server.cut_off(), server.reply("Third time lucky.", content_type="text/plain")]
    page = observed(run(server, [{"url": server.url}]))
    assert "Third time lucky." in page["content"]


@pytest.mark.parametrize("behaviour", ["drip", "silence"])
def test_the_deadline_covers_the_whole_fetch(server: LocalServer, behaviour: str) -> None:
    server.script = [server.drip() if behaviour == "drip" else server.silence()]
    started = perf_counter()
    page = observed(run(server, [{"url": server.url}], timeout_seconds=1))
    assert (page["error"]["code"], "1 s" in page["error"]["message"]) == ("network_error", True)
    assert perf_counter() - started < 5


def test_two_toolsets_of_one_run_do_not_share_what_only_one_may_read(server: LocalServer) -> None:
    class Strict(WebToolset):
        pass

    server.site = {"/a": server.reply("secret", content_type="text/plain")}
    open_, strict = toolset_of(server), Strict(deny_hosts=["127.0.0.1"])
    renamed = strict.tools()[1]
    object.__setattr__(renamed, "name", "strict_fetch")  # two toolsets cannot offer one name
    strict._tools = [renamed]
    url = f"{server.url}/a"
    replies = [calls(("web_fetch", {"url": url})), calls(("strict_fetch", {"url": url})), says("done")]
    result = run_agent(replies, toolsets=[open_, strict])
    assert [step.error_code for step in result.steps] == [None, "host_not_allowed"]


@pytest.mark.parametrize("arguments", [{}, {"url": ""}, {"url": "x" * 4001}, {"url": "http://a.test", "offset": -1}])
def test_wrong_arguments_open_no_socket(server: LocalServer, arguments: dict[str, object]) -> None:
    assert run(server, [arguments]).steps[0].error_code == "invalid_arguments"
    assert server.requests == []


@pytest.mark.parametrize(
    "options", [{"timeout_seconds": 0}, {"page_bytes": 10}, {"user_agent": "a\nb"}, {"allow_host": ["a.test"]}]
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WebToolset(**options)


def test_the_tools_say_what_they_are() -> None:
    toolset = WebToolset()
    assert [tool.name for tool in toolset.tools()] == ["web_search", "web_fetch"]
    assert all(tool.read_only and tool.network for tool in toolset.tools())
    (skill,) = toolset.get_skill_specs()
    assert (skill.name, skill.tool_names) == ("web_research", ("web_search", "web_fetch"))


def test_a_thread_left_behind_does_not_hold_up_its_caller() -> None:
    async def impatient() -> None:
        release = threading.Event()
        try:
            async with asyncio.timeout(0.05):
                await in_thread(release.wait)
        finally:
            release.set()

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())


def test_an_error_in_a_thread_is_raised_where_it_is_awaited() -> None:
    def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(in_thread(broken))
