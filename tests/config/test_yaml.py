"""Reading YAML: positions, variables, bases, and what is never constructed."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from react_run.config import load_config
from react_run.config.yaml import Node, Place, Report, Source, TreeReader, locate, plain, wrap
from react_run.config.yaml.compose import compose
from react_run.config.yaml.problems import key_path
from react_run.config.yaml.text import MAX_BYTES
from react_run.config.yaml.tree import set_at
from react_run.config.yaml.variables import expand, variables_of
from react_run.errors import ConfigError


def parse(text: str) -> tuple[object, Report]:
    report = Report()
    lines = tuple(text.splitlines())
    tree = compose(text, Source("a.yaml", lines), report)
    return (plain(tree) if tree else None), report


def codes(report: Report) -> list[str]:
    return [problem.code for problem in report.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", 1),
        ("a: 1_000", 1000),
        ("a: 0x1F", 31),
        ("a: -3", -3),
        ("a: 1.5", 1.5),
        ("a: 1e3", 1000.0),
        ("a: 1.5e3", 1500.0),
        ("a: .5", 0.5),
        ("a: yes", True),
        ("a: off", False),
        ("a: ~", None),
        ("a:", None),
        ("a: '1'", "1"),
        ("a: !!str 1", "1"),
        ("a: !!int '7'", 7),
        ("a: 2024-01-01", "2024-01-01"),
        ("a: =", "="),
        ("a: 018", "018"),
        ("a: |\n  x\n  y\n", "x\ny\n"),
        ("a: {b: [1, two]}", {"b": [1, "two"]}),
        ("b: &x 1\na: *x", 1),
    ],
)
def test_a_value_is_read_as_both_versions_of_yaml_would(text: str, value: object) -> None:
    data, report = parse(text)
    assert not report.problems
    assert isinstance(data, dict)
    assert data["a"] == value
    assert type(data["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 012", "yaml.ambiguous"),
        ("a: 1:30", "yaml.ambiguous"),
        ("a: 1:30.5", "yaml.ambiguous"),
        ("a: !!int x", "yaml.value"),
        ("a: " + "9" * 5000, "yaml.value"),
        ("a: !!bool maybe", "yaml.value"),
        ("a: *b", "yaml.syntax"),
        ("a: &a [*a]", "yaml.alias_loop"),
        ("a: !!set {x}", "yaml.unsafe_tag"),
        ("on: 1", "yaml.key_type"),
        ("[1]: 1", "yaml.key_type"),
        ("a: {<<: [1]}", "yaml.merge"),
        ("a: 1\na: 2", "yaml.duplicate_key"),
        ("- " * 200 + "x", "yaml.too_deep"),
        ("[" * 100_000, "yaml.too_deep"),
        ("{" * 5_000, "yaml.too_deep"),
    ],
)
def test_what_cannot_be_meant_is_named(text: str, code: str) -> None:
    assert codes(parse(text)[1]) == [code]


def test_every_problem_of_a_tree_is_found_at_once() -> None:
    report = parse("a: 012\nb: !x 1\non: 2\na: 3\n")[1]
    found = [(problem.code, problem.place and problem.place.line) for problem in report.problems]
    assert found == [
        ("yaml.ambiguous", 1),
        ("yaml.unsafe_tag", 2),
        ("yaml.key_type", 3),
        ("yaml.duplicate_key", 4),
    ]


def test_aliases_may_add_a_thousand_nodes_and_no_more() -> None:
    base = "a: &a [" + ", ".join("x" * 99) + "]\n"
    assert not parse(base + "b: [" + ", ".join(["*a"] * 10) + "]")[1].problems
    assert codes(parse(base + "b: [" + ", ".join(["*a"] * 11) + "]")[1]) == ["yaml.alias_limit"]


def test_an_alias_is_a_copy_with_a_key_path_of_its_own() -> None:
    report = Report()
    tree = compose("a: &a {x: 1}\nb: *a\n", Source("a"), report)
    assert tree is not None
    first, second = tree.mapping["a"], tree.mapping["b"]
    assert first.mapping["x"] is not second.mapping["x"]
    assert second.mapping["x"].path == ("b", "x")
    assert str(second.place) == "a:2:4"


def test_positions_count_characters_and_every_kind_of_line_end() -> None:
    report = Report()
    tree = compose("a: 'äö😀'\r\nb: {c: 'é', d: 1}\n", Source("f"), report)
    assert tree is not None
    assert str(tree.mapping["b"].mapping["d"].place) == "f:2:16"


# -- the error text ---------------------------------------------------------------------------------------------------


def test_an_excerpt_points_at_the_column_after_wide_characters_and_tabs() -> None:
    place = Place(Source("f", ("\t漢: x",)), 1, 5)
    assert place.excerpt().splitlines() == ["    \t漢: x", "    \t\u3000  ^"]


def test_an_excerpt_of_a_long_line_is_a_window_around_the_column() -> None:
    place = Place(Source("f", ("x" * 5000 + "HERE" + "y" * 5000,)), 1, 5001)
    line, caret = place.excerpt().splitlines()
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("HERE")


def test_control_characters_of_a_file_never_reach_the_terminal() -> None:
    assert "\x1b" not in Place(Source("f", ("a: \x1b[31m",)), 1, 1).excerpt()


def test_a_key_path_reads_like_code() -> None:
    assert key_path(("toolsets", 0, "options", "x")) == "toolsets[0].options.x"


# -- variables --------------------------------------------------------------------------------------------------------


def expanded(value: object, **environment: str) -> tuple[object, Report]:
    tree, report = wrap({"v": value}), Report()
    expand(tree, environment, report)
    data = plain(tree)
    assert isinstance(data, dict)
    return data["v"], report


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}", "one"),
        ("x${A}y${B}", "xoney two"),
        ("${C:-three}", "three"),
        ("${C:-}", ""),
        ("${E:-full}", "full"),
        ("${E}", ""),
        ("${A:?needed}", "one"),
        ("$$", "$"),
        ("$${A}", "${A}"),
        ("$A $5 $", "$A $5 $"),
        ("${D}", "${A}"),  # never expanded again
        ("${C:-a:b/c?d}", "a:b/c?d"),
        ("no dollar", "no dollar"),
    ],
)
def test_the_forms_of_variables(text: str, result: str) -> None:
    value, report = expanded(text, A="one", B=" two", D="${A}", E="")
    assert (value, report.problems) == (result, [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("${C}", "cfg.env_unset"),
        ("${C:?say it}", "cfg.env_unset"),
        ("${E:?say it}", "cfg.env_unset"),
        ("${}", "cfg.env_syntax"),
        ("${A", "cfg.env_syntax"),
        ("${1A}", "cfg.env_syntax"),
        ("${A-b}", "cfg.env_syntax"),
        ("${A:+b}", "cfg.env_syntax"),
    ],
)
def test_a_variable_that_cannot_be_expanded_is_an_error(text: str, code: str) -> None:
    _, report = expanded(text, A="one", E="")
    assert codes(report) == [code]
    if "say it" in text:
        assert "say it" in report.problems[0].text


def test_all_unset_variables_are_reported_at_once() -> None:
    _, report = expanded(["${X}", {"a": "${Y} ${Z}"}])
    assert [problem.key for problem in report.problems] == ["v[0]", "v[1].a", "v[1].a"]


def test_only_text_values_are_expanded() -> None:
    tree, report = wrap({"${A}": 1}), Report()
    expand(tree, {"A": "x"}, report)
    assert plain(tree) == {"${A}": 1}


def test_an_env_file_is_read_as_it_is() -> None:
    text = "# c\nexport A=1\nB='two words'\nC=${A}\nD=\n"
    assert variables_of(text) == {"A": "1", "B": "two words", "C": "${A}", "D": ""}


# -- bases ------------------------------------------------------------------------------------------------------------


def read(path: Path, *, trusted: bool = False, **environment: str) -> tuple[Node | None, Report]:
    report = Report()
    reader = TreeReader(environment=environment, trusted=trusted, report=report, normalise=lambda tree, _: tree)
    return reader.read(path, path.name), report


def files(directory: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = directory / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_bases_merge_deeply_lists_replace_and_plus_appends(tmp_path: Path) -> None:
    files(
        tmp_path,
        base="a: {x: 1, y: [1, 2]}\nl: [1]\nm: [1]\ndeep: {n: [1]}\n",
        agent="extends: base.yaml\na: {y: [3]}\n+l: [2]\nm: [2]\ndeep: {+n: [2]}\n+new: [5]\n",
    )
    tree, report = read(tmp_path / "agent.yaml")
    assert tree is not None
    assert not report.problems
    data = plain(tree)
    assert isinstance(data, dict)
    assert data.pop("extends") == "base.yaml"
    assert data == {"a": {"x": 1, "y": [3]}, "l": [1, 2], "m": [2], "deep": {"n": [1, 2]}, "new": [5]}


def test_later_bases_win_over_earlier_ones(tmp_path: Path) -> None:
    files(tmp_path, one="a: 1\nb: 1\n", two="b: 2\nc: 2\n", agent="extends: [one.yaml, two.yaml]\nc: 3\n")
    tree, _ = read(tmp_path / "agent.yaml")
    assert tree is not None
    assert {key: node.value for key, node in tree.mapping.items() if key != "extends"} == {"a": 1, "b": 2, "c": 3}


def test_positions_survive_bases(tmp_path: Path) -> None:
    files(tmp_path, sub__base="\n\na: {x: 1}\n", agent="extends: sub/base.yaml\na: {y: 2}\n")
    tree, _ = read(tmp_path / "agent.yaml")
    assert tree is not None
    x, y = tree.mapping["a"].mapping["x"], tree.mapping["a"].mapping["y"]
    assert str(x.place).endswith("sub/base.yaml:3:8")
    assert str(y.place) == "agent.yaml:2:8"
    assert x.directory == tmp_path / "sub"


def test_a_cycle_of_bases_is_found_and_a_diamond_is_none(tmp_path: Path) -> None:
    files(tmp_path, a="extends: b.yaml\n", b="extends: a.yaml\n")
    assert codes(read(tmp_path / "a.yaml")[1]) == ["cfg.cycle"]
    files(tmp_path, top="x: 1\n", l="extends: top.yaml\n", r="extends: top.yaml\n", d="extends: [l.yaml, r.yaml]\n")
    assert not read(tmp_path / "d.yaml")[1].problems


def test_bases_stay_in_the_directory_tree_unless_it_is_trusted(tmp_path: Path) -> None:
    files(tmp_path, base="a: 1\n", sub__agent="extends: ../base.yaml\n")
    (tmp_path / "sub" / "link.yaml").symlink_to(tmp_path / "base.yaml")
    files(tmp_path, sub__linked="extends: link.yaml\n")
    for name in ("agent", "linked"):
        assert codes(read(tmp_path / "sub" / f"{name}.yaml")[1]) == ["cfg.untrusted"]
        assert not read(tmp_path / "sub" / f"{name}.yaml", trusted=True)[1].problems


def test_a_variable_may_name_a_base_and_an_overridden_one_is_never_missed(tmp_path: Path) -> None:
    files(tmp_path, base="a: ${UNSET}\n", agent="extends: ${BASE}.yaml\na: 1\n")
    tree, report = read(tmp_path / "agent.yaml", BASE="base")
    assert tree is not None
    assert not report.problems
    expand(tree, {}, report)
    assert not report.problems


def test_an_env_file_named_by_the_file_adds_to_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n", encoding="utf-8")
    files(tmp_path, agent="env_file: true\na: 1\n")
    environment = {"A": "real"}
    reader = TreeReader(environment=environment, trusted=False, report=Report(), normalise=lambda tree, _: tree)
    reader.read(tmp_path / "agent.yaml", "agent.yaml")
    assert environment == {"A": "real", "B": "file"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing.yaml", "cfg.path_missing"),
        ("", "cfg.path_missing"),
        ("list.yaml", "cfg.type"),
        ("big.yaml", "yaml.too_large"),
    ],
)
def test_a_file_that_is_none_is_reported(tmp_path: Path, name: str, code: str) -> None:
    files(tmp_path, list="- 1\n", big="a: " + "x" * MAX_BYTES)
    assert codes(read(tmp_path / name)[1]) == [code]


def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    assert codes(read(tmp_path / "pipe")[1]) == ["cfg.path_missing"]


# -- the tree ---------------------------------------------------------------------------------------------------------


def test_what_a_path_cannot_follow_is_left_over() -> None:
    tree = wrap({"a": [{"b": 1}]})
    assert locate(tree, ("a", 0, "b"))[0].value == 1
    assert locate(tree, ("a", 0, "c")) == (tree.mapping["a"].items[0], ("c",))
    assert locate(tree, ("a", "union-branch", 0, "b"))[0].value == 1
    assert locate(tree, ("a", 7))[1] == (7,)


def test_a_value_is_put_at_a_dotted_path() -> None:
    tree, place = wrap({"a": [{"b": 1}], "t": "text"}), Place(Source("-"))
    set_at(tree, "a.0.b", wrap(2), place)
    set_at(tree, "a.1", wrap("new"), place)
    set_at(tree, "x.y.z", wrap(3), place)
    assert plain(tree) == {"a": [{"b": 2}, "new"], "t": "text", "x": {"y": {"z": 3}}}
    for path in ("a.7", "a.b", "t.x"):
        with pytest.raises(ValueError, match=r"position|no place"):
            set_at(tree, path, wrap(0), place)


def test_an_error_survives_the_way_between_processes(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("modle: offline\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "agent.yaml")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
