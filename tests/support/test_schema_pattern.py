"""Patterns of JSON Schemas: JavaScript's and Python's are read exactly, what cannot be read is said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from react_run import JsonSchema, Tool
from react_run.support import schema_problem
from react_run.support.schema_pattern import pattern_problem, schema_pattern, unread_patterns
from react_run.testing import calls, run_agent, says

READ = [
    (r"^\p{L}+$", "Müller", "a1"),
    (r"^\P{Lu}$", "a", "A"),
    (r"^\p{Script=Greek}+$", "αβ", "ab"),
    (r"^[\p{L}\s'-]+$", "O'Neil Ü", "a_b"),
    (r"^\d+$", "12", "12\n"),
    (r"^(?<year>\d{4})-\k<year>$", "2020-2020", "2020-2021"),
    (r"^(?P<a>x)(?P=a)$", "xx", "xy"),
    (r"^(a)?\1b$", "b", "ab"),
    (r"(?<=a+)b$", "aab", "b"),
    (r"(?<!-)b$", "ab", "-b"),
    (r"^(?!x).*$", "ab", "xb"),
    (r"^a++$", "aaa", "aab"),
    (r"^(?>a|ab)c$", "ac", "abc"),
    (r"\Aa\Z", "a", "a\n"),
    (r"^a\z", "a", "ab"),
    (r"(?i)^abc$", "ABC", "abd"),
    (r"(?i:a)b", "Ab", "AB"),
    (r"^\u{1F600}$", "\U0001f600", "a"),
    (r"^\uD83D\uDE00$", "\U0001f600", "a"),
    (r"^\u00e9\x41$", "éA", "eA"),
    (r"^\cJ$", "\n", "J"),
    (r"^\/api\/[^\/]+$", "/api/x", "/api/"),
    (r"^a{e}$", "a{e}", "ab"),
    (r"^[[]$", "[", "]"),
    (r"^[^]]$", "[", "]"),
    (r"^[^]$", "\n", ""),
    (r"^[&&a]$", "&", "b"),
    (r"^[\w.-]+@[\w.-]+$", "a.b@c-d", "a b"),
    ("(?x) ^a b$  # both", "ab", "a b"),
]


@pytest.mark.parametrize(("pattern", "good", "bad"), READ)
def test_a_pattern_of_either_language_means_what_it_says(pattern: str, good: str, bad: str) -> None:
    assert not pattern_problem(pattern)
    assert schema_pattern(pattern).search(good)
    assert not schema_pattern(pattern).search(bad)


UNREAD = [
    r"^\h+$",
    r"\Qa\E",
    r"a\K",
    r"\X",
    "(?R)",
    "(?&x)",
    "(?|a|b)",
    "(*FAIL)",
    "(",
    "[a",
    r"\p{Nope}",
    "[[:alpha:]]+",
    r"\u{110000}",
]


@pytest.mark.parametrize("pattern", UNREAD)
def test_a_pattern_that_neither_language_has_is_none_of_ours(pattern: str) -> None:
    assert pattern_problem(pattern)
    with pytest.raises(ValueError, match=r".+"):
        schema_pattern(pattern)


def tool_with(schema: dict[str, Any]) -> Tool:
    def take(**given: Any) -> str:
        return json.dumps(given)

    return Tool(name="take", description="Take.", parameters=schema, function=take)


NESTED = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string", "pattern": r"^\h+$"}}},
        },
        "codes": {"type": "object", "patternProperties": {r"^\h": {}}, "additionalProperties": False},
    },
}


def test_what_is_not_checked_is_said_once_and_told_to_the_model() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = tool_with(NESTED)
        sent = json.dumps(made.wire)
        made.wire  # noqa: B018 (asked for again, said once)
    told = [str(warning.message) for warning in warned]
    assert len(told) == 2
    assert r"tool 'take' has a pattern that only the model is told" in told[0]
    assert r"people.name, ^\h+$" in told[0]
    assert r"codes, ^\h" in told[1]
    assert r"Must match the regular expression ^\\h+$" in sent
    result = run_agent([calls(("take", {"people": [{"name": "a"}], "codes": {"x": 1}})), says("x")], tools=[made])
    assert result.steps[0].executed


def test_a_pattern_of_javascript_is_checked() -> None:
    made = tool_with({"type": "object", "properties": {"name": {"type": "string", "pattern": r"^\p{L}+$"}}})
    result = run_agent([calls(("take", {"name": "a1"})), calls(("take", {"name": "Äb"})), says("x")], tools=[made])
    assert [step.executed for step in result.steps] == [False, True]
    assert r"name must match the pattern" in result.steps[0].observation


def test_the_author_of_a_schema_is_told_of_a_pattern_that_cannot_be_read() -> None:
    assert not schema_problem({"properties": {"a": {"pattern": r"^\p{L}+$"}}})
    problem = schema_problem({"properties": {"a": {"items": {"pattern": r"^\h+$"}}}})
    assert problem.startswith(r"a: the pattern '^\\h+$' cannot be read")
    assert list(unread_patterns({"enum": [{"pattern": "("}], "default": {"pattern": "("}})) == []


def test_names_are_not_refused_where_the_allowed_ones_are_unknown() -> None:
    known = {"patternProperties": {r"^\p{Lu}": {}}, "additionalProperties": False}
    assert [bool(JsonSchema(known).errors({name: 1})) for name in ("Ü", "ü")] == [False, True]
    assert not JsonSchema({"patternProperties": {r"^\h": {}}, "additionalProperties": False}).errors({"x": 1})


def test_check_says_what_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from react_run.cli.exit import ended

    (tmp_path / "a.yaml").write_text(
        "version: 1\nmodel: offline\ntoolsets:\n- kind: command\n  name: look\n  description: Look.\n  command: [ls]\n"
        "  parameters: {name: {type: string, pattern: '^\\h+$'}}\n"
    )
    assert ended(["check", str(tmp_path / "a.yaml")]) == 2
    assert "cannot be read" in capsys.readouterr().out
