"""What reviewers would otherwise repeat: layers, names, boundaries, start-up."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.metadata import EntryPoint, packages_distributions
from pathlib import Path

import pytest

import react_run

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "react_run"
OURS = ("src/react_run", "models", "toolsets", "plugins")

LAYERS = [
    {
        "support.own_code",
        "support.regex",
        "support.json_schema",
        "support.thinking",
        "support.tasks",
        "support.threads",
        "support.preview",
        "secrets",
    },
    {
        "support.fast_init",
        "errors",
        "messages",
        "parts",
        "outcome",
        "support.files",
        "components",
        "questions",
    },
    {
        "tools.arguments",
        "tools.schemas",
        "support.jsonable",
        "support.render",
        "support.display",
        "support.logs",
        "support.run_files",
        "tools.annotations",
        "tools.naming",
        "tools.request_ids",
        "tools.tool",
        "tools.toolset",
        "tools.shared_keys",
        "skills",
        "checks",
    },
    {"models.base", "hookspecs", "hooks", "engine.timer", "engine.concurrency"},
    {
        "engine.execution",
        "engine",
        "engine.standing",
        "engine.subjects",
        "engine.workers",
        "engine.reports",
        "results",
        "run",
        "engine.history",
        "journal",
        "engine.asking",
    },
    {"questions.tty", "questions.dialogue", "policies.terminal"},
    {
        "engine.sensors",
        "workspace.patches",
        "workspace.seals",
        "engine.guides",
        "engine.iteration",
        "engine.attachments",
        "engine.drafts",
        "engine.services",
        "loop",
        "policies",
        "models",
    },
    {"wrappers", "chat", "engine.one_call", "engine.streaming"},
    {"components.building", "tools.one_tool", "support.user_dirs", "config.trust"},
    {"config.yaml", "skills.fields", "skills.files", "config", "config.plugin_order", "plugins", "engine.lifecycle"},
    {"agent"},
    {"batch"},
    {"launch"},
    {"evals"},
    {"cli", "serve", "testing", "__main__"},
]
"""A module imports only from its own or earlier lines (architecture §3)."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), path


def layer_of(name: str) -> int:
    module = name
    while module:
        for number, layer in enumerate(LAYERS):
            if module in layer:
                return number
        module = module.rpartition(".")[0]
    raise AssertionError(f"{name} is not in the layers")


def imports(path: Path) -> Iterator[str]:
    """What a module imports when it is imported: not under TYPE_CHECKING, not inside functions."""
    pending: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                pending += node.body
            pending += node.orelse
        elif isinstance(node, ast.Try):
            pending += node.body + node.orelse + [s for handler in node.handlers for s in handler.body]
        elif isinstance(node, ast.ClassDef):
            pending += node.body
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_a_module_imports_only_from_its_own_or_earlier_layers() -> None:
    known = dict(modules())
    wrong = []
    for name, path in known.items():
        if name == "__init__":
            continue
        for imported in imports(path):
            target = imported.removeprefix("react_run.")
            if imported.startswith("react_run.") and target in known and layer_of(target) > layer_of(name):
                wrong.append(f"{name} imports {target}")
    assert not wrong


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = {f"react_run.{name}": path for name, path in modules() if name != "__init__"}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, path in known.items():
        sorter.add(name, *({one for one in imports(path) if one in known} - {name}))
    sorter.prepare()  # raises CycleError, which names the circle


def test_the_architecture_page_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    assert [room for room in rooms if f"`{room}/`" not in text] == []


def test_the_runtime_never_imports_the_toolsets_or_plugins_that_ship_with_it() -> None:
    wrong = [
        f"{name}: {imported}"
        for name, path in modules()
        for imported in imports(path)
        if imported.split(".")[0] in ("react_toolsets", "react_plugins")
    ]
    assert not wrong


@pytest.mark.parametrize("root", ["toolsets/react_toolsets", "plugins/react_plugins"])
def test_toolsets_and_plugins_import_only_public_names(root: str) -> None:
    wrong = []
    for path in (ROOT / root).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "react_run":
                names = [alias.name for alias in node.names if alias.name not in react_run.__all__]
                if node.module != "react_run" or names:
                    wrong.append(f"{path.name}:{node.lineno}: from {node.module} import {', '.join(names)}")
    assert not wrong


