"""A result as HTML: a self-contained file, or parts for a server's pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from react_run.errors import ConfigError
from react_run.evals.words import difference, p_value, percent, points, sentence
from react_run.journal.view.markup import escaped

Link = Callable[[str], str]
ROWS = 200
"""How many cases are shown together; others are collapsed or on further pages."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_SIGNS = {"p": ("", "✓", "passed"), "f": ("x", "×", "failed"), "e": ("n", "\u2013", "error, not counted")}  # noqa: RUF001
_WIDE = 240


def write_page(result: Mapping[str, Any], path: Path) -> None:
    """Write the report as one self-contained page, without scripts or requests.

    Raises:
        ConfigError: The file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(page(result))
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error


def page(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the whole page, piece by piece."""
    view, own = files("react_run.journal.view"), files(__package__)
    style = (view / "page.css").read_text(encoding="utf-8") + (own / "page.css").read_text(encoding="utf-8")
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f'<link rel="icon" href="data:,">\n<title>{escaped(result["title"])} · react-run eval</title>\n'
    yield f'<style>\n{style}</style>\n</head>\n<body>\n<main class="eval">\n'
    yield f'<h1>{escaped(result["title"])}</h1>\n<p class="soft">{about(result)}</p>\n'
    yield from figures(result)
    ordered = worst_first(result)
    yield table(result, ordered[:ROWS])
    for start in range(ROWS, len(ordered), ROWS):
        some = ordered[start : start + ROWS]
        inner = table(result, some)
        yield f'<details class="more"><summary>cases {start + 1} to {start + len(some)}</summary>{inner}</details>\n'
    yield "</main>\n</body>\n</html>\n"


def about(result: Mapping[str, Any]) -> str:
    """The size, time and seed of an evaluation, as HTML."""
    parts = [f"{len(result['cases'])} cases x {result['repeat']}"]
    if result.get("finished"):
        parts.append(f"finished {datetime.fromtimestamp(result['finished']):%Y-%m-%d %H:%M}")
    parts += ["not complete"] if not result.get("complete", True) else []
    parts.append(f"seed {result['seed']}")
    return escaped(" · ".join(parts))


def figures(result: Mapping[str, Any]) -> Iterator[str]:
    """The intervals, the conclusion, and the usage."""
    yield '<div class="split"><section class="card"><h2 class="cap">Runs that pass, with 95 % intervals (by case)</h2>'
    yield "<table><tbody>"
    for measured in result["variants"]:
        if measured["rate"] is not None:
            yield _bar(measured["name"], measured["rate"], percent(measured["rate"]["value"]))
    comparison = result["comparison"]
    if comparison and comparison["cases"]:
        found = comparison["difference"]
        shown = {key: (value + 1) / 2 for key, value in found.items()}
        said = {"better": "good", "worse": "bad"}.get(comparison["verdict"], "soft")
        text = f"{points(found['value'])} [{points(found['low'])}, {points(found['high'])}]"
        yield _bar("difference, paired", shown, text, kind=said, zero=True, label=difference(found))
    yield "</tbody></table></section>\n"
    yield f'<section class="card"><h2 class="cap">In words</h2><p class="sentence">{escaped(sentence(result))}</p>'
    yield from _took(result)
    for gate in result["gates"]:
        sign, kind = ("✓", "good") if gate["holds"] else ("✗", "bad")
        yield f'<p class="{kind}">{sign} {escaped(gate["said"])}</p>'
    yield "</section></div>\n"
    yield from _scorers(result)


def _bar(
    name: str, found: Mapping[str, float], text: str, *, kind: str = "", zero: bool = False, label: str = ""
) -> str:
    """A row with an interval as a bar, on a scale from 0 to 1."""
    low, value, high = (_WIDE * found[key] for key in ("low", "value", "high"))
    said = label or f"{percent(found['value'])}, from {percent(found['low'])} to {percent(found['high'])}"
    middle = f'<rect class="zero" x="{_WIDE / 2:.0f}" y="0" width="1" height="16"/>' if zero else ""
    drawn = (
        f'<svg class="ci" viewBox="0 0 {_WIDE} 16" preserveAspectRatio="none" role="img" aria-label="{escaped(said)}">'
        f'<rect class="bed" x="0" y="1" width="{_WIDE}" height="14" rx="4"/>{middle}'
        f'<rect class="range" x="{low:.1f}" y="6" width="{max(1.0, high - low):.1f}" height="4"/>'
        f'<rect class="dot" x="{max(0.0, value - 2):.1f}" y="3" width="4" height="10" rx="2"/></svg>'
    )
    title = f"<b>{escaped(name)}</b>" if zero else escaped(name)
    return f'<tr><td class="name">{title}</td><td>{drawn}</td><td class="r num {kind}">{escaped(text)}</td></tr>'


def _took(result: Mapping[str, Any]) -> Iterator[str]:
    rows: list[tuple[str, list[str]]] = []
    variants = result["variants"]
    for k in sorted({k for measured in variants for k in measured["passes_of"]}, key=int):
        if k != "1":
            rows.append((f"at least 1 of {k} (pass@{k})", [_share(measured, k, "any") for measured in variants]))
            rows.append((f"all {k} (pass^{k})", [_share(measured, k, "all") for measured in variants]))
    rows.append(("errors, not counted", [f"{measured['errors']} of {measured['runs']}" for measured in variants]))
    rows.append(("cost per run", [_value(measured["cost"], "$", 4) for measured in variants]))
    rows.append(("tokens per run", [_value(measured["tokens"], "", 0) for measured in variants]))
    rows.append(("median time", [f"{_value(measured['seconds'], '', 2)} s" for measured in variants]))
    heads = "".join(f'<th class="r">{escaped(measured["name"])}</th>' for measured in variants)
    yield f"<table><thead><tr><th>figure</th>{heads}</tr></thead><tbody>"
    for name, values in rows:
        cells = "".join(f'<td class="r num">{escaped(value)}</td>' for value in values)
        yield f"<tr><td>{name}</td>{cells}</tr>"
    yield "</tbody></table>"


