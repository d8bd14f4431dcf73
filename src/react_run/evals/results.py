"""Builds a result from tallies: rates with intervals, comparisons and gates; the content of ``result.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from react_run.errors import ConfigError
from react_run.evals.statistics import (
    Comparison,
    cases_needed,
    compare,
    holm,
    mean_interval,
    median_interval,
    rate_interval,
)
from react_run.evals.tally import CaseTally, known_mean, passes_of_k

if TYPE_CHECKING:
    from react_run.evals.plan import Plan

VERSION = 1
FILE = "result.json"
MOST_ERRORS = 0.05
"""The share of errors above which the figures are marked as doubtful."""
WANTED = 0.05
"""The difference that should be detectable, unless a gate names another."""
Result = dict[str, Any]
Tallies = Mapping[str, Mapping[str, CaseTally]]


def result_of(
    plan: Plan,
    tallies: Tallies,
    *,
    title: str,
    seed: int = 0,
    wanted: float = WANTED,
    about: Mapping[str, Any] | None = None,
) -> Result:
    """Build the result of an evaluation.

    Args:
        plan: The plan.
        tallies: The tallies, by variant and case.
        title: What was measured, as a title.
        seed: The seed for resampling.
        wanted: The difference between two variants that should be detectable.
        about: Further fields, such as times.
    """
    weights = {case.name: case.weight for case in plan.cases}
    result: Result = {
        "version": VERSION,
        "title": title,
        "repeat": plan.repeat,
        "seed": seed,
        **(about or {}),
        "variants": [
            {
                "name": variant.name,
                "model": variant.agent.model.name,
                "file": variant.file,
                **_measured(tallies.get(variant.name, {}), weights, plan.repeat, seed),
            }
            for variant in plan.variants
        ],
        "cases": [
            {
                "name": case.name,
                "digest": case.digest,
                "tags": case.tags,
                "weight": case.weight,
                "variants": {
                    variant.name: tallies.get(variant.name, {}).get(case.name, CaseTally()).to_dict()
                    for variant in plan.variants
                },
            }
            for case in plan.cases
        ],
        "comparison": None,
        "gates": [],
    }
    if len(plan.variants) > 1:
        first, second = (variant.name for variant in plan.variants[:2])
        result["comparison"] = compared(
            first, tallies.get(first, {}), second, tallies.get(second, {}), weights, seed, wanted=wanted
        )
    return result


def _measured(tallies: Mapping[str, CaseTally], weights: Mapping[str, float], repeat: int, seed: int) -> dict[str, Any]:
    counted = {name: tally for name, tally in tallies.items() if tally.counted}
    runs = sum(len(tally.marks) for tally in tallies.values())
    errors = sum(tally.marks.count("e") for tally in tallies.values())
    found: dict[str, Any] = {
        "cases": len(tallies),
        "runs": runs,
        "passed": sum(tally.passed for tally in tallies.values()),
        "failed": sum(tally.marks.count("f") for tally in tallies.values()),
        "errors": errors,
        "doubtful": bool(runs) and errors / runs > MOST_ERRORS,
        **dict.fromkeys(("rate", "cost", "tokens", "seconds")),
        "passes_of": {},
        "scorers": {},
    }
    if not counted:
        return found
    chosen = [weights[name] for name in counted]
    rates = [tally.rate for tally in counted.values()]
    found["rate"] = rate_interval(rates, sum(tally.counted for tally in counted.values()), chosen).to_dict()
    for k in sorted({1, repeat}):
        if (passes := passes_of_k(counted.values(), k)) is not None:
            found["passes_of"][str(k)] = {"any": round(passes[0], 9), "all": round(passes[1], 9)}
    for name, per_case in (
        ("cost", [known_mean(tally.costs) for tally in counted.values()]),
        ("tokens", [known_mean(tally.tokens) for tally in counted.values()]),
    ):
        known = [value for value in per_case if value is not None]
        found[name] = mean_interval(known, seed).to_dict() if len(known) == len(per_case) else None
    found["seconds"] = median_interval([fmean(tally.seconds) for tally in counted.values()]).to_dict()
    found["scorers"] = {label: _of_scorer(label, counted, weights) for label in _labels(counted.values())}
    return found


def _labels(tallies: Any) -> list[str]:
    return list(dict.fromkeys(label for tally in tallies for label in tally.scores))


def _of_scorer(label: str, tallies: Mapping[str, CaseTally], weights: Mapping[str, float]) -> dict[str, Any]:
    marked = {name: tally.scores[label] for name, tally in tallies.items() if label in tally.scores}
    chosen = [weights[name] for name in marked]
    means = [total / count for total, _, count in marked.values()]
    return {
        "cases": len(marked),
        "mean": rate_interval(means, int(sum(count for *_, count in marked.values())), chosen).to_dict(),
    }


def compared(
    first: str,
    before: Mapping[str, CaseTally],
    second: str,
    after: Mapping[str, CaseTally],
    weights: Mapping[str, float],
    seed: int = 0,
    *,
    wanted: float = WANTED,
) -> dict[str, Any]:
    """Compare two variants on their common cases, case by case."""
    common = [name for name in after if after[name].counted and name in before and before[name].counted]
    if not common:
        return {"first": first, "second": second, "cases": 0, "verdict": "no difference shown"}
    rates = [before[name].rate for name in common], [after[name].rate for name in common]
    found = compare(*rates, weights=[weights[name] for name in common], seed=seed)
    moved = [(name, b - a) for name, a, b in zip(common, *rates, strict=True)]
    return {
        "first": first,
        "second": second,
        **_comparison(found, wanted),
        "gained_cases": [name for name, change in moved if change > 1e-9],
        "lost_cases": [name for name, change in moved if change < -1e-9],
        "scorers": _by_scorer(common, before, after, weights, seed),
        "cost": _ratio([(known_mean(before[n].costs), known_mean(after[n].costs)) for n in common], seed),
        "seconds": _ratio([(fmean(before[n].seconds), fmean(after[n].seconds)) for n in common], seed),
    }


def _comparison(found: Comparison, wanted: float, p: float | None = None) -> dict[str, Any]:
    too_few = found.verdict(p) == "no difference shown" and found.is_too_uncertain_for(wanted)
    return {
        "difference": found.difference.to_dict(),
        "p": round(found.p if p is None else p, 6),
        "cases": found.cases,
        "gained": found.gained,
        "lost": found.lost,
        "same": found.same,
        "verdict": found.verdict(p),
        "not_enough_cases": too_few,
        "cases_needed": cases_needed(found, wanted) if too_few else None,
        "wanted": wanted,
    }


def _by_scorer(
    common: Sequence[str],
    before: Mapping[str, CaseTally],
    after: Mapping[str, CaseTally],
    weights: Mapping[str, float],
    seed: int,
) -> dict[str, Any]:
    """The comparison for each scorer, with Holm's correction for multiple comparisons."""
    found: dict[str, Comparison] = {}
    for label in _labels(after[name] for name in common):
        pairs = [(name, before[name].mean(label), after[name].mean(label)) for name in common]
        both = [(name, a, b) for name, a, b in pairs if a is not None and b is not None]
        if both:
            ours = [weights[name] for name, *_ in both]
            found[label] = compare([a for _, a, _ in both], [b for *_, b in both], weights=ours, seed=seed)
    corrected = holm([comparison.p for comparison in found.values()])
    return {label: _comparison(found[label], WANTED, p) for label, p in zip(found, corrected, strict=True)}


