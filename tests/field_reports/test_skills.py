"""Skills as people write them: fields of other clients, foreign tools, categories, long instructions, shell scripts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rows import rows

from react_run import ConfigError, ModelRequest, ReActAgent, RunResult, SkillWarning, read_skills
from react_run.testing import agent_with, calls, says
from react_toolsets.files import FilesToolset
from react_toolsets.math import MathToolset
from react_toolsets.shell import ShellToolset
from react_toolsets.skills import SkillToolset

SELECTOR = "activate_tool_skill"
DONE = says("done")


def write(folder: Path, *fields: str, body: str = "Do it.", description: str = "d", name: str = "s") -> Path:
    """A skill in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "\n".join([f"name: {name}", f"description: {description}", *fields])
    (folder / "SKILL.md").write_text(f"---\n{head}\n---\n{body}\n")
    return folder


def activate(name: str = "s") -> Mapping[str, object]:
    return calls((SELECTOR, {"skill": name}))


def ran(
    folder: Path, *replies: Any, toolsets: tuple[Any, ...] = (), **config: Any
) -> tuple[RunResult, list[ModelRequest]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkillWarning)
        agent = agent_with([*replies], toolsets=[*toolsets, SkillToolset.from_paths([folder])], **config)
    agent.workspace = folder
    result = agent.run_sync("go")
    return result, agent.model.requests  # type: ignore[attr-defined]  # a scripted model


def offered(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


@pytest.mark.parametrize("row", rows("skills.allowed_tools"))
def test_a_skill_that_names_none_of_our_tools_takes_none_away(row: Mapping[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "s", f"allowed-tools: {row['input']['allowed-tools']}")
    _, requests = ran(tmp_path, activate(), DONE, toolsets=(MathToolset(),))
    assert offered(requests[1]) == {SELECTOR, "calculate", "convert_units"}


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        ("Bash", {"run_command"}),
        ("Bash(git:*), Read", {"run_command", "read_file", "list_directory"}),
        ("[Read, Grep, Glob]", {"read_file", "list_directory", "search_files", "find_files"}),
        ("mcp__any__calculate", {"calculate"}),
        ("Calculate", {"calculate"}),
        ("Edit NoSuchTool", {"edit_file"}),
    ],
)
def test_names_of_other_clients_mean_tools_of_ours(allowed: str, left: set[str], tmp_path: Path) -> None:
    write(tmp_path / "s", f"allowed-tools: {allowed}")
    toolsets = (MathToolset(), FilesToolset(read_only=False), ShellToolset())
    _, requests = ran(tmp_path, activate(), DONE, toolsets=toolsets)
    assert offered(requests[1]) == {SELECTOR, *left}


@pytest.mark.parametrize("allowed", ["*", "Read *", "''"])
def test_a_star_limits_nothing(allowed: str, tmp_path: Path) -> None:
    write(tmp_path / "s", f"allowed-tools: '{allowed}'" if allowed != "''" else "allowed-tools: ''")
    _, requests = ran(tmp_path, activate(), DONE, toolsets=(MathToolset(),))
    assert offered(requests[1]) == offered(requests[0])


def texts() -> Iterator[object]:
    for row in rows("skills.front_matter"):
        case = row.values[0]  # type: ignore[attr-defined]  # a parameter set of pytest
        given = case["input"]
        yield pytest.param(given["SKILL.md"] if isinstance(given, dict) else _text(case["id"]), id=case["id"])
    for name, text in SIBLINGS.items():
        yield pytest.param(text, id=name)


def _text(case: str) -> str:
    return {
        "skill-lenient-name-not-folder": "---\nname: other\ndescription: d\n---\nb\n",
        "skill-lenient-name-65": f"---\nname: {'n' * 65}\ndescription: d\n---\nb\n",
        "skill-lenient-description-1025": f"---\nname: s\ndescription: {'d' * 1025}\n---\nb\n",
        "skill-lenient-comment-first": "<!-- a\nb -->\n\n---\nname: s\ndescription: d\n---\nb\n",
    }[case]


