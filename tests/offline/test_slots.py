"""How the offline model reads a tool that it has never seen."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field

from react_offline.slots import Kind, card_of
from react_run import Tool

KINDS: dict[Kind, list[dict[str, object]]] = {
    Kind.EXPRESSION: [
        {"name": "expression", "type": "string"},
        {"name": "q", "type": "string", "description": "The arithmetic expression to evaluate"},
    ],
    Kind.NUMBER: [
        {"name": "value", "anyOf": [{"type": "number"}, {"type": "string"}]},
        {"name": "n", "type": "integer"},
    ],
    Kind.AMOUNT_OF_TIME: [{"name": "days", "type": "integer"}, {"name": "duration_minutes", "type": "number"}],
    Kind.UNIT: [{"name": "from_unit", "type": "string"}, {"name": "scale", "type": "string", "enum": ["C", "F", "K"]}],
    Kind.CURRENCY: [{"name": "to", "type": "string", "enum": ["USD", "EUR"]}, {"name": "currency", "type": "string"}],
    Kind.DATE: [{"name": "day", "type": "string", "format": "date"}, {"name": "start_date", "type": "string"}],
    Kind.DATETIME: [{"name": "when", "type": "string"}, {"name": "at", "type": "string", "format": "date-time"}],
    Kind.ZONE: [{"name": "tz", "type": "string"}, {"name": "time_zone", "type": ["string", "null"]}],
    Kind.CHOICE: [{"name": "style", "type": "string", "enum": ["upper", "lower"]}],
    Kind.FLAG: [{"name": "inclusive", "type": "boolean"}],
    Kind.PATTERN: [{"name": "id", "type": "string", "pattern": r"^ORD-\d+$"}],
    Kind.URL: [{"name": "link", "type": "string"}, {"name": "x", "type": "string", "format": "uri"}],
    Kind.EMAIL: [{"name": "to", "type": "string", "format": "email"}],
    Kind.PATH: [{"name": "file_path", "type": "string"}],
    Kind.QUERY: [{"name": "query", "type": "string"}, {"name": "search_term", "type": "string"}],
    Kind.TEXT: [{"name": "text", "type": "string"}, {"name": "message", "type": "string"}],
    Kind.PLACE: [{"name": "city", "type": "string"}, {"name": "destination", "type": "string"}],
    Kind.NAME: [{"name": "product", "type": "string"}, {"name": "ticker", "type": "string", "pattern": r"\S+"}],
    Kind.LIST: [{"name": "numbers", "type": "array", "items": {"type": "number"}}],
    Kind.OTHER: [{"name": "options", "type": "object"}],
}


def tool_with(*parameters: dict[str, object], name: str = "probe", description: str = "Probe.") -> Tool:
    properties = {str(one["name"]): {key: value for key, value in one.items() if key != "name"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name=name, description=description, parameters=schema, function=lambda **_: "", read_only=True)


@pytest.mark.parametrize(("kind", "parameter"), [(kind, one) for kind, them in KINDS.items() for one in them], ids=str)
def test_a_parameter_is_of_the_kind_that_its_schema_and_words_say(kind: Kind, parameter: dict[str, object]) -> None:
    (slot,) = card_of(tool_with(parameter)).slots
    assert slot.kind is kind


def test_the_part_a_parameter_plays_comes_from_its_name() -> None:
    card = card_of(tool_with({"name": "source", "type": "string"}, {"name": "target", "type": "string"}))
    assert [slot.role for slot in card.slots] == ["from", "to"]


def test_examples_and_advice_are_no_words_of_the_tool_itself() -> None:
    said = "Name of the city, such as Paris; leave it out at home."
    city: dict[str, object] = {"name": "city", "type": "string", "description": said}
    card = card_of(tool_with(city, name="get_weather", description="Weather, for example in Oslo. Never for Rome."))
    assert "weather" in card.topic
    assert not {"pari", "paris", "leav", "oslo", "rome"} & card.vocabulary


def test_a_tool_is_read_once() -> None:
    tool = tool_with({"name": "city", "type": "string"})
    assert card_of(tool) is card_of(tool)


def test_only_a_tool_that_says_so_unlocks_others() -> None:
    def activate(skill: Literal["maths", "dates"]) -> str:
        """Activate a skill: its tools appear in the next iteration."""
        return skill

    def paint(colour: Annotated[Literal["red", "blue"], Field(description="The colour.")]) -> str:
        """Paint the wall."""
        return colour

    assert card_of(Tool.from_function(activate)).unlocks
    assert not card_of(Tool.from_function(paint)).unlocks
