"""What the offline model reads in a question: arithmetic, numbers, dates, durations, zones, units, clauses."""

from __future__ import annotations

import pytest

from react_offline.clauses import clauses
from react_offline.comparing import comparison
from react_offline.reading import Reading, written
from react_offline.text import read, stem, words_of_name
from react_offline.units import currency_name, unit_name
from react_offline.zones import zone_of

ARITHMETIC = {
    "15*23": "15*23",
    "15 x 23": "15*23",
    "15 percent of 240": "15/100*240",
    "25 % off 40": "40*(1-25/100)",
    "the square root of 2 to 3 decimals": "round(sqrt(2), 3)",
    "two hundred and five divided by five": "205/5",
    "3.5 million plus 1": "3500000 + 1",
    "three point one four times 2": "3.14*2",
    "the sum of 1, 2 and 3": "1+2+3",
    "the difference between 15 and 40": "40-15",
    "subtract 17 from 100": "100-17",
    "what percent of 80 is 20": "20/80*100",
    "20 is what percent of 80": "20/80*100",
    "increase 80 by 25%": "80*(1+25/100)",
    "raise 2 to the power of 10": "2**10",
    "2 to the power of 10": "2**10",
    "7 % 3": "7%3",
    "5! + 1": "5! + 1",
    "3²": "3**2",
    "√16 + 1": "sqrt(16) + 1",
    "6 \u00f7 3 \u00d7 2": "6/3*2",
    "5\u22123": "5 - 3",
    "(3 + 4) * -2": "(3 + 4)*(-2)",
    "2pi": "2*pi",
    "sin(pi/4)": "sin(pi/4)",
    "iteration 3.14159 to two decimal places": "round(3.14159, 2)",
    "1,250.50 + 0.5": "1250.50 + 0.5",
    "100 / (25% of 240)": "100/(25/100*240)",
    "half of 10 times 3": "10/2*3",
    "the remainder when 17 is divided by 5": "17%5",
}
UNCLEAR = [
    "the square root of 16 plus 9",
    "half of 10 plus 6",
    "100 + 10%",
    "log of 100",
    "the sine of 3",
    "6/2(3)",
    "20% discount on 50",
]
NO_ARITHMETIC = ["42", "50%", "that", "5 plus", "2026-03-01", "1,5 plus", "plus", "()", "((((", "twelve"]


@pytest.mark.parametrize(("text", "expression"), ARITHMETIC.items())
def test_arithmetic_becomes_an_expression_and_is_not_computed(text: str, expression: str) -> None:
    (span,) = Reading(read(text)).expressions
    assert (span.value.text, span.value.unclear) == (expression, "")


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_can_be_read_in_two_ways_raises_a_question(text: str) -> None:
    assert any(span.value.unclear for span in Reading(read(text)).expressions)


@pytest.mark.parametrize("text", NO_ARITHMETIC)
def test_numbers_alone_and_fragments_are_no_arithmetic(text: str) -> None:
    assert Reading(read(text)).expressions == []


@pytest.mark.parametrize(
    ("text", "expression"),
    [("multiply that by 3", "{ref}*3"), ("then divide by 6", "{ref}/6"), ("round it to 2 decimals", "round({ref}, 2)")],
)
def test_what_refers_to_an_earlier_result_says_so(text: str, expression: str) -> None:
    (span,) = Reading(read(text), continued=True).expressions
    assert span.value.refers
    assert span.value.text == expression


@pytest.mark.parametrize(
    ("text", "kind", "iso"),
    [
        ("2026-03-01", "date", "2026-03-01"),
        ("1 March 2026", "date", "2026-03-01"),
        ("March 1st, 2026", "date", "2026-03-01"),
        ("the 1st of March 2026", "date", "2026-03-01"),
        ("25/12/2024", "date", "2024-12-25"),
        ("2026-08-06T14:30:00.5Z", "datetime", "2026-08-06T14:30:00.5Z"),
        ("2026-08-06 14:30", "datetime", "2026-08-06T14:30"),
        ("6 August 2026 at 2:30 pm", "datetime", "2026-08-06T14:30"),
        ("3pm", "clock", "15:00"),
        ("12 a.m.", "clock", "00:00"),
        ("noon", "clock", "12:00"),
        ("today", "relative", "0"),
        ("yesterday", "relative", "-1"),
    ],
)
def test_dates_and_times_are_read_as_people_write_them(text: str, kind: str, iso: str) -> None:
    (span,) = Reading(read(text)).moments
    assert (span.value.kind, span.value.iso, span.value.unclear) == (kind, iso, "")


