"""What the command line may not import; benchmarks/command_line.py has the CPU seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command_line import SCRIPTED, environment, write

CLIENTS = {"litellm", "openai", "httpx", "aiohttp", "requests", "pint", "trafilatura", "ddgs", "mcp"}


@pytest.mark.parametrize(
    "arguments", [["check", "agent.yaml"], ["list"], ["explain", "agent.yaml"], ["agent.yaml", "2+2"]]
)
def test_no_provider_client_is_imported_without_need(tmp_path: Path, arguments: list[str]) -> None:
    write(tmp_path, SCRIPTED + "fallback_models: [anthropic/claude-x]\n")
    code = (
        "import json, sys\nfrom react_run.cli.exit import ended\nstatus = ended(sys.argv[1:])\n"
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
    code = "import sys\nfrom react_run.cli.exit import ended\nended(['--help'])\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "pluggy", "asyncio", "rich"} & set(done.stderr.split())


def test_a_plain_run_imports_nothing_of_what_it_does_not_use(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    code = (
        "import sys\nfrom react_run.cli.exit import ended\nended(['agent.yaml', '6*7'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    unused = {
        *(
            "react_run.parts",
            "react_run.models.wire_parts",
            "react_run.engine.attachments",
            "react_run.journal.attachments",
        ),
        *("react_run.models.typed_answers", "react_run.config.packages", "react_run.config.yaml.markdown"),
        *("react_run.models.prices", "react_run.models.known_ids", "urllib.request", "http.client"),
    }
    assert not unused & set(done.stderr.split())


def test_the_list_of_runs_is_made_without_what_only_agents_need(tmp_path: Path) -> None:
    home = environment(tmp_path / "home")
    write(tmp_path, SCRIPTED)
    run = [sys.executable, "-m", "react_run", "agent.yaml", "6*7"]
    subprocess.run(run, cwd=tmp_path, env=home, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    listed = "import sys\nfrom react_run.cli.exit import ended\nended(['runs', 'list'])\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{listed}print(*sys.modules, file=sys.stderr)"],
        cwd=tmp_path,
        env=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "6*7" in done.stdout
    assert not {"yaml", "pluggy", "react_run.components", "react_run.agent"} & set(done.stderr.split())


def test_a_chat_collects_garbage_as_seldom_as_a_server(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    code = (
        "import gc, sys\nfrom react_run.cli.exit import ended\nended(['chat', 'agent.yaml'])\n"
        "print(*gc.get_threshold(), gc.get_freeze_count() > 10_000, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        input="6*7\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "20000 50 100 True"
