"""What the command line costs: CPU seconds, and modules that must not be imported."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.kit import SCRIPTED, command, environment, write

ZONES = ["UTC", "Europe/Paris", "Asia/Tokyo", "America/Lima"]
CLIENTS = {"litellm", "openai", "httpx", "aiohttp", "requests", "pint", "trafilatura", "ddgs", "mcp"}


def cpu(folder: Path, arguments: list[str], attempts: int = 3) -> float:
    """CPU seconds of the quickest attempt: others on the machine only make it slower."""
    spent = []
    for _ in range(attempts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            arguments,
            cwd=folder,
            env=environment(folder / "home"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


@pytest.fixture(scope="module")
def pace() -> float:
    """How much slower this machine is now than the one of the budgets, from a workload of known cost."""
    work = "import json\nfor _ in range(60): json.dumps(json.loads(json.dumps({str(i): [i] * 50 for i in range(500)})))"
    return max(1.0, cpu(Path("/"), [sys.executable, "-c", work]) / 0.35)


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        (["--version"], 0.25),
        (["--help"], 0.25),
        (["run", "--help"], 0.25),
        (["completion", "bash"], 0.25),
        (["check", "agent.yaml"], 0.6),
        (["list"], 0.6),
        (["explain", "agent.yaml"], 0.6),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_command_stays_within_its_cpu_budget(
    tmp_path: Path, pace: float, arguments: list[str], budget: float
) -> None:
    write(tmp_path, SCRIPTED)
    assert cpu(tmp_path, command(*arguments)) < budget * pace


def test_a_hundred_files_are_checked_in_two_seconds(tmp_path: Path, pace: float) -> None:
    for number in range(100):
        text = SCRIPTED.replace("[math]", f"[math, {{kind: temporal, timezone: {ZONES[number % len(ZONES)]}}}]")
        write(tmp_path, text + f"max_iterations: {number + 1}\n", f"{number}.yaml")
    assert cpu(tmp_path, command("check", "."), attempts=1) < 2 * pace


@pytest.mark.parametrize(
    "arguments", [["check", "agent.yaml"], ["list"], ["explain", "agent.yaml"], ["agent.yaml", "2+2"]]
)
def test_no_provider_client_is_imported_without_need(tmp_path: Path, arguments: list[str]) -> None:
    write(tmp_path, SCRIPTED + "fallback_models: [anthropic/claude-x, openai/gpt-4o-mini]\n")
    code = (
        "import json, sys\nfrom react_run.cli.ending import ended\nstatus = ended(sys.argv[1:])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(json.loads(done.stderr.splitlines()[-1]))
    assert not modules & CLIENTS


def test_help_imports_click_and_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys\nfrom react_run.cli.ending import ended\nended(['--help'])\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "pluggy", "asyncio", "rich"} & set(done.stderr.split())
