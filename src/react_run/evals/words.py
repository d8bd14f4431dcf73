"""What a result says, in words: one sentence, and no more than the figures bear out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def percent(share: float) -> str:
    """A share in per cent, with a decimal where it says something."""
    text = f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')} %"


def interval(found: Mapping[str, float]) -> str:
    """The ends of an interval of shares."""
    return f"[{100 * found['low']:.0f}, {100 * found['high']:.0f}]"


def points(share: float) -> str:
    """Format a difference in percentage points, with its sign."""
    return f"{100 * share:+.1f}".removesuffix(".0").replace("-", "\u2212")


def difference(found: Mapping[str, float]) -> str:
    """Format a difference with its interval."""
    return f"{points(found['value'])} points [{points(found['low'])}, {points(found['high'])}]"


def sentence(result: Mapping[str, Any]) -> str:
    """The conclusion, in a sentence or two."""
    comparison = result["comparison"]
    return " ".join(filter(None, (_compared(comparison) if comparison else _alone(result), _doubts(result))))


def _alone(result: Mapping[str, Any]) -> str:
    measured = result["variants"][0]
    if measured["rate"] is None:
        return "No run could be scored."
    passes = f"{measured['name']} passes {percent(measured['rate']['value'])} {interval(measured['rate'])} of its runs"
    times = f" x {result['repeat']}" if result["repeat"] > 1 else ""
    often = f"{_cases(measured['cases'])}{times}"
    return f"{passes} ({often}; 95 % interval, by case)."


def _compared(found: Mapping[str, Any]) -> str:
    if not found["cases"]:
        return "Nothing could be compared: the two have no case in common."
    by = f"{difference(found['difference'])}, permutation {p_value(found['p'])}, {found['cases']} pairs"
    flips = f"{_cases(found['gained'])} gained, {found['lost']} lost, {found['same']} alike"
    if found["verdict"] == "no difference shown":
        said = f"No difference is shown between {found['second']} and {found['first']} ({by}): {flips}."
        if found["not_enough_cases"]:
            half = (found["difference"]["high"] - found["difference"]["low"]) / 2
            said += (
                f" There are not enough cases to tell a difference of less than {100 * half:.0f} points; about "
                f"{found['cases_needed']:,} such cases would tell {100 * found['wanted']:.0f}."
            )
    else:
        said = f"{found['second']} is {found['verdict']} than {found['first']} ({by}): {flips}."
    return " ".join(filter(None, (said, _price(found))))


def _cases(number: int) -> str:
    return f"{number} case{'' if number == 1 else 's'}"


def p_value(p: float) -> str:
    """Format a probability without false precision."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _price(found: Mapping[str, Any]) -> str:
    parts = [
        f"{verb} {found[key]['ratio']:.2g} times{noun}"
        for key, verb, noun in (("cost", "costs", " as much"), ("seconds", "takes", " as long"))
        if found.get(key) and found[key]["differs"]
    ]
    return f"It {' and '.join(parts)}." if parts else ""


def _doubts(result: Mapping[str, Any]) -> str:
    doubtful = [measured for measured in result["variants"] if measured["doubtful"]]
    return " ".join(
        f"The figures of {measured['name']} are doubtful: {measured['errors']} of {measured['runs']} runs were errors, "
        "which are not counted."
        for measured in doubtful
    )
