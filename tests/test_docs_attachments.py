"""What docs/attachments.md shows, works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from react_run import RunResult

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "attachments.md").read_text(encoding="utf-8")


def test_the_example_in_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    for name in ("result", "again"):
        result = names[name]
        assert isinstance(result, RunResult)
        assert result.answer == "A red dot."
