"""docs/toolsets/mcp.md and what docs/serve.md says about MCP: every option and code is there, and examples work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from react_run import ReActAgentConfig
from react_toolsets.mcp import McpToolset

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "toolsets/mcp.md").read_text(encoding="utf-8")
SOURCE = Path(__file__).parents[1] / "toolsets/react_toolsets/mcp"


def test_every_option_is_explained() -> None:
    table = PAGE.partition("## Options")[2].partition("## The lock")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line[:2] == "| ")))
    assert set(McpToolset.option_names()) <= named


def test_every_code_is_explained() -> None:
    codes = {
        code
        for path in SOURCE.glob("*.py")
        for code in re.findall(r'(?:code|default_code)\s*=\s*"([a-z_]+)"', path.read_text(encoding="utf-8"))
    }
    table = PAGE.partition("## When something goes wrong")[2]
    assert codes
    assert [code for code in sorted(codes) if f"`{code}`" not in table] == []


def test_the_example_is_the_agent_that_ships() -> None:
    [first, *_] = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    shipped = (Path(__file__).parents[1] / "agents/mcp.yaml").read_text(encoding="utf-8")
    for line in ("command: mcp-server-time", "args: [--local-timezone, UTC]", 'read_only: ["*"]'):
        assert line in first
        assert line in shipped


def test_the_other_examples_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    monkeypatch.chdir(tmp_path)
    (tmp_path / "servers.json").write_text('{"mcpServers": {"github": {"command": "x"}, "jira-a": {"command": "y"}}}')
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    config = ReActAgentConfig.from_mapping(yaml.safe_load(blocks[1]))
    names = [source.name for toolset in config.toolsets for source in toolset.sources]  # type: ignore[attr-defined]
    assert names == ["tracker", "github", "jira-a"]


def test_what_the_page_on_serving_shows_in_python_works(capsys: pytest.CaptureFixture[str]) -> None:
    section = (DOCS / "serve.md").read_text(encoding="utf-8").partition("## As an MCP server")[2]
    [block] = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    exec(compile(block, "serve.md", "exec"), {})
    assert "345" in capsys.readouterr().out