SIBLINGS = {
    "version": "---\nname: s\ndescription: d\nversion: 1.2.0\n---\nb\n",
    "author": "---\nname: s\ndescription: d\nauthor: me\nuser-invocable: true\n---\nb\n",
    "nested field": "---\nname: s\ndescription: d\nhooks:\n  before:\n    - run: x\n---\nb\n",
    "no name": "---\ndescription: d\n---\nb\n",
    "capitals": "---\nname: My Skill\ndescription: d\n---\nb\n",
    "metadata no mapping": "---\nname: s\ndescription: d\nmetadata: me\n---\nb\n",
    "colon": "---\nname: s\ndescription: Use when: asked. Not: ever\n---\nb\n",
    "colon on two lines": "---\nname: s\ndescription: Use when: asked\n  or told: so\nversion: 1\n---\nb\n",
    "colon beside a list": "---\nname: s\ndescription: Use when: asked\nallowed-tools: [a, b]\n---\nb\n",
    "at sign": "---\nname: s\ndescription: @me does it\n---\nb\n",
    "blank first": "\n---\nname: s\ndescription: d\n---\nb\n",
}


@pytest.mark.parametrize("text", [*texts()])
def test_a_skill_that_breaks_a_rule_is_loaded_with_a_warning(text: str, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "SKILL.md").write_text(text)
    found = read_skills([tmp_path])
    assert found.problems == ()
    assert [(bool(skill.name), bool(skill.description), skill.instructions) for skill in found.skills] == [
        (True, True, "b")
    ]
    assert found.doubts
    with pytest.warns(SkillWarning, match=r"loaded all the same: .*SKILL\.md:\d+:\d+: "):
        SkillToolset.from_paths([tmp_path])
    with pytest.raises(ConfigError):
        read_skills([tmp_path], strict=True)


def test_a_forgotten_quote_keeps_the_whole_description(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "SKILL.md").write_text(SIBLINGS["colon on two lines"])
    (skill,) = read_skills([tmp_path]).skills
    assert skill.description == "Use when: asked or told: so"


@pytest.mark.parametrize(
    "text", ["# no front matter", "---\nname: s\n---\nb", "---\nname: s\ndescription:\n---\nb", "---\n- a\n---"]
)
def test_a_skill_of_no_use_is_left_out(text: str, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "SKILL.md").write_text(text)
    found = read_skills([tmp_path])
    assert found.skills == ()
    assert len(found.problems) == 1


@pytest.mark.parametrize("row", rows("skills.paths", "skills.message"))
def test_a_reported_skill_is_found_or_named(row: Mapping[str, Any], tmp_path: Path) -> None:
    write(tmp_path / row["input"]["where"], body="x" * row["input"]["bytes"])
    found = read_skills([tmp_path])
    assert [skill.name for skill in found.skills] == row["expected"]["names"]
    assert row["expected"]["problem"] in "".join(found.problems)


@pytest.mark.parametrize("where", ["office/papers/s", "a/b/c/s"])
def test_skills_in_categories_are_found(where: str, tmp_path: Path) -> None:
    write(tmp_path / where)
    write(tmp_path / where / "inner", name="inner")
    write(tmp_path / "node_modules" / "x", name="x")
    assert [skill.name for skill in read_skills([tmp_path]).skills] == ["s"]


LONG = "\n".join(f"{number}. Rule number {number} of this skill." for number in range(1500))


def test_long_instructions_arrive_whole(tmp_path: Path) -> None:
    write(tmp_path / "s", body=LONG)
    result, requests = ran(tmp_path, activate(), DONE)
    assert json.loads(result.steps[0].observation)["instructions"] == LONG
    assert requests[1].messages[-1].text == result.steps[0].observation


def much(page: int) -> str:
    """A page of text."""
    return f"page {page} " * 400


