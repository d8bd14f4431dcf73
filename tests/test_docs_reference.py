"""The references in docs/ say what the code says, and their examples load."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from react_run.config import ReActAgentConfig, load_config
from react_run.config.option_docs import documented

DOCS = Path(__file__).parent.parent / "docs"
GENERATE = runpy.run_path(str(DOCS / "generate.py"))


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("agent-files.md", "agent_files"),
        ("cli.md", "command_line"),
        ("plugins/shelf.md", "shelf"),
        ("python.md", "python"),
    ],
)
def test_a_generated_reference_is_up_to_date(name: str, made: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATE[made](), "run: python docs/generate.py"


def test_every_key_of_an_agent_file_is_in_the_reference_once_with_a_description() -> None:
    text = (DOCS / "agent-files.md").read_text(encoding="utf-8").partition("## Keys of every toolset")[0]
    for name, field in documented(ReActAgentConfig).model_fields.items():
        if name != "limits":
            assert text.count(f"\n| `{name}` |") == 1, name
            assert field.description, name


def test_the_example_of_the_reference_loads(tmp_path: Path) -> None:
    text = (DOCS / "agent-files.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(?!# from agents/)(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        path = tmp_path / "agent.yaml"
        path.write_text(example, encoding="utf-8")
        assert load_config(path, environment={}).name == "assistant"
