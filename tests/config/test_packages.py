"""Agents that installed packages ship: found without importing anything, and trusted as their package is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.plugins.outside import install, on_path

from react_run import ConfigError, ReActAgent
from react_run.config import load_config
from react_run.config.packages import every_agent, is_packaged, packaged

BROKEN = "raise RuntimeError('imported')\n"
STARTS = "model: offline\ntoolsets: [shell]\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A package with three agents, whose module cannot be imported."""
    site = tmp_path / "site"
    install(site, "kit", BROKEN, {"kit": "kit.agents"}, group="agents")
    (site / "kit.py").unlink()
    folder = site / "kit" / "agents"
    folder.mkdir(parents=True)
    (site / "kit" / "__init__.py").write_text(BROKEN)
    (folder / "plain.yaml").write_text("model: offline\ndescription: Plain.\n")
    (folder / "starts.yml").write_text(STARTS)
    (folder / "words.md").write_text("---\nmodel: offline\n---\nBe brief.\n")
    (folder / "README.md").write_text("# Nothing\n")
    (folder / "notes.txt").write_text("nothing")
    with on_path(site):
        yield site


def test_agents_are_found_by_the_names_of_their_files(site: Path) -> None:
    names = [name for name, _, _ in every_agent() if name.startswith("kit")]
    assert names == ["kit:plain", "kit:starts", "kit:words"]
    assert packaged("kit:plain") == site / "kit" / "agents" / "plain.yaml"
    assert "kit" not in sys.modules


def test_a_name_loads_like_a_file(site: Path) -> None:
    agent = ReActAgent.from_yaml("kit:words")
    assert agent.config.system_prompt == "Be brief."
    assert agent.config.path == site / "kit" / "agents" / "words.md"


def test_the_trust_of_an_agent_is_that_of_its_package(site: Path) -> None:
    assert [type(toolset).kind for toolset in load_config("kit:starts").toolsets] == ["shell"]
    with pytest.raises(ConfigError, match="trust"):
        load_config("kit:starts", trusted=False)
    with pytest.raises(ConfigError, match="trust"):
        load_config(site / "kit" / "agents" / "starts.yml")


def test_a_file_of_that_name_wins(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_packaged("kit:plain")
    Path("kit:plain").write_text("model: offline\nname: here\n")
    assert not is_packaged("kit:plain")
    assert load_config("kit:plain").name == "here"


@pytest.mark.parametrize("name", ["C:\\agents\\a.yaml", "C:a", "a/b:c", "kit:", ":plain", "kit:a/b", "kit:../x"])
def test_a_path_is_no_name_of_a_package(name: str) -> None:
    assert not is_packaged(name)


def test_two_packages_of_one_name_are_both_named(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    install(other, "rival", "", {"kit": "rival"}, group="agents", version="2.0")
    with (
        on_path(other),
        pytest.raises(
            ConfigError, match=r"kit 1\.0 and rival 2\.0 both have a package of agents called 'kit'\. Uninstall one"
        ),
    ):
        packaged("kit:plain")


def test_a_package_without_its_directory_is_listed_with_the_reason(site: Path, tmp_path: Path) -> None:
    install(tmp_path / "other", "empty", "", {"empty": "empty.agents"}, group="agents")
    with on_path(tmp_path / "other"):
        problems = {name: problem for name, _, problem in every_agent()}
        assert "there is no directory empty.agents. Reinstall empty." in problems["empty"]
        with pytest.raises(ConfigError, match="Reinstall empty"):
            packaged("empty:any")
