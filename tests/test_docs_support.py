"""docs/support.md: its examples run in order, and it names all that is public."""

from __future__ import annotations

import re
from pathlib import Path

from react_run import support

PAGE = (Path(__file__).parent.parent / "docs" / "support.md").read_text(encoding="utf-8")


def test_the_examples_run_from_top_to_bottom() -> None:
    names: dict[str, object] = {"__name__": "page"}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, "docs/support.md", "exec", dont_inherit=True), names)


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in support.__all__ if f"`{name}" not in PAGE] == []
