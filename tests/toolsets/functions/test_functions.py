"""The functions toolset: plain functions of a file as tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.toolsets.running import step

from react_run import ConfigError, ReActAgent, ReActAgentConfig, ToolsetError
from react_toolsets.functions import FunctionsToolset

SOURCE = '''
"""Helpers of a shop."""

from dataclasses import dataclass
from decimal import Decimal
from os.path import join
from typing import Literal

from react_run import tool

RATE = Decimal("1.19")


@dataclass
class Item:
    name: str
    price: Decimal


def price_with_tax(net: Decimal, places: int = 2) -> str:
    """Add the value added tax to a price.

    Args:
        net: The price without tax.
        places: Decimal places of the result.
    """
    return str(round(net * RATE, places))


async def total(items: list[Item], currency: Literal["EUR", "USD"] = "EUR") -> str:
    """Add up what items cost.

    :param items: What was bought.
    :param currency: The currency of all prices.
    """
    return f"{sum(item.price for item in items)} {currency}"


def weigh(grams: float) -> float:
    """Weigh something.

    Parameters
    ----------
    grams : float
        How much it is.
    """
    return grams / 1000


def now() -> str:
    """Tell the time."""
    return "12:00"


@tool(read_only=True, name="stock_of")
def stock(name):
    """Look up the stock of an item."""
    return 4


def _private(x: int) -> int:
    """Not for others."""
    return x


def untyped(x, y: int):
    """Has no type."""


def bare():
    """Has none at all."""
'''


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SOURCE)
    return tmp_path


def toolset(beside: Path, **options: Any) -> FunctionsToolset:
    return FunctionsToolset.model_validate({"path": beside / "shop.py", **options})


@pytest.mark.filterwarnings("ignore:tool 'stock_of' has no type")
def test_every_public_function_with_types_is_a_tool(beside: Path) -> None:
    tools = {tool.name: tool for tool in toolset(beside).tools()}
    assert list(tools) == ["price_with_tax", "total", "weigh", "now", "stock_of"]
    price = tools["price_with_tax"]
    assert price.description == "Add the value added tax to a price."
    assert price.parameters["properties"]["net"]["description"] == "The price without tax."
    assert price.parameters["required"] == ["net"]
    assert tools["total"].parameters["properties"]["items"]["description"] == "What was bought."
    assert tools["weigh"].parameters["properties"]["grams"]["description"] == "How much it is."
    assert tools["stock_of"].read_only


@pytest.mark.filterwarnings("ignore:tool 'stock_of' has no type")
@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("price_with_tax", {"net": "10"}, "11.90"),
        (
            "total",
            {"items": [{"name": "a", "price": "1.10"}, {"name": "b", "price": 2.2}], "currency": "USD"},
            "3.30 USD",
        ),
        ("now", {}, "12:00"),
        ("stock_of", {"name": "pen"}, "4"),
    ],
)
def test_they_are_called_with_typed_values(beside: Path, name: str, arguments: dict[str, Any], result: str) -> None:
    assert step(beside, toolset(beside), name, **arguments).observation == result


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"include": ["price_*", "now"]}, ["price_with_tax", "now"]),
        ({"exclude": ["*t*"]}, ["weigh", "now"]),
        ({"include": ["now", "weigh"], "exclude": ["now"]}, ["weigh"]),
    ],
)
def test_some_can_be_chosen(beside: Path, options: dict[str, Any], names: list[str]) -> None:
    assert [tool.name for tool in toolset(beside, **options).tools()] == names


def test_a_module_can_be_named_and_says_itself_what_is_public(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (beside / "shop_public.py").write_text(
        "__all__ = ['one']\ndef one(x: int) -> int:\n    'One.'\n    return x\n"
        "def two(x: int) -> int:\n    'Two.'\n    return x\n"
    )
    path = beside / "a.yaml"
    path.write_text("version: 1\nmodel: offline\ntoolsets: [{kind: functions, module: shop_public}]\n")
    assert [tool.name for tool in ReActAgent.from_yaml(path).tools] == ["one"]
    monkeypatch.delitem(sys.modules, "shop_public")


def test_a_file_without_a_tool_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def half(x, y: int):\n    pass\n\ndef none():\n    pass\n")
    with pytest.raises(ToolsetError, match=r"t\.py has no function to offer\. Without type hints.*half, none"):
        FunctionsToolset.model_validate({"path": tmp_path / "t.py"}).tools()


@pytest.mark.parametrize("options", [{}, {"path": "a.py", "module": "b"}, {"path": "none.py"}, {"module": "os"}])
def test_there_is_one_source_and_it_can_be_loaded(options: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        FunctionsToolset.model_validate(options)


def test_in_an_agent_file_mistakes_have_their_place_and_nothing_runs_without_trust(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("x = 1\nraise SystemExit('ran')\n")
    path = tmp_path / "a.yaml"
    path.write_text("version: 1\nmodel: offline\ntoolsets:\n  - kind: functions\n    path: bad.py\n")
    with pytest.raises(ConfigError, match=r"a\.yaml:5:11.*bad\.py:2: SystemExit: ran"):
        ReActAgentConfig.from_yaml(path)
    with pytest.raises(ConfigError) as caught:
        ReActAgentConfig.from_yaml(path, trusted=False)
    assert "is code, which an agent file may name only in a trusted directory" in str(caught.value)
    assert "ran" not in str(caught.value).replace("trans", "")
