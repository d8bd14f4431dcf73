"""The picture of the README shows what the commands print now."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.terminal
def test_the_picture_shows_what_the_commands_print() -> None:
    made = runpy.run_path(str(DOCS / "pictures.py"))
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", (DOCS / "pictures" / "run.svg").read_text(encoding="utf-8"))
    there = "".join(html.unescape(one) for one in drawn).replace("\xa0", " ").split()
    wanted = " ".join(made["session"]()).split()
    assert [word for word in wanted if word not in there] == [], "run: python docs/pictures.py"