def test_the_public_names_are_sorted_complete_and_importable() -> None:
    assert react_run.__all__ == sorted(react_run.__all__)
    for name in react_run.__all__:
        assert getattr(react_run, name) is not None, name
    declared = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert declared == set(react_run.__all__) - {"__version__"}


@pytest.mark.parametrize("group", ["toolsets", "plugins", "models", "checks"])
def test_every_kind_that_ships_can_be_loaded(group: str) -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][f"react_run.{group}"]
    assert ours
    for name, target in ours.items():
        assert isinstance(EntryPoint(name, target, f"react_run.{group}").load(), type), name


def test_a_development_install_brings_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    others = ",".join(sorted(extras.keys() - {"dev"}))
    assert f"react-run[{others}]" in extras["dev"]


BRINGS = {
    "httpx": ["idna"],
    "jsonschema": ["referencing"],
    "mcp": ["httpx2", "mcp-types"],
    "psycopg": ["psycopg-pool"],
    "pydantic": ["pydantic-core"],
    "trafilatura": ["lxml"],
    "uvicorn": ["uvloop"],
}
"""Distributions that come with a declared one, as a part of it or as its extra."""
FOR_DEVELOPERS = {"pint", "pytest"}
"""Imported by a generator and by ``react_run.testing``, which only the extra ``dev`` is for."""
NOT_IMPORTED = {"lxml-html-clean", "tzdata", "webencodings"}
"""Declared for others to import, see pyproject.toml; ``tzdata`` is for the standard library's ``zoneinfo``."""


def test_the_declared_distributions_are_those_that_are_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [extra for name, extra in project["optional-dependencies"].items() if name != "dev"]
    requirements = [*project["dependencies"], *(one for extra in extras for one in extra)]
    declared = {_normal(re.split(r"[\[<>=!; ]", one)[0]) for one in requirements} - {"react-run"}
    known = declared | FOR_DEVELOPERS | {one for name in declared for one in BRINGS.get(name, ())}
    used: set[str] = set()
    homes_of = packages_distributions()
    for top in {top for root in OURS for path in (ROOT / root).rglob("*.py") for top in _imported_tops(path)}:
        homes = {_normal(home) for home in homes_of.get(top, ())} - {"react-run"}
        assert not homes or homes & known, f"{top} is imported, and nothing declared brings it"
        used |= homes
    assert declared - used - NOT_IMPORTED == set(), "declared, but imported nowhere"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _imported_tops(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.parametrize("path", sorted((ROOT / "agents").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_agent_file_that_ships_builds(path: Path) -> None:
    react_run.ReActAgent.from_yaml(path)


AUDIT = """
import json, sys
events = []
def hook(event, args):
    if event.startswith(("socket.", "subprocess.", "os.mkdir", "os.remove", "os.rename", "_thread.start_new_thread",
                         "signal.")) or event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        if not str(args[0]).endswith((".pyc",)) and "__pycache__" not in str(args[0]):
            events.append([event, repr(args)[:200]])
import signal, threading
before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
sys.addaudithook(hook)
sys.dont_write_bytecode = True
{code}
assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
print(json.dumps([events, sorted(sys.modules)]))
"""


def imported(code: str) -> tuple[list[object], list[str]]:
    source = AUDIT.replace("{code}", code)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True)
    events, names = json.loads(done.stdout)
    return events, names


def test_importing_the_public_names_has_no_effects_and_brings_no_provider_client() -> None:  # reliability 19
    events, names = imported("from react_run import *")
    assert not events
    heavy = {"litellm", "httpx", "jsonschema", "rich", "click", "pint", "openai"}
    assert not heavy & set(names)


def test_asking_for_the_version_imports_neither_pydantic_nor_the_runtime() -> None:
    _, names = imported("import react_run.cli; react_run.__version__")
    assert not {"pydantic", "react_run.agent", "react_run.run"} & set(names)


def test_modules_that_ship_import_alone() -> None:
    for name, _ in modules():
        import_module(f"react_run.{name}" if name != "__init__" else "react_run")
