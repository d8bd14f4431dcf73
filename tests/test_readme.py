"""What the README shows, works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from react_run import Observation, Plugin, ReActAgent, ReActToolset, hookimpl
from react_run.config import ReActAgentConfig
from react_run.plugins import hook_table
from react_run.testing import calls, run_agent, says

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def run(source: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "readme"}
    exec(source, names)
    return names


def test_the_toolset_of_the_readme_answers_calls() -> None:
    toolset_class = run(PYTHON[0])["Ledger"]
    assert isinstance(toolset_class, type)
    assert issubclass(toolset_class, ReActToolset)
    replies = [calls(("balance", {"account": "rent"})), says("12.50")]
    result = run_agent(replies, toolsets=[toolset_class.model_validate({"currency": "USD"})])
    assert result.steps[0].observation == "rent: 12.50 USD"


def test_the_plugin_of_the_readme_surrounds_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, str]] = []

    class Listener(Plugin):
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            heard.append((guard, detail))

    plugin_class = run(PYTHON[1])["Shout"]
    assert isinstance(plugin_class, type)
    assert hook_table([plugin_class()]).react_tool_call

    def hello() -> Observation:
        """Say hello."""
        return Observation(content="hello")

    run_agent([calls(("hello", {})), says("done")], tools=[hello], plugins=[plugin_class(), Listener()])
    assert heard == [("shout", "calling hello with {}"), ("shout", "got hello")]
    assert capsys.readouterr().out == ""  # only the answer belongs there


def test_the_agent_of_the_readme_loads_and_its_python_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    (source,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "agent.yaml").write_text(source, encoding="utf-8")
    assert ReActAgentConfig.from_yaml(tmp_path / "agent.yaml").limits.max_cost == 0.25
    names = run(PYTHON[2])
    assert getattr(names["result"], "answer", None) == "345"
    thermometer = names["thermometer"]
    assert isinstance(thermometer, ReActAgent)
    assert "celsius" in {tool.name for tool in thermometer.tools}


def test_every_path_and_page_that_the_readme_names_exists() -> None:
    pages = [*re.findall(r"\]\(([^)#]+)\)", TEXT), *re.findall(r"`(\w+/)`", TEXT)]
    assert len(pages) > 15
    assert [page for page in pages if not (ROOT / page).exists()] == []


def test_the_readme_is_a_hundred_lines_at_most() -> None:
    assert len(TEXT.splitlines()) <= 100


@pytest.mark.parametrize(
    "text", [TEXT, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")], ids=["README", "index"]
)
def test_the_figures_of_the_first_page_are_those_of_the_pages_they_come_from(text: str) -> None:
    guards, performance, fence = (
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("guards.md", "performance.md", "fence.md")
    )
    (cells,) = re.findall(r"\*\*ended well, of 27\*\* \|(.*)\|", guards)
    ours, *others = [[int(number) for number in re.findall(r"\d+", cell)] for cell in cells.split("|")]
    best = max(number for other in others for number in other)
    said = " ".join(text.split())
    assert f"By default, react-run handles {ours[0]} of 27 ways" in said
    assert f"misbehave, and all {ours[1]} with options turned on" in said
    assert f"the best of four other runtimes handles {best}" in said
    (at_300,) = re.findall(r"\*\*react-run\*\*.*`safe`.*?\| \d+ \| \d+ \| (\d+) \|", performance)
    assert f"about {at_300} µs of CPU" in text
    attacks = "".join(line for line in fence.splitlines(keepends=True) if not line.startswith("| ordinary work"))
    attempts = re.findall(r"\| (\d+) \| (\d+) \| (\d+) \| \d+ \| `tests/", attacks)
    assert sum(int(tried) for tried, _, _ in attempts) > 600
    assert "none of more than 600 attempts succeeds" in said
    assert all(int(broke) == 0 for _, _, broke in attempts)
