"""Toolsets declare tools in two ways, and toolsets together make one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field

from react_run.errors import ToolsetError
from react_run.outcome import ToolError
from react_run.skills import ReActSkillSpec
from react_run.tools.composite import CompositeToolset
from react_run.tools.tool import Tool, tool
from react_run.tools.toolset import ReActToolset, ToolSpec


class Convert(BaseModel):
    amount: float
    to: str = Field(description="three letters")


class Money(ReActToolset):
    """Both ways in one toolset."""

    kind: ClassVar[str] = "money"

    rate: float = 2.0
    """How much one is worth."""

    _log: list[str]

    def model_post_init(self, context: object) -> None:
        self._log = []

    @tool(read_only=True, inline=True)
    def double(self, amount: float) -> float:
        """Double an amount."""
        self._log.append("double")
        return amount * 2

    @tool
    async def triple(self, amount: float) -> float:
        """Triple an amount."""
        return amount * 3

    @tool
    @staticmethod
    def zero() -> int:
        """Nothing at all."""
        return 0

    @staticmethod
    @tool
    def one() -> int:
        """One."""
        return 1

    def helper(self) -> None:
        """Not a tool."""

    def get_toolspecs(self) -> list[ToolSpec]:
        return [
            ToolSpec(name="convert", description="Convert money.", parameter_class=Convert, read_only=True),
            ToolSpec("spend", "Spend money.", Convert, serial=True),
        ]

    def execute(self, tool_name: str, args: BaseModel) -> object:
        assert isinstance(args, Convert)
        return f"{tool_name} {args.amount * self.rate} {args.to}"


def run(made: Tool, arguments: Any) -> object:
    prepared = made.prepare(arguments)
    assert prepared.problem == ""
    result = made.function(*prepared.args, **prepared.kwargs)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def by_name(toolset: ReActToolset) -> dict[str, Tool]:
    return {made.name: made for made in toolset.tools()}


def test_methods_and_specs_are_tools_in_the_order_they_are_written() -> None:
    toolset = Money(rate=3)
    assert [*by_name(toolset)] == ["double", "triple", "zero", "one", "convert", "spend"]
    assert all(made.toolset is toolset for made in toolset.tools())


def test_a_tool_runs_on_its_own_instance() -> None:
    cheap, dear = by_name(Money()), by_name(Money(rate=10))
    assert run(cheap["double"], {"amount": "2"}) == 4
    assert run(cheap["triple"], {"amount": 2}) == 6
    assert (run(cheap["zero"], {}), run(cheap["one"], None)) == (0, 1)
    assert run(cheap["convert"], {"amount": 2, "to": "EUR"}) == "convert 4.0 EUR"
    assert run(dear["spend"], '{"amount": "2", "to": "EUR", "why": "x"}') == "spend 20.0 EUR"


def test_promises_of_methods_and_specs_are_kept() -> None:
    tools = by_name(Money())
    assert (tools["double"].read_only, tools["double"].inline) == (True, True)
    assert (tools["convert"].read_only, tools["convert"].serial) == (True, False)
    assert (tools["spend"].read_only, tools["spend"].serial) == (None, True)
    assert tools["convert"].wire["function"]["parameters"] == {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "to": {"type": "string", "description": "three letters"}},
        "required": ["amount", "to"],
        "additionalProperties": False,
    }


def test_tools_are_made_once_and_the_list_belongs_to_the_caller() -> None:
    # T5
    toolset = Money()
    toolset.tools().clear()
    assert [a is b for a, b in zip(toolset.tools(), toolset.tools(), strict=True)] == [True] * 6


def test_an_async_execute_is_known_to_be_async() -> None:
    class Later(ReActToolset):
        def get_toolspecs(self) -> list[ToolSpec]:
            return [ToolSpec("convert", "Convert money.", Convert)]

        async def execute(self, tool_name: str, args: BaseModel) -> object:
            return tool_name

    (made,) = Later().tools()
    assert made.is_async
    assert run(made, {"amount": 1, "to": "x"}) == "convert"


def test_an_overridden_method_is_a_tool_when_it_says_so() -> None:
    class Silent(Money):
        def double(self, amount: float) -> float:
            return 0

    class Louder(Money):
        @tool(name="twice")
        def double(self, amount: float) -> float:
            """Double, louder."""
            return amount * 4

    assert "double" not in by_name(Silent())
    assert next(iter(by_name(Louder()))) == "twice"
    assert run(by_name(Louder())["twice"], {"amount": 1}) == 4


def test_options_of_a_toolset_are_checked_and_tools_are_no_options() -> None:
    with pytest.raises(ValueError, match="rate"):
        Money(rate="x")
    with pytest.raises(ValueError, match="double"):
        Money(double=1)  # type: ignore[call-arg]  # the point of the test
    assert [*Money.model_fields] == ["rate"]


class Twice(ReActToolset):
    @tool
    def double(self, amount: float) -> float:
        """Double."""
        return amount * 2

    @tool(name="double")
    def again(self, amount: float) -> float:
        """Double."""
        return amount * 2


class NoExecute(ReActToolset):
    def get_toolspecs(self) -> list[ToolSpec]:
        return [ToolSpec("convert", "Convert money.", Convert)]


class BadName(ReActToolset):
    def get_toolspecs(self) -> list[ToolSpec]:
        return [ToolSpec("(%)", "Convert money.", Convert)]

    def execute(self, tool_name: str, args: BaseModel) -> object:
        return tool_name


class BadType(ReActToolset):
    @tool
    def work(self, items: Iterator[type(print)]) -> None:  # type: ignore[valid-type]  # the point of the test
        """Work."""


WRONG = [
    (Twice, "tool.clash", "'double' is declared twice"),
    (NoExecute, "tool.execute", "no execute()"),
    (BadName, "tool.name", "'(%)'"),
    (BadType, "tool.annotation", "'work'"),
]


@pytest.mark.parametrize(("kind", "code", "text"), WRONG)
def test_a_toolset_declared_wrongly_is_named(kind: type[ReActToolset], code: str, text: str) -> None:
    with pytest.raises(ToolsetError, match=f"toolset {kind.__name__}: ") as caught:
        kind().tools()
    assert caught.value.code == code
    assert text in str(caught.value)


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []


class Door(ReActToolset):
    """Says when it is opened and closed."""

    name: str
    """What it says."""

    log: Log
    """Where it says it."""

    fails: bool = False
    """Whether opening fails."""

    async def open(self) -> None:
        if self.fails:
            raise OSError("stuck")
        self.log.lines.append(f"open {self.name}")

    async def close(self) -> None:
        self.log.lines.append(f"close {self.name}")

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [ReActSkillSpec(name=self.name, description="Doors.", tool_names=())]


def test_toolsets_together_offer_all_tools_in_order() -> None:
    class Other(ReActToolset):
        @tool
        def halve(self, amount: float) -> float:
            """Halve."""
            return amount / 2

    money, other = Money(), Other()
    both = CompositeToolset(toolsets=[other, CompositeToolset(toolsets=[money])])
    assert [*by_name(both)] == ["halve", *by_name(money)]
    assert by_name(both)["double"].toolset is money
    assert both.toolsets[0] is other
    assert CompositeToolset(toolsets=[]).tools() == []


@pytest.mark.parametrize("other", [Money, Twice])
def test_a_clash_names_both_toolsets_and_the_tool(other: type[ReActToolset]) -> None:
    class Doubler(ReActToolset):
        @tool
        def double(self, amount: float) -> float:
            """Double."""
            return amount * 2

    with pytest.raises(ToolsetError) as caught:
        CompositeToolset(toolsets=[Money(), Doubler()]).tools()
    assert str(caught.value) == (
        "toolsets money and Doubler both offer a tool 'double': give one of them a prefix, rename: {double: …}, or "
        "exclude: [double]"
    )
    assert caught.value.code == "tool.clash"
    with pytest.raises(ToolsetError, match="double"):
        CompositeToolset(toolsets=[Money(), other()]).tools()


def test_toolsets_together_open_in_order_and_close_in_reverse() -> None:
    log = Log()
    both = CompositeToolset(toolsets=[Door(name="a", log=log), Door(name="b", log=log)])
    assert [spec.name for spec in both.get_skill_specs()] == ["a", "b"]

    async def use() -> None:
        await both.open()
        await both.close()
        await both.close()

    asyncio.run(use())
    assert log.lines == ["open a", "open b", "close b", "close a"]


def test_what_was_opened_is_closed_when_the_next_fails() -> None:
    log = Log()
    both = CompositeToolset(toolsets=[Door(name="a", log=log), Door(name="b", log=log, fails=True)])
    with pytest.raises(OSError, match="stuck"):
        asyncio.run(both.open())
    assert log.lines == ["open a", "close a"]


def test_marked_tools_can_be_tried_without_an_agent() -> None:
    class Sums(ReActToolset):
        @tool
        def add(self, a: int, b: int = 1) -> int:
            """Add two numbers."""
            return a + b

    assert Sums().execute("add", {"a": "2"}) == 3
    with pytest.raises(ToolError, match="no tool 'sub'"):
        Sums().execute("sub", {})
    with pytest.raises(ToolError, match="a is required"):
        Sums().execute("add", {})
