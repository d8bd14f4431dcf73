"""A structure-aware mutator: documents that are nearly what a provider would send."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

Json = Any  # a decoded JSON document

ODD_VALUES: list[Json] = [
    *(None, True, False, 0, 1, -1, 7.5, 1e308, float("nan"), float("inf"), 10**30, -(10**30)),
    *("", " ", "null", "{}", "[]", "{", "x", "call_1", "stop", "length", "error", "\ud800", "\x00", "ü🍸", "a" * 300),
    *([], {}, [[]], [{}], [None], {"error": None}, {"error": {"code": 500}}, {"": ""}, [1, "x", None, {}]),
    *({"text": "x"}, {"type": "text", "text": None}, {"function": None}, {"function": {"name": 1, "arguments": []}}),
]


def mutants(seeds: list[tuple[str, Json]], count: int, *, seed: int) -> Iterator[tuple[str, Json]]:
    """``count`` documents, each a seed with one to four things changed; the same ones for the same ``seed``."""
    chooser = random.Random(seed)
    for _ in range(count):
        mode, document = chooser.choice(seeds)
        mutant = copy.deepcopy(document)
        for _ in range(chooser.choice((1, 1, 1, 2, 4))):
            mutant = _changed(mutant, chooser)
        yield mode, mutant


def _changed(document: Json, chooser: random.Random) -> Json:
    places = list(_places(document))
    if not places:
        return chooser.choice(ODD_VALUES)
    container, key = chooser.choice(places)
    _CHANGES[chooser.randrange(len(_CHANGES))](container, key, places, chooser)
    return document


def _places(node: Json) -> Iterator[tuple[Json, Json]]:
    """Every position in a document as its container and key or index."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def _replace(container: Json, key: Json, _: Json, chooser: random.Random) -> None:
    container[key] = copy.deepcopy(chooser.choice(ODD_VALUES))


def _delete(container: Json, key: Json, _: Json, __: random.Random) -> None:
    del container[key]


def _transplant(container: Json, key: Json, places: Json, chooser: random.Random) -> None:
    source, place = chooser.choice(places)
    container[key] = copy.deepcopy(source[place])


def _duplicate(container: Json, key: Json, _: Json, __: random.Random) -> None:
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    else:
        container[f"{key}_"] = copy.deepcopy(container[key])


def _wrap(container: Json, key: Json, _: Json, chooser: random.Random) -> None:
    value = container[key]
    container[key] = chooser.choice(
        ([value], {"text": value}, {key if isinstance(key, str) else "x": value}, str(value))
    )


def _cut_text(container: Json, key: Json, _: Json, chooser: random.Random) -> None:
    value = container[key]
    if isinstance(value, str) and value:
        at = chooser.randrange(len(value))
        container[key] = value[:at] + chooser.choice(("", "\ud83c", '"', "}", "\\", value)) + value[at + 1 :]
    elif isinstance(value, list):
        chooser.shuffle(value)


_CHANGES = (_replace, _replace, _delete, _transplant, _duplicate, _wrap, _cut_text)
