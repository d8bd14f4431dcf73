"""``web_fetch`` reaches public addresses only: no socket is opened to a bad one, whatever URL, DNS or redirects say.

The resolver and the connector are stubs behind the toolset's own seam; everything between them is the real thing.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import httpcore
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from react_run import ConfigError, ReActAgentConfig
from react_toolsets.web import WebToolset
from react_toolsets.web.address import parse, why_not_public
from react_toolsets.web.fetch import Document, fetch
from react_toolsets.web.policy import HostPolicy, Pattern
from react_toolsets.web.refused import CODES, Refused

CASES = Path(__file__).parents[2] / "cases" / "ssrf_urls.txt"
TEXT = b"The tide gauge at Brest has been read since 1807."


@dataclass
class StubNetwork:
    """Answers look-ups from a case, records every connection, and serves one canned response for each."""

    dns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dns_sequence: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    responses: list[Callable[[], list[bytes]]] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        if host in self.dns_sequence:
            answers = self.dns_sequence[host]
            return answers[min(self.looked_up.count(host), len(answers)) - 1]
        return self.dns.get(host, ())

    async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
        self.opened.append(address)
        response = self.responses[min(len(self.opened), len(self.responses)) - 1]
        return PlainStream(response())


class PlainStream(httpcore.AsyncMockStream):
    """A canned response; TLS is taken as established."""

    async def start_tls(self, *args: Any, **kwargs: Any) -> httpcore.AsyncNetworkStream:
        return self


def response(body: bytes, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Callable[[], list[bytes]]:
    fields = {"Content-Type": "text/plain", "Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return lambda: [f"HTTP/1.1 {status} X\r\n{head}\r\n".encode(), body]


SETUP = {"body_bytes", "content_type", "dns", "dns_sequence", "gzip_of_zero_bytes", "redirects"}


def network_of(setup: Mapping[str, Any]) -> StubNetwork:
    assert setup.keys() <= SETUP
    body = TEXT
    headers: dict[str, str] = {}
    if "body_bytes" in setup:
        body = b"x" * setup["body_bytes"]
    if "gzip_of_zero_bytes" in setup:
        body = gzip.compress(bytes(16 * 1024 * 1024)) * (setup["gzip_of_zero_bytes"] // (16 * 1024 * 1024))
        headers["Content-Encoding"] = "gzip"
    if "content_type" in setup:
        headers["Content-Type"] = setup["content_type"]
    redirects = [response(b"", {"Location": location}, status=302) for location in setup.get("redirects", ())]
    return StubNetwork(
        dns=setup.get("dns", {}),
        dns_sequence=setup.get("dns_sequence", {}),
        responses=[*redirects, response(body, headers)],
    )


def cases() -> list[Any]:
    rows = [line.split("\t") for line in CASES.read_text().splitlines() if line and not line.startswith("#")]
    return [
        pytest.param(expect, reason, json.loads(url), {} if setup == "-" else json.loads(setup), id=f"{reason} {url}")
        for expect, reason, url, setup, *_ in rows
    ]


def get(url: str, network: StubNetwork, policy: HostPolicy | None = None) -> Document:
    return asyncio.run(fetch(url, network=network, policy=policy or HostPolicy(), user_agent="tests"))


@pytest.mark.parametrize(("expect", "reason", "url", "setup"), cases())
def test_every_case_is_decided_and_no_socket_is_opened_to_a_bad_address(
    expect: str, reason: str, url: str, setup: dict[str, Any]
) -> None:
    network = network_of(setup)
    if expect == "allow":
        assert get(url, network).body == TEXT
        assert reason in ("public", f"pin={network.opened[0]}")
        assert len(network.opened) == 1 or not reason.startswith("pin=")
    else:
        with pytest.raises(Refused) as caught:
            get(url, network)
        assert caught.value.reason == reason
    # Independent of our own table: the standard library's opinion, and the one public address that is not public.
    for address in network.opened:
        assert ip_address(address).is_global
        assert address != "168.63.129.16"


def test_the_table_holds_every_reason() -> None:
    reasons = {case.values[1] for case in cases() if case.values[0] == "block"}
    assert reasons == CODES.keys() - {"hosts", "empty", "wall"}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://localhost/", "loopback"),
        ("http://printer.localhost:8080/", "loopback"),
        ("http://metadata.google.internal./", "metadata"),
        ("http://100.100.100.200/", "metadata"),
        ("http://[fd00:ec2::254]/", "metadata"),
        ("http://[fec0::1]/", "private"),
        ("http://[::]/", "loopback"),
        ("http://[::127.0.0.1]/", "loopback"),
        ("http://[::ffff:0:127.0.0.1]/", "loopback"),
        ("http://[2001:db8::1]/", "reserved"),
        ("http://[64:ff9b:1::8.8.8.8]/", "reserved"),
        ("http://198.18.0.1/", "reserved"),
        ("http://127.1/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://2130706433/", "loopback"),
        ("http://①②⑦.⓪.⓪.①/", "loopback"),
        ("http://127。0。0。1/", "loopback"),
        ("http://256.1.1.1/", "host"),
        ("http://1.2.3.4.5/", "host"),
        ("http://1.2.3.09/", "host"),
        ("http://[::1/", "host"),
        ("http://[v1.x]/", "host"),
        ("http:example.com/", "host"),
        ("http://exa mple.com/", "characters"),
        ("http://example.com%00.evil.test/", "characters"),
        ("http://a..b/", "characters"),
        ("http://xn--/", "dns"),
        ("http://example.com:80x/", "port"),
        ("http://example.com:٨٠/", "port"),
        ("http://@127.0.0.1/", "userinfo"),
        ("example.com/page", "scheme"),
        ("", "scheme"),
    ],
)
def test_more_disguises_are_refused(url: str, reason: str) -> None:
    network = StubNetwork()
    with pytest.raises(Refused) as caught:
        get(url, network)
    assert (caught.value.reason, network.opened) == (reason, [])


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("HTTPS://EXAMPLE.com", b"example.com", b"/"),
        ("http://example.com?q=a b&c=ü#part", b"example.com", b"/?q=a%20b&c=%C3%BC"),
        ("http://example.com/a%2Fb/../c\\d", b"example.com", b"/a%2Fb/../c%5Cd"),
        (" http://example.com:80/ \n", b"example.com", b"/"),
        ("http://faß.example/", b"xn--fa-hia.example", b"/"),
        ("http://my_host.example/", b"my_host.example", b"/"),
    ],
)
def test_what_is_sent_is_what_was_checked(url: str, host: bytes, path: bytes) -> None:
    sent: list[bytes] = []

    class Recording(PlainStream):
        async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  # httpcore's
            sent.append(buffer)

    class Network(StubNetwork):
        async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
            return Recording(response(TEXT)())

    get(url, Network(dns={host.decode(): ["93.184.216.34"]}))
    request = b"".join(sent)
    assert request.startswith(b"GET " + path + b" HTTP/1.1\r\n")
    assert b"Host: " + host + b"\r\n" in request


def test_tls_is_verified_for_the_name_although_the_connection_goes_to_an_address() -> None:
    verified: list[tuple[ssl.VerifyMode, bool, str | None]] = []

    class Recording(PlainStream):
        async def start_tls(
            self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, *args: Any, **kwargs: Any
        ) -> httpcore.AsyncNetworkStream:
            verified.append((ssl_context.verify_mode, ssl_context.check_hostname, server_hostname))
            return self

    class Network(StubNetwork):
        async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
            return Recording(response(TEXT)())

    get("https://example.com/", Network(dns={"example.com": ["93.184.216.34"]}))
    assert verified == [(ssl.CERT_REQUIRED, True, "example.com")]


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    class Flaky(StubNetwork):
        async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
            if not self.opened:
                self.opened.append(address)
                raise httpcore.ConnectError("unreachable")
            return await super().connect(address, port, seconds)

    network = Flaky(dns={"a.test": ["2606:4700::1111", "93.184.216.34"]}, responses=[response(TEXT)])
    assert get("http://a.test/", network).body == TEXT
    assert network.opened == ["2606:4700::1111", "93.184.216.34"]


def test_each_redirect_resolves_and_checks_again() -> None:
    # The name was public at first; by the time of the redirect to itself it is not.
    network = StubNetwork(
        dns_sequence={"a.test": [["93.184.216.34"], ["10.0.0.5"]]},
        responses=[response(b"", {"Location": "/next"}, status=302), response(TEXT)],
    )
    with pytest.raises(Refused):
        get("http://a.test/", network)
    assert network.opened == ["93.184.216.34"]


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
@example(IPv6Address("64:ff9b::808:808"))
@example(IPv6Address("2001:4860:4860::8888"))
@example(IPv4Address("192.88.99.1"))
def test_nothing_passes_that_the_standard_library_calls_not_global(address: IPv4Address | IPv6Address) -> None:
    if not why_not_public(address):
        assert address.is_global
        assert not address.is_multicast


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_every_ipv6_disguise(address: IPv4Address) -> None:
    number, reason = int(address), why_not_public(address)
    prefixes = ("::ffff:0:0", "64:ff9b::", "64:ff9b:1::", "2606:4700::5efe:0:0", "::ffff:0:0:0")
    disguises = [IPv6Address(int(IPv6Address(prefix)) | number) for prefix in prefixes]
    disguises.append(IPv6Address(0x2002 << 112 | number << 80))
    for disguise in disguises:
        assert why_not_public(disguise) in ((reason,) if reason else ("", "reserved"))
    assert parse(str(disguises[0])) == address


# Host lists


def policy(*, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> HostPolicy:
    return HostPolicy(allow=[Pattern.parse(host) for host in allow], deny=[Pattern.parse(host) for host in deny])


PUBLIC = {
    name: ["93.184.216.34"] for name in ("example.com", "www.example.com", "notexample.com", "xn--bcher-kva.test")
}


@pytest.mark.parametrize(
    ("allow", "deny", "url", "reason"),
    [
        (["example.com"], [], "http://example.com/", ""),
        (["example.com"], [], "http://www.example.com/", ""),
        (["example.com"], [], "http://notexample.com/", "hosts"),
        (["*.example.com"], [], "http://www.example.com/", ""),
        (["*.example.com"], [], "http://example.com/", "hosts"),
        (["example.com:8080"], [], "http://example.com/", "hosts"),
        (["example.com:8080"], [], "http://example.com:8080/", ""),
        (["bücher.test"], [], "http://bücher.test/", ""),
        (["EXAMPLE.com."], [], "http://example.com./", ""),
        ([], ["example.com"], "http://www.example.com/", "hosts"),
        (["example.com"], ["www.example.com"], "http://www.example.com/", "hosts"),
        ([], ["93.184.216.34"], "http://example.com/", "hosts"),
        (["8.8.8.8"], [], "http://134744072/", ""),
        # Only an address with its port, named literally, is permitted without being public …
        (["127.0.0.1:8080"], [], "http://127.0.0.1:8080/", ""),
        (["127.0.0.1:8080"], [], "http://0x7f000001:8080/", ""),
        (["[::1]:8080"], [], "http://[::1]:8080/", ""),
        (["127.0.0.1:8080"], [], "http://127.0.0.1:8081/", "hosts"),
        (["127.0.0.1"], [], "http://127.0.0.1:8080/", "loopback"),
        (["127.0.0.1:8080"], ["127.0.0.1"], "http://127.0.0.1:8080/", "hosts"),
        # … a name is not, unless the address it leads to is named as well.
        (["in.test:80"], [], "http://in.test/", "private"),
        (["in.test:80", "192.168.0.9:80"], [], "http://in.test/", ""),
        (["in.test:80", "192.168.0.8:80"], [], "http://in.test/", "private"),
        (["localhost:80"], [], "http://localhost/", "loopback"),
    ],
)
def test_host_lists(allow: list[str], deny: list[str], url: str, reason: str) -> None:
    dns = {**PUBLIC, "in.test": ["192.168.0.9"], "localhost": ["127.0.0.1"]}
    network = StubNetwork(dns=dns, responses=[response(TEXT)])
    rules = policy(allow=allow, deny=deny)
    if not reason:
        assert get(url, network, rules).body == TEXT
        return
    with pytest.raises(Refused) as caught:
        get(url, network, rules)
    assert (caught.value.reason, network.opened) == (reason, [])


def test_a_permitted_private_address_does_not_open_the_door_to_another() -> None:
    network = StubNetwork(responses=[response(b"", {"Location": "http://127.0.0.1:6379/"}, status=302), response(TEXT)])
    with pytest.raises(Refused):
        get("http://127.0.0.1:8080/", network, policy(allow=["127.0.0.1:8080", "127.0.0.1"]))
    assert network.opened == ["127.0.0.1"]


@pytest.mark.parametrize(
    "entry", ["", "http://example.com", "example.com/path", "a@b", "example.com:x", "a:99999", "a b"]
)
def test_a_wrong_host_entry_is_an_error_of_the_agent_file(entry: str) -> None:
    with pytest.raises(ValueError, match="allow_hosts"):
        WebToolset(allow_hosts=[entry])


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1:8080", True),
        ("169.254.169.254:80", True),
        ("[::1]:80", True),
        ("[::ffff:10.0.0.1]:80", True),
        ("127.0.0.1", False),
        ("localhost:80", False),
        ("93.184.216.34:80", False),
    ],
)
def test_a_file_opens_an_address_that_is_not_public_only_with_trust(tmp_path: Path, host: str, private: bool) -> None:
    agent = tmp_path / "a.yaml"
    agent.write_text(f"model: offline\ntoolsets: [{{kind: web, allow_hosts: ['{host}']}}]\n")
    ReActAgentConfig.from_yaml(agent)
    if private:
        with pytest.raises(ConfigError, match=r"a\.yaml:2:.*pages that are not public .*react-run trust"):
            ReActAgentConfig.from_yaml(agent, trusted=False)
    else:
        ReActAgentConfig.from_yaml(agent, trusted=False)
