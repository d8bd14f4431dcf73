"""What docs/evals.md shows is what there is."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.evals.eval_agents import scored

from react_run import Scorer
from react_run.components.kinds import installed
from react_run.evals.scorer import mark
from react_run.evals.suite import read_suite
from react_run.testing import run_agent

PAGE = (Path(__file__).parents[2] / "docs" / "evals.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("kind", sorted(kind for kind, found in installed("scorers").items() if not found.rivals))
def test_every_scorer_is_named_on_its_page(kind: str) -> None:
    if installed("scorers")[kind].distribution == "react-run":
        assert f"`{kind}`" in PAGE


def test_the_cases_of_the_page_are_cases(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "table.csv").write_text("price\n1\n")
    (tmp_path / "quiz.csv").write_text("id,question,answer,level\n1,What?,This,easy\n")
    sizes = []
    for text in blocks("yaml"):
        (tmp_path / "cases.yaml").write_text(text)
        sizes.append(len(read_suite(tmp_path / "cases.yaml").cases))
    assert sizes == [2, 1]


def test_the_scorer_of_the_page_marks() -> None:
    space: dict[str, object] = {}
    exec(next(text for text in blocks("python") if "class Brief" in text), space)  # our own page
    brief = space["Brief"]
    assert isinstance(brief, type)
    assert issubclass(brief, Scorer)
    found = asyncio.run(mark(brief.model_validate({"letters": 5}), "brief", scored(run_agent(["0123456789"]))))
    assert (found.value, found.reason) == (0.5, "it has 10 letters")


def test_the_call_from_python_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.yaml").write_text("model: {kind: scripted, replies: ['345']}\n")
    space: dict[str, object] = {}
    exec(next(text for text in blocks("python") if "run_eval" in text), space)  # our own page
    asyncio.run(space["main"]())  # type: ignore[operator]  # a coroutine function
    assert (tmp_path / "sums" / "samples.jsonl").read_text().count('"outcome":"pass"') == 5
