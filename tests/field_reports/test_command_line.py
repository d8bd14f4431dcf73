"""The command line where it does what nobody expects: it says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import SCRIPTED, react_run
from tests.field_reports.rows import rows


@pytest.mark.parametrize("row", rows("cli"))
def test_a_conversation_that_cannot_go_on_is_said_to_start_anew(row: Mapping[str, Any], tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a.yaml").write_text(SCRIPTED)
    assert "there is no conversation" in react_run(tmp_path, "-c", "here/a.yaml", "one").stderr
    assert "there is no conversation" not in react_run(tmp_path, "-c", "here/a.yaml", "two").stderr
    if row["input"]["moved"]:
        (tmp_path / "here").rename(tmp_path / "there")
    done = react_run(tmp_path, "-c", "there/a.yaml", "three")
    assert (done.returncode, done.stderr.count(row["expected"]["said"])) == (0, 1)
