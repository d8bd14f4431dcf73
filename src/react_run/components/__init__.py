"""Everything configurable: a pydantic model whose fields are its YAML options, named by its kind.

kind (text in an agent file) → class (``kinds``) → object (``building``: validated options)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from react_run.components.kinds import ALIASES as ALIASES
from react_run.components.kinds import GROUPS as GROUPS
from react_run.components.kinds import Kind as Kind
from react_run.components.kinds import every_installed as every_installed
from react_run.components.kinds import install_hint as install_hint
from react_run.components.kinds import installed as installed
from react_run.components.kinds import near as near
from react_run.components.kinds import resolve as resolve
from react_run.components.option_errors import with_suggestions
from react_run.components.option_schema import strict_scalars

BASES = {
    "react_run.tools.toolset:ReActToolset": "toolsets",
    "react_run.models.base:Model": "models",
    "react_run.checks:Check": "checks",
    "react_run.evals.scorer:Scorer": "scorers",
}
"""The classes that a field may name to accept any component of a group, also as ``name`` or ``{kind: name, …}``."""

GROUP_MARK = "x-react-run-group"
"""Stands in a JSON Schema for any component of a group."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where options were written: the validation context of every component that an agent file names."""

    directory: Path
    """The directory of the agent file; relative paths start here."""
    trusted: bool = False
    """Whether what starts programs or loads code beside the file may be named."""
    path: Path | None = None
    """The agent file, when there is one."""
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """The variables for ``${V}`` in it; ``None`` means the process environment."""

    def imported(self, path: str) -> object:
        """What ``package.module.Name`` stands for, found as kinds are: installed, or beside a file that is trusted.

        Raises:
            ReactError: It is no such path, leads nowhere, into the standard library, to code that is not trusted, or
                importing it failed.
        """
        from react_run.components.dotted import import_path

        return import_path(path, self.directory, trusted=self.trusted)


class TextOfFile(str):
    """Text that was written in a file other than the one that is loaded: paths in it start at ``directory``."""

    directory: Path


def _local_path(value: object, info: ValidationInfo) -> object:
    return beside_the_file(value, info) if isinstance(value, (str, Path)) else value


def beside_the_file(value: str | Path, info: ValidationInfo) -> Path:
    """The path that an option names: relative to the file it was written in, if there is one."""
    start = value.directory if isinstance(value, TextOfFile) else None
    if start is None and isinstance(info.context, Origin):
        start = info.context.directory
    path = Path(value).expanduser()
    return start / path if start else path


LocalPath = Annotated[Path, BeforeValidator(_local_path)]
"""A path option: relative to the agent file, or to the working directory when the component is built from Python."""


class Options(BaseModel):
    """Base of everything with options: unknown ones are refused with the nearest name, numbers and flags are strict."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_nearest(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise with_suggestions(error, cls.option_names(), cls.shared_option_names()) from None

    @classmethod
    def option_names(cls) -> list[str]:
        """The names of the options, as an agent file writes them."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def shared_option_names(cls) -> list[str]:
        """What it understands beside its options, as all of its group do."""
        return []

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return strict_scalars(handler(source))


class Component(Options):
    """A model, toolset, plugin, policy or check: its fields are its YAML options.

    Components compare and hash by identity: pluggy compares plugins with ``==``, and two entries with equal options
    are still two plugins.
    """

    kind: ClassVar[str] = ""
    """The name used in messages when the class was not found through an entry point."""
    closes_anywhere: ClassVar[bool] = False
    """Whether :meth:`close` may run in another task than :meth:`open`, and so beside other components that close."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def needs_trust(self) -> str:
        """Why an agent file that names this needs a trusted directory, such as ``starts programs``; else nothing."""
        return ""

    def secrets_from_environment(self) -> Iterable[str]:
        """The names of variables with secrets that this reads by itself, so that their values are masked, too."""
        return ()

    async def open(self) -> None:
        """Acquire what lives as long as the agent; called by ``async with agent:`` and before the first run."""

    async def close(self) -> None:
        """Release what :meth:`open` acquired."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = super().__get_pydantic_core_schema__(source, handler)
        group = BASES.get(f"{cls.__module__}:{cls.__qualname__}")
        if group is None:
            return schema

        def from_entry(value: object, info: ValidationInfo) -> object:
            from react_run.components.building import build

            return value if isinstance(value, cls) else build(group, value, info.context)

        return core_schema.with_info_before_validator_function(from_entry, schema)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        group = BASES.get(f"{cls.__module__}:{cls.__qualname__}")
        return {GROUP_MARK: group} if group else handler(schema)


class Plugin(Component):
    """Base for plugins with options: add methods marked ``@hookimpl``. Any object with hook methods will do, too."""

    inherited_by_subagents: ClassVar[bool | None] = None
    """Whether this plugin also holds for the runs of subagents (behaviour X1); any plugin may have this attribute.

    Left open it does when it answers ``react_tool_permit`` or ``react_ask``: a subagent never has more rights than its
    parent, and asks the same people.
    """
