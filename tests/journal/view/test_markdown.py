"""Markdown on a page: what a model writes is shown as meant, and can be nothing but text."""

from __future__ import annotations

import re

import pytest
from tests.journal.recording import add, agent_of, recorded

from react_run.journal.view.html import page
from react_run.journal.view.markdown import markdown
from react_run.testing import calls, says

HOSTILE = [
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
]


def test_markdown_is_shown_as_it_was_meant() -> None:
    text = "# Sum\n\nIt is **345** in `math`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx < 1\n```\n"
    found = markdown(text)
    for part in ('<p class="heading">Sum</p>', "<strong>345</strong>", "<code>math</code>", "<td>2</td>", "x &lt; 1"):
        assert part in found


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_it_acts_or_is_fetched(text: str) -> None:
    found = markdown(text)
    tags = re.findall(r"<[^>]*>", found)
    assert not [tag for tag in tags if re.search(r"script|img|src=|\son\w+=|javascript:|data:", tag)], found
    assert "\u202e" not in found


def test_lines_of_plain_text_stay_lines() -> None:
    assert "one<br />\ntwo" in markdown("one\ntwo")


@pytest.mark.parametrize(
    "text", ["> " * 9_000 + "deep", "* " * 500 + "deep", "x" * 30_000 + "deep", "[" * 19_000 + "deep"]
)
def test_a_text_that_would_lose_something_is_shown_as_it_is(text: str) -> None:
    assert "deep" in markdown(text)


def test_a_page_shows_answers_as_markdown_and_everything_else_as_it_is() -> None:
    said = "It is **3**:\n\n- `a` is 1\n- `b` is 2"
    agent = agent_of(
        [calls(("add", {"a": 1, "b": 2}), text="**Hm.**"), says(said)], tools=[add], system_prompt="**Add.**"
    )
    text = page(recorded(agent, "Is it **3**?"))
    (answer,) = re.findall(r'<div class="md">.*?</div>', text, re.DOTALL)
    for part in ("<strong>3</strong>", "<li><code>a</code> is 1</li>"):
        assert part in answer
    assert text.count("<strong>") == 1
    for plain in ("Is it **3**?", "**Add.**", "**Hm.**", said):
        assert f"<pre>{plain}</pre>" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_no_answer_acts_on_the_page_of_a_run(text: str) -> None:
    found = page(recorded(agent_of([says(text)], tools=[])))
    tags = re.findall(r"<[^>]*>", found.partition("<body>")[2])
    assert not [tag for tag in tags if re.search(r"script|img|src=|\son\w+=|javascript:|data:", tag)], found
    assert "\u202e" not in found