@pytest.mark.parametrize("text", ["03/04/2026", "5 May", "December 25th"])
def test_a_date_that_is_ambiguous_or_incomplete_raises_a_question(text: str) -> None:
    (span,) = Reading(read(text)).moments
    assert span.value.unclear


@pytest.mark.parametrize("text", ["14:75", "25 pm", "13 o'clock", "99/99/2026"])
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert Reading(read(text)).moments == []


def test_a_duration_is_read_by_unit() -> None:
    (span,) = Reading(read("in 1 year, two months and 10 business days")).durations
    assert span.value == {"years": "1", "months": "2", "days": "10"}


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("new york", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("Mumbai", "Asia/Kolkata"),
        ("India", "Asia/Kolkata"),
        ("europe/paris", "Europe/Paris"),
        ("UTC", "UTC"),
        ("UTC+2", "+02:00"),
        ("+0530", "+05:30"),
        ("Pacific", "US/Pacific"),
    ],
)
def test_cities_countries_and_offsets_name_time_zones(text: str, zone: str) -> None:
    found = zone_of(text)
    assert found is not None
    assert (found.name, found.unclear) == (zone, "")


@pytest.mark.parametrize("text", ["United States", "Russia", "IST", "Georgia", "Portland"])
def test_a_place_with_several_time_zones_raises_a_question(text: str) -> None:
    found = zone_of(text)
    assert found is not None
    assert found.unclear


def test_an_unknown_place_has_no_time_zone() -> None:
    assert zone_of("Atlantis") is None


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        ("mile miles mi", "mi"),
        ("kilometre kilometers km", "km"),
        ("°C celsius ℃ C", "celsius"),
        ("ft² ft^2 ft2", "ft2"),
        ("lb lbs pounds", "lb"),
        ("kWh", "kWh"),
    ],
)
def test_the_spellings_of_a_unit_have_one_name(spellings: str, name: str) -> None:
    assert {unit_name(spelling) for spelling in spellings.split()} == {name}


def test_case_is_kept_where_it_carries_meaning() -> None:
    assert (unit_name("mg"), unit_name("Mg")) == ("mg", "")
    assert unit_name("square feet") == "ft2"
    assert currency_name("euros") == currency_name("€") == "EUR"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is 12*4, and what is 30 kg in pounds?", ["What is 12*4", "what is 30 kg in pounds"]),
        ("Add 12 and 30, then divide the result by 6", ["Add 12 and 30", "divide the result by 6"]),
        ("weather in Paris and London", ["weather in Paris and London"]),
        ("What is 5!? Hello there.", ["What is 5!", "Hello there"]),
        ("If it is 3pm in London, what time is it in Tokyo?", ["it is 3pm in London what time is it in Tokyo"]),
    ],
)
def test_a_question_falls_into_clauses_where_a_new_one_begins(question: str, parts: list[str]) -> None:
    assert [written(clause) for clause in clauses(read(question))] == parts


def test_a_comparison_names_its_alternatives_and_its_property() -> None:
    compared = comparison(read("which has more people, Iceland or Japan"))
    assert compared is not None
    assert (compared.names, compared.direction, compared.word) == (("Iceland", "Japan"), 1, "more people")
    assert comparison(read("which is colder today")) is None


def test_words_compare_by_stem_and_identifiers_fall_into_words() -> None:
    assert stem("cities") == stem("city")
    assert stem("counted") == stem("counting") == stem("counts") == stem("count")
    assert words_of_name("getHTTPStatus_code2") == ["get", "http", "status", "code", "2"]
