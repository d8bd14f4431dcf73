"""``react-run init``: a runnable agent, or a package with a toolset or a plugin whose tests pass."""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from react_run.errors import ConfigError
from react_run.support.text import printable

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@click.command("init", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(file_okay=False))
@click.option("--toolset", metavar="NAME", help="Create a package with the toolset NAME.")
@click.option("--plugin", metavar="NAME", help="Create a package with the plugin NAME.")
def command(directory: str | None, toolset: str | None, plugin: str | None) -> int:
    """Create an agent in DIR (default: the current directory): agent.yaml, and a schema for completion in editors.

    With --toolset or --plugin, create an installable package in DIR (default: a directory of that name).
    Existing files are not overwritten.
    """
    if toolset is not None and plugin is not None:
        raise click.UsageError("give --toolset or --plugin, not both")
    name = toolset if toolset is not None else plugin
    if name is not None:
        return start_package("plugin" if toolset is None else "toolset", name, Path(directory or name))
    return start_agent(Path(directory or "."))


def start_agent(directory: Path) -> int:
    """Write an agent file, and the schema of agent files next to it."""
    _refuse_existing(directory, [Path("agent.yaml"), Path("react-run.schema.json")])
    from react_run.config.json_schema import agent_file_schema

    name = re.sub(r"\W+", "-", directory.resolve().name).strip("-") or "agent"
    written = {
        Path("agent.yaml"): _filled(_templates("agent") / "agent.yaml.tmpl", name=name),
        Path("react-run.schema.json"): json.dumps(agent_file_schema(), ensure_ascii=False) + "\n",
    }
    _write(directory, written)
    path = directory / "agent.yaml"
    click.echo(printable(f'Try it:  react-run {path} "15*23"\nCheck it: react-run check {path}'), err=True)
    return 0


def start_package(what: str, name: str, directory: Path) -> int:
    """Write a package with one toolset or plugin and its tests."""
    if not _NAME.fullmatch(name):
        raise click.UsageError(
            f"{name!r} is not a valid package name: use lower-case words joined by '-', such as my-ledger"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _installed(module):
        raise click.UsageError(f"a module {module!r} already exists; choose another name, such as my-{name}")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    values = {"name": name, "module": module, "class_name": class_name}
    found = _below(_templates(what), Path())
    _write(directory, {_place(path, module): _filled(template, **values) for path, template in found.items()})
    click.echo(printable(f"Next:  cd {directory} && pip install -e '.[dev]' && pytest"), err=True)
    return 0


def _installed(module: str) -> bool:
    return find_spec(module) is not None


def _templates(what: str) -> Traversable:
    return files("react_run.cli") / "templates" / what


def _below(directory: Traversable, path: Path) -> dict[Path, Traversable]:
    found: dict[Path, Traversable] = {}
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found |= _below(entry, path / entry.name)
        elif entry.name.endswith(".tmpl"):
            found[path / entry.name.removesuffix(".tmpl")] = entry
    return found


def _place(path: Path, module: str) -> Path:
    return Path("src", module, *path.parts[1:]) if path.parts[0] == "src" else path


def _filled(template: Traversable, **values: str) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(values)


def _refuse_existing(directory: Path, paths: Iterable[Path]) -> None:
    existing = [str(directory / path) for path in paths if (directory / path).exists()]
    if existing:
        raise click.UsageError(f"{', '.join(existing)}: already exists; nothing was written")


def _write(directory: Path, contents: dict[Path, str]) -> None:
    _refuse_existing(directory, contents)
    for path, text in contents.items():
        target = directory / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            way_out = "name a directory that you may write to: react-run init … DIR"
            raise ConfigError(f"cannot write {target}: {error.strerror}; {way_out}") from error
        click.echo(printable(f"written {target}"), err=True)
