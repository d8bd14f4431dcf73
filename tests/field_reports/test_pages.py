"""Pages as the web has them: relative links, old encodings, deep nesting, hidden parts, checks for robots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.field_reports.rows import rows

from react_toolsets.web.extract import Page, extract
from react_toolsets.web.fetch import Document, readable
from react_toolsets.web.markup import LEFT_OUT
from react_toolsets.web.refused import Refused

HERE = "http://h/dir/sub/page.html"
LONG = "The tide gauge at Brest has been read by hand and by machine since 1807. " * 5
ROW = "<p>Row {} of the log of the tide gauge, with a height.</p>"


def page(body: bytes | str, media_type: str = "text/html", charset: str = "", url: str = HERE) -> Page:
    data = body.encode() if isinstance(body, str) else body
    return extract(Document(url=url, media_type=media_type, charset=charset, body=data))


def linked(href: str, *, base: str = "", url: str = HERE, around: str = LONG) -> str:
    """What a link on a page comes out as."""
    head = f"<head><base href='{base}'></head>" if base else ""
    source = f"<html>{head}<body><article><p>{around}</p><p>See <a href='{href}'>there</a>.</p></article></body></html>"
    return page(source, url=url).text.partition("[there](")[2].partition(")")[0]


@pytest.mark.parametrize("around", [LONG, ""], ids=["article", "page of links"])
@pytest.mark.parametrize("row", rows("web.links"))
def test_a_reported_link_leads_where_a_browser_would_go(row: Mapping[str, Any], around: str) -> None:
    link = row["input"]
    found = linked(link["href"], base=link.get("base", ""), url=link["url"], around=around)
    if around or not link["href"].startswith("#"):  # a page of links leaves out those to itself
        assert found == row["expected"]


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("?q=1", "http://h/dir/sub/page.html?q=1"),
        ("/abs", "http://h/abs"),
        ("//e.org/x", "http://e.org/x"),
        ("https://e.org/y?z=1#w", "https://e.org/y?z=1#w"),
        ("../../up.html", "http://h/up.html"),
        (" spaced.html ", "http://h/dir/sub/spaced.html"),
    ],
)
def test_every_form_of_link_becomes_absolute(href: str, expected: str) -> None:
    assert linked(href) == expected


@pytest.mark.parametrize("row", rows("web.charset"))
def test_a_reported_encoding_is_read_as_browsers_do(row: Mapping[str, Any]) -> None:
    given = row["input"]
    text = given["text"]
    if given["media_type"] == "text/html":
        meta = f"<meta charset='{given['meta']}'>" if given["meta"] else ""
        text = f"<html><head>{meta}</head><body><p>{text}</p></body></html>"
    result = page(text.encode(given["bytes"]), given["media_type"], given["header"])
    assert result.text == row["expected"]


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("latin1", "cp1252", "5 € gut\u2019s"),
        ("ISO_8859-1:1987", "cp1252", "5 €"),
        ("x-sjis", "cp932", "①㈱﨑"),
        ("x-gbk", "gb18030", "镕€"),
        ("ks_c_5601-1987", "cp949", "뷁"),
        ("dos-874", "cp874", "ราคา"),
        ("iso-8859-2", "iso8859-2", "Zażółć gęślą"),
        ("logical", "iso8859_8", "שלום"),
        ("koi8", "koi8-r", "привет"),
        ("unicode-1-1-utf-8", "utf-8", "naïve €"),
        ("iso-2022-jp", "iso-2022-jp", "小さな"),
        ("utf-16", "utf-16-le", "naïve €"),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label: str, codec: str, text: str) -> None:
    assert page(text.encode(codec), "text/plain", label).text == text


@pytest.mark.parametrize(
    ("declaration", "codec", "text"),
    [
        ("<meta charset=iso-8859-2>", "iso8859-2", "Zażółć gęślą jaźń"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=iso-2022-jp'>", "iso-2022-jp", "小さな村の話"),
        ('<!-- <meta charset="koi8-r"> --><meta charset="windows-1252">', "cp1252", "5 € gut\u2019s"),
        ("<meta charset='utf-16'>", "utf-8", "5 €"),
        ("<meta charset='nonsense'>", "utf-8", "5 €"),
    ],
)
def test_the_declaration_of_a_page_counts_where_the_server_is_silent(declaration: str, codec: str, text: str) -> None:
    assert page(f"<html><head>{declaration}</head><body><p>{text}</p></body></html>".encode(codec)).text == text


def test_a_byte_order_mark_counts_before_the_server() -> None:
    assert page("naïve".encode("utf-8-sig"), "text/plain", "iso-8859-1").text == "naïve"


def test_xml_names_its_encoding_itself() -> None:
    source = "<?xml version='1.0' encoding='iso-8859-2'?><a>gęślą</a>"
    assert page(source.encode("iso8859-2"), "application/xml").text == source


@pytest.mark.parametrize("row", rows("web.extract"))
def test_a_reported_page_is_read_whole_and_as_it_is_seen(row: Mapping[str, Any]) -> None:
    given, expected = row["input"], row["expected"]
    times = given.get("times", 0)
    parts = [given.get("each", "").format(number) for number in range(times)]
    parts += [given.get("then", ""), given.get("after_each", "") * times, given.get("last", "")]
    title = f"<title>{given.get('title', 'Log')}</title>"
    source = f"<html><head>{title}</head><body><article>{''.join(parts)}</article></body></html>"
    if "code" in expected:
        with pytest.raises(Refused) as caught:
            page(source)
        assert caught.value.code == expected["code"]
        return
    text = page(source).text
    assert [part for part in expected["has"] if part not in text] == []
    assert [part for part in expected.get("lacks", []) if part in text] == []


@pytest.mark.parametrize("tag", ["div", "font", "b", "span", "section", "blockquote", "ul"])
def test_no_row_is_lost_behind_tags_that_are_never_closed(tag: str) -> None:
    source = "".join(f"<{tag}>{ROW.format(number)}" for number in range(400))
    text = page(f"<html><body><article>{source}</article></body></html>").text
    assert [number for number in range(400) if f"Row {number} of" not in text] == []


def test_what_follows_a_deeply_nested_part_is_read() -> None:
    deep = "<div>" * 300 + f"<p>deep {LONG}</p>" + "</div>" * 300
    text = page(f"<html><body><article>{deep}<p>behind {LONG}</p></article></body></html>").text
    assert "deep The tide" in text
    assert "behind The tide" in text
    assert page("<html><body>" + "<div>" * 50_000 + "deep").text == "deep"


def test_what_no_parser_reaches_is_said_to_be_missing() -> None:
    rows_ = "".join(f"<table><tr><td>{ROW.format(number)}" for number in range(3000))
    assert page(f"<html><body><article>{rows_}</article></body></html>").text.endswith(LEFT_OUT)


@pytest.mark.parametrize("heading", ["", "<h1>Stock</h1>"])
def test_a_table_keeps_its_empty_cells(heading: str) -> None:
    cells = [["Box", "", "4", ""], ["Tube", "7", "", "9"]]
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    text = page(f"<html><body>{heading}<table>{table}</table></body></html>").text
    assert "| Box |  | 4 |  |" in text
    assert "| Tube | 7 |  | 9 |" in text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc^2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msqrt><mi>x</mi></msqrt>", "√(x)"),
        ("<semantics><mi>x</mi><annotation encoding='application/x-tex'>\\hat x</annotation></semantics>", "\\hat x"),
    ],
)
@pytest.mark.parametrize("around", ["", LONG], ids=["short", "article"])
def test_a_formula_is_written_in_one_line(formula: str, expected: str, around: str) -> None:
    source = f"<html><body><article><p>{around} The law is <math>{formula}</math> and more.</p></article></body></html>"
    assert f"The law is {expected} and more." in page(source).text


@pytest.mark.parametrize(
    "part",
    [
        "<p hidden>SECRET</p>",
        "<p style='font-size:0'>SECRET</p>",
        "<p style='display: none'>SECRET</p>",
        "<p style='visibility:hidden'>SECRET</p>",
        "<template>SECRET</template>",
        "<div hidden><p>SECRET</p></div>",
    ],
)
@pytest.mark.parametrize("around", ["yes", LONG], ids=["short", "article"])
def test_what_nobody_sees_is_not_read(part: str, around: str) -> None:
    source = f"<html><body><article><p>{around}</p>{part}<p style='font-size: 0.8em'>small</p></article></body></html>"
    text = page(source).text
    assert "SECRET" not in text
    assert "small" in text


@pytest.mark.parametrize("row", rows("web.type"))
def test_a_reported_type_is_text(row: Mapping[str, Any]) -> None:
    assert readable(row["input"])
    assert page("a: 1", row["input"]).text == "a: 1"


@pytest.mark.parametrize(
    "media_type", ["application/x-ndjson", "application/sql", "application/vnd.api+json", "text/x-new"]
)
def test_other_types_of_text_are_read(media_type: str) -> None:
    assert readable(media_type)


@pytest.mark.parametrize("media_type", ["image/png", "application/zip", "application/octet-stream", "video/mp4"])
def test_what_is_not_text_is_not_fetched(media_type: str) -> None:
    assert not readable(media_type)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", "Enable JavaScript and cookies to continue"),
        ("shop.example", "Checking if the site connection is secure. shop.example needs to review the security"),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked"),
        ("shop.example", "Please complete the security check to go on."),
    ],
)
def test_a_check_for_robots_is_not_the_page(title: str, text: str) -> None:
    with pytest.raises(Refused) as caught:
        page(f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>")
    assert caught.value.code == "robot_check"


def test_an_article_about_such_checks_is_read() -> None:
    text = page(f"<html><body><article><p>{LONG * 4} Please verify you are human.</p></article></body></html>").text
    assert "verify you are human" in text
