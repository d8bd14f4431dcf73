"""What reviewers would otherwise repeat: layers, names, boundaries, start-up."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.metadata import EntryPoint, packages_distributions
from pathlib import Path
from types import ModuleType

import pytest

import react_run
from react_run import support

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "react_run"
OURS = ("src/react_run", "models", "toolsets", "plugins")

ROOMS = [
    *("errors", "support", "components", "parts, outcome", "support.files", "secrets", "questions"),
    *("config.yaml", "skills", "workspace", "tools", "messages", "models", "chat"),
    *("run, results", "hooks, hookspecs, layers", "engine, loop", "checks", "wrappers", "config", "plugins"),
    *(
        "policies",
        "agent",
        "journal",
        "launch",
        "batch",
        "evals",
        "serve",
        "cli",
        "testing",
        "pytest_plugin",
        "__main__",
    ),
]
"""The rooms from the ground up, as docs/architecture.md draws them: a room imports only from those before it."""
EXCEPTIONS = {("run", "agent"), ("errors", "results")}
"""Imports for type checkers only, which close a circle: ``Run.agent`` names the agent's class, of which every hook gets
one, and ``ModelError.result`` the class of what a run had reached. Callers would lose these types without them."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), path


def room_of(module: str) -> int:
    """The place of a module's room in :data:`ROOMS`: that of the longest name that fits."""
    places = {name: place for place, room in enumerate(ROOMS) for name in room.split(", ")}
    name = module
    while name not in places:
        assert "." in name, f"{module} is in no room: add its package to ROOMS, and to docs/architecture.md"
        name = name.rpartition(".")[0]
    return places[name]


def every_import(path: Path, *, types: bool = True) -> Iterator[str]:
    """All that a module imports: when it is imported, inside functions, and for type checkers where ``types``."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if types or not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


FACES = {("__init__",), ("support", "__init__")}
"""Modules that only hand on names of the modules in other rooms."""


@cache
def graph() -> dict[str, set[str]]:
    """What each module of the runtime imports of it, in any way; without the two exceptions."""
    known = {name: path for name, path in modules() if path.relative_to(SOURCE).with_suffix("").parts not in FACES}
    found = {}
    for name, path in known.items():
        imports = {imported.removeprefix("react_run.") for imported in every_import(path)} & known.keys()
        found[name] = {other for other in imports - {name} if (name, other) not in EXCEPTIONS}
    return found


BESIDE = ("models", "toolsets", "plugins")
"""The packages that stand on the runtime, as those of others do."""


def graph_beside(directory: str) -> dict[str, set[str]]:
    """What each module of a package beside the runtime imports of that package, in any way.

    ``from package import module`` imports the module: the package that a module lies in is there anyway.
    """
    known = {
        ".".join(path.relative_to(ROOT / directory).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / directory).rglob("*.py")
    }
    found = {}
    for name, path in known.items():
        imports = set(every_import(path)) & known.keys()
        around = {other for other in imports if name.startswith(f"{other}.")}
        found[name] = imports - {name} - {it for it in around if any(other.startswith(f"{it}.") for other in imports)}
    return found


def circles(imports: Mapping[str, set[str]]) -> list[str]:
    """The modules of a circle among ``imports``, when there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def misplaced(imports: Mapping[str, set[str]]) -> list[str]:
    """The imports from a later room."""
    return [
        f"{name} imports {other}"
        for name, others in imports.items()
        for other in others
        if room_of(other) > room_of(name)
    ]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(graph()) == []


@pytest.mark.parametrize("directory", BESIDE)
def test_no_modules_of_the_packages_beside_it_do_either(directory: str) -> None:
    assert len(graph_beside(directory)) > 5
    assert circles(graph_beside(directory)) == []


def test_a_room_imports_only_from_itself_and_from_earlier_rooms() -> None:
    assert misplaced(graph()) == []


def test_a_single_import_for_types_can_close_a_circle() -> None:
    imports = graph()
    assert "config.schema" not in imports["config.dump"]
    mutant = {**imports, "config.dump": imports["config.dump"] | {"config.schema"}}
    assert set(circles(mutant)) == {"config.dump", "config.schema"}


def test_a_single_import_from_a_later_room_is_found() -> None:
    imports = graph()
    mutant = {**imports, "serve.agents": imports["serve.agents"] | {"cli.app"}}
    assert misplaced(mutant) == ["serve.agents imports cli.app"]


@pytest.mark.parametrize(("name", "other"), sorted(EXCEPTIONS))
def test_an_exception_is_for_type_checkers_only_and_still_needed(name: str, other: str) -> None:
    path = SOURCE / f"{name}.py"
    assert f"react_run.{other}" in set(every_import(path))
    assert f"react_run.{other}" not in set(every_import(path, types=False))


def test_the_architecture_page_draws_the_rooms_in_their_order() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^\d+\. `([^`]+)`: ", text, flags=re.MULTILINE)
    assert drawn == [room for room in ROOMS if room not in ("testing", "pytest_plugin", "__main__")]


def test_the_architecture_page_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    assert [room for room in rooms if f"`{room}/`" not in text] == []


def test_the_runtime_never_imports_the_toolsets_or_plugins_that_ship_with_it() -> None:
    wrong = [
        f"{name}: {imported}"
        for name, path in modules()
        for imported in every_import(path)
        if imported.split(".")[0] in ("react_toolsets", "react_plugins")
    ]
    assert not wrong


@pytest.mark.parametrize("root", ["toolsets/react_toolsets", "plugins/react_plugins"])
def test_toolsets_and_plugins_import_only_public_names(root: str) -> None:
    open_names = {package.__name__: package.__all__ for package in (react_run, support)}
    wrong = []
    for path in (ROOT / root).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "react_run":
                public = open_names.get(node.module or "", [])
                if names := [alias.name for alias in node.names if alias.name not in public]:
                    wrong.append(f"{path.name}:{node.lineno}: from {node.module} import {', '.join(names)}")
    assert not wrong


@pytest.mark.parametrize("package", [react_run, support], ids=lambda package: package.__name__)
def test_the_public_names_are_sorted_complete_and_importable(package: ModuleType) -> None:
    assert package.__all__ == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None, name
    declared = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8")))
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert declared == set(package.__all__) - {"__version__"}


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
    "aiohttp": ["yarl"],
    "httpx": ["idna"],
    "jsonschema": ["referencing"],
    "mcp": ["httpx2", "mcp-types"],
    "psycopg": ["psycopg-pool"],
    "pydantic": ["pydantic-core"],
    "rich": ["markdown-it-py"],
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


def test_importing_the_public_names_has_no_effects_and_brings_no_provider_client() -> None:
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


def test_the_names_of_tests_have_eighty_characters_at_most() -> None:
    names = [
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(names) > 1_000
    assert [name for name in names if len(name) > 80] == []