@pytest.mark.parametrize("keep_iterations", [1, 3])
def test_instructions_survive_compaction(keep_iterations: int, tmp_path: Path) -> None:
    rules = "\n".join(f"{number}. Rule {number}." for number in range(60))
    write(tmp_path / "s", body=rules)
    pages = [calls(("much", {"page": number})) for number in range(12)]
    agent = compacting([activate(), *pages, DONE], tmp_path, keep_iterations)
    agent.run_sync("go")
    written = json.dumps(rules)[1:-1]
    requests = [r for r in agent.model.requests if r.tools]  # type: ignore[attr-defined]  # a scripted model
    assert [n for n, request in enumerate(requests[1:]) if not any(written in m.text for m in request.messages)] == []


def compacting(replies: list[Any], folder: Path, keep_iterations: int) -> ReActAgent:
    agent = ReActAgent(
        {
            "model": {"kind": "scripted", "replies": replies, "window": 8000},
            "max_iterations": len(replies) + 1,
            "plugins": [{"kind": "compaction", "keep_iterations": keep_iterations}],
        },
        toolsets=[much, SkillToolset.from_paths([folder])],
    )
    agent.workspace = folder
    return agent


def test_instructions_that_are_gone_can_be_had_again(tmp_path: Path) -> None:
    from react_run import Message, Run, hookimpl

    class Forgets:
        @hookimpl
        def react_iteration_started(self, run: Run) -> None:
            if len(run.iterations) == 3:
                run.messages = [m for m in run.messages if "Rule one" not in m.text and not m.tool_requests]
                run.messages = [m for m in run.messages if m.role != "tool"] + [Message(role="user", content="go on")]

    write(tmp_path / "s", body="Rule one.")
    again = calls((SELECTOR, {"skill": "s"}))
    result, _ = ran(tmp_path, activate(), again, again, again, DONE, plugins=[Forgets()], max_iterations=9)
    codes = [step.error_code or "ok" for step in result.steps]
    assert codes == ["ok", "already_active", "ok", "already_active"]


def test_a_long_list_of_skills_moves_into_the_system_prompt(tmp_path: Path) -> None:
    for number in range(9):
        write(tmp_path / f"s{number}", name=f"s{number}", description=f"Number {number}. {'Useful. ' * 30}")
    _, requests = ran(tmp_path, DONE)
    assert len(requests[0].tools[0].description) <= 1024
    assert all(f"- s{number}: Number {number}." in requests[0].messages[0].text for number in range(9))


def test_a_short_list_of_skills_stays_with_the_tool(tmp_path: Path) -> None:
    write(tmp_path / "s", description="Number one.")
    _, requests = ran(tmp_path, DONE)
    assert "- s: Number one." in requests[0].tools[0].description
    assert "Number one" not in requests[0].messages[0].text


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.sh", "#!/bin/bash\nset -o pipefail\n[[ a == a ]] && echo right", "right"),
        ("a.sh", "#!/usr/bin/env bash\nlist=(a b)\necho ${list[1]}", "b"),
        ("a.sh", "echo plain", "plain"),
        ("a.txt", "#!/usr/bin/env -S bash -e\necho split", "split"),
        ("a.py", "#!/usr/bin/env python3\nprint('snake')", "snake"),
        ("a", "#!/bin/sh\necho bare", "bare"),
    ],
)
def test_a_script_is_run_by_its_first_line(name: str, source: str, expected: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "s")
    (folder / "scripts").mkdir()
    (folder / "scripts" / name).write_text(source)
    run = calls(("run_skill_script", {"skill": "s", "script": f"scripts/{name}"}))
    result, _ = ran(tmp_path, activate(), run, DONE)
    assert result.steps[1].observation == expected


def test_a_script_for_a_program_that_is_not_here_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path / "s")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "a.sh").write_text("#!/opt/none/zzsh\necho")
    result, _ = ran(tmp_path, activate(), calls(("run_skill_script", {"skill": "s", "script": "scripts/a.sh"})), DONE)
    assert "needs /opt/none/zzsh, which is not installed here" in result.steps[1].observation
