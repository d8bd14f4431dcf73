"""A result as text: the worst cases first, the figures, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from react_run.evals.words import interval, percent, sentence
from react_run.support.display import usd
from react_run.support.render import escape as printable

MOST = 20
"""Cases that are listed when not all are asked for."""
_LONGEST = 60
_MARKS = {"p": "✓", "f": "✗", "e": "!"}


def lines(
    result: Mapping[str, Any], *, everything: bool = False, coloured: Callable[[str, str], str] = lambda text, _: text
) -> Iterator[str]:
    """Yield the report line by line.

    Args:
        result: The content of ``result.json``.
        everything: Whether to list all cases, including those that pass.
        coloured: Colours a text.
    """
    names = [measured["name"] for measured in result["variants"]]
    cases = sorted(result["cases"], key=lambda case: _rank(case, names))
    worth = cases if everything else [case for case in cases if _rank(case, names) < (1.0, 1.0)][:MOST]
    room = max((len(case["name"][:_LONGEST]) for case in worth), default=0)
    for case in worth:
        yield _case(case, names, room, coloured)
    if len(worth) < len(cases):
        passing = sum(_rank(case, names) >= (1.0, 1.0) for case in cases)
        more = len(cases) - passing - len(worth)
        said = [f"{passing} of {len(cases)} cases always pass"] if passing else []
        said += [f"{more} more do not (--all lists them)"] if more > 0 else []
        yield f"{'; '.join(said)}."
    yield ""
    width = max(map(len, names))
    for measured in result["variants"]:
        yield from _measured(measured, width)
    yield ""
    yield sentence(result)
    for gate in result["gates"]:
        yield f"{coloured('✓', 'green') if gate['holds'] else coloured('✗', 'red')} {gate['said']}"


def _rank(case: Mapping[str, Any], names: list[str]) -> tuple[float, float]:
    """The sort key of a case: the last variant's rate, then the mean rate."""
    rates = [_rate(case["variants"][name]["marks"]) for name in names]
    return rates[-1], sum(rates) / len(rates)


def _rate(marks: str) -> float:
    counted = len(marks) - marks.count("e")
    return marks.count("p") / counted if counted else -1.0


def _case(case: Mapping[str, Any], names: list[str], room: int, coloured: Callable[[str, str], str]) -> str:
    pips = []
    for name in names:
        marks = case["variants"][name]["marks"]
        colour = {"p": "green", "f": "red", "e": "yellow"}
        pips.append("".join(coloured(_MARKS[mark], colour[mark]) for mark in marks))
    why = next((case["variants"][name]["why"] for name in reversed(names) if case["variants"][name]["why"]), "")
    title = printable(case["name"])[:_LONGEST]
    return f"{title:<{room}}  {'  '.join(pips)}  {printable(' '.join(why.split()))[:100]}".rstrip()


def _measured(measured: Mapping[str, Any], width: int) -> Iterator[str]:
    if measured["rate"] is None:
        yield f"{measured['name']:<{width}}  no run was scored ({measured['errors']} errors)"
        return
    parts = [f"passes {percent(measured['rate']['value'])} {interval(measured['rate'])}"]
    passes = measured["passes_of"]
    parts += [f"pass@{k} {percent(passes[k]['any'])}, pass^{k} {percent(passes[k]['all'])}" for k in passes if k != "1"]
    parts += [f"{measured['errors']} errors, not counted"] if measured["errors"] else []
    parts.append("cost n/a" if measured["cost"] is None else f"{usd(measured['cost']['value'])} per run")
    parts.append(f"median {measured['seconds']['value']:.2g} s")
    yield f"{measured['name']:<{width}}  {' · '.join(parts)}"
    scorers = measured["scorers"]
    if len(scorers) > 1:
        for label, found in scorers.items():
            yield f"{'':<{width}}    {label}: {percent(found['mean']['value'])} {interval(found['mean'])}"


def flips(comparison: Mapping[str, Any]) -> Iterator[str]:
    """Yield the cases that one variant passes more often than the other."""
    for key, word in (("gained_cases", "gained"), ("lost_cases", "lost")):
        for name in comparison.get(key, ()):
            yield f"{word}: {name}"
