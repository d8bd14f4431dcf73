"""Toolsets: tools that share options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ModelWrapValidatorHandler, PrivateAttr, ValidationError, ValidationInfo, model_validator

from react_run.components import Component
from react_run.components.option_errors import line_errors
from react_run.errors import ToolsetError
from react_run.outcome import Observation, Outcome, ToolError
from react_run.skills import ReActSkillSpec
from react_run.support.dataclasses import dataclass
from react_run.tools.annotations import ToolAnnotations, options_of
from react_run.tools.tool import Tool, is_tool

if TYPE_CHECKING:
    from react_run.tools.shared_keys import SharedKeys

T = TypeVar("T")


@dataclass(frozen=True)
class ToolSpec(ToolAnnotations):
    """Declares a tool whose arguments are a pydantic model.

    Args:
        name: Letters, digits, ``_`` and ``-``, at most 64.
        description: What it does and when to use it, for the model.
        parameter_class: The model of its arguments; :meth:`ReActToolset.execute` gets an instance.
    """

    name: str = field(kw_only=False)
    description: str = field(kw_only=False)
    parameter_class: type[BaseModel] = field(kw_only=False)


SHARED_KEYS = (
    *("name", "enabled", "include", "exclude", "rename", "prefix"),
    *("describe", "annotations", "timeout", "skill"),
)
"""The keys that every toolset accepts besides its own options (:class:`react_run.tools.shared_keys.SharedKeys`)."""


class ReActToolset(Component, group="toolsets"):
    """Tools that share options.

    A tool is a method marked ``@tool``, or a :class:`ToolSpec` of :meth:`get_toolspecs` that :meth:`execute` runs;
    one toolset may use both. The shared keys of toolsets (``prefix``, ``include``, …) may be given next to its options;
    they change what an agent is offered, not what :meth:`tools` returns.
    """

    _tools: list[Tool] | None = PrivateAttr(default=None)
    _shared: SharedKeys | None = PrivateAttr(default=None)
    _offered: tuple[list[Tool], list[Tool]] | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _take_shared_keys(cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if not isinstance(data, dict) or data.keys().isdisjoint(SHARED_KEYS):
            return handler(data)
        given = [key for key in cls.shared_option_names() if key in data]
        if not given:
            return handler(data)
        from react_run.tools.shared_keys import SharedKeys

        keys = {key: data[key] for key in given}
        shared, wrong = _tried(lambda: SharedKeys.model_validate(keys, context=info.context))
        made, also = _tried(lambda: handler({key: value for key, value in data.items() if key not in given}))
        if shared is None or made is None:
            raise ValidationError.from_exception_data(cls.__name__, line_errors([*wrong, *also]))
        made._shared = shared
        return made

    @classmethod
    def adapted(cls, given: object, *, unmarked: bool = False) -> Component | None:
        """Convert a tool, or a function marked as one, to a toolset; in Python code, any function."""
        if isinstance(given, Tool) or is_tool(given) or (unmarked and isinstance(given, (FunctionType, MethodType))):
            return OneTool(function=given)
        return None

    @property
    def is_plain(self) -> bool:
        """Whether no shared key changes its tools."""
        return self._shared is None

    @property
    def has_skill_key(self) -> bool:
        """Whether the shared key ``skill`` puts its tools behind a skill."""
        return self._shared is not None and self._shared.skill is not None

    @classmethod
    def shared_option_names(cls) -> list[str]:
        """The shared keys that this class understands: all that are not options of its own."""
        own = cls.option_names()
        return [key for key in SHARED_KEYS if key not in own]

    def tools(self) -> list[Tool]:
        """The tools, in a stable order, created once.

        Raises:
            ToolsetError: A tool is declared wrongly, or two have the same name.
        """
        if self._tools is None:
            try:
                self._tools = without_clash([*self._marked(), *self._specified()])
            except ToolsetError as error:
                raise ToolsetError(f"toolset {toolset_label(self)}: {error}", code=error.code) from error
        return list(self._tools)

    def _marked(self) -> list[Tool]:
        kinds = [kind for kind in reversed(type(self).__mro__) if kind not in ReActToolset.__mro__]
        names = dict.fromkeys(name for kind in kinds for name in vars(kind))
        marked = [name for name in names if is_tool(getattr_static(type(self), name))]
        return [Tool.from_function(getattr(self, name), toolset=self) for name in marked]

    def _specified(self) -> list[Tool]:
        specs = self.get_toolspecs()
        if specs and type(self).execute is ReActToolset.execute:
            raise ToolsetError(
                "get_toolspecs() declares tools, but there is no execute() to run them", code="tool.execute"
            )
        return [
            Tool.from_model(
                spec.parameter_class,
                self.execute,
                name=spec.name,
                description=spec.description,
                toolset=self,
                **options_of(spec),
            )
            for spec in specs
        ]

    def get_toolspecs(self) -> list[ToolSpec]:
        """The tools that :meth:`execute` runs."""
        return []

    def execute(self, tool_name: str, args: Any) -> object:  # Any: subclasses name their parameter class
        """Run a tool of :meth:`get_toolspecs`; may be ``async def`` in a subclass.

        The default implementation runs the tools marked ``@tool``, which is handy for trying them outside an agent;
        await the result of an ``async def`` tool.

        Args:
            tool_name: The name of the tool.
            args: An instance of its ``parameter_class``; for a marked tool, a mapping of its arguments.

        Raises:
            ToolError: There is no such tool, or the arguments are not valid.
        """
        tools = {tool.name: tool for tool in self.tools()}
        if tool_name not in tools:
            raise ToolError(f"toolset {toolset_label(self)} has no tool {tool_name!r}", code="unknown_tool")
        values = args.model_dump(mode="json", exclude_unset=True) if isinstance(args, BaseModel) else dict(args)
        prepared = tools[tool_name].prepare(values)
        if prepared.problem:
            raise ToolError(prepared.problem.removeprefix("Error: "), code="invalid_arguments")
        return tools[tool_name].function(*prepared.args, **prepared.kwargs)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """What a result means for the run; ``None`` leaves it opaque (behaviour F)."""
        return None

    def replayed(self, call: Any, observation: Observation) -> None:  # a ToolCall, which is above the tools
        """A recording answered ``call`` in place of its tool: restore the state that the tool would have kept in the
        run.
        """

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills that unlock these tools; without skills, all tools are offered at once (behaviour D)."""
        return []


