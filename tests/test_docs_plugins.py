"""docs/plugins.md: its code runs, its package installs and works; docs/plugins/shelf.md: its examples load."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.distributions import packages_without_foreign
from tests.plugins.outside import install, on_path

from react_run import ReActAgent
from react_run.components.kinds import every_installed

ROOT = Path(__file__).parent.parent
TUTORIAL = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
SHELF = (ROOT / "docs" / "plugins" / "shelf.in.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
FILES = {match[1]: text for _, text in BLOCKS if (match := re.match(r"# file: (\S+)\n", text))}
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", SHELF, re.MULTILINE | re.DOTALL))
KINDS = {kind.name for kind in every_installed("plugins") if kind.target.startswith("react_plugins.")}
OURS = sorted(SECTIONS)


def test_the_tutorials_code_runs_from_top_to_bottom() -> None:
    names: dict[str, object] = {"__name__": "tutorial"}
    blocks = [text for language, text in BLOCKS if language == "python" and not text.startswith("# file:")]
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "docs/plugins.md", "exec"), names)


def write_package(folder: Path) -> None:
    """The package that the tutorial ends with."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.partition("\n")[2], encoding="utf-8")


def test_the_package_of_the_tutorial_works_as_its_entry_points_say(tmp_path: Path) -> None:
    write_package(tmp_path)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    module = (tmp_path / "src" / "react_run_politeness" / "__init__.py").read_text()
    points = project["entry-points"]["react_run.plugins"]
    install(tmp_path / "site", project["name"], module, points, version=project["version"])
    with on_path(tmp_path / "site"):
        answer = ReActAgent.from_yaml(tmp_path / "agent.yaml").run_sync("Twice 21?").answer
        assert answer in TUTORIAL.splitlines()
        tests = runpy.run_path(str(tmp_path / "tests" / "test_politeness.py"))
        ran = [test() for name, test in tests.items() if name.startswith("test_")]
        assert len(ran) == 2


@pytest.mark.slow
def test_the_package_of_the_tutorial_can_be_built_installed_and_tested_for_real(tmp_path: Path) -> None:
    write_package(tmp_path / "package")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    site = next(environment.glob("lib/python*/site-packages"))
    beneath = packages_without_foreign(tmp_path / "beneath")
    (site / "beneath.pth").write_text(f"import site; site.addsitedir({str(beneath)!r})\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", str(tmp_path / "package")], check=True)
    folder = tmp_path / "package"
    home = {**os.environ, "REACT_RUN_HOME": str(tmp_path / "home")}
    subprocess.run([python, "-m", "pytest", "-q", "tests"], cwd=folder, env=home, check=True, timeout=120)
    run = [python, "-m", "react_run", "agent.yaml", "Twice 21?", "--json", "--no-save"]
    done = subprocess.run(run, cwd=folder, env=home, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout)["answer"] == "It is 42. Farewell."
    listed = [python, "-m", "react_run", "list", "plugins", "--json"]
    done = subprocess.run(listed, cwd=folder, env=home, capture_output=True, text=True, check=True, timeout=60)
    kinds = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert (kinds["politeness"]["distribution"], kinds["politeness"]["error"]) == ("react-run-politeness", "")


def test_every_plugin_that_ships_is_documented() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in KINDS if f"`{name}`" not in pages] == []


def test_every_plugin_of_the_shelf_has_a_section_and_is_listed() -> None:
    assert set(OURS) <= KINDS
    for name in OURS:
        assert f"[`{name}`](#{name})" in SHELF
        assert f"{{options:{name}}}" in SECTIONS[name]


@pytest.mark.parametrize("name", OURS)
def test_the_example_of_a_plugin_of_the_shelf_loads_and_builds(name: str, tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", SECTIONS[name], re.DOTALL)
    assert name in example or name == "approval"
    path = tmp_path / "agent.yaml"
    path.write_text(f"version: 1\nmodel: offline\n{example}", encoding="utf-8")
    assert ReActAgent.from_yaml(path).config.plugins


def test_every_plugin_of_the_shelf_is_used_by_an_agent_file() -> None:
    used = set()
    for path in (ROOT / "agents").glob("*.yaml"):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        used |= {entry if isinstance(entry, str) else entry["kind"] for entry in data.get("plugins", ())}
        used |= {"approval"} if "permissions" in data else set()
    assert set(OURS) <= used
