"""Questions for people and their answers: one hook for approvals, tools and limits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from react_run.questions.display import argument, is_cut, on_a_line, trusted, warnings
from react_run.support.dataclasses import dataclass
from react_run.support.json_schema import JsonSchema
from react_run.support.regex import SlowPattern

if TYPE_CHECKING:
    from react_run.secrets import Masker

YES, ALWAYS, NO = "yes", "always", "no"
"""The choices of an approval."""


class Unfit(ValueError):
    """An answer that the question does not accept; the message says what it accepts."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that only a person can answer. ``str(question)`` shows all of it, safe for a terminal.

    Args:
        text: The question.
        choices: The allowed answers; empty for any text.
        schema: The JSON Schema of the answer, such as an object with a property for each field of a form.
        tool: For an approval, the tool that is about to run.
        arguments: For an approval, the arguments of the tool.
        default: The choice for an empty line.
        hint: Further information for the decision, shown below the arguments.
        by_clock: Whether asking depends on the time, so that a replay may not ask it.
        id: Identifies the question within its run; set when it is asked.
        digest: What an answer is bound to: the tool and its arguments, else the text, the choices and the schema.
    """

    text: str
    choices: Sequence[str] = ()
    schema: Mapping[str, Any] | None = None
    tool: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    default: str = ""
    hint: str = ""
    by_clock: bool = False
    id: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", self._bound_to())

    def _bound_to(self) -> str:
        subject: tuple[object, ...] = (self.tool, self.arguments)
        if not self.tool:
            subject = (self.text, list(self.choices), self.schema)
        return sha256(json.dumps(subject, sort_keys=True, default=repr).encode()).hexdigest()[:32]

    @property
    def is_approval(self) -> bool:
        """Whether it asks for permission to run a tool."""
        return bool(self.tool)

    def masked(self, masker: Masker) -> Question:
        """The question with secrets masked; an answer to it is still bound to the original."""
        return replace(
            self,
            text=masker.mask(self.text),
            choices=tuple(map(masker.mask, self.choices)),
            arguments={name: masker.mask_data(value) for name, value in self.arguments.items()},
        )

    def read(self, value: object) -> object:
        """Convert ``value`` to an answer to this question.

        Raises:
            Unfit: The question does not accept it.
        """
        if self.choices:
            return self._chosen(value)
        if self.schema is not None:
            return self._fitting(value)
        return value

    def _chosen(self, value: object) -> str:
        if isinstance(value, bool) and {YES, NO} <= {*self.choices}:
            return YES if value else NO
        if isinstance(value, str) and value in self.choices:
            return value
        raise Unfit(f"{value!r} is not one of {', '.join(self.choices)}")

    def _fitting(self, value: Any) -> object:
        assert self.schema is not None  # checked before
        try:
            found = next(iter(JsonSchema(self.schema).errors(value)), None)
        except SlowPattern as error:
            raise Unfit(str(error)) from error
        if found is None:
            return value
        where = ".".join(map(str, found.absolute_path))
        raise Unfit(f"{where}: {found.message}" if where else found.message)

    @property
    def about(self) -> str:
        """Everything but the choices, for interfaces that show the choices themselves."""
        text = on_a_line(self.text) if self.is_approval else trusted(self.text)
        lines = [text, *(argument(name, value) for name, value in self.arguments.items())]
        lines += warnings(json.dumps([self.text, self.arguments], ensure_ascii=False, default=str))
        lines += [f"  {on_a_line(line)}" for line in fields_of(self.schema)]
        return "\n".join([*lines, *filter(None, [trusted(self.hint)])])

    @property
    def is_cut(self) -> bool:
        """Whether :attr:`about` shortens an argument."""
        return any(map(is_cut, self.arguments.values()))

    @property
    def in_full(self) -> str:
        """All arguments in full."""
        return "\n".join(argument(name, value, None) for name, value in self.arguments.items())

    def __str__(self) -> str:
        return f"{self.about}\nChoices: {on_a_line(', '.join(self.choices))}" if self.choices else self.about


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer.

    Args:
        value: A JSON value; one of the choices if the question has any. ``None`` means that the person cannot be asked,
            here or elsewhere.
        by: Who answered, if known.
    """

    value: object
    by: str = ""


def fields_of(schema: Mapping[str, Any] | None) -> list[str]:
    """One line for each field of a schema: its name, type and purpose."""
    required = (schema or {}).get("required", ())
    return [
        f"{name} ({kind_of(part)}{'' if name in required else ', optional'})"
        + (f": {part['description']}" if part.get("description") else "")
        for name, part in (schema or {}).get("properties", {}).items()
    ]


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type of a field in words."""
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "anything")
    return {"string": "text", "boolean": "yes or no"}.get(kind, kind) if isinstance(kind, str) else "anything"