def _share(measured: Mapping[str, Any], k: str, which: str) -> str:
    found = measured["passes_of"].get(k)
    return "n/a" if found is None else percent(found[which])


def _value(found: Mapping[str, float] | None, sign: str, digits: int) -> str:
    return "n/a" if found is None else f"{sign}{found['value']:,.{digits}f}"


def _scorers(result: Mapping[str, Any]) -> Iterator[str]:
    """The mean of each scorer; in a comparison, with the significance of the difference."""
    labels = list(dict.fromkeys(label for measured in result["variants"] for label in measured["scorers"]))
    if len(labels) < 2:
        return
    compared = (result["comparison"] or {}).get("scorers", {})
    heads = "".join(f'<th class="r">{escaped(measured["name"])}</th>' for measured in result["variants"])
    heads += '<th class="r">difference</th><th>after Holm</th>' if compared else ""
    yield '<div class="card tablecard" tabindex="0" role="region" aria-label="Scorers"><table><thead><tr>'
    yield f"<th>scorer</th>{heads}</tr></thead><tbody>"
    for label in labels:
        cells = ""
        for measured in result["variants"]:
            found = measured["scorers"].get(label)
            text = "n/a" if found is None else _mean_text(found["mean"])
            cells += f'<td class="r num">{text}</td>'
        if compared:
            found = compared.get(label)
            kind = {"better": "good", "worse": "bad"}.get(found["verdict"], "soft") if found else "soft"
            moved = escaped(difference(found["difference"])) if found else ""
            p = escaped(p_value(found["p"])) if found else ""
            cells += f'<td class="r num {kind}">{moved}</td><td class="num">{p}</td>'
        yield f"<tr><td>{escaped(label)}</td>{cells}</tr>"
    yield "</tbody></table></div>\n"


def _mean_text(mean: Mapping[str, float]) -> str:
    return escaped(f"{percent(mean['value'])} [{100 * mean['low']:.0f}, {100 * mean['high']:.0f}]")


def worst_first(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cases, lowest pass rate first."""
    names = [measured["name"] for measured in result["variants"]]
    return sorted(
        result["cases"], key=lambda case: [_rate(case["variants"][name]["marks"]) for name in reversed(names)]
    )


def _rate(marks: str) -> float:
    counted = len(marks) - marks.count("e")
    return marks.count("p") / counted if counted else -1.0


def table(result: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], link: Link | None = None) -> str:
    """A table of cases, with a mark for each run.

    Args:
        result: The content of ``result.json``.
        cases: Some of its cases.
        link: Makes the address of a run; without it, marks are not links.
    """
    names = [measured["name"] for measured in result["variants"]]
    heads = "".join(f"<th>{escaped(name)}</th>" for name in names)
    heads += '<th class="r">change</th>' if len(names) > 1 else ""
    rows = "".join(_row(case, names, link) for case in cases)
    return (
        '<div class="card tablecard" tabindex="0" role="region" aria-label="Cases"><table><thead><tr><th>case</th>'
        f'{heads}<th class="hide">what failed</th></tr></thead><tbody>{rows}</tbody></table></div>\n'
    )


def _row(case: Mapping[str, Any], names: Sequence[str], link: Link | None) -> str:
    cells = "".join(f"<td>{_pips(case['variants'][name], link)}</td>" for name in names)
    if len(names) > 1:
        first, last = (_rate(case["variants"][name]["marks"]) for name in (names[0], names[-1]))
        known = first >= 0 and last >= 0
        kind = "soft" if not known or first == last else "good" if last > first else "bad"
        text = "n/a" if not known else "=" if first == last else points(last - first)
        cells += f'<td class="r num {kind}">{text}</td>'
    why = next((case["variants"][name]["why"] for name in reversed(names) if case["variants"][name]["why"]), "")
    short = why if len(why) <= 160 else f"{why[:160]}…"
    tags = f' <span class="soft">{escaped(", ".join(case["tags"]))}</span>' if case["tags"] else ""
    name = f'<td class="name">{escaped(case["name"])}{tags}</td>'
    return f'<tr>{name}{cells}<td class="why hide">{escaped(short)}</td></tr>\n'


def _pips(found: Mapping[str, Any], link: Link | None) -> str:
    marks, runs = found["marks"], found["runs"]
    passed, counted = marks.count("p"), len(marks) - marks.count("e")
    parts = []
    for number, (mark, run) in enumerate(zip(marks, runs, strict=True), 1):
        kind, sign, word = _SIGNS[mark]
        said = f"run {number}: {word}"
        if link is not None and run:
            parts.append(f'<a class="{kind}" href="{escaped(link(run))}" aria-label="{said}" title="{said}">{sign}</a>')
        else:
            trace = f"; react-run trace {run[:12]}" if run else ""
            parts.append(f'<span class="{kind}" aria-hidden="true" title="{escaped(said + trace)}">{sign}</span>')
    label = f"{passed} of {counted} pass"
    role = f'role="group" aria-label="{label}"' if link is not None else f'role="img" aria-label="{label}"'
    return f'<span class="pips" {role}>{"".join(parts)}</span>'
