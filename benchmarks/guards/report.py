"""The tables of docs/guards.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.guards.behaviours import Behaviour
from benchmarks.guards.bench import CLAIMED, RIGHT, Report
from benchmarks.guards.model import behaves
from benchmarks.guards.running import Trial

DOCUMENT = Path(__file__).parents[2] / "docs" / "guards.md"
NOTHING = "none"
BEGIN, END = "<!-- made by `python -m benchmarks.guards`: do not edit -->", "<!-- end -->"


def tables(report: Report) -> str:
    """All tables, in Markdown."""
    return "\n\n".join([_summary(report), _guards(report), _behaviours(report), _right(report)])


def _summary(report: Report) -> str:
    trials = [trial for listed in report.trials.values() for trial in listed]
    seeds = len(next(iter(report.trials.values())))
    solid = sum(all(trial.passed for trial in listed) for listed in report.trials.values())
    share = f"{solid / len(report.trials):.0%}"
    wasted, iterations = sum(trial.wasted for trial in trials), sum(_iterations(trials))
    quiet = [trial for trial in trials if trial.behaviour.quiet]
    fired = sum(sum(trial.fired.values()) for trial in quiet)
    tokens, bare = (sum(counts) for counts in zip(*report.tokens.values(), strict=True))
    return f"""\
{len(report.trials)} behaviours, {seeds} seeds each:

* **pass^{seeds}** {share}: {solid} behaviours ended as they must with every seed.
* **False successes** {report.false_successes}: {len(CLAIMED)} more agents say that all is done when it is not.
* **False voids** {report.false_voids}: so many of {len(RIGHT)} right agents lost their success or their answer.
* **In other words** {len(report.reworded)}: so many behaviours change when the runtime's texts are reworded.
* **Wasted iterations** {wasted} of {iterations}: what they asked for failed, or had been answered before.
* **Clean runs**: {fired} guards fired in {len(quiet)} runs; {tokens} tokens with all guards, {bare} without any."""


def _guards(report: Report) -> str:
    rows = ["| guard | fired | behaviours that fail without it |", "|---|---:|---|"]
    for guard, failing in sorted(report.failing_without.items()):
        rows.append(f"| `{guard}` | {report.fired[guard]} | {len(failing)}: {_some(failing)} |")
    return "\n".join(rows)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _behaviours(report: Report) -> str:
    rows = [
        "| behaviour | model | ends as | iterations | wasted | guards that fired | passes |",
        "|---|---|---|---:|---:|---|---:|",
    ]
    for listed in report.trials.values():
        behaviour = listed[0].behaviour
        fired = sum((trial.fired for trial in listed), Counter())
        rows.append(
            f"| {behaviour.name} | {_persona(behaviour)} | {_ends(listed)} | {_span(_iterations(listed))} "
            f"| {_span(trial.wasted for trial in listed)} | {', '.join(sorted(fired)) or NOTHING} "
            f"| {sum(trial.passed for trial in listed)}/{len(listed)} |"
        )
    return "\n".join(rows)


def _right(report: Report) -> str:
    rows = ["| right agent | iterations | success |", "|---|---:|---|"]
    for verdict in report.driven:
        if verdict.driven.right and verdict.result is not None:
            fine = "no" if verdict.problem else "yes"
            rows.append(f"| {verdict.driven.name.replace('|', '/')} | {verdict.result.iterations} | {fine} |")
    return "\n".join(rows)


def _persona(behaviour: Behaviour) -> str:
    return "clean" if behaviour.mischief is behaves else behaviour.persona


def _ends(trials: list[Trial]) -> str:
    return ", ".join(sorted({str(trial.result.stop_reason) for trial in trials if trial.result}))


def _iterations(trials: list[Trial]) -> Iterable[int]:
    return (trial.result.iterations for trial in trials if trial.result)


def _span(values: Iterable[int]) -> str:
    listed = sorted(set(values))
    return str(listed[0]) if len(listed) == 1 else f"{listed[0]} to {listed[-1]}" if listed else NOTHING


def updated(document: str, made: str) -> str:
    """``document`` with its tables replaced."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"
