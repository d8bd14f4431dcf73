"""Tools: functions with a name, a description, a schema and annotations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, Unpack, overload

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import core_schema

from react_run.errors import ToolsetError
from react_run.support.dataclasses import dataclass
from react_run.support.jsonable import encode
from react_run.tools.annotations import ToolAnnotations, ToolOptions
from react_run.tools.arguments.decoding import decode_arguments
from react_run.tools.arguments.model_checking import ModelChecker, function_checker, spec_checker
from react_run.tools.arguments.preparation import Checker, Prepared, prepare
from react_run.tools.arguments.renaming import own_names, renames
from react_run.tools.arguments.schema_checking import SchemaChecker
from react_run.tools.naming import LONGEST, TOOL_NAME, valid_tool_name
from react_run.tools.schemas.cleaning import clean_schema
from react_run.tools.schemas.docstrings import description_in
from react_run.tools.schemas.signature import Function, docstring_of, is_async, name_of, read_signature

if TYPE_CHECKING:
    from react_run.outcome import Observation, Outcome
    from react_run.skills import ReActSkillSpec

__all__ = ["Prepared", "Tool", "ToolAnnotations", "ToolOptions", "ToolWarning", "is_tool", "tool"]

MAX_DESCRIPTION = 1024
"""Maximum characters of a description; OpenAI refuses requests with longer ones."""
_MARK = "__react_tool__"
_LATER: Mapping[str, Any] = {}
F = TypeVar("F", bound=Callable[..., Any])


class ToolWarning(UserWarning):
    """A tool works, but a description or a type would help the model."""


class Interprets(Protocol):
    """What a tool needs from its toolset, a :class:`~react_run.tools.toolset.ReActToolset`."""

    kind: ClassVar[str]

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None: ...
    def get_skill_specs(self) -> list[ReActSkillSpec]: ...
    def replayed(self, call: Any, observation: Observation) -> None: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool(ToolAnnotations):
    """Something a model can call.

    Args:
        name: Letters, digits, ``_`` and ``-``, at most 64; other names (``math.factorial``) are converted, and the
            model may use either form.
        description: What it does and when to use it, for the model; providers accept 1,024 characters of it.
        parameters: The JSON Schema of its arguments.
        function: The function to run, called with the values of :class:`Prepared`; synchronous or ``async def``.
        toolset: Interprets its results.
        context: Parameters that the runtime fills, each with ``run`` or ``call``; the model never sees them.
        checker: Checks arguments; by default jsonschema with ``parameters``.
        own_name: Its name in its toolset, if an agent file renamed it or providers need another name.
        called: The name of its toolset in the agent file.

    Raises:
        ToolsetError: The name is not valid (``tool.name``), the schema is not valid (``tool.schema``), or the timeout
            is not positive (``tool.timeout``).
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(repr=False)
    function: Function
    toolset: Interprets | None = field(default=None, repr=False)
    context: Mapping[str, str] = field(default_factory=dict)
    checker: Checker | None = field(default=None, repr=False)
    own_name: str = field(default="", repr=False)
    called: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            object.__setattr__(self, "own_name", self.own_name or self.name)
            object.__setattr__(self, "name", _checked_name(self.name))
        if self.timeout is not None and not self.timeout > 0:
            raise ToolsetError(
                f"tool {self.name!r}: timeout={self.timeout:g} leaves no time to run: give seconds above 0",
                code="tool.timeout",
            )
        if self.parameters is _LATER:
            object.__delattr__(self, "parameters")
        elif self.checker is None:
            checker = SchemaChecker.of(self.parameters)
            object.__setattr__(self, "checker", checker)
            if checker.sent is None or len(self.description) > MAX_DESCRIPTION:
                _ = self.wire  # report an invalid schema now

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """A field of a toolset may hold tools: keep them unchanged, not as dataclasses to take apart."""
        return core_schema.is_instance_schema(cls)

    @cached_property
    def is_async(self) -> bool:
        """Whether calling the function returns an awaitable."""
        return is_async(self.function)

    @cached_property
    def wire(self) -> dict[str, Any]:
        """The tool as sent to a model, in OpenAI's format."""
        try:
            if isinstance(self.checker, ModelChecker) and self.parameters is self.checker.parameters():
                parameters = dict(self.parameters)  # it is clean already
            else:
                checker = self.checker
                parameters = checker.cleaned() if isinstance(checker, SchemaChecker) else clean_schema(self.parameters)
                for text in checker.unchecked() if isinstance(checker, SchemaChecker) else ():
                    _warn(self.name, text)
        except ToolsetError as error:
            raise ToolsetError(f"tool {self.name!r}: {error}", code=error.code) from error
        function = {"name": self.name, "description": self._sent_description, "parameters": parameters}
        return {"type": "function", "function": function}

    @property
    def encoded(self) -> bytes:
        """:attr:`wire` as JSON."""
        sent = self.checker.sent if isinstance(self.checker, SchemaChecker) else None
        if sent is None or "wire" in self.__dict__:
            return encode(self.wire)
        names = encode({"name": self.name, "description": self._sent_description})
        return b'{"type":"function","function":%b,"parameters":%b}}' % (names[:-1], sent)

    @cached_property
    def size(self) -> int:
        """The length of :attr:`encoded` in bytes."""
        return len(self.encoded)

    @cached_property
    def defaults(self) -> dict[str, object]:
        """The defaults of its optional parameters: passing them explicitly makes the same call (behaviour F4)."""
        properties = self.parameters.get("properties", {})
        return {name: part["default"] for name, part in properties.items() if "default" in part}

    @property
    def _sent_description(self) -> str:
        """The description, cut between words to the length that every provider accepts."""
        if len(self.description) <= MAX_DESCRIPTION:
            return self.description
        size = len(self.description)
        _warn(
            self.name, f"a description of {size} characters; providers accept {MAX_DESCRIPTION}, the rest is not sent"
        )
        return f"{self.description[: MAX_DESCRIPTION - 1].rpartition(' ')[0]}…"

    @cached_property
    def _renames(self) -> bool:
        assert self.checker is not None  # set when the tool is made
        return renames(self.checker.schema)

    @cached_property
    def parameter_class(self) -> type[BaseModel] | None:
        """The pydantic model of the arguments; ``None`` if the tool has its own schema."""
        model: type[BaseModel] | None = getattr(self.checker, "model", None)
        return model

    def prepare(self, arguments: object) -> Prepared:
        """Decode, check and repair what a model sent: a dict, or the raw text if it was not valid JSON.

        Never raises for bad input: ``problem`` of the result then tells the model how to correct it (behaviour A).
        """
        assert self.checker is not None  # set when the tool is made
        if self._renames:
            read = decode_arguments(arguments)
            arguments = own_names(read, self.checker.schema) if isinstance(read, dict) else arguments
        return prepare(self.name, self.checker, arguments, read_only=self.read_only)

    @classmethod
    def from_function(
        cls,
        function: Function,
        *,
        name: str = "",
        description: str = "",
        toolset: Interprets | None = None,
        **flags: Unpack[ToolOptions],
    ) -> Tool:
        """Create a tool from a function, method, partial or callable object; ``@tool`` settings apply.

        Args:
            function: The function to run. Parameters annotated ``Run`` or ``ToolCall`` are filled by the runtime.
            name: Replaces its own name.
            description: Replaces its docstring.
            toolset: Interprets its results.
            flags: See :class:`ToolAnnotations`.

        Raises:
            ToolsetError: It has no valid name (``tool.name``), a parameter has no JSON Schema (``tool.annotation``), or
                it is a generator (``tool.generator``).
        """
        mark: Mapping[str, Any] = getattr(function, _MARK, {})
        name = name or mark.get("name") or _own_name(function)
        _checked_name(name)
        signature = read_signature(function, name)
        docstring = docstring_of(function)
        description = description or mark.get("description") or description_in(docstring)
        if signature.untyped:
            _warn(name, f"no type for {', '.join(signature.untyped)}, so a model may send anything")
        if not description:
            description = name.replace("_", " ").strip().capitalize()
            _warn(name, "no description: add a docstring that says what it does and when to use it")
        checker, parameters = function_checker(signature, docstring), _LATER
        if not signature.is_plain:  # JSON's own types always have a schema; that of other types is built now
            try:
                parameters = checker.parameters()
            except ToolsetError as error:
                from react_run.tools.schemas.function_model import representable

                signature = representable(signature, error)
                checker = function_checker(signature, docstring)
                parameters = checker.parameters()
        for parameter, reason in signature.left_out.items():
            _warn(name, f"a parameter that no model can fill, {parameter}, which is left out: {reason}")
        return cls(
            name=name,
            description=description,
            parameters=parameters,
            function=function,
            toolset=toolset,
            context=signature.context,
            checker=checker,
            **{**mark.get("flags", {}), **flags},
        )

    @classmethod
    def from_model(
        cls,
        model: type[BaseModel],
        function: Function,
        *,
        name: str,
        description: str,
        toolset: Interprets | None = None,
        **flags: Unpack[ToolOptions],
    ) -> Tool:
        """Create a tool whose arguments are a pydantic model.

        Args:
            model: The model of the arguments.
            function: Called with the name of the tool and an instance of ``model``.
            name: The name of the tool.
            description: What it does and when to use it.
            toolset: Who interprets its results.
            flags: See :class:`ToolAnnotations`.

        Raises:
            ToolsetError: The name is not valid, or ``model`` has no JSON Schema of an object.
        """
        checker = spec_checker(name, model)
        return cls(
            name=name,
            description=description,
            parameters=checker.parameters(),
            function=function,
            toolset=toolset,
            checker=checker,
            **flags,
        )

    @classmethod
    def from_schema(
        cls,
        schema: Callable[[], Mapping[str, Any]],
        function: Function,
        *,
        name: str,
        description: str,
        toolset: Interprets | None = None,
        context: Mapping[str, str] | None = None,
        **flags: Unpack[ToolOptions],
    ) -> Tool:
        """Create a tool whose JSON Schema is built on first use: most tools of a big toolset are never used.

        Args:
            schema: Returns the schema of its arguments. An invalid schema is reported only on first use, so check
                foreign schemas beforehand.
            function: The function to run, called with the arguments as keywords.
            name: The name of the tool.
            description: What it does and when to use it.
            toolset: Interprets its results.
            context: See :class:`Tool`.
            flags: See :class:`ToolAnnotations`.

        Raises:
            ToolsetError: The name is not valid.
        """
        return cls(
            name=name,
            description=description,
            parameters=_LATER,
            function=function,
            toolset=toolset,
            context=context or {},
            checker=SchemaChecker(cache(schema)),
            **flags,
        )


