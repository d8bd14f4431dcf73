"""Turns the options of a command line or a server into a configuration and an agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from react_run.errors import ConfigError
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from pydantic import ValidationError

    from react_run.agent import ReActAgent
    from react_run.config import ReActAgentConfig

MACHINE_PLUGINS = "REACT_RUN_PLUGINS"
OPTIONS = {
    "model": "--model",
    "max_iterations": "--max-iterations",
    "max_cost": "--max-cost",
    "run_timeout": "--timeout",
}
"""The options that override a key of the file."""


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """How to load an agent file, according to the command line."""

    file: str
    model: str | None = None
    sets: Sequence[str] = ()
    plugins: Sequence[str] = ()
    env_file: str | None = None
    trust: bool = False
    overrides: Mapping[str, object] | None = None
    foreign: bool = False
    """Whether the model's answers may come from strangers: then only `--trust` counts, not the trusted directories."""

    def config(self) -> ReActAgentConfig:
        """Load the configuration.

        Raises:
            ConfigError: Everything that is wrong with it.
        """
        self.must_exist()
        config = self._loaded()
        _leave_out(config, [name[3:] for name in self.plugins if name.startswith("no:")])
        return config

    def _loaded(self) -> ReActAgentConfig:
        from react_run.config import AgentFileError, load_config

        overrides = {**self._values(), **(self.overrides or {})}
        trusted = True if self.trust else False if self.foreign else None
        try:
            config = load_config(self.file, overrides=overrides, env_file=self.env_file, trusted=trusted)
            if trusted is None and not all(map(speaks_for_us, _journals(config))):
                config = load_config(self.file, overrides=overrides, env_file=self.env_file, trusted=False)
            return config
        except AgentFileError as error:
            raise error.named({f"override {key}": option for key, option in self._options().items()}) from None

    def _options(self) -> dict[str, str]:
        """The option that set each key of the file."""
        given = {setting.partition("=")[0]: f"--set {setting.partition('=')[0]}" for setting in self.sets}
        if "model.base_url" in given:
            given["model.base_url"] = "--base-url"  # which is short for it
        named = {key: OPTIONS[key] for key in {*(() if self.model is None else ("model",)), *(self.overrides or ())}}
        return given | named

    def to_record(self) -> dict[str, object]:
        """The options as data for :meth:`from_record`; journals contain it."""
        data = asdict(self)
        data["file"] = self.file if self.is_packaged else str(Path(self.file).absolute())
        if self.env_file is not None:
            data["env_file"] = str(Path(self.env_file).absolute())
        return {key: value for key, value in data.items() if value not in (None, (), {}, False)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The options that a run was started with, according to its journal."""
        names = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in record.items() if key in names})

    @property
    def is_packaged(self) -> bool:
        """Whether the file belongs to an installed package: ``PACKAGE:AGENT``."""
        if ":" not in self.file:
            return False
        from react_run.config.packages import is_packaged

        return is_packaged(self.file)

    def must_exist(self) -> None:
        """Check first of all that the file exists.

        Raises:
            ConfigError: It does not.
        """
        if not self.is_packaged and not Path(self.file).exists():
            error = ConfigError(f"there is no file {self.file}")
            error.missing = self.file
            raise error

    def extra_plugins(self) -> list[object]:
        """Build the plugins given with ``-p``, then those in ``REACT_RUN_PLUGINS``.

        Raises:
            ConfigError: There is no such plugin, or its options are wrong.
        """
        machine = [name.strip() for name in os.environ.get(MACHINE_PLUGINS, "").split(",")]
        given = [name for name in self.plugins if not name.startswith("no:")]
        left_out = {name[3:] for name in self.plugins if name.startswith("no:")}
        wanted = [(f"-p {name}", name) for name in given]
        wanted += [(f"{MACHINE_PLUGINS}={name}", name) for name in machine if name and name not in left_out]
        return [_plugin(shown, name) for shown, name in wanted]

    def _values(self) -> dict[str, object]:
        values: dict[str, object] = {}
        if self.model is not None:
            values["model"] = parsed(self.model) if self.model.startswith("{") else self.model
        for setting in self.sets:
            key, sign, text = setting.partition("=")
            if not sign or not key:
                raise click.UsageError(f"--set {setting}: write KEY=VALUE, such as --set max_iterations=5")
            if key.startswith("model.") and self.model is not None:
                has_address = any(each.startswith("model.base_url=") for each in self.sets)
                option = key.removeprefix("model.")
                values["model"] = _with_option(values["model"], option, parsed(text), has_address=has_address)
            else:
                values[key] = parsed(text)
        return values


def _with_option(model: object, path: str, value: object, *, has_address: bool) -> dict[str, object]:
    """The model of ``-m`` with one option set, as for ``--set model.PATH=VALUE``."""
    from react_run.config.shorthands import kind_of_id

    whole = dict(model) if isinstance(model, Mapping) else kind_of_id(str(model), has_address=has_address)
    *parents, last = path.split(".")
    inner = whole
    for parent in parents:
        inner[parent] = dict(found) if isinstance(found := inner.get(parent), Mapping) else {}
        inner = inner[parent]
    inner[last] = value
    return whole


def speaks_for_us(journal: Path) -> bool:
    """Whether a journal may answer for an agent that needs trust: it is our own, or in a trusted directory."""
    from react_run.config.trust import is_in_trusted
    from react_run.journal.locate import is_kept_here

    return is_kept_here(journal) or is_in_trusted(journal)


def _journals(config: ReActAgentConfig) -> Iterator[Path]:
    """The journals that answer instead of an agent's models."""
    home = sys.modules.get("react_run.journal.replay.model")
    if home is None:  # not imported, so no model is of its class
        return

    pending: list[object] = [config.model, *config.fallback_models]
    while pending:
        model = pending.pop()
        if isinstance(model, home.ReplayModel):
            yield model.journal
            pending.append(model.then)


def parsed(text: str) -> object:
    """Parse a command-line value as YAML; what is not YAML is text."""
    from react_run.config.yaml import Report, Source, plain
    from react_run.config.yaml.compose import compose

    report = Report()
    tree = compose(text, Source("value"), report)
    if report.problems:
        return None if text.strip() in ("", "~", "null") else text
    return plain(tree) if tree is not None else None


def _plugin(shown: str, name: str) -> object:
    from pydantic import ValidationError

    from react_run.components.building import build

    entry = parsed(name) if name.startswith("{") else name
    try:
        return build("plugins", entry)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{shown}: {text}" for text in _texts(error, entry))) from None


def _texts(error: ValidationError, entry: object) -> Iterator[str]:
    from react_run.config.texts import note_errors
    from react_run.config.yaml import Report, wrap

    report = Report()
    note_errors(error, wrap(entry if isinstance(entry, Mapping) else {}), report)
    for problem in report.problems:
        yield problem.text if problem.key in ("", "kind") else f"{problem.key}: {problem.text}"


def _leave_out(config: ReActAgentConfig, names: Sequence[str]) -> None:
    from react_run.components.errors import near
    from react_run.config.dump import kind_of

    listed = [kind_of(type(plugin)) for plugin in config.plugins]
    for name in names:
        if name not in listed:
            known = ", ".join(listed) or "none"
            raise ConfigError(f"-p no:{name}: the file has no such plugin.{near(name, listed)} Its plugins: {known}")
    config.plugins[:] = [plugin for plugin, kind in zip(config.plugins, listed, strict=True) if kind not in names]


def approve_all(config: ReActAgentConfig, plugins: Iterable[object] = ()) -> None:
    """Let approval plugins allow everything, and the offline model change things (``--yes``)."""
    from react_offline import OfflineModel
    from react_run.plugins import plugin_name

    config.model = config.model or OfflineModel()
    for model in (config.model, *config.fallback_models):
        if isinstance(model, OfflineModel):
            model.allow_changes = True
    for plugin in (*plugins, *config.plugins):
        if plugin_name(plugin) == "approval":
            plugin.allow_changes = True


def built(config: ReActAgentConfig, plugins: Sequence[object] = (), journal: object = None) -> ReActAgent:
    """Build the agent of ``config``."""
    from react_run.agent import ReActAgent

    return ReActAgent(config, plugins=plugins, journal=journal)
