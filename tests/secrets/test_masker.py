"""Masking by value (behaviour J2): thirty canaries in every form they are likely to take."""

from __future__ import annotations

import base64
import html
import json
import re
import time
import urllib.parse
from collections.abc import Callable

import pytest

from react_run.secrets import MASK, Masker, looks_secret, mask_line

CANARIES = [f"sk-CANARY-{number:02d}/+ü<&\"' {number * 7919:x}" for number in range(30)]
_PERCENT = re.compile("%[0-9A-F]{2}")
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json in json": lambda value: json.dumps(json.dumps({"a": value}, ensure_ascii=False)),
    "repr": repr,
    "url": urllib.parse.quote,
    "url, all": lambda value: urllib.parse.quote(value, safe=""),
    "form": urllib.parse.quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 for urls": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "basic auth": lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
    "base64, offset 1": lambda value: base64.b64encode(f"u{value}:x".encode()).decode(),
    "url, lower case": lambda value: _PERCENT.sub(lambda found: found[0].lower(), urllib.parse.quote(value, safe="")),
    "url in url": lambda value: urllib.parse.quote(urllib.parse.quote(value, safe="")),
    "html": html.escape,
    "html, other quotes": lambda value: html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    "html, content": lambda value: html.escape(value, quote=False),
    "json for a page": lambda value: json.dumps(value).replace("<", "\\u003c").replace("&", "\\u0026"),
    "json of PHP": lambda value: json.dumps(value).replace("/", "\\/"),
    "bytes": lambda value: repr(value.encode()),
    "hex": lambda value: value.encode().hex(),
    "base64, in lines": lambda value: base64.encodebytes(b"x" * 50 + value.encode() + b"y" * 40).decode(),
    "base64, in lines of a mail": lambda value: (
        base64.encodebytes(b"x" * 38 + value.encode()).decode().replace("\n", "\r\n")
    ),
    "base64, offset 2": lambda value: base64.b64encode(f"uu{value}:xy".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_no_canary_survives_in_any_usual_form(form: str) -> None:
    masker = Masker(CANARIES)
    for canary in CANARIES:
        text = f"before {FORMS[form](canary)} after"
        masked = masker.mask(text)
        assert MASK in masked, form
        assert masked.startswith("before ")
        assert masked.endswith(" after")
        core = canary.encode()[3:-3]
        assert canary not in masked
        assert base64.b64encode(core).decode()[4:-4] not in masked


def test_a_canary_is_masked_in_data_at_any_depth_and_in_keys() -> None:
    masker = Masker(["hunter2hunter2"])
    data = {"a": ["x hunter2hunter2"], "hunter2hunter2": {"b": ("hunter2hunter2", 5, None)}}
    assert masker.mask_data(data) == {"a": ["x ***"], "***": {"b": ["***", 5, None]}}


def test_a_canary_in_an_error_about_json_in_json_is_masked_too() -> None:
    masker = Masker(CANARIES)
    for canary in CANARIES:
        assert "CANARY" not in masker.mask(f"ValueError: cannot read {json.dumps(json.dumps({'key': canary}))!r}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_json_text_that_is_called_clean_holds_no_canary_in_any_form(form: str, ascii_only: bool) -> None:
    masker = Masker(CANARIES)
    assert masker.is_clean(json.dumps({"a": "nothing here", "n": [1, 2.5, None]}))
    for canary in CANARIES:
        assert not masker.is_clean(json.dumps({"a": f"x {FORMS[form](canary)}"}, ensure_ascii=ascii_only))
        assert not masker.is_clean(json.dumps({FORMS[form](canary): 1}, ensure_ascii=ascii_only))


def test_logins_patterns_and_numbers_make_a_json_text_unclean() -> None:
    assert not Masker().is_clean('{"u":"https://user:pass@host/"}')
    assert Masker().is_clean('{"u":"https://host/a:b"}')
    assert not Masker(patterns=["x+"]).is_clean("{}")
    assert not Masker(["271828"]).is_clean('{"pin":271828}')
    assert Masker(["271828"]).mask_data({"pin": 271828, "ok": True, "n": 27}) == {"pin": "***", "ok": True, "n": 27}


def test_the_lines_of_a_key_file_are_masked_one_by_one() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----"
    assert "MIIEvQ" not in Masker([key]).mask("log: MIIEvQIBADANBgkqhkiG9w0BAQEFAASC")


def test_the_longest_secret_is_masked_first() -> None:
    assert Masker(["secret", "secret-and-more"]).mask("secret-and-more secret") == "*** ***"


def test_values_too_short_to_be_secret_leave_text_alone() -> None:
    assert Masker(["a", "12", ""]).mask("a 12 b") == "a 12 b"


def test_patterns_and_logins_in_urls_are_masked_too() -> None:
    masker = Masker(patterns=[r"ghp_\w+", "a|b{3}"])
    masker.add_pattern(r"xox[bp]-\S+")
    assert masker.mask("ghp_abc xoxb-1 bbb c") == "*** *** *** c"
    assert Masker().mask("https://user:pass@host/x") == "https://***@host/x"


def test_maskers_add_up() -> None:
    first, second = Masker(["value-one"]), Masker(["value-two"], patterns=["p+q"])
    first.update(second)
    assert first.mask("value-one value-two ppq") == "*** *** ***"
    first.update(first)
    first.update(second)
    assert list(first._patterns) == ["p+q"]
    first.add("value-three", "NAME")
    assert first.mask("value-three") == MASK
    assert first.names["value-three"] == "NAME"


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apiKey",
        "API-KEY",
        "OPENAI_API_KEY",
        "token",
        "GH_TOKEN",
        "password",
        "client_secret",
        "Authorization",
        "PGPASSWORD",
        "SSHPASS",
        "GITHUB_PAT",
        "OPENAIKEY",
        "GHTOKEN",
        "DBPASS",
        "SMTP_PASS",
        "REDIS_PASS",
        "JWT",
        "X-Auth",
        "Bearer",
        "signing_key_input",
        "TOTAL_SECRET",
        "dbPassword",
        "AWS_SECRET_ACCESS_KEY",
        "MYSQL_PWD",
        "service_account_key",
    ],
)
def test_names_of_secrets_are_recognised(name: str) -> None:
    assert looks_secret(name)


