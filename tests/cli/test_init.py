"""What ``init`` writes works at once: the agent runs, the packages install and pass their own tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command_line import environment, react_run
from tests.distributions import packages_without_foreign


def test_an_agent_runs_without_a_key_and_names_its_schema(tmp_path: Path) -> None:
    done = react_run(tmp_path, "init", "my agent")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "my agent" / "agent.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=react-run.schema.json\n")
    assert "name: my-agent\n" in text
    assert (tmp_path / "my agent" / "react-run.schema.json").is_file()
    assert react_run(tmp_path, "check", "my agent").returncode == 0
    assert react_run(tmp_path, "my agent/agent.yaml", "15*23").stdout == "345\n"


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("mine", encoding="utf-8")
    done = react_run(tmp_path, "init")
    assert done.returncode == 2
    assert "agent.yaml: already exists; nothing was written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["agent.yaml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--toolset", "My Tool"], "lower-case words"),
        (["--plugin", "json"], "'json' already exists"),
        (["--plugin", "react-run"], "'react_run' already exists"),
        (["--toolset", "class"], "already exists"),
        (["--toolset", "a", "--plugin", "b"], "not both"),
    ],
)
def test_a_name_that_cannot_work_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = react_run(tmp_path, "init", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own, with this one's packages beneath."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    beneath = packages_without_foreign(home / "beneath")
    (site / "beneath.pth").write_text(f"import site; site.addsitedir({str(beneath)!r})\n")
    return home / "bin" / "python"


@pytest.mark.slow
@pytest.mark.parametrize(("what", "prompt"), [("toolset", "three words"), ("plugin", "42")])
def test_a_package_passes_its_own_tests_right_after_its_installation(
    tmp_path: Path, python: Path, what: str, prompt: str
) -> None:
    name = f"fresh-{what}"
    assert react_run(tmp_path, "init", f"--{what}", name).returncode == 0
    package = tmp_path / name
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "-e", str(package)], check=True)
    run = {"cwd": package, "env": environment(tmp_path / "home"), "capture_output": True, "text": True}
    tests = subprocess.run([str(python), "-m", "pytest", "-q"], timeout=120, check=False, **run)  # type: ignore[call-overload]  # shared keywords
    assert tests.returncode == 0, tests.stdout
    assert "passed" in tests.stdout
    done = subprocess.run([str(python), "-m", "react_run", "agent.yaml", "go"], timeout=60, check=False, **run)  # type: ignore[call-overload]  # shared keywords
    assert done.returncode == 0, done.stderr
    assert prompt in done.stdout
    listed = subprocess.run([str(python), "-m", "react_run", "list", f"{what}s"], timeout=60, check=True, **run)  # type: ignore[call-overload]  # shared keywords
    assert name in listed.stdout


def test_an_empty_name_is_no_name_and_nothing_is_written(tmp_path: Path) -> None:
    done = react_run(tmp_path, "init", "--toolset", "")
    assert done.returncode == 2
    assert "'' is not a valid package name" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []
