"""Everything configurable is a pydantic model whose fields are its YAML options, found by its kind.

kind (text in an agent file) → class (``kinds``) → object (``building``: validated options)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
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

from react_run.components.bases import BASES, group_of
from react_run.components.building import build
from react_run.components.errors import install_hint as install_hint
from react_run.components.errors import near as near
from react_run.components.kinds import ALIASES as ALIASES
from react_run.components.kinds import GROUPS as GROUPS
from react_run.components.kinds import Kind as Kind
from react_run.components.kinds import every_installed as every_installed
from react_run.components.kinds import installed as installed
from react_run.components.kinds import resolve as resolve
from react_run.components.option_errors import with_suggestions
from react_run.components.option_schema import strict_scalars
from react_run.components.origin import LocalPath as LocalPath
from react_run.components.origin import Origin as Origin
from react_run.components.origin import TextOfFile as TextOfFile
from react_run.components.origin import beside_the_file as beside_the_file

GROUP_MARK = "x-react-run-group"
"""The key that marks a place for any component of a group in a JSON Schema."""


class Options(BaseModel):
    """Base of everything with options: unknown ones are refused with the nearest name; numbers and flags are strict."""

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
        """Keys that it accepts besides its options, like all components of its group."""
        return []

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return strict_scalars(handler(source))


class Component(Options):
    """A model, toolset, plugin, policy or check: its fields are its YAML options.

    The base class of a group declares it with ``class Check(Component, group="checks")``. A field of its type then
    accepts any component of that group, also as ``name`` or ``{kind: name, …}``.

    Components compare and hash by identity: pluggy compares plugins with ``==``, and two entries with equal options
    are still two plugins.
    """

    kind: ClassVar[str] = ""
    """The name used in messages when the class was not found through an entry point."""
    closes_anywhere: ClassVar[bool] = False
    """Whether :meth:`close` may run in another task than :meth:`open`, and so concurrently with other components."""

    def __init_subclass__(cls, group: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if group:
            BASES.setdefault(group, cls)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @classmethod
    def adapted(cls, given: object, *, unmarked: bool = False) -> Component | None:
        """Convert ``given`` to a component of this group if that makes sense; otherwise return ``None``.

        Args:
            given: The object that a kind names, or that Python code passed.
            unmarked: Whether Python code passed it, so that it needs no mark.
        """
        return None

    def needs_trust(self) -> str:
        """Why this needs a trusted directory in an agent file, such as ``starts programs``; empty if it does not."""
        return ""

    def secrets_from_environment(self) -> Iterable[str]:
        """The variables with secrets that this component reads itself; their values are masked, too."""
        return ()

    async def open(self) -> None:
        """Acquire resources for the life of the agent; called by ``async with agent:`` and before the first run."""

    async def close(self) -> None:
        """Release what :meth:`open` acquired."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = super().__get_pydantic_core_schema__(source, handler)
        group = group_of(cls)
        if not group:
            return schema

        def from_entry(value: object, info: ValidationInfo) -> object:
            return value if isinstance(value, cls) else build(group, value, info.context)

        return core_schema.with_info_before_validator_function(from_entry, schema)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        group = group_of(cls)
        return {GROUP_MARK: group} if group else handler(schema)


class Plugin(Component, group="plugins"):
    """Base for plugins with options: add methods marked ``@hookimpl``. Any object with hook methods is a plugin."""

    inherited_by_subagents: ClassVar[bool | None] = None
    """Whether this plugin also applies to the runs of subagents (behaviour X1); any plugin may have this attribute.

    With ``None``, it does if it implements ``react_tool_permit`` or ``react_ask``: a subagent never has more rights
    than its parent, and asks the same people.
    """
