"""Texts and documents that are nearly right: what a careless program, a cut connection or an attacker would send."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from tests.models.fuzz import mutants

PIECES = [
    *["\n", "\r\n", "\r", " ", "\t", "\x00", "\x1b[2J", "\x7f", "\x85", "\u2028", "\ufeff", "\u202e", "\ud800"],
    *["é", "漢", "{", "}", "[", "]", "(", ")", "<", ">", "</", "/>", "<!--", "-->", "<![CDATA[", "&#x110000;", "&amp"],
    *['"', "'", "`", "```", "\\", ":", ",", ";", "- ", "#", "%", "@", "!", "!!", "&a", "*a", "|", "~", "$", "${X}"],
    *["$ref", "<<", "---\n", "...\n", "=", "?", "null", "true", "NaN", "-Infinity", "1e999", "-0", "0x10", "9" * 400],
    *["\\u0000", "\\ud800", "%00", "../", "a" * 2_000, "data:", "data: [DONE]\n\n", "event: x\n", "id: "],
    *["retry: -1\n", ": \n\n", "<think>", "</think>", "[/THINK]", "<tool_call>"],
]  # fmt: skip


def edited(texts: Sequence[str], count: int, *, seed: int) -> Iterator[str]:
    """``count`` texts, each one of ``texts`` with up to six changes; the same ones for the same ``seed``."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            text = _edited(text, chance)
        yield text


def _edited(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((0, 1, 1, 2, 5, 20, 200)))
    match chance.randrange(6):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + chance.choice(PIECES) + text[start:]
        case 2:
            return text[:start] + chance.choice(PIECES) + text[end:]
        case 3:
            return text[:end] + text[start:end] * chance.choice((1, 2, 50)) + text[end:]
        case 4:
            return text[:start]
        case _:
            place = chance.randrange(len(text) + 1)
            return text[:place] + text[start:end] + text[place:]


def documents(seeds: Sequence[Any], count: int, *, seed: int) -> Iterator[str]:
    """``count`` JSON texts: documents of which values were changed, and, one in four, their text as well."""
    chance = random.Random(seed)
    for _, document in mutants([("", copy.deepcopy(one)) for one in seeds], count, seed=seed):
        text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
        yield _edited(text, chance) if chance.random() < 0.25 else text
