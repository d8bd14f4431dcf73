"""What refers to something twice at each of many levels is refused, and does not take for ever."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from react_run import ConfigError, ReActAgentConfig, Tool, ToolsetError

LEVELS = 40


def test_files_that_extend_each_other_twice_are_refused(tmp_path: Path) -> None:
    for level in range(LEVELS):
        below = f"{level + 1}.yaml"
        (tmp_path / f"{level}.yaml").write_text(f"version: 1\nextends: [{below}, {below}]\n")
    (tmp_path / f"{LEVELS}.yaml").write_text("version: 1\nmodel: offline\n")
    started = time.process_time()
    with pytest.raises(ConfigError, match="more than 200 files are extended"):
        ReActAgentConfig.from_yaml(tmp_path / "0.yaml")
    assert time.process_time() - started < 20


@pytest.mark.parametrize("word", ["allOf", "anyOf"])
def test_a_schema_whose_references_double_is_read_or_refused_in_no_time(word: str) -> None:
    twice = {str(n): {word: [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(LEVELS)}
    schema = {"type": "object", "$defs": {**twice, str(LEVELS): {"type": "object"}}, "allOf": [{"$ref": "#/$defs/0"}]}
    started = time.process_time()
    try:
        Tool(name="t", description="T.", parameters=schema, function=lambda: "")
    except ToolsetError as error:
        assert "allOf of the schema" in str(error)  # noqa: PT017  # either is well
    assert time.process_time() - started < 20
