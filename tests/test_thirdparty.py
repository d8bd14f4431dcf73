"""Outside packages, built and installed for real, are used by their entry-point names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.distributions import packages_without_foreign

HERE = Path(__file__).parent / "thirdparty"

AGENT = """
version: 1
model:
  kind: scripted
  replies:
    - tool_calls:
        - {name: balance, arguments: {account: rent}}
        - {name: transfer, arguments: {amount: "12.5", to: food}}
    - "1200.00"
    - "1200.00 USD"
toolsets:
  - {kind: acme-ledger, currency: USD}
plugins:
  - {kind: acme-audit, path: audit.log}
checks:
  - {kind: acme-names-currency, currency: USD}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own: this one's packages beneath, the outside packages built and installed on top."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    interpreter = home / "bin" / "python"
    site = next(home.glob("lib/python*/site-packages"))
    beneath = packages_without_foreign(home / "beneath")
    (site / "beneath.pth").write_text(f"import site; site.addsitedir({str(beneath)!r})\n")
    packages = [str(HERE / name) for name in ("acme_ledger", "acme_audit", "acme_shopkit")]
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "-q", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--no-index", *packages], check=True)
    return interpreter


def react_run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REACT_RUN_HOME": str(folder / "home")}
    command = [str(python), "-m", "react_run", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_an_agent_file_uses_outside_toolsets_plugins_and_checks_by_name(python: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT)
    done = react_run(python, tmp_path, "agent.yaml", "What is the rent?", "--json")
    result = json.loads(done.stdout)
    assert (result["answer"], result["success"]) == ("1200.00 USD", True), done.stderr
    assert [step["executed"] for step in result["steps"]] == [True, True]
    assert (tmp_path / "audit.log").read_text().splitlines()[0] == "balance -> 1200.00 USD"


@pytest.mark.slow
def test_mistakes_in_options_of_an_outside_plugin_are_reported_with_their_place(python: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT.replace("path: audit.log", "pth: audit.log"))
    done = react_run(python, tmp_path, "agent.yaml", "What is the rent?")
    assert done.returncode == 2
    assert "agent.yaml:14:" in done.stderr
    assert "Did you mean 'path'?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_list_names_the_distributions_that_kinds_come_from(python: Path, tmp_path: Path) -> None:
    done = react_run(python, tmp_path, "list", "toolsets", "--json")
    kinds = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert (kinds["acme-ledger"]["distribution"], kinds["acme-ledger"]["version"]) == ("acme-ledger", "1.2.0")


COMPOSED = """version: 1
model:
  kind: scripted
  replies:
    - tool_calls:
        - {name: one_read_file, arguments: {path: a.txt}}
        - {name: two_read_file, arguments: {path: a.txt}}
        - {name: read_file, arguments: {path: a.txt}}
        - {name: old_papers, arguments: {query: tea}}
    - done
toolsets:
  - {kind: files, root: one, PREFIX}
  - {kind: files, root: two, prefix: two_}
  - {kind: mediawiki, prefix: english_}
  - {kind: mediawiki, language: fr, prefix: french_}
  - {kind: acme-archive, rename: {mediawiki_search: old_papers}}
"""


@pytest.mark.slow
def test_kinds_named_twice_and_a_clashing_outside_tool_work_in_one_agent(python: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"this is {name}")
    (tmp_path / "agent.yaml").write_text(COMPOSED.replace(", PREFIX", ""))
    clash = react_run(python, tmp_path, "check", "agent.yaml")
    assert clash.returncode == 2
    assert "agent.yaml:16:5: toolsets[4]: toolsets files and Archive both offer a tool 'read_file'" in clash.stdout
    assert "give one of them a prefix" in clash.stdout
    assert "(the other one: agent.yaml:12:5)" in clash.stdout
    (tmp_path / "agent.yaml").write_text(COMPOSED.replace("PREFIX", "prefix: one_"))
    done = react_run(python, tmp_path, "agent.yaml", "go", "--json")
    result = json.loads(done.stdout)
    seen = [step["observation"] for step in result["steps"]]
    assert [text.strip().splitlines()[-1] for text in seen[:2]] == ["this is one", "this is two"], done.stderr
    assert seen[2:] == ["the old paper a.txt", "old papers about tea"]


@pytest.mark.slow
def test_agents_of_a_package_are_listed_checked_and_run_by_name(python: Path, tmp_path: Path) -> None:
    listed = react_run(python, tmp_path, "list", "agents", "--json")
    found = {entry["name"]: entry for entry in json.loads(listed.stdout)}
    assert found["shopkit:clerk"]["description"] == "Says what things cost."
    assert found["shopkit:greeter"]["file"].endswith("greeter.md")
    assert not any(entry["error"] for entry in found.values()), found
    checked = react_run(python, tmp_path, "check", "shopkit:clerk", "shopkit:greeter")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert not (tmp_path / "imported.txt").exists()
    done = react_run(python, tmp_path, "shopkit:clerk", "What does tea cost?", "--json", "--record", "run.jsonl")
    result = json.loads(done.stdout)
    assert (result["answer"], result["steps"][0]["executed"]) == ("Tea costs 3.", True), done.stderr
    again = react_run(python, tmp_path, "replay", "run.jsonl", "--tools", "recorded", "--trust")
    assert again.stdout.startswith("identical"), again.stderr
    assert react_run(python, tmp_path, "shopkit:greeter", "Hello", "-q").stdout == "Welcome to the shop!\n"
    prompt = react_run(python, tmp_path, "shopkit:greeter", "Hello", "--dry-run").stdout
    assert "You greet customers of ${SHOP}, briefly." in prompt


@pytest.mark.slow
def test_an_agent_that_a_package_does_not_have_is_named_with_the_nearest(python: Path, tmp_path: Path) -> None:
    for name, said in (
        ("shopkit:clark", "acme-shopkit 1.2.0 has no agent 'clark'. Did you mean 'clerk'?"),
        ("shopkitt:clerk", "no installed package is called 'shopkitt'. Did you mean 'shopkit'?"),
    ):
        for arguments in ((name, "Hello"), ("check", name), ("explain", name)):
            done = react_run(python, tmp_path, *arguments)
            assert (done.returncode, said in done.stdout + done.stderr) == (2, True), done.stderr
            assert "Traceback" not in done.stderr