# The schema of a function is built on first use: most tools of a big toolset are never used.
_parameters: Any = cached_property(lambda tool: tool.checker.parameters())
_parameters.__set_name__(Tool, "parameters")
Tool.parameters = _parameters


def _own_name(function: Function) -> str:
    """The name of a function, if it is a valid tool name; otherwise its author must choose one."""
    name = name_of(function)
    if not TOOL_NAME.fullmatch(name):
        raise _no_name(name)
    return name


def _checked_name(name: str) -> str:
    """Convert ``name`` to a form that providers accept.

    Raises:
        ToolsetError: Nothing of it is left (``tool.name``).
    """
    valid = "" if "<" in name else valid_tool_name(name)
    if not valid:
        raise _no_name(name)
    return valid


def _no_name(name: str) -> ToolsetError:
    text = f"{name!r} is not a tool name: give one (name=…) of letters, digits, '_' and '-', at most {LONGEST}"
    return ToolsetError(text, code="tool.name")


def _warn(name: str, text: str) -> None:
    warnings.warn(f"tool {name!r} has {text}", ToolWarning, stacklevel=3)


@overload
def tool(function: F) -> F: ...
@overload
def tool(*, name: str = "", description: str = "", **flags: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(
    function: F | None = None, *, name: str = "", description: str = "", **flags: Unpack[ToolOptions]
) -> F | Callable[[F], F]:
    """Mark a function, or a method of a toolset, as a tool; the function itself does not change.

    Args:
        function: The function.
        name: Replaces the function's own name.
        description: Replaces its docstring.
        flags: See :class:`ToolAnnotations`.
    """

    def mark(function: F) -> F:
        # For a staticmethod, a classmethod or a bound method, use the function inside.
        setattr(
            getattr(function, "__func__", function), _MARK, {"name": name, "description": description, "flags": flags}
        )
        return function

    return mark if function is None else mark(function)


def is_tool(function: object) -> bool:
    """Whether ``function`` is marked with ``@tool``."""
    return hasattr(function, _MARK) or hasattr(getattr(function, "__func__", None), _MARK)
