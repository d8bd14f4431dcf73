"""Results as others read them, and as a page; what they cost in memory."""

from __future__ import annotations

import asyncio
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.evals.eval_agents import USED, answering, case

from react_run.errors import ConfigError
from react_run.evals.exports import FORMATS, export
from react_run.evals.page import page, write_page
from react_run.evals.plan import Plan, Variant
from react_run.evals.results import Result, read_result, result_of, result_schema, write_result
from react_run.evals.running import run_eval, write_cases
from react_run.evals.samples import Sample, read_samples
from react_run.evals.tally import tallied
from react_run.testing import calls, says


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Two agents on three cases, with tools, a failed case and an error."""
    directory = tmp_path_factory.mktemp("kept")
    first = answering(says("yes", usage=USED), name="first")
    second = answering(says("<b>no</b>", usage=USED), name="second")
    gone = {"error": {"message": "gone", "status": 404}}
    cases = [
        case("plain", expected="yes", tags=["x"]),
        case("with <script>", prompt="ask <script>", expected="yes", replies=[calls(("look", {"what": "a"})), "yes"]),
        case("broken", replies=[gone]),
    ]
    result = asyncio.run(run_eval(first, cases, against=second, directory=directory, repeat=2))
    write_result(result, directory)
    return directory, result


def test_the_result_satisfies_its_schema_and_is_read_again(kept: tuple[Path, Result]) -> None:
    directory, result = kept
    schema = result_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result, schema)
    assert read_result(directory) == result == read_result(directory / "result.json")


def test_a_result_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"version": 9}')
    with pytest.raises(ConfigError, match="has version 9 of results; this react-run reads version 1"):
        read_result(tmp_path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"variants": []}, "'variants' must be a list"),
        ({"cases": {}}, "'cases' must be a list"),
        ({"cases": [5]}, "cases[0] lacks name"),
        (
            {"cases": [{"name": "a", "digest": "", "tags": [], "weight": 1, "variants": {"x": {}}}]},
            "cases[0].x lacks marks",
        ),
        ({"gates": None}, ""),
    ],
)
def test_a_damaged_result_is_refused_with_what_it_lacks(
    kept: tuple[Path, Result], tmp_path: Path, damage: dict[str, Any], said: str
) -> None:
    data = {**kept[1], **damage}
    if not said:
        del data["gates"]
        said = "it lacks gates"
    (tmp_path / "result.json").write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=f"is damaged: {re.escape(said)}"):
        read_result(tmp_path)


def test_an_inspect_log_opens_in_inspect_ai(kept: tuple[Path, Result], tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed (the extra evals)")
    directory, result = kept
    written = export("inspect", result, directory, tmp_path / "out.eval")
    assert [path.name for path in written] == ["out-first.eval", "out-second.eval"]
    log = log_module.read_eval_log(str(written[0]))
    assert (log.status, log.eval.task, log.eval.config.epochs) == ("success", "first", 2)
    found = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert len(found) == 6
    plain, tools, broken = (found[name, 1] for name in ("plain", "with <script>", "broken"))
    assert {name: score.value for name, score in plain.scores.items()} == {"passed": 1.0, "exact": 1.0, "success": 1.0}
    assert plain.model_usage["scripted"].input_tokens == 100
    assert plain.target == "yes"
    assert [message.role for message in tools.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert tools.messages[2].tool_calls[0].function == "look"
    assert [(event.event, event.function, event.result) for event in tools.events] == [("tool", "look", "A")]
    assert "gone" in broken.error.message
    (passed,) = [score for score in log.results.scores if score.name == "passed"]
    assert passed.metrics["mean"].value == result["variants"][0]["rate"]["value"]
    assert len(log_module.read_eval_log_sample_summaries(str(written[0]))) == 6
    assert log_module.read_eval_log_sample(str(written[1]), id="plain", epoch=2).output.completion == "<b>no</b>"


def test_without_inspect_ai_its_export_says_what_to_install(
    kept: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(ConfigError, match=r"pip install 'react-run\[evals\]'"):
        export("inspect", kept[1], kept[0], tmp_path / "out.eval")


def test_the_promptfoo_file_has_what_its_import_asks_for(kept: tuple[Path, Result], tmp_path: Path) -> None:
    directory, result = kept
    export("promptfoo", result, directory, tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["results"]["version"] == 3
    assert data["evalId"].startswith("eval-")
    assert [prompt["provider"] for prompt in data["results"]["prompts"]] == ["first", "second"]
    rows = data["results"]["results"]
    assert len(rows) == 12
    assert {(row["promptIdx"], row["testIdx"]) for row in rows} == {(p, t) for p in range(2) for t in range(6)}
    assert [row["failureReason"] for row in rows[:6]] == [0, 1, 0, 0, 2, 2]
    assert data["results"]["stats"] == {"successes": 6, "failures": 2, "errors": 4, "tokenUsage": {}}
    assert rows[0]["gradingResult"]["componentResults"][0]["assertion"]["metric"] == "exact"


def test_cells_of_a_table_are_no_formulas(tmp_path: Path) -> None:
    directory = tmp_path / "eval"
    result = asyncio.run(run_eval(answering("=1+1"), [case(expected="x")], directory=directory))
    export("csv", result, directory, tmp_path / "out.csv")
    assert ",'=1+1," in (tmp_path / "out.csv").read_text()


def test_the_page_is_self_contained_and_what_was_recorded_is_text(kept: tuple[Path, Result], tmp_path: Path) -> None:
    write_page(kept[1], tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text()
    assert "<script" not in text
    assert "with &lt;script&gt;" in text
    assert "&lt;b&gt;no&lt;/b&gt;" in text
    assert "http://" not in text
    assert "https://" not in text
    assert 'aria-label="2 of 2 pass"' in text
    assert "react-run trace " in text


def test_the_page_of_many_cases_folds_them_in_hundreds() -> None:
    cases = [case(f"case {number}", expected="yes") for number in range(450)]
    plan = Plan(cases=cases, variants=[Variant(name="a", agent=answering("yes"))])
    samples = (
        Sample(index=n, case=one.name, variant="a", repeat=0, outcome="pass" if n % 3 else "fail")
        for n, one in enumerate(cases)
    )
    text = "".join(page(result_of(plan, tallied(samples), title="many")))
    assert text.count("<summary>cases ") == 2
    assert "cases 401 to 450" in text


def many(directory: Path, number: int, letters: int) -> Plan:
    """The samples of many runs with long answers, as an evaluation leaves them."""
    cases = [case(f"case {index}", expected="yes") for index in range(number)]
    plan = Plan(cases=cases, variants=[Variant(name="a", agent=answering("yes"))])
    write_cases(directory, plan)
    with (directory / "samples.jsonl").open("w") as file:
        for index in range(number):
            sample = Sample(
                index=index,
                case=f"case {index}",
                variant="a",
                repeat=0,
                outcome="pass" if index % 3 else "fail",
                marks=[{"scorer": "exact", "value": 1.0, "passed": True, "reason": "", "cost": 0.0}],
                answer="x" * letters,
                run_id=f"{index:032x}",
                seconds=1.0,
                cost=0.01,
            )
            file.write(f"{sample.line()}\n")
    return plan


def peak_of(work: Any) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("form", [None, *FORMATS])
def test_50_mb_of_samples_take_no_more_memory_than_one_mb(tmp_path: Path, form: str | None) -> None:
    if form == "inspect":
        pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed (the extra evals)")
    peaks = []
    for letters in (1_000, 50_000):
        directory = tmp_path / str(letters)
        directory.mkdir()
        plan = many(directory, 1_000, letters)

        def work(plan: Plan = plan, directory: Path = directory) -> None:
            result = result_of(plan, tallied(read_samples(directory)), title="many")
            if form is not None:
                export(form, result, directory, directory / "out")

        work()  # what is imported and compiled once counts for neither
        peaks.append(peak_of(work))
    assert (tmp_path / "50000" / "samples.jsonl").stat().st_size > 50_000_000
    assert peaks[1] < peaks[0] + 3_000_000


@pytest.mark.slow
def test_ten_thousand_samples_are_read_and_reported_in_little_time(tmp_path: Path) -> None:
    from time import process_time

    plan = many(tmp_path, 10_000, 100)
    plan.turns  # noqa: B018  # the plan is made before the runs
    began = process_time()
    result = result_of(plan, tallied(read_samples(tmp_path)), title="many")
    write_result(result, tmp_path)
    write_page(result, tmp_path / "out.html")
    assert process_time() - began < 10
