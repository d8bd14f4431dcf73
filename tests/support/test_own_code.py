"""What an agent wrote is not taken for a part of this program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEFORE = """
import sys, time, pathlib
from react_run import guard_imports
root = pathlib.Path.cwd()
guard_imports(root)
{written}
try:
    import {name}
except ImportError as error:
    print(type(error).__name__)
else:
    print({name}.WHOSE)
"""


def says(root: Path, written: str, name: str) -> str:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root)}
    code = BEFORE.format(written=written, name=name)
    run = subprocess.run(  # our own interpreter
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("(root / 'evil.py').write_text('WHOSE = 1')", "evil"),
        ("(root / 'evil').mkdir(); (root / 'evil' / '__init__.py').write_text('WHOSE = 1')", "evil"),
        ("(root / 'kept.py').write_text('WHOSE = 1')", "kept"),
        ("(root / 'fixtures' / 'evil.py').rename(root / 'evil.py')", "evil"),
        ("(root / 'fixtures').rename(root / 'evil')", "evil"),
        ("(root / 'evil').mkdir()", "evil"),
    ],
)
def test_what_was_written_meanwhile_is_not_imported(tmp_path: Path, written: str, name: str) -> None:
    (tmp_path / "kept.py").write_text("WHOSE = 'theirs'\n")
    (tmp_path / "fixtures").mkdir()
    for module in ("evil", "__init__"):
        (tmp_path / "fixtures" / f"{module}.py").write_text("WHOSE = 1\n")
    assert says(tmp_path, written, name) == "ImportError"


def test_what_was_there_before_is_imported(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text("WHOSE = 'theirs'\n")
    assert says(tmp_path, "", "kept") == "theirs"
