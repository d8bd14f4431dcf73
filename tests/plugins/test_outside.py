"""Outside packages: used by name when they are sound, reported with origin and fix when they are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.plugins.documented import SOURCE
from tests.plugins.outside import install, on_path

from react_run import ConfigError, PluginError, ReActAgent, ReActAgentConfig, ReactError
from react_run.cli.list import command
from react_run.config import load_config
from react_run.config.json_schema import agent_file_schema

AGENT = """\
version: 1
name: outside
model:
  kind: scripted
  replies:
    - tool_calls: [{name: calculate, arguments: {expression: "1+2"}}]
    - done
toolsets: [math]
"""

GOOD = '''
from react_run import Plugin, hookimpl


class Good(Plugin):
    """Counts runs."""

    size: int = 1
    """How many."""

    @hookimpl
    def react_run_started(self, run):
        pass
'''

HOOKED = """
from react_run import hookimpl


class Bad:
    @hookimpl{options}
    def {signature}:
        {body}
"""


def hooked(signature: str, options: str = "", body: str = "pass") -> str:
    return HOOKED.format(signature=signature, options=options, body=body)


BROKEN = {
    "ImportError": ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "SyntaxError": ("def broken(:", "SyntaxError: invalid syntax"),
    "SystemExit": ("raise SystemExit(3)", "SystemExit: 3"),
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "broken option": ("from react_run import Plugin\nclass Bad(Plugin):\n    x: undefined", "NameError"),
    "option nothing can check": (
        "from react_run import Plugin\nclass Bad(Plugin):\n    x: dict[str] = {}",
        "TypeError",
    ),
    "stale entry point": ("x = 1", "has no attribute 'Bad'"),
    "no plugin": ("class Bad: pass", "acme_bad.Bad is not a subclass of Plugin, and has no method marked @hookimpl"),
    "wrong argument": (hooked("react_tool_call(self, tool)"), "Argument(s) {'tool'} are declared"),
    "unknown hook": (hooked("react_tool_cal(self)"), "unknown hook 'react_tool_cal'. Did you mean 'react_tool_call'?"),
    "bare generator": (hooked("react_run(self)", body="yield"), "mark it @hookimpl(wrapper=True)"),
    "wrapped event": (hooked("react_run_started(self)", "(wrapper=True)", "yield"), "only layer hooks"),
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A place to install into, before the agent is built."""
    site = tmp_path / "site"
    site.mkdir()
    with on_path(site):
        yield site


def built(folder: Path, *lines: str) -> ReActAgent:
    """The agent of a file with further ``lines``; its options are those of an untrusted directory."""
    path = folder / "agent.yaml"
    path.write_text(AGENT + "".join(f"{line}\n" for line in lines))
    return ReActAgent(load_config(path))


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_reported_with_distribution_version_entry_point_and_fix(
    case: str, site: Path, tmp_path: Path
) -> None:
    source, said = BROKEN[case]
    install(site, "acme-bad", source, {"acme-bad": "acme_bad:Bad"}, version="1.4")
    with pytest.raises(ReactError) as caught:
        built(tmp_path, "plugins: [acme-bad]")
    text = str(caught.value)
    assert "acme-bad 1.4 (entry point acme_bad:Bad)" in text
    assert said in text
    if case != "no plugin":
        assert "acme-bad." in text.splitlines()[0 if "plugins[0]" in text else -1]
    assert caught.value.exit_status == 2


def test_broken_plugins_break_no_agent_that_does_not_name_them(site: Path, tmp_path: Path) -> None:
    for number, (source, _) in enumerate(BROKEN.values()):
        install(site, f"acme-bad-{number}", source, {f"bad-{number}": f"acme_bad_{number}:Bad"})
    install(site, "acme-gone", "", {"gone": "acme_nowhere:Bad"})
    install(site, "acme-good", GOOD, {"acme-good": "acme_good:Good"})
    assert built(tmp_path, "plugins: [acme-good]").run_sync("go").success
    assert '"plugins.acme-good"' in json.dumps(agent_file_schema())
    listed = {entry["name"]: entry for entry in json.loads(CliRunner().invoke(command, ["plugins", "--json"]).stdout)}
    assert listed["acme-good"]["error"] == ""
    assert "No module named 'acme_nowhere'" in listed["gone"]["error"]


def test_a_stale_entry_point_is_reported_like_a_missing_module(site: Path, tmp_path: Path) -> None:
    install(site, "acme-bad", "", {"acme-bad": "acme_gone.deep:Bad"}, version="2.0")
    with pytest.raises(ConfigError, match=r"acme-bad 2\.0 \(entry point acme_gone\.deep:Bad\).*No module named"):
        built(tmp_path, "plugins: [acme-bad]")


