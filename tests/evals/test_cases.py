"""Files of cases, and datasets: what they may say, and where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_run.config.yaml import AgentFileError
from react_run.errors import ConfigError
from react_run.evals.suite import read_suite


def written(folder: Path, text: str, name: str = "cases.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(AgentFileError) as caught:
        read_suite(path)
    return [problem.render().splitlines()[0] for problem in caught.value.problems]


def test_all_that_is_wrong_is_said_at_once_each_with_its_position(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "scorers: [{kind: exakt}]\n"
        "cases:\n"
        "  - {name: a, prompt: x, wieght: 2}\n"
        "  - {name: b, prompt: x, scorers: [{kind: number, tolerance: -1}]}\n"
        "  - {name: c, prompt: 'in {town}', vars: {twon: Oslo}}\n"
        "  - {name: d, prompt: x, files: [nothing.txt]}\n",
    )
    found = problems(path)
    assert len(found) == 5
    for place, said in (
        ("cases.yaml:1:18: scorers[0].kind", "Did you mean 'exact'?"),
        ("cases.yaml:3:26: cases[0].wieght", "Did you mean 'weight'?"),
        ("cases.yaml:4:62: cases[1].scorers[0].tolerance", "not -1"),
        ("cases.yaml:5:5: cases[2]", "has no field 'town' (it has 'twon')"),
        ("cases.yaml:6:33: cases[3].files", "there is no"),
    ):
        assert any(place in line and said in line for line in found), (place, found)


def test_a_check_of_agent_files_is_a_scorer_by_its_kind(tmp_path: Path) -> None:
    path = written(tmp_path, "cases: [{name: a, prompt: x, scorers: [{kind: regex, pattern: '^4'}, json_schema]}]\n")
    assert any("schema" in line and "missing" in line for line in problems(path))
    path = written(tmp_path, "cases: [{name: a, prompt: x, scorers: [{kind: regex, pattern: '^4', name: starts}]}]\n")
    assert [scorer.label for scorer in read_suite(path).cases[0].criteria()] == ["starts", "success"]


@pytest.mark.parametrize("entry", ["{kind: command, command: 'true'}", "{kind: python, function: 'mine:score'}"])
def test_programs_and_code_need_a_trusted_directory(tmp_path: Path, entry: str) -> None:
    written(tmp_path, "def score(answer):\n    return True\n", "mine.py")
    path = written(tmp_path, f"cases: [{{name: a, prompt: x, scorers: [{entry}]}}]\n")
    assert "only in a trusted directory" in problems(path)[0]
    assert read_suite(path, trusted=True).cases[0].scorers


@pytest.mark.parametrize("entry", ['{"kind": "command", "command": "true"}', '"mine.score"'])
def test_rows_of_a_dataset_need_a_trusted_directory_as_well(tmp_path: Path, entry: str) -> None:
    path = written(tmp_path, f'{{"prompt": "x", "scorers": [{entry}]}}\n', "rows.jsonl")
    assert problems(path)[0].startswith(f"{path}:1:1")
    mapped = written(tmp_path, "dataset: {file: rows.jsonl}\n")
    assert "rows.jsonl:1:1" in problems(mapped)[0]


def test_files_outside_of_the_directory_need_trust(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "rows.csv").write_text("prompt\nx\n")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    for text in (
        "cases: [{name: a, prompt: x, files: [../secret.txt]}]\n",
        f"cases: [{{name: a, prompt: x, files: [{tmp_path / 'secret.txt'}]}}]\n",
        "cases: [{name: a, prompt: x, files: [link]}]\n",
        "cases: [{name: a, recording: ../secret.txt}]\n",
        "dataset: {file: ../rows.csv}\n",
    ):
        path = written(folder, text)
        assert "is outside the directory of the cases" in problems(path)[0], text
    path = written(folder, "cases: [{name: a, prompt: x, files: [../secret.txt]}]\n")
    assert read_suite(path, trusted=True).cases[0].files


def test_an_expected_value_without_a_scorer_is_the_whole_answer() -> None:
    from tests.evals.eval_agents import case

    assert [scorer.kind for scorer in case(expected=345).criteria()] == ["exact", "success"]
    assert [scorer.kind for scorer in case(expected=345, scorers=["number"]).criteria()] == ["number", "success"]
    assert [scorer.kind for scorer in case(stop_reason="completed").criteria()] == ["stop_reason"]


def test_costly_scorers_are_asked_last() -> None:
    from tests.evals.eval_agents import case

    judge = {"kind": "judge", "model": "offline", "rubric": "is polite"}
    assert [scorer.kind for scorer in case(scorers=[judge], contains="x").criteria()][-1] == "judge"


def test_rows_of_json_lines_are_cases(tmp_path: Path) -> None:
    text = '{"name": "one", "prompt": "1+1", "expected": 2, "tags": ["sum"]}\n"2+2"\n{"id": 7, "prompt": "3+3"}\n'
    suite = read_suite(written(tmp_path, text, "sums.jsonl"))
    assert [(case.name, case.prompt, case.expected) for case in suite.cases] == [
        ("one", "1+1", 2),
        ("sums:2", "2+2", None),
        ("7", "3+3", None),
    ]


def test_rows_of_a_table_are_cases_with_typed_keys(tmp_path: Path) -> None:
    text = 'name,prompt,expected,tags,repeat,weight\na,1+1,2,"x, y",3,0.5\nb,2+2,4,,,\n'
    first, second = read_suite(written(tmp_path, text, "sums.csv")).cases
    assert (first.expected, first.tags, first.repeat, first.weight) == ("2", ["x", "y"], 3, 0.5)
    assert (second.tags, second.repeat, second.weight) == ([], None, 1.0)


def test_a_dataset_maps_the_columns_of_its_file(tmp_path: Path) -> None:
    written(tmp_path, "question,answer,level\nWhat is 1+1?,2,easy\nAnd 2+2?,4,hard\n", "quiz.csv")
    path = written(
        tmp_path,
        'scorers: [number]\ndataset: {file: quiz.csv, prompt: "Q: {question}", expected: "{answer}", '
        'name: "{level} one", tags: ["{level}"]}\n',
    )
    suite = read_suite(path)
    assert [(case.name, case.prompt, case.expected, case.tags) for case in suite.cases] == [
        ("easy one", "Q: What is 1+1?", "2", ["easy"]),
        ("hard one", "Q: And 2+2?", "4", ["hard"]),
    ]
    assert [scorer.kind for scorer in suite.cases[0].criteria(suite.scorers)] == ["number", "success"]


def test_one_field_alone_keeps_its_type_in_a_dataset(tmp_path: Path) -> None:
    written(tmp_path, '{"q": "x", "a": {"n": [1, 2]}, "h": [{"role": "user", "content": "hi"}]}\n', "d.jsonl")
    text = 'dataset: {file: d.jsonl, prompt: "{q}", expected: "{a}", messages: "{h}"}\n'
    (case,) = read_suite(written(tmp_path, text)).cases
    assert case.expected == {"n": [1, 2]}
    assert case.messages == [{"role": "user", "content": "hi"}]


def test_every_bad_row_of_a_dataset_is_named_with_its_line(tmp_path: Path) -> None:
    text = '{"prompt": "x"}\nnot json\n{"promt": "y"}\n{"name": "rows:1", "prompt": "z"}\n'
    found = problems(written(tmp_path, text, "rows.jsonl"))
    assert "rows.jsonl:2:1: is not JSON" in found[0]
    assert "rows.jsonl:3:1" in found[1]
    assert "Did you mean 'prompt'?" in found[1]
    assert "rows.jsonl:4:1: the case is called 'rows:1', as in rows.jsonl:1" in found[2]


def test_a_large_file_of_wrong_rows_is_left_after_a_hundred(tmp_path: Path) -> None:
    found = problems(written(tmp_path, "prompt,oops\n" + "x,y\n" * 5_000, "rows.csv"))
    assert len(found) == 101
    assert found[-1].endswith("rows.csv:102:1: the rest was not checked: fix the problems above first")


def test_a_field_that_a_mapping_names_and_a_row_lacks_is_named(tmp_path: Path) -> None:
    written(tmp_path, "question,answer\nWhat?,2\n", "quiz.csv")
    path = written(tmp_path, 'dataset: {file: quiz.csv, prompt: "{qestion}"}\n')
    assert problems(path) == [f"{tmp_path / 'quiz.csv'}:2:1: has no field 'qestion' (it has 'question', 'answer')"]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        read_suite(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="cannot read"):
        read_suite(tmp_path / "none.yaml")


def test_an_empty_file_of_cases_is_told_what_to_write(tmp_path: Path) -> None:
    (problem,) = problems(written(tmp_path, "# none yet\n"))
    assert "the file is empty: write a list of 'cases', or a 'dataset'" in problem


def test_a_case_without_cases_or_dataset_is_refused(tmp_path: Path) -> None:
    assert "write a list of 'cases', or a 'dataset'" in problems(written(tmp_path, "repeat: 3\n"))[0]


def test_what_is_asked_tells_cases_apart_and_how_it_is_judged_does_not() -> None:
    from tests.evals.eval_agents import case

    assert case(expected=1).digest == case(expected=2, scorers=["number"], weight=3, tags=["x"]).digest
    assert case().digest != case(prompt="other").digest
    assert case(prompt="{x}", vars={"x": 1}).digest != case(prompt="{x}", vars={"x": 2}).digest