ORDINARY = (
    "pass_environment",
    "two_pass",
    "no_auth",
    "requires_auth",
    "auth_url",
    "bypass",
    "MONKEY",
    "HOTKEY",
    "COMPASS",
    "max_input_tokens",
    "tokens_per_minute",
    "input_key",
    "path",
    "pattern",
    "patch",
    "author",
    "passenger",
)


@pytest.mark.parametrize(
    "name", ["max_tokens", "model", "keyboard", "monkey", "tokenizer", "total_tokens", "base_url", *ORDINARY]
)
def test_other_names_are_not(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("api_key: sk-123", "api_key: ***"),
        ('  "api_key": "sk 123", x: 1', '  "api_key": ***, x: 1'),
        ("{token: abc, name: n}", "{token: ***, name: n}"),
        ("PASSWORD=x", "PASSWORD=***"),
        ("api_key: ${KEY}", "api_key: ${KEY}"),
        ("max_tokens: 5", "max_tokens: 5"),
        ('api_key: "unclosed sk-1', "api_key: ***"),
        ("url: https://u:p@h/", "url: https://***@h/"),
    ],
)
def test_a_quoted_line_of_a_file_shows_no_literal_secret(line: str, masked: str) -> None:
    assert mask_line(line) == masked


@pytest.mark.parametrize(
    "text",
    [
        "http://" + ":" * 200_000,
        "http://" + "a" * 200_000 + ":b",
        "://" * 70_000,
        "http://a:b" * 20_000,
        "http://" + ":@" * 100_000,
    ],
)
def test_a_hostile_url_is_masked_in_no_time(text: str) -> None:
    started = time.process_time()
    Masker(["secret-value"]).mask(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "line", ["f" * 200_000, "a-" * 100_000, "a " * 100_000, 'a="' * 70_000, "a" + " " * 200_000, "key:" * 50_000]
)
def test_a_hostile_line_is_masked_in_no_time(line: str) -> None:
    started = time.process_time()
    mask_line(line)
    assert time.process_time() - started < 2


def test_hundreds_of_secrets_that_begin_alike_are_ready_and_masked_in_no_time() -> None:
    values = [f"sk-CANARY-/+ü<&\"' {number * 7919:x}-{'z' * (number % 30)}" for number in range(300)]
    started = time.process_time()
    masker = Masker(values)
    assert masker.mask(" ".join(values)) == " ".join([MASK] * 300)
    assert masker.mask("sk-CANARY-/" * 2_000) == "sk-CANARY-/" * 2_000
    assert time.process_time() - started < 2


def test_a_pattern_that_takes_too_long_masks_everything() -> None:
    masker = Masker(patterns=[r"(x+x+)+y"])
    started = time.process_time()
    assert [masker.mask("x" * 5_000) for _ in range(5)] == [MASK] * 5
    assert time.process_time() - started < 10
    assert masker.mask("xxy z") == "*** z"


def test_a_data_url_is_not_masked_by_chance_and_is_left_out_with_a_secret_in_it() -> None:
    from tests.pictures import png

    from react_run import FilePart, ImagePart

    masker = Masker(["hunter2hunter2"], patterns=["[A-Za-z0-9+/]{20,}"])
    clean, leaky = ImagePart(png()).url, ImagePart(png() + b"hunter2hunter2").url
    assert masker.mask_data({"url": clean}) == {"url": clean}
    assert masker.mask_data(leaky) == MASK
    assert MASK in str(masker.mask_data(f"{clean} and text"))
    assert MASK in str(masker.mask_data(dict(FilePart(b"hunter2hunter2", "text/plain"))))
