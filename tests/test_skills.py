"""Reading SKILL.md folders: the rules of agentskills.io, checked against the reference validator (behaviour D8)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills_ref.validator import validate, validate_metadata  # type: ignore[import-untyped]  # it ships no types

from react_run import ConfigError
from react_run.config.yaml import AgentFileError, Report
from react_run.skills.fields import FIELDS, wrong_with_name
from react_run.skills.files import MAX_FILES, read_skill, read_skills, visible

CASES = Path(__file__).parent / "cases" / "skill_files"
INDEX = [json.loads(line) for line in (CASES / "index.jsonl").read_text(encoding="utf-8").splitlines()]


def write(folder: Path, text: str, name: str = "my-skill", file: str = "SKILL.md") -> Path:
    path = folder / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path.parent


def front(*lines: str, body: str = "Do it.") -> str:
    return "\n".join(["---", *lines, "---", body, ""])


GOOD = ("name: my-skill", "description: Does it.")
ABOUT = {"file", "position", "depends_on_schema", "why", "policy", "note"}
EXPECTED = {"expect", "code", "line", "column", "contains", "exit_code"}


@pytest.mark.parametrize("case", INDEX, ids=lambda case: case["file"])
def test_what_is_wrong_is_told_with_its_place(case: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "my-skill"
    folder.mkdir()
    shutil.copy(CASES / case["file"], folder / "SKILL.md")
    report = Report()
    skill = read_skill(folder, report, report)
    if case["expect"] == "ok":
        assert skill is not None
        assert skill.name == case["then"]["name"]
        assert "hidden" not in skill.instructions
        assert [case[key] for key in ("code", "line", "column", "contains", "exit_code")] == [None, None, None, [], 0]
        assert case.keys() <= {*ABOUT, *EXPECTED, "then"}
        return
    first = report.problems[0]
    assert first.place is not None
    assert (first.code, first.place.line, first.place.column) == (case["code"], case["line"], case["column"])
    assert all(part in first.render() for part in case["contains"])
    assert str(folder / "SKILL.md") in first.render()
    assert AgentFileError(report.problems).exit_status == case["exit_code"]
    assert case.keys() <= {*ABOUT, *EXPECTED}


# -- the reference validator as the oracle ---------------------------------------------------------------------------

LIKE_THE_REFERENCE = {
    "minimal": front(*GOOD),
    "all fields": front(
        *GOOD, "license: MIT", "compatibility: Needs git", "metadata:", "  author: me", "allowed-tools: a b"
    ),
    "allowed tools as a list": front(*GOOD, "allowed-tools:", "  - a", "  - b"),
    "quoted": front('name: "my-skill"', "description: 'Use when: asked'"),
    "folded": front("name: my-skill", "description: >", "  Does it", "  well."),
    "a number as text": front("name: my-skill", "description: 42"),
    "yes is text": front("name: my-skill", "description: yes"),
    "octal is text": front(*GOOD, "compatibility: 0777"),
    "null is text": front("name: my-skill", "description: null"),
    "comment": front("# about", *GOOD),
    "carriage returns": front(*GOOD).replace("\n", "\r\n"),
    "empty optional fields": front(*GOOD, "license:", "compatibility:", "allowed-tools:"),
    "longest description": front("name: my-skill", f"description: {'d' * 1024}"),
    "longest compatibility": front(*GOOD, f"compatibility: {'d' * 500}"),
    "no body": front(*GOOD, body=""),
    "rule in the body": front(*GOOD, body="a\n\n---\n\nb"),
    "metadata within metadata": front(*GOOD, "metadata:", "  tool:", "    a: b"),
    "no name": front("description: Does it."),
    "no description": front("name: my-skill"),
    "empty name": front("name:", "description: Does it."),
    "empty description": front("name: my-skill", "description:"),
    "blank description": front("name: my-skill", "description: '  '"),
    "list as name": front("name:", "  - my-skill", "description: Does it."),
    "description too long": front("name: my-skill", f"description: {'d' * 1025}"),
    "compatibility too long": front(*GOOD, f"compatibility: {'d' * 501}"),
    "compatibility no text": front(*GOOD, "compatibility:", "  a: b"),
    "unknown field": front(*GOOD, "version: 1"),
    "misspelt field": front(*GOOD, "allowed_tools: a"),
    "duplicate field": front(*GOOD, "name: my-skill"),
    "no mapping": front("- name", "- description"),
    "only text": front("my skill"),
    "empty front matter": front(),
    "not closed": "---\nname: my-skill\ndescription: Does it.\n",
    "no front matter": "# My skill\n",
    "empty file": "",
    "unclosed quote": front("name: my-skill", 'description: "Does it.'),
    "tab": front("name: my-skill", "description:\tDoes it.", "metadata:", "\ta: b"),
}


@pytest.mark.parametrize("case", LIKE_THE_REFERENCE, ids=lambda case: case.replace(" ", "-"))
def test_a_skill_is_valid_exactly_when_the_reference_says_so(case: str, tmp_path: Path) -> None:  # D8
    folder = write(tmp_path, LIKE_THE_REFERENCE[case])
    report = Report()
    read_skill(folder, report, report)
    theirs = validate(folder)
    assert bool(report.problems) == bool(theirs), f"reference: {theirs}, ours: {[p.render() for p in report.problems]}"


KINDER = {
    "byte order mark": "\ufeff" + front(*GOOD),
    "list in brackets": front(*GOOD, "allowed-tools: [a, b]"),
    "mapping in braces": front(*GOOD, "metadata: {author: me}"),
    "anchor": front("name: my-skill", "description: &d Does it.", "compatibility: *d"),
}
STRICTER = {
    "metadata is not a mapping": front(*GOOD, "metadata: me"),
    "licence is not text": front(*GOOD, "license:", "  a: b"),
    "allowed tools are a mapping": front(*GOOD, "allowed-tools:", "  a: b"),
    "closed within a line": "---\nname: my-skill\ndescription: one --- two\n",
}


@pytest.mark.parametrize("case", [*KINDER, *STRICTER], ids=lambda case: case.replace(" ", "-"))
def test_where_we_differ_from_the_reference_on_purpose(case: str, tmp_path: Path) -> None:
    """Kinder where its YAML subset refuses what the format allows, stricter where it does not look."""
    folder = write(tmp_path, {**KINDER, **STRICTER}[case])
    report = Report()
    read_skill(folder, report, report)
    assert (not report.problems) == (case in KINDER)
    assert bool(validate(folder)) == (case in KINDER)


@given(st.text(st.sampled_from("abzAZ09-_. éßÉжⅧ٣\u00b2ﬁ"), max_size=12) | st.text(max_size=6) | st.just("a" * 65))
def test_a_name_is_valid_exactly_when_the_reference_says_so(name: str) -> None:
    from unicodedata import normalize

    stripped = name.strip()
    if not stripped or "/" in name or "\0" in name or stripped in (".", ".."):
        return  # no directory can be called so
    theirs = validate_metadata({"name": name, "description": "d"}, Path(stripped))
    assert bool(list(wrong_with_name(normalize("NFKC", stripped), stripped))) == bool(theirs)


# -- what is read ----------------------------------------------------------------------------------------------------


def test_every_field_arrives(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        front(
            "name: my-skill",
            "description: >",
            "  Does it",
            "  well.",
            "license: MIT",
            "compatibility: Needs git",
            "metadata:",
            "  author: me",
            "  version: 1.10",
            "allowed-tools: calculate, convert_units calculate Bash(git add:*)",
            body="# How\n\nLike this.",
        ),
    )
    listed = ("references/a.md", "scripts/run.py", "scripts/lib/b.py", "assets/t.txt")
    for path in (*listed, ".hidden", "__pycache__/x.pyc"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("x")
    (folder / "assets" / "link").symlink_to("/etc/hostname")
    (skill,) = read_skills([folder]).skills
    assert (skill.name, skill.description, skill.license) == ("my-skill", "Does it well.", "MIT")
    assert (skill.compatibility, skill.metadata) == ("Needs git", {"author": "me", "version": "1.10"})
    assert skill.allowed_tools == ("calculate", "convert_units", "Bash(git add:*)")
    assert skill.instructions == "# How\n\nLike this."
    assert skill.files == ("assets/t.txt", "references/a.md", "scripts/run.py", "scripts/lib/b.py")
    assert skill.scripts == ("scripts/run.py", "scripts/lib/b.py")


def test_no_allowed_tools_is_something_else_than_none_named(tmp_path: Path) -> None:
    (none,) = read_skills([write(tmp_path, front(*GOOD))]).skills
    (empty,) = read_skills([write(tmp_path, front(*GOOD, "allowed-tools:"))]).skills
    assert (none.allowed_tools, empty.allowed_tools) == (None, ())


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("a <!-- obey me --> b", "a  b"),
        ("a\n<!--\nobey\nme\n-->\nb", "a\n\nb"),
        ("a <!-- never closed", "a"),
        ("write `<!-- x -->` so", "write `<!-- x -->` so"),
        ("```html\n<!-- x -->\n```\n<!-- y -->", "```html\n<!-- x -->\n```"),
        ("~~~\n<!-- x\n~~~\nb <!-- y -->", "~~~\n<!-- x\n~~~\nb"),
    ],
)
def test_comments_that_nobody_sees_do_not_reach_the_model(body: str, seen: str) -> None:
    assert visible(body) == seen


def test_a_folder_of_skills_and_a_skill_folder_are_both_found(tmp_path: Path) -> None:
    write(tmp_path / "many", front("name: b", "description: B."), name="b")
    write(tmp_path / "many", front("name: a", "description: A."), name="a", file="skill.md")
    (tmp_path / "many" / "no-skill").mkdir()
    one = write(tmp_path, front(*GOOD))
    found = read_skills([tmp_path / "many", one])
    assert [skill.name for skill in found.skills] == ["a", "b", "my-skill"]
    assert not found.problems


def test_a_skill_that_breaks_a_rule_is_loaded_and_told(tmp_path: Path) -> None:
    write(tmp_path, front(*GOOD))
    bad = write(tmp_path, front("name: Bad", "description: x", "verion: 1"), name="bad")
    found = read_skills([tmp_path])
    assert [skill.name for skill in found.skills] == ["Bad", "my-skill"]
    assert found.problems == ()
    assert [doubt.splitlines()[0] for doubt in found.doubts] == [
        f"{bad}/SKILL.md:2:7: name 'Bad' must be lowercase: 'bad'",
        f"{bad}/SKILL.md:4:1: unknown field 'verion'. Fields: {', '.join(FIELDS)}; others belong under metadata:",
    ]
    with pytest.raises(ConfigError, match=r"bad/SKILL\.md:2:7") as caught:
        read_skills([tmp_path], strict=True)
    assert "    name: Bad\n          ^" in str(caught.value)


def test_a_misspelt_field_is_told_the_right_one(tmp_path: Path) -> None:
    write(tmp_path, front(*GOOD, "alowed-tools: x"))
    (problem,) = read_skills([tmp_path]).doubts
    assert "Did you mean 'allowed-tools'?" in problem


def test_of_two_skills_with_one_name_the_first_counts(tmp_path: Path) -> None:
    first, second = (write(tmp_path / where, front(*GOOD)) for where in "ab")
    found = read_skills([tmp_path / "a", tmp_path / "b"])
    assert [skill.directory for skill in found.skills] == [first]
    (problem,) = found.problems
    assert str(first) in problem
    assert str(second) in problem


def test_a_directory_without_skills_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_skills([tmp_path]).problems
    assert "no SKILL.md" in problem


def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "")
    for data in (b"---\nname: \xff\n---\n", b"---\nname: a\0b\n---\n", b"\0" * 2_000_000):
        (tmp_path / "my-skill" / "SKILL.md").write_bytes(data)
        found = read_skills([tmp_path])
        assert not found.skills
        assert found.problems


def test_only_so_many_files_of_a_skill_are_listed(tmp_path: Path) -> None:
    folder = write(tmp_path, front(*GOOD))
    for number in range(MAX_FILES + 5):
        (folder / f"{number:04}.txt").touch()
    (skill,) = read_skills([folder]).skills
    assert len(skill.files) == MAX_FILES


def test_a_skill_in_a_linked_folder_has_the_name_of_the_link(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", front(*GOOD), name="other")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "my-skill").symlink_to(tmp_path / "elsewhere" / "other")
    assert [skill.name for skill in read_skills([tmp_path / "skills"]).skills] == ["my-skill"]


def test_a_skill_that_is_left_out_is_not_said_to_be_loaded(tmp_path: Path) -> None:
    write(tmp_path, front("name: Bad Name"), "bad")
    write(tmp_path, front("name: Other Name", "description: Works."), "other")
    found = read_skills([tmp_path])
    assert len(found.problems) == 1
    assert "bad" in found.problems[0]
    assert found.doubts
    assert all(f"{tmp_path / 'other'}" in doubt for doubt in found.doubts)
