"""The shared client against a real server that misbehaves in every way."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from react_toolsets.http import MAX_BODY, Answers, JsonClient, RequestFailed

if TYPE_CHECKING:
    from tests.toolsets.conftest import LocalServer


def client_of(
    server: LocalServer, *, timeout_seconds: float = 10, empty_is_throttling: bool = False
) -> tuple[JsonClient, list[float]]:
    """A client of the local server, and the waits it made between attempts instead of waiting."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def check(answer: Mapping[str, object]) -> None:
        if "error" in answer:
            raise RequestFailed("rate_limited", "says the body", transient=True)

    client = JsonClient(
        endpoint=f"{server.url}/api",
        user_agent="tests/1 (us@example.org)",
        timeout_seconds=timeout_seconds,
        check=check,
        empty_is_throttling=empty_is_throttling,
        sleep=sleep,
    )
    return client, waits


def ask(client: JsonClient, **parameters: str) -> dict[str, object]:
    return asyncio.run(client.ask(parameters, Answers()))


def failure(client: JsonClient) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        ask(client)
    return caught.value


def test_an_answer_is_decoded_and_the_request_says_who_asks(server: LocalServer) -> None:
    server.script = [server.json({"a": "ü"})]
    client, waits = client_of(server)
    assert ask(client, q="Zürich & Bern") == {"a": "ü"}
    (request,) = server.requests
    assert request.path == "/api"
    assert request.parameters == {"q": "Zürich & Bern"}
    assert request.headers["user-agent"] == "tests/1 (us@example.org)"
    assert waits == []


def test_a_gzipped_answer_is_unpacked(server: LocalServer) -> None:
    body = gzip.compress(json.dumps({"a": "x" * 50_000}).encode())
    server.script = [server.reply(body, headers={"Content-Encoding": "gzip"})]
    assert ask(client_of(server)[0]) == {"a": "x" * 50_000}


def test_a_reset_connection_is_tried_again(server: LocalServer) -> None:
    server.script = [server.reset(), server.reset(), server.json({"a": 1})]
    client, waits = client_of(server)
    assert ask(client) == {"a": 1}
    assert len(waits) == 2
    assert 0.1 <= waits[0] <= 0.3
    assert 0.3 <= waits[1] <= 0.9


def test_a_body_that_ends_early_is_tried_again(server: LocalServer) -> None:
    server.script = [server.cut_off(), server.json({"a": 1})]
    assert ask(client_of(server)[0]) == {"a": 1}


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for(server: LocalServer, status: int) -> None:
    server.script = [server.json({}, status=status, headers={"Retry-After": "3"}), server.json({"a": 1})]
    client, waits = client_of(server)
    assert ask(client) == {"a": 1}
    assert waits == [3.0]


def test_a_retry_after_beyond_the_deadline_fails_at_once(server: LocalServer) -> None:
    server.script = [server.json({}, status=429, headers={"Retry-After": "60"})]
    client, waits = client_of(server)
    error = failure(client)
    assert (error.code, error.retry_after, waits) == ("rate_limited", 60.0, [])
    assert "60 s" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (500, "server_error"), (503, "server_error")])
def test_three_attempts_are_made_and_no_more(server: LocalServer, status: int, code: str) -> None:
    server.script = [server.json({}, status=status)]
    error = failure(client_of(server)[0])
    assert error.code == code
    assert f"answered {status}" in str(error)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 403, 404, 410, 418, 304, 599 - 100])
def test_other_statuses_are_final(server: LocalServer, status: int) -> None:
    server.script = [server.json({}, status=status)]
    assert failure(client_of(server)[0]).code == "http_error"
    assert len(server.requests) == 1


def test_an_unreachable_server_is_a_network_error(server: LocalServer) -> None:
    server.stop()
    client, waits = client_of(server)
    assert failure(client).code == "network_error"
    assert len(waits) == 2


@pytest.mark.parametrize("behaviour", ["drip", "silence"])
def test_the_deadline_covers_the_whole_request(server: LocalServer, behaviour: str) -> None:
    server.script = [server.drip() if behaviour == "drip" else server.silence()]
    started = perf_counter()
    error = failure(client_of(server, timeout_seconds=0.3)[0])
    assert error.code == "network_error"
    assert "0.3 s" in str(error)
    assert perf_counter() - started < 10  # the dripping body alone would take minutes


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": "\xff\xfe"}',
        b"<html>proxy page</html>",
        b'{"a": ',
        b"[1, 2]",
        b"",
        b"[" * 200_000,
        b'{"a": "' + b"x" * 10 * 1024 * 1024 + b'"}',
    ],
    ids=["bad UTF-8", "HTML", "cut", "a list", "empty", "deep", "10 MiB"],
)
def test_a_bad_body_is_an_invalid_response(server: LocalServer, body: bytes) -> None:
    server.script = [server.reply(body)]
    assert failure(client_of(server)[0]).code == "invalid_response"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": "' + b"x" * MAX_BODY + b'"}')),
        ("gzip", b"not gzip at all"),
        ("br", b"whatever"),
    ],
    ids=["bomb", "broken", "never asked for"],
)
def test_a_bad_encoding_is_an_invalid_response(server: LocalServer, encoding: str, body: bytes) -> None:
    server.script = [server.reply(body, headers={"Content-Encoding": encoding})]
    assert failure(client_of(server)[0]).code == "invalid_response"


