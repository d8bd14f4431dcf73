"""Ask the offline model a question of a table, with real tools, and judge its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.offline.invented import TOOLSETS

from react_offline import OfflineModel
from react_offline.declining import NOT_A_MODEL
from react_run import ReActAgent, ReActToolset, RunResult
from react_run.testing import Functions

_SHIPPED = {
    "math": "react_toolsets.math:MathToolset",
    "temporal": "react_toolsets.temporal:TemporalToolset",
    "mediawiki": "react_toolsets.mediawiki:MediaWikiToolset",
    "duckduckgo": "react_toolsets.duckduckgo:DuckDuckGoToolset",
}


@dataclass(frozen=True)
class Verdict:
    """``right``, ``declined`` (though it could have been answered) or ``wrong``, and what was said."""

    grade: str
    question: str
    said: str
    result: RunResult


def cases(name: str) -> list[dict[str, Any]]:
    """The questions of one file beside this module."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def toolsets(names: Iterable[str], endpoint: str = "") -> list[ReActToolset]:
    """The toolsets of a case, shipped or invented."""
    return [_toolset(name, endpoint) for name in names]


def _toolset(name: str, endpoint: str) -> ReActToolset:
    if name in TOOLSETS:
        return Functions(functions=list(TOOLSETS[name]))
    module, _, kind = _SHIPPED[name].partition(":")
    options = {"endpoint": endpoint} if name in ("mediawiki", "duckduckgo") else {}
    toolset: ReActToolset = getattr(import_module(module), kind)(**options)
    return toolset


def ask(case: dict[str, Any], endpoint: str = "", **config: object) -> Verdict:
    """Run one question through a real agent and judge what came of it."""
    agent = ReActAgent(config, model=OfflineModel(), toolsets=toolsets(case["toolsets"], endpoint))
    result = agent.run_sync(case["question"])
    return Verdict(_grade(case, result), case["question"], result.answer, result)


def _grade(case: dict[str, Any], result: RunResult) -> str:
    declined = NOT_A_MODEL in result.answer
    if "declines" in case:
        return "right" if declined and result.stop_reason == "refused" else _unless_silent(result)
    if "asks" in case or "reports" in case:
        said = result.answer.casefold()
        expected = case.get("asks", case.get("reports", []))
        unresolved = "asks" in case or any(step.failed for step in result.steps)
        fine = not declined and unresolved and all(word.casefold() in said for word in expected)
        return "right" if fine and ("reports" in case or not result.steps) else _unless_silent(result)
    if _matches(case, result) and _went_as_planned(case, result):
        return "right"
    return _unless_silent(result)


def _unless_silent(result: RunResult) -> str:
    """An answer that asserts nothing is not wrong."""
    silent = NOT_A_MODEL in result.answer or not result.steps or all(step.failed for step in result.steps)
    return "declined" if silent else "wrong"


def _matches(case: dict[str, Any], result: RunResult) -> bool:
    if "exact" in case:
        return result.answer == str(case["exact"])
    return all(_expected(text).casefold() in result.answer.casefold() for text in case["contains"])


def _expected(text: str) -> str:
    """``today:`` is today's date, ``days-until:DATE`` the days to a date, ``weekday:-1 friday`` the last Friday."""
    if text == "today:":
        return date.today().isoformat()
    if match := re.fullmatch(r"days-until:(.*)", text):
        return str((date.fromisoformat(match[1]) - date.today()).days)
    if match := re.fullmatch(r"weekday:(-?1) (\w+)", text):
        days = (date.today() + timedelta(int(match[1]) * away) for away in range(1, 8))
        return next(day.isoformat() for day in days if day.strftime("%A").casefold() == match[2])
    return text


def _went_as_planned(case: dict[str, Any], result: RunResult) -> bool:
    first = [step for step in result.steps if step.iteration == 1]
    iterations = len({step.iteration for step in result.steps})
    return len(first) >= int(case.get("parallel", 1)) and iterations >= int(case.get("iterations", 1))
