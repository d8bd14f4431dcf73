"""Outside packages, built and installed for real, are used by their entry-point names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

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
    """An environment of its own: this one's packages beneath, the two outside packages built and installed on top."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    interpreter = home / "bin" / "python"
    site = next(home.glob("lib/python*/site-packages"))
    (site / "beneath.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    packages = [str(HERE / name) for name in ("acme_ledger", "acme_audit")]
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
def test_what_is_wrong_with_the_options_of_an_outside_plugin_is_reported_with_its_place(
    python: Path, tmp_path: Path
) -> None:
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
