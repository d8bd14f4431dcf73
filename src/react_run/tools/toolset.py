"""Toolsets: tools that share options, and toolsets made of toolsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ModelWrapValidatorHandler, PrivateAttr, ValidationError, ValidationInfo, model_validator

from react_run.components import Component
from react_run.components.option_errors import line_errors
from react_run.errors import Fault, ReactError, ToolsetError
from react_run.outcome import Outcome, ToolError
from react_run.skills import ReActSkillSpec
from react_run.tools.annotations import ToolAnnotations, options_of
from react_run.tools.tool import Tool, is_tool

if TYPE_CHECKING:
    from react_run.tools.shared_keys import SharedKeys

T = TypeVar("T")


@dataclass(frozen=True)
class ToolSpec(ToolAnnotations):
    """The class-style way to declare a tool: its arguments are a pydantic model.

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
"""What every toolset understands beside its own options (:class:`react_run.tools.shared_keys.SharedKeys`)."""


class ReActToolset(Component):
    """Tools that share options.

    A tool is a method marked ``@tool``, or a :class:`ToolSpec` of :meth:`get_toolspecs` that :meth:`execute` runs;
    one toolset may use both. The shared keys of toolsets (``prefix``, ``include``, …) may be given beside its options;
    they change what an agent is offered, not what :meth:`tools` gives.
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

    @property
    def is_plain(self) -> bool:
        """Whether an agent is offered its tools as they are: no shared key changes them."""
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
        """The tools, in a stable order, made once.

        Raises:
            ToolsetError: One of them is declared wrongly, or two have one name.
        """
        if self._tools is None:
            try:
                self._tools = _without_clash([*self._marked(), *self._specified()])
            except ToolsetError as error:
                raise ToolsetError(f"toolset {label(self)}: {error}", code=error.code) from error
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

        As it stands it runs the tools that are marked ``@tool``, which is handy for trying them outside an agent; the
        result of an ``async def`` tool is to be awaited.

        Args:
            tool_name: Which one.
            args: An instance of its ``parameter_class``; for a marked tool, its arguments as a mapping will do.

        Raises:
            ToolError: There is no such tool, or the arguments do not fit it.
        """
        tools = {tool.name: tool for tool in self.tools()}
        if tool_name not in tools:
            raise ToolError(f"toolset {label(self)} has no tool {tool_name!r}", code="unknown_tool")
        values = args.model_dump(mode="json", exclude_unset=True) if isinstance(args, BaseModel) else dict(args)
        prepared = tools[tool_name].prepare(values)
        if prepared.problem:
            raise ToolError(prepared.problem.removeprefix("Error: "), code="invalid_arguments")
        return tools[tool_name].function(*prepared.args, **prepared.kwargs)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """What a result means for the run; ``None`` leaves it opaque (behaviour F)."""
        return None

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills that unlock these tools; none offers them all at once (behaviour D)."""
        return []


class CompositeToolset(ReActToolset):
    """Several toolsets as one."""

    kind: ClassVar[str] = "composite"

    toolsets: list[ReActToolset]
    """The toolsets, in the order their tools are offered."""

    _open: AsyncExitStack | None = PrivateAttr(default=None)

    def tools(self) -> list[Tool]:
        """The tools of all, in order, as the shared keys of each have them.

        Raises:
            ToolsetError: A toolset fails, its shared keys do not fit its tools, or two offer a tool of one name.
        """
        found: list[Tool] = []
        owners: dict[str, int] = {}
        faults: list[Fault] = []
        for index, toolset in enumerate(self.toolsets):
            tools, wrong = _looked_at(toolset)
            faults += [fault.within("toolsets", index) for fault in wrong]
            clashes: dict[int, list[str]] = {}
            for tool in tools:
                first = owners.setdefault(tool.name, index)
                if first != index:
                    clashes.setdefault(first, []).append(tool.name)
            faults += [_clash(names, self.toolsets, first, index) for first, names in clashes.items()]
            found += tools
        if faults:
            code = faults[0].code
            raise ToolsetError("\n".join(fault.text for fault in faults), code=code, faults=faults)
        return found

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills of all, in order."""
        return [spec for toolset in self.toolsets for spec in skills_offered(toolset)]

    async def open(self) -> None:
        """Open every toolset that is enabled; when one fails, those already open are closed again."""
        async with AsyncExitStack() as stack:
            for toolset in filter(is_enabled, self.toolsets):
                await toolset.open()
                stack.push_async_callback(toolset.close)
            self._open = stack.pop_all()

    async def close(self) -> None:
        """Close every toolset, last opened first, even when one fails."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()


def is_enabled(toolset: ReActToolset) -> bool:
    """Whether an agent is to have this toolset (``enabled: false`` says that it is not)."""
    return toolset._shared is None or toolset._shared.enabled


def offered(toolset: ReActToolset) -> list[Tool]:
    """The tools that a toolset offers to an agent: its own, as its shared keys have them.

    Raises:
        ToolsetError: The keys do not fit the tools.
    """
    own = toolset.tools()
    if toolset._shared is None:
        return own
    if not toolset._shared.enabled:
        return []
    if toolset._offered is None or toolset._offered[0] != own:
        tools, faults = toolset._shared.offered(own)
        if faults:
            text = "\n".join(f"toolset {label(toolset)}: {fault.loc[0]}: {fault.text}" for fault in faults)
            raise ToolsetError(text, code=faults[0].code, faults=faults)
        toolset._offered = own, _without_clash(tools)
    return list(toolset._offered[1])


def skills_offered(toolset: ReActToolset) -> list[ReActSkillSpec]:
    """The skills that a toolset offers to an agent, their tools by the names it offers them under."""
    if not is_enabled(toolset):
        return []
    specs = toolset.get_skill_specs()
    if toolset._shared is None:
        return specs
    return toolset._shared.skills(specs, {tool.own_name: tool.name for tool in offered(toolset)})


def label(toolset: ReActToolset) -> str:
    """How messages call a toolset: its kind, and its name where it has one."""
    kind = toolset.kind or type(toolset).__name__
    name = toolset._shared.name if toolset._shared is not None else None
    own = getattr(toolset, "name", None) if name is None and "name" in type(toolset).model_fields else None
    name = name or (own if isinstance(own, str) else None)
    return f"{kind}:{name}" if name else kind


def _looked_at(toolset: ReActToolset) -> tuple[list[Tool], list[Fault]]:
    try:
        return offered(toolset), []
    except ToolsetError as error:
        return [], list(error.faults) or [Fault(error.code, str(error))]
    except ReactError:  # it says what is wrong, and where: another agent's file, for example
        raise
    except Exception as error:  # whatever an outside toolset raises: the message has to name it
        return [], [Fault("tool.failed", f"toolset {label(toolset)} has no tools: {type(error).__name__}: {error}")]


def _clash(names: list[str], toolsets: Sequence[ReActToolset], first: int, second: int) -> Fault:
    what = f"a tool {names[0]!r}" if len(names) == 1 else f"tools {', '.join(map(repr, names))}"
    both = f"toolsets {label(toolsets[first])} and {label(toolsets[second])} both offer {what}"
    way_out = f"give one of them a prefix, rename: {{{names[0]}: …}}, or exclude: [{', '.join(names)}]"
    return Fault("tool.clash", f"{both}: {way_out}", ("toolsets", second), ("toolsets", first))


def _tried(make: Callable[[], T]) -> tuple[T | None, list[Any]]:
    try:
        return make(), []
    except ValidationError as error:
        return None, list(error.errors(include_url=False))


def _without_clash(tools: list[Tool]) -> list[Tool]:
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ToolsetError(f"the tool {twice!r} is declared twice", code="tool.clash")
    return tools
