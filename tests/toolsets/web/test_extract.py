"""From bytes to text: HTML as Markdown, PDF, plain text, and everything that is not what it says."""

from __future__ import annotations

import logging

import pytest

from react_toolsets.http import RequestFailed
from react_toolsets.web.extract import Page, extract
from react_toolsets.web.fetch import Document
from react_toolsets.web.refused import Refused

PARAGRAPH = "Sea level is measured with tide gauges along the coast and, since 1993, with satellites as well. " * 3
ARTICLE = f"""<!doctype html><html><head><title> Tide
 gauges </title></head><body><nav><a href="/">Home</a></nav><article><h1>Tide gauges</h1>
<p>{PARAGRAPH} See <a href="/next?a=1">the network</a>, which is <b>global</b>.</p>
<table><tr><th>Place</th><th>Since</th></tr><tr><td>Brest</td><td>1807</td></tr></table>
<ul><li>one</li><li>two</li></ul></article><script>alert("no")</script></body></html>"""


def page(body: bytes | str, media_type: str = "text/html", charset: str = "") -> Page:
    data = body.encode() if isinstance(body, str) else body
    return extract(Document(url="https://sea.test/a/b", media_type=media_type, charset=charset, body=data))


def pdf(text: str) -> bytes:
    """A minimal PDF of one page with one line."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 5 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    data += b"xref\n0 6\n0000000000 65535 f \n" + table + b"trailer << /Size 6 /Root 1 0 R >>\n"
    return data + b"startxref\n%d\n%%%%EOF" % start


def test_the_main_text_becomes_markdown() -> None:
    result = page(ARTICLE)
    assert result.title == "Tide gauges"
    assert "# Tide gauges" in result.text
    assert "[the network](https://sea.test/next?a=1)" in result.text
    assert "**global**" in result.text
    assert "| Brest | 1807 |" in result.text
    assert "- one\n- two" in result.text
    assert "Home" not in result.text
    assert "alert" not in result.text


@pytest.mark.parametrize(
    "charset", ["idna", "undefined", "punycode", "unicode_escape", "raw_unicode_escape", "hex", "rot13"]
)
def test_a_codec_of_python_that_is_no_encoding_of_the_web_is_not_used(charset: str) -> None:
    assert "tide gauges" in page(ARTICLE, charset=charset).text
    assert "tide gauges" in page(f"<meta charset={charset}>{ARTICLE}").text


@pytest.mark.parametrize("link", ["http://[::1", "//[", "http://[v1.x]/", "http://a:b:c/", "http://\u2488example/"])
@pytest.mark.parametrize("kind", ['<a href="{}">x</a>', '<base href="{}">', '<img src="{}">', '<form action="{}">'])
def test_an_address_that_is_none_costs_no_page(link: str, kind: str) -> None:
    assert "tide gauges" in page(ARTICLE.replace("<article>", f"<article>{kind.format(link)}")).text
    assert "A short page" in page(f"<html><body><p>A short page</p>{kind.format(link)}</body></html>").text


def test_a_page_of_links_keeps_them() -> None:
    links = "".join(f"<li><a href='/p{number}'>Page {number}</a></li>" for number in range(10))
    result = page(f"<html><body><ul>{links}<li><a href='mailto:a@b'>mail</a></li></ul></body></html>")
    assert "- [Page 3](https://sea.test/p3)" in result.text
    assert "mailto" not in result.text


@pytest.mark.parametrize(
    ("body", "media_type", "charset"),
    [
        ("<html><body><p>Grüße</p></body></html>".encode(), "text/html", ""),
        ("<html><body><p>Grüße</p></body></html>".encode(), "", ""),
        ("<html><body><p>Grüße</p></body></html>".encode("latin-1"), "text/html", "iso-8859-1"),
        ("<html><meta charset='iso-8859-1'><body><p>Grüße</p></body></html>".encode("latin-1"), "text/html", ""),
        ("<html><body><p>Grüße</p></body></html>".encode(), "text/html", "no-such-charset"),
        (
            '<?xml version="1.0" encoding="utf-8"?><html><body>Grüße</body></html>'.encode(),
            "application/xhtml+xml",
            "utf-8",
        ),
        ("Grüße".encode(), "text/plain", ""),
        ("Grüße".encode(), "text/plain", "hex"),
        ("Grüße".encode("utf-8-sig"), "text/plain", "utf-8"),
        ("Grüße".encode("utf-16"), "text/plain", ""),
        ("Grüße".encode("cp1252"), "text/plain", ""),
        ("Grüße".encode(), "", ""),
        ("  Grüße\r\n".encode(), "text/markdown", "utf-8"),
    ],
)
def test_the_encoding_is_found(body: bytes, media_type: str, charset: str) -> None:
    assert page(body, media_type, charset).text == "Grüße"


@pytest.mark.parametrize("media_type", ["application/json", "application/ld+json", "application/xml", "text/csv"])
def test_other_texts_stay_as_they_are(media_type: str) -> None:
    assert page('{"a": [1, 2]}', media_type).text == '{"a": [1, 2]}'


def test_control_and_hidden_characters_are_taken_out() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert page(f"a\x1b[31m\x07b{hidden}\tc\nd\x9b", "text/plain").text == "a[31mb\tc\nd"


@pytest.mark.parametrize(
    "character", ["\x1b", "\x0b", "\ufffe", "&#27;", "&#0;", "&#x1B", "&#xfffe;", "&#xd800;", "&#9999999"]
)
@pytest.mark.parametrize("place", ['<a href="ne{}xt">next</a>', '<math alttext="a{}b"></math>', "<p>{}</p>" * 150])
def test_a_character_that_no_tree_takes_spoils_no_page(character: str, place: str) -> None:
    text = "Tide gauges have been read here since 1807, and the sea has risen since. "
    deep = "<section>" * 120 + place.replace("{}", character) + "</section>" * 120
    assert "Tide gauges" in page(f"<html><body><base href='/b{character}/'><p>{text * 3}</p>{deep}</body></html>").text


@pytest.mark.parametrize("media_type", ["application/pdf", "", "text/plain"])
def test_a_pdf_is_known_by_its_type_or_its_first_bytes(media_type: str) -> None:
    assert page(pdf("The tide gauge at Brest"), media_type).text == "The tide gauge at Brest"


@pytest.mark.parametrize(
    ("body", "media_type", "reason"),
    [
        (b"", "text/html", "empty"),
        (b" \n ", "text/plain", "empty"),
        (b"<html><body></body></html>", "text/html", "empty"),
        (b"<html><body><script>x</script></body></html>", "text/html", "empty"),
        (pdf(""), "application/pdf", "empty"),
        (b"%PDF-1.4 broken", "application/pdf", "type"),
        (b"not a pdf", "application/pdf", "type"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text/html", "type"),
        (b"MZ\0\0", "", "type"),
    ],
)
def test_what_has_no_text_is_refused(
    body: bytes, media_type: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL), pytest.raises(Refused) as caught:
        page(body, media_type)
    assert caught.value.reason == reason
    assert "https://sea.test/a/b" in str(caught.value)


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = __import__("sys").modules
    monkeypatch.setitem(modules, "trafilatura", None)  # as if it were not installed
    monkeypatch.setitem(modules, "pypdf", None)
    with pytest.raises(RequestFailed, match=r'pip install "react-run\[web\]"') as caught:
        page(ARTICLE)
    assert caught.value.code == "missing_extra"
    with pytest.raises(Refused, match=r'pip install "react-run\[pdf\]"'):
        page(pdf("x"), "application/pdf")
    assert page("plain", "text/plain").text == "plain"  # needs neither