def test_a_wrong_option_names_its_place_the_nearest_option_and_the_package(site: Path, tmp_path: Path) -> None:
    install(site, "acme-good", GOOD, {"acme-good": "acme_good:Good"}, version="1.2")
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, "plugins:", "  - {kind: acme-good, sise: 3}", "  - {kind: acme-good, size: many}")
    text = str(caught.value)
    origin = "(an option of acme-good 1.2 (entry point acme_good:Good))"
    assert f"agent.yaml:10:23: plugins[0].sise: unknown key 'sise'. Did you mean 'size'? Keys: size {origin}" in text
    assert f"agent.yaml:11:29: plugins[1].size: must be a whole number (integer), not the text 'many' {origin}" in text


def test_a_name_that_two_distributions_want_is_an_error_for_whoever_uses_it(site: Path, tmp_path: Path) -> None:
    install(site, "acme-good", GOOD, {"good": "acme_good:Good"}, version="1.2")
    install(site, "other-good", GOOD, {"good": "other_good:Good"}, version="3.0")
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, "plugins: [good]")
    text = str(caught.value)
    assert "acme-good 1.2 (entry point acme_good:Good)" in text
    assert "other-good 3.0 (entry point other_good:Good)" in text
    assert "Uninstall one of them, or write 'kind: " in text
    assert built(tmp_path).run_sync("go").success
    listed = json.loads(CliRunner().invoke(command, ["plugins", "--json"]).stdout)
    assert all("Uninstall one" in entry["error"] for entry in listed if entry["name"] == "good")


def test_a_name_of_ours_cannot_be_taken(site: Path, tmp_path: Path) -> None:
    install(site, "acme-thief", GOOD, {"cache": "acme_thief:Good"})
    agent = built(tmp_path, "plugins: [cache]")
    assert type(agent.config.plugins[0]).__module__ == "react_plugins.cache"
    listed = json.loads(CliRunner().invoke(command, ["plugins", "--json"]).stdout)
    (thief,) = [entry for entry in listed if entry["distribution"] == "acme-thief"]
    assert "the name belongs to react-run" in thief["error"]


def test_wrappers_in_the_documented_style_work_from_an_outside_package(site: Path, tmp_path: Path) -> None:
    kinds = {
        "acme-caching": "acme_wrappers:CachingWrapper",
        "acme-errors": "acme_wrappers:ErrorHandlingWrapper",
        "acme-debug": "acme_wrappers:DebugWrapper",
    }
    install(site, "acme-wrappers", SOURCE, kinds)
    agent = built(
        tmp_path,
        "tool_wrappers:",
        "  - {kind: acme-caching, prefix: '> '}",
        "  - acme-errors",
        "iteration_wrappers: [acme-debug]",
    )
    first, second = agent.run_sync("go"), agent.run_sync("go")
    assert first.steps[0].observation == "> Tool execution failed: no number"
    assert [step.executed for step in (*first.steps, *second.steps)] == [True, False]
    assert agent.config.iteration_wrappers[0].said[-1] == "Response: done"


def test_a_wrong_keyword_of_a_plain_wrapper_is_an_error_with_its_place(site: Path, tmp_path: Path) -> None:
    install(site, "acme-wrappers", SOURCE, {"acme-caching": "acme_wrappers:CachingWrapper"})
    with pytest.raises(
        ConfigError, match=r"agent\.yaml:9:\d+: tool_wrappers\[0\]\.suffix: unknown key 'suffix'\.? Keys: .*prefix"
    ):
        built(tmp_path, "tool_wrappers: [{kind: acme-caching, suffix: x}]")


def test_a_wrapper_at_the_wrong_level_is_an_error_with_its_place(site: Path, tmp_path: Path) -> None:
    install(site, "acme-wrappers", SOURCE, {"acme-caching": "acme_wrappers:CachingWrapper"})
    with pytest.raises(ConfigError, match=r"agent\.yaml:9:\d+: iteration_wrappers\[0\].*does nothing in"):
        built(tmp_path, "iteration_wrappers: [acme-caching]")


def test_an_error_of_a_plugins_form_is_a_plugin_error_also_from_python() -> None:
    from react_run import hookimpl

    class Wrong:
        @hookimpl
        def react_run(self, result: object) -> None: ...

    with pytest.raises(PluginError, match="Wrong"):
        ReActAgent(ReActAgentConfig(), plugins=[Wrong()])