class OneTool(ReActToolset):
    """A single tool.

    Raises:
        ToolsetError: The function cannot be a tool.
    """

    kind: ClassVar[str] = "function"

    function: Any
    """A function marked ``@tool``, or a :class:`Tool`."""

    _tool: Tool = PrivateAttr()

    def model_post_init(self, _: object) -> None:
        function = self.function
        self._tool = function if isinstance(function, Tool) else Tool.from_function(function, toolset=self)

    def tools(self) -> list[Tool]:
        """The one tool."""
        return [self._tool]

    def needs_trust(self) -> str:
        """A tool that declares that it starts programs needs trust."""
        return "starts programs" if self._tool.runs_programs else ""

    @property
    def path(self) -> str:
        """The dotted path of the function."""
        function = self._tool.function
        return f"{function.__module__}:{function.__qualname__}"


def toolset_label(toolset: ReActToolset) -> str:
    """The name of a toolset in messages: its kind, and its name if it has one."""
    kind = toolset.kind or type(toolset).__name__
    name = toolset._shared.name if toolset._shared is not None else None
    own = getattr(toolset, "name", None) if name is None and "name" in type(toolset).model_fields else None
    name = name or (own if isinstance(own, str) else None)
    return f"{kind}:{name}" if name else kind


def _tried(make: Callable[[], T]) -> tuple[T | None, list[Any]]:
    try:
        return make(), []
    except ValidationError as error:
        return None, list(error.errors(include_url=False))


def without_clash(tools: list[Tool]) -> list[Tool]:
    """Return ``tools``, checked for duplicate names.

    Raises:
        ToolsetError: Two tools have the same name (``tool.clash``).
    """
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ToolsetError(f"the tool {twice!r} is declared twice", code="tool.clash")
    return tools
