"""Toolsets that nobody ships: the offline model has to read them as it would read a stranger's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from react_run import ToolError, tool

_WEATHER = {
    "paris": (12, "cloudy"),
    "london": (9, "drizzle"),
    "beijing": (-3, "clear"),
    "shanghai": (6, "windy"),
    "mexico city": (21, "sunny"),
}


def _weather_of(city: str) -> tuple[int, str]:
    try:
        return _WEATHER[city.casefold()]
    except KeyError:
        raise ToolError(f"no weather station in {city!r}", code="unknown_city") from None


@tool(read_only=True)
def get_weather(city: str, units: Literal["metric", "imperial"] = "metric") -> dict[str, object]:
    """Current weather in a city: temperature and condition.

    Args:
        city: Name of the city, such as Paris.
        units: Unit system of the temperature.
    """
    celsius, condition = _weather_of(city)
    if units == "imperial":
        return {"city": city, "temperature": round(celsius * 9 / 5 + 32), "unit": "F", "condition": condition}
    return {"city": city, "temperature": celsius, "unit": "C", "condition": condition}


@tool(read_only=True)
def get_forecast(city: str, days: Annotated[int, Field(ge=1, le=7)] = 1) -> list[dict[str, object]]:
    """Weather forecast for a city, one entry per day.

    Args:
        city: Name of the city.
        days: How many days ahead, 1 to 7.
    """
    _weather_of(city)
    return [{"day": day + 1, "condition": "rain" if day % 2 else "sun"} for day in range(days)]


_COUNTRIES = {
    "france": ("Paris", 68_000_000),
    "japan": ("Tokyo", 124_000_000),
    "iceland": ("Reykjavik", 390_000),
    "italy": ("Rome", 59_000_000),
}


@tool(read_only=True)
def capital_of(country: str) -> str:
    """The capital city of a country."""
    if country.casefold() not in _COUNTRIES:
        raise ToolError(f"unknown country {country!r}")
    return _COUNTRIES[country.casefold()][0]


@tool(read_only=True)
def population(country: str) -> dict[str, object]:
    """How many inhabitants a country has."""
    if country.casefold() not in _COUNTRIES:
        raise ToolError(f"unknown country {country!r}")
    return {"country": country, "population": _COUNTRIES[country.casefold()][1], "year": 2023}


@tool(read_only=True)
def distance(origin: str, destination: str) -> dict[str, object]:
    """Distance between two cities as the crow flies, in kilometres."""
    if {origin.casefold(), destination.casefold()} != {"paris", "london"}:
        raise ToolError(f"no route from {origin} to {destination}")
    return {"value": 344, "unit": "km"}


@tool(read_only=True)
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


@tool(read_only=True)
def reverse_text(text: str) -> str:
    """Reverse a text, letter by letter."""
    return text[::-1]


@tool(read_only=True)
def change_case(text: str, style: Literal["upper", "lower", "title"]) -> str:
    """Write a text in another case."""
    return {"upper": text.upper(), "lower": text.lower(), "title": text.title()}[style]


@tool(read_only=True)
def hash_text(text: str, algorithm: Literal["md5", "sha1", "sha256"]) -> dict[str, str]:
    """Hash a text; the digest is hexadecimal."""
    return {"algorithm": algorithm, "digest": hashlib.new(algorithm, text.encode()).hexdigest()}


_PRICES = {"blue kettle": "34.50", "garden hose": "19.90"}


@tool(read_only=True)
def product_price(product: str) -> dict[str, str]:
    """What a product of our catalogue costs.

    Args:
        product: Name of the product.
    """
    if product.casefold() not in _PRICES:
        raise ToolError(f"there is no product named {product!r}")
    return {"product": product, "price": _PRICES[product.casefold()], "currency": "GBP"}


Currency = Literal["USD", "EUR", "GBP"]
_RATES = {"USD": 1.0, "EUR": 0.92, "GBP": 0.79}


@tool(read_only=True)
def convert_currency(amount: float, from_currency: Currency, to_currency: Currency) -> dict[str, object]:
    """Convert an amount of money between currencies."""
    return {"amount": round(amount * _RATES[to_currency] / _RATES[from_currency], 2), "currency": to_currency}


@tool(read_only=True)
def order_status(order_id: Annotated[str, Field(pattern=r"^ORD-\d+$", examples=["ORD-1001"])]) -> dict[str, str]:
    """Status of an order."""
    return {"order_id": order_id, "status": "shipped"}


@tool(read_only=False)
def place_order(product: str, quantity: int) -> str:
    """Order a product from the catalogue."""
    return f"ordered {quantity} of {product}"


@tool(read_only=True)
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


_NOTES = {"dentist": "dentist: Tuesday 10:00", "plumber": "plumber: phone 0171 555 0100"}


@tool(read_only=True)
def search_notes(query: str) -> str:
    """Search the user's notes for a word or phrase."""
    return _NOTES.get(query.casefold().removeprefix("the "), "no notes found")


@tool(read_only=False)
def delete_note(title: str) -> str:
    """Delete a note."""
    return f"deleted {title}"


@tool(read_only=True)
def roll_dice(count: int, sides: int) -> dict[str, object]:
    """Roll dice.

    Args:
        count: Number of dice.
        sides: Sides of each die.
    """
    return {"dice": f"{count}d{sides}", "total": count}


@tool(read_only=True)
def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature from Celsius to Fahrenheit."""
    return celsius * 9 / 5 + 32


@tool(read_only=True)
def find_restaurants(city: str, cuisine: str) -> str:
    """Find restaurants in a city that serve a cuisine."""
    return f"Da Mario: {cuisine} food in {city}"


@tool(read_only=True)
def flights(origin: str, destination: str, date: str) -> str:
    """Flights from one city to another on a date."""
    return f"{origin} to {destination} on {date}"


@tool(read_only=True)
def letter_count(text: str, letter: str) -> int:
    """Count how often a letter occurs in a text."""
    return text.count(letter)


@tool(read_only=True)
def is_palindrome(text: str) -> bool:
    """Whether a text is a palindrome."""
    return text == text[::-1]


@tool(read_only=True)
def bmi(weight_kg: float, height_m: float) -> float:
    """Body mass index of a person."""
    return round(weight_kg / height_m**2, 1)


@tool(read_only=True)
def get_invoice(invoice_id: str) -> dict[str, object]:
    """Get an invoice by its id."""
    return {"invoice_id": invoice_id, "state": "paid", "total": 12.5}


@tool(read_only=True)
def random_number(minimum: int, maximum: int) -> int:
    """Pick a random number between two bounds."""
    return min(minimum, maximum)


@tool(read_only=True)
def glossary_lookup(term: str) -> str:
    """Look up the definition of a term in the glossary."""
    return f"{term}: a measure"


@tool(read_only=True)
def read_document(path: str) -> str:
    """Read a document."""
    return f"text of {path}"


TOOLSETS: dict[str, tuple[Callable[..., object], ...]] = {
    "weather": (get_weather, get_forecast),
    "places": (capital_of, population, distance),
    "text": (count_words, reverse_text, change_case, hash_text),
    "shop": (product_price, convert_currency, order_status, place_order),
    "simplemath": (add, multiply),
    "notes": (search_notes, delete_note),
    "dice": (roll_dice,),
    "strangers": (
        celsius_to_fahrenheit,
        find_restaurants,
        flights,
        letter_count,
        is_palindrome,
        bmi,
        get_invoice,
        random_number,
        glossary_lookup,
        read_document,
    ),
}