def test_what_follows_the_end_of_a_gzip_stream_is_ignored(server: LocalServer) -> None:
    body = gzip.compress(b'{"a": 1}') + b"x" * 10 * MAX_BODY
    server.script = [server.reply(body, headers={"Content-Encoding": "gzip"})]
    assert ask(client_of(server)[0]) == {"a": 1}


def test_a_body_of_exactly_the_ceiling_is_read(server: LocalServer) -> None:
    filler = "x" * (MAX_BODY - len('{"a": ""}'))
    server.script = [server.json({"a": filler})]
    assert ask(client_of(server)[0]) == {"a": filler}


def test_a_redirect_on_the_same_host_is_followed(server: LocalServer) -> None:
    server.script = [server.redirect("/elsewhere?q=1"), server.json({"a": 1})]
    assert ask(client_of(server)[0], q="1") == {"a": 1}
    assert server.requests[1].target == "/elsewhere?q=1"


@pytest.mark.parametrize(
    "location", ["http://localhost:{port}/", "http://127.0.0.1:1/", "http://a:b@127.0.0.1:{port}/", "file:///etc/hosts"]
)
def test_a_redirect_elsewhere_is_not_followed(server: LocalServer, location: str) -> None:
    server.script = [server.redirect(location.format(port=server.port)), server.json({"a": 1})]
    assert failure(client_of(server)[0]).code == "http_error"
    assert len(server.requests) == 1


@pytest.mark.parametrize("location", ["//[", "http://a:99999/", "//a[b"])
def test_a_redirect_to_what_is_no_address_is_an_error_like_any_other(server: LocalServer, location: str) -> None:
    server.script = [server.redirect(location), server.json({"a": 1})]
    assert failure(client_of(server)[0]).code == "http_error"
    assert len(server.requests) == 1


def test_endless_redirects_end(server: LocalServer) -> None:
    server.script = [server.redirect("/again")]
    assert failure(client_of(server)[0]).code == "http_error"
    assert len(server.requests) == 4


def test_an_error_inside_a_success_is_tried_again(server: LocalServer) -> None:
    server.script = [server.json({"error": 1}, headers={"Retry-After": "2"}), server.json({"a": 1})]
    client, waits = client_of(server)
    assert ask(client) == {"a": 1}
    assert waits == [2.0]


@pytest.mark.parametrize("status", [200, 202])
def test_an_empty_answer_may_mean_throttling(server: LocalServer, status: int) -> None:
    server.script = [server.reply(b"", status=status)]
    assert failure(client_of(server, empty_is_throttling=True)[0]).code == "rate_limited"
    assert failure(client_of(server)[0]).code == "invalid_response"


def test_equal_questions_are_asked_once_even_at_the_same_time(server: LocalServer) -> None:
    server.script = [server.json({"a": 1})]
    client, _ = client_of(server)

    async def twice() -> None:
        answers = Answers()
        await asyncio.gather(*(client.ask({"q": "x"}, answers) for _ in range(5)))
        await client.ask({"q": "x"}, answers)
        await client.ask({"q": "y"}, answers)

    asyncio.run(twice())
    assert [request.parameters["q"] for request in server.requests] == ["x", "y"]


def test_a_failure_is_not_kept(server: LocalServer) -> None:
    server.script = [server.json({}, status=404), server.json({"a": 1})]
    client, _ = client_of(server)

    async def again() -> dict[str, object]:
        answers = Answers()
        with pytest.raises(RequestFailed):
            await client.ask({}, answers)
        return await client.ask({}, answers)

    assert asyncio.run(again()) == {"a": 1}


def test_a_run_keeps_a_bounded_number_of_answers(server: LocalServer) -> None:
    server.script = [server.json({"a": 1})]
    client, _ = client_of(server)

    async def many() -> None:
        answers = Answers()
        for number in [*range(Answers.KEPT + 1), Answers.KEPT, 0]:
            await client.ask({"q": str(number)}, answers)

    asyncio.run(many())
    assert len(server.requests) == Answers.KEPT + 2  # only the oldest was forgotten and asked again
