"""Markdown on the page: what a model writes is shown as meant, and can be nothing but text."""

from __future__ import annotations

import re

import pytest

from react_run.serve.page.markdown import markdown


def test_markdown_is_shown_as_it_was_meant() -> None:
    text = "# Sum\n\nIt is **345** in `math`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx < 1\n```\n"
    found = markdown(text)
    for part in ('<p class="heading">Sum</p>', "<strong>345</strong>", "<code>math</code>", "<td>2</td>", "x &lt; 1"):
        assert part in found


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](http://evil.example/pixel.png)",
        "[a](javascript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        '[a](https://x.example "onmouseover=alert(1)")',
        '<https://x.example/"onmouseover=alert(1)>',
        "```\n</pre><script>alert(1)</script>\n```",
        "[a]\n\n[a]: javascript:alert(1)",
        "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
        "&#8238;gnp.exe \u202egnp.exe",
    ],
)
def test_nothing_in_it_acts_or_is_fetched(text: str) -> None:
    found = markdown(text)
    tags = re.findall(r"<[^>]*>", found)
    assert not [tag for tag in tags if re.search(r"script|img|src=|\son\w+=|javascript:|data:", tag)], found
    assert "\u202e" not in found


@pytest.mark.parametrize(
    "text", ["> " * 9_000 + "deep", "* " * 500 + "deep", "x" * 30_000 + "deep", "[" * 19_000 + "deep"]
)
def test_a_text_that_would_lose_something_is_shown_as_it_is(text: str) -> None:
    assert "deep" in markdown(text)
