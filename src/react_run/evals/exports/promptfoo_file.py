"""The result in the format that ``promptfoo import`` reads (version 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from react_run.evals.running import read_case_facts
from react_run.evals.samples import Sample, read_samples

_FAILED, _ERROR = 1, 2
"""promptfoo's numbers for the reason of a failure; 0 means passed."""


def write(result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write the results one at a time; see :func:`react_run.evals.exports.export`."""
    started = datetime.fromtimestamp(result.get("started") or result.get("finished") or 0.0, UTC)
    when = started.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    digest = sha256(f"{result['title']}{when}".encode()).hexdigest()
    prompts = [_prompt(measured, number) for number, measured in enumerate(result["variants"])]
    head = {
        "evalId": f"eval-{digest[:3]}-{started:%Y-%m-%dT%H:%M:%S}",
        "config": {"description": result["title"], "prompts": ["{{prompt}}"], "providers": _names(result)},
        "shareableUrl": None,
        "metadata": {"evaluationCreatedAt": when},
        "vars": ["case", "prompt", "expected"],
    }
    stats = {
        "successes": sum(measured["passed"] for measured in result["variants"]),
        "failures": sum(measured["failed"] for measured in result["variants"]),
        "errors": sum(measured["errors"] for measured in result["variants"]),
        "tokenUsage": {},
    }
    inner = {"version": 3, "timestamp": when, "prompts": prompts, "stats": stats}
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{json.dumps(head, ensure_ascii=False)[:-1]}, "results": ')
        file.write(f'{json.dumps(inner, ensure_ascii=False)[:-1]}, "results": [')
        for number, row in enumerate(_rows(result, directory)):
            file.write(f"{',' if number else ''}\n{json.dumps(row, ensure_ascii=False)}")
        file.write("\n]}}\n")
    return [path]


def _names(result: Mapping[str, Any]) -> list[str]:
    return [measured["name"] for measured in result["variants"]]


def _prompt(measured: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {
        "raw": "{{prompt}}",
        "label": measured["name"],
        "provider": measured["name"],
        "id": sha256(f"{number} {measured['name']}".encode()).hexdigest(),
        "metrics": {
            "score": measured["passed"],
            "testPassCount": measured["passed"],
            "testFailCount": measured["failed"],
            "testErrorCount": measured["errors"],
            "assertPassCount": 0,
            "assertFailCount": 0,
            "totalLatencyMs": 0,
            "tokenUsage": {},
            "namedScores": {label: found["mean"]["value"] for label, found in measured["scorers"].items()},
            "namedScoresCount": {label: found["cases"] for label, found in measured["scorers"].items()},
            "cost": 0,
        },
    }


def _rows(result: Mapping[str, Any], directory: Path) -> Iterator[dict[str, Any]]:
    facts, names = read_case_facts(directory), _names(result)
    tests: dict[tuple[str, int], int] = {}
    for sample in read_samples(directory):
        test = tests.setdefault((sample.case, sample.repeat), len(tests))
        yield _row(sample, facts.get(sample.case, {}), test, names.index(sample.variant))


def _row(sample: Sample, about: Mapping[str, Any], test: int, prompt: int) -> dict[str, Any]:
    passed = sample.outcome == "pass"
    values = [mark["value"] for mark in sample.marks]
    variables = {"case": sample.case, "prompt": about.get("prompt", ""), "expected": about.get("expected")}
    usage = {"prompt": sample.input_tokens, "completion": sample.output_tokens, "total": sample.tokens}
    known = {name: number for name, number in usage.items() if number is not None}
    return {
        "id": sample.run_id,
        "promptIdx": prompt,
        "testIdx": test,
        "promptId": sha256(f"{prompt} {sample.variant}".encode()).hexdigest(),
        "prompt": {"raw": variables["prompt"], "label": sample.variant},
        "provider": {"id": sample.variant, "label": sample.variant},
        "vars": variables,
        "testCase": {"description": sample.case, "vars": variables},
        "response": {"output": sample.answer, "tokenUsage": known},
        "success": passed,
        "score": sum(values) / len(values) if values else 0,
        "namedScores": {mark["scorer"]: mark["value"] for mark in sample.marks},
        "failureReason": 0 if passed else _ERROR if sample.outcome == "error" else _FAILED,
        "error": None if passed else sample.why,
        "latencyMs": round(1_000 * sample.seconds),
        "cost": sample.cost or 0,
        "gradingResult": {
            "pass": passed,
            "score": sum(values) / len(values) if values else 0,
            "reason": sample.why or "All scorers passed",
            "componentResults": [
                {
                    "pass": mark["passed"],
                    "score": mark["value"],
                    "reason": mark["reason"] or "",
                    "assertion": {"type": "javascript", "metric": mark["scorer"], "value": mark["scorer"]},
                }
                for mark in sample.marks
            ],
        },
        "metadata": {"repeat": sample.repeat + 1, "run_id": sample.run_id},
    }