def _ratio(both: Sequence[tuple[float | None, float | None]], seed: int) -> dict[str, Any] | None:
    """The second variant's use as a multiple of the first's, and whether the difference is significant."""
    pairs = [(a, b) for a, b in both if a is not None and b is not None]
    if len(pairs) != len(both) or not sum(a for a, _ in pairs):
        return None
    change = mean_interval([b - a for a, b in pairs], seed)
    return {
        "ratio": round(sum(b for _, b in pairs) / sum(a for a, _ in pairs), 6),
        "difference": change.to_dict(),
        "differs": change.excludes_zero,
    }


def read_result(path: Path) -> Result:
    """Read a saved result, from its file or the directory of its evaluation.

    Raises:
        ConfigError: The file is missing, or is not a result.
    """
    path = path / FILE if path.is_dir() else path
    try:
        result: Result = json.loads(path.read_text(encoding="utf-8"))
        version = result["version"]
    except OSError as error:
        raise ConfigError(f"cannot read the result {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise ConfigError(f"{path} is not a result of react-run eval: {error}") from None
    if version != VERSION:
        raise ConfigError(f"{path} has version {version} of results; this react-run reads version {VERSION}")
    if lacks := _lacks(result):
        raise ConfigError(f"{path} is damaged: {lacks}")
    return result


def _lacks(result: Result) -> str:
    """Name the required fields that a result lacks."""
    schema = result_schema()
    parts: list[tuple[str, object, list[str]]] = [("it", result, schema["required"])]
    for key, name in (("variants", "variant"), ("cases", "case")):
        found = result.get(key)
        if not isinstance(found, list) or (key == "variants" and not found):
            return f"{key!r} must be a list"
        parts += [(f"{key}[{at}]", one, schema["$defs"][name]["required"]) for at, one in enumerate(found)]
    for at, case in enumerate(result["cases"]):
        runs = case.get("variants") if isinstance(case, dict) else None
        each = runs.items() if isinstance(runs, dict) else ()
        parts += [(f"cases[{at}].{name}", one, schema["$defs"]["runs"]["required"]) for name, one in each]
    for place, part, required in parts:
        missing = [key for key in required if not isinstance(part, dict) or key not in part]
        if missing:
            return f"{place} lacks {', '.join(missing)}"
    return ""


def result_schema() -> dict[str, Any]:
    """The JSON Schema of ``result.json``."""
    schema: dict[str, Any] = json.loads((files(__package__) / "result.schema.json").read_text(encoding="utf-8"))
    return schema


def write_result(result: Result, directory: Path) -> Path:
    """Write a result atomically: a reader finds the old one or the new one."""
    path = directory / FILE
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(path)
    return path
