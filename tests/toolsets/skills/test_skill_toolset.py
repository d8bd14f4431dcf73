"""SKILL.md skills in an agent: selector, body, files and scripts on demand, allowed tools (behaviour D8)."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.skills.child_processes import command_ends

from react_run import (
    ConfigError,
    ReActAgent,
    ReActAgentConfig,
    ReActSkillSpec,
    ReActToolset,
    RunResult,
    ScriptedModel,
    SkillWarning,
    hookimpl,
    tool,
)
from react_run.testing import agent_with, calls, says
from react_toolsets.files import FilesToolset
from react_toolsets.programs.means import best_means
from react_toolsets.skills import SkillToolset

SELECTOR = "activate_tool_skill"
DONE = says("done")


class Things(ReActToolset):
    """Three things to do."""

    grouped: bool = False
    """Whether there is a group for them."""

    @tool(read_only=True)
    def look(self) -> str:
        """Look."""
        return "seen"

    @tool(read_only=True)
    def listen(self) -> str:
        """Listen."""
        return "heard"

    @tool(read_only=False)
    def touch(self) -> str:
        """Touch."""
        return "touched"

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        names = ("look", "listen", "touch")
        return [ReActSkillSpec(name="senses", description="Sense it.", tool_names=names)] if self.grouped else []


def write(folder: Path, name: str, *fields: str, body: str = "Do it well.", **files: str) -> Path:
    """A skill folder; of a file ``scripts__run.sh`` the path is ``scripts/run.sh``."""
    head = "\n".join(["---", f"name: {name}", f"description: About {name}.", *fields, "---"])
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text(f"{head}\n{body}\n")
    for path, text in files.items():
        file = folder / name / path.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / name


def ran(
    folder: Path, *replies: object, toolsets: tuple[ReActToolset, ...] = (), **options: Any
) -> tuple[RunResult, list[Any]]:
    """A run over the skills in ``folder``: its result, and the requests of the model."""
    skills = SkillToolset.from_paths([folder], **options.pop("skills", {}))
    agent = agent_with(replies, toolsets=[*toolsets, skills], **options)
    agent.workspace = folder
    result = agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    return result, agent.model.requests


def offered(request: Any) -> list[str]:
    return [tool.name for tool in request.tools]


def activate(name: str) -> dict[str, object]:
    return calls((SELECTOR, {"skill": name}))


# -- three levels ----------------------------------------------------------------------------------------------------


def test_first_only_name_and_description_are_seen(tmp_path: Path) -> None:
    write(tmp_path, "letters", body="SECRET BODY", references__style_dot_md="SECRET FILE")
    result, requests = ran(tmp_path, DONE)
    assert offered(requests[0]) == [SELECTOR]
    assert "- letters: About letters." in requests[0].tools[0].description
    assert "SECRET" not in json.dumps([tool.wire for tool in requests[0].tools])
    assert all("SECRET" not in message.text for message in requests[0].messages)
    assert result.success


def test_activation_brings_the_body_and_names_the_files(tmp_path: Path) -> None:
    write(
        tmp_path, "letters", "compatibility: Needs patience", body="Be kind. <!-- x -->", references__style_dot_md="S"
    )
    result, requests = ran(tmp_path, activate("letters"), DONE)
    assert json.loads(result.steps[0].observation) == {
        "status": "ok",
        "activated_skill": "letters",
        "active_skills": ["letters"],
        "available_tools": ["read_skill_file"],
        "instructions": "Be kind.",
        "compatibility": "Needs patience",
        "files": ["references/style.md"],
    }
    assert offered(requests[1]) == [SELECTOR, "read_skill_file"]


def test_files_are_read_and_scripts_run_on_demand(tmp_path: Path) -> None:
    write(tmp_path, "letters", references__style_dot_md="No adverbs.", scripts__count_dot_sh='echo "$# $1"')
    result, requests = ran(
        tmp_path,
        activate("letters"),
        calls(("read_skill_file", {"skill": "letters", "path": "references/style.md"})),
        calls(("run_skill_script", {"skill": "letters", "script": "scripts/count.sh", "arguments": ["a b", "c"]})),
        DONE,
    )
    assert [step.observation for step in result.steps[1:]] == ["No adverbs.", "2 a b"]
    assert offered(requests[1]) == [SELECTOR, "read_skill_file", "run_skill_script"]
    assert result.success


def test_a_skill_without_files_needs_no_tools(tmp_path: Path) -> None:
    write(tmp_path, "letters")
    result, requests = ran(tmp_path, activate("letters"), DONE, skill_activation_followup="required")
    assert (offered(requests[1]), requests[1].tool_choice) == ([SELECTOR], None)  # nothing could be required
    assert result.success


@pytest.mark.parametrize("mode", ["all", "skills"])
def test_the_selector_is_there_in_both_modes(tmp_path: Path, mode: str) -> None:
    write(tmp_path, "letters")
    result, requests = ran(tmp_path, activate("letters"), DONE, toolsets=(Things(grouped=True),), tool_disclosure=mode)
    domain = ["look", "listen", "touch"] if mode == "all" else []
    assert sorted(offered(requests[0])) == sorted([SELECTOR, *domain])
    assert sorted(offered(requests[1])) == sorted([SELECTOR, *domain])
    assert result.success


def test_a_skill_file_may_not_be_read_before_activation(tmp_path: Path) -> None:
    write(tmp_path, "open", references__a_dot_md="A")
    write(tmp_path, "shut", references__b_dot_md="B")
    read = {"path": "references/b.md", "skill": "shut"}
    result, _ = ran(
        tmp_path,
        calls(("read_skill_file", read)),
        activate("open"),
        calls(("read_skill_file", read)),
        calls(("read_skill_file", {"path": "x", "skill": "none"})),
        DONE,
        failure_handling="legacy",
    )
    codes = [step.error_code for step in result.steps]
    assert codes == ["tool_not_disclosed", None, "skill_not_active", "skill_not_active"]
    assert not any(step.executed for step in result.steps)


def test_the_report_counts_the_bodies_that_were_not_sent(tmp_path: Path) -> None:  # D7
    for number in range(10):
        write(tmp_path, f"skill-{number}", body="word " * 800)
    result, _ = ran(tmp_path, activate("skill-3"), DONE)
    assert result.disclosure is not None
    assert result.disclosure["prompt_tokens_of_all"] == 20 * 3999 // 4  # two requests, ten bodies of 3 999 characters
    saved = result.disclosure["prompt_tokens_saved"]
    assert isinstance(saved, int)
    assert 17_000 < saved < 19_000


def test_everything_can_be_had_as_one_text(tmp_path: Path) -> None:
    write(tmp_path, "a", body="First body.")
    write(tmp_path, "b", body="Second body.")
    text = SkillToolset.from_paths([tmp_path / "a", str(tmp_path / "b")]).get_combined_system_prompt()
    assert text == "## Skill: a\n\nAbout a.\n\nFirst body.\n\n## Skill: b\n\nAbout b.\n\nSecond body."


# -- allowed-tools ---------------------------------------------------------------------------------------------------


def test_while_only_limited_skills_are_active_other_tools_are_not_offered(tmp_path: Path) -> None:
    write(tmp_path, "careful", "allowed-tools: look", references__a_dot_md="A")
    result, requests = ran(
        tmp_path,
        calls(("touch", {})),
        activate("careful"),
        calls(("touch", {}), ("look", {})),
        DONE,
        toolsets=(Things(),),
        failure_handling="legacy",
    )
    assert set(offered(requests[1])) == {"look", "listen", "touch", SELECTOR}
    assert set(offered(requests[2])) == {"look", "read_skill_file", SELECTOR}
    before, _, after, allowed = result.steps
    assert (before.executed, after.executed, allowed.executed) == (True, False, True)
    assert after.error_code == "tool_not_disclosed"
    assert "careful" in after.observation


def test_limits_add_up_and_end_with_a_skill_that_has_none(tmp_path: Path) -> None:
    write(tmp_path, "one", "allowed-tools: look")
    write(tmp_path, "two", "allowed-tools: listen")
    write(tmp_path, "free")
    _, requests = ran(tmp_path, activate("one"), activate("two"), activate("free"), DONE, toolsets=(Things(),))
    assert [set(offered(request)) - {SELECTOR} for request in requests] == [
        {"look", "listen", "touch"},
        {"look"},
        {"look", "listen"},
        {"look", "listen", "touch"},
    ]


def test_a_limit_of_no_tools_is_none(tmp_path: Path) -> None:  # D8
    write(tmp_path, "think", "allowed-tools:")
    _, requests = ran(tmp_path, activate("think"), DONE, toolsets=(Things(),))
    assert offered(requests[1]) == offered(requests[0])


def test_a_skill_unlocks_tools_of_the_agents_toolsets(tmp_path: Path) -> None:  # one mechanism
    write(tmp_path, "careful", "allowed-tools:", "  - look", "  - listen")
    result, requests = ran(
        tmp_path,
        activate("careful"),
        calls(("look", {})),
        activate("senses"),
        DONE,
        toolsets=(Things(grouped=True),),
        tool_disclosure="skills",
    )
    assert offered(requests[0]) == [SELECTOR]
    assert offered(requests[1]) == [SELECTOR, "look", "listen"]
    assert offered(requests[3]) == [SELECTOR, "look", "listen", "touch"]
    assert result.steps[1].executed


def test_expansion_keeps_the_limit_and_the_selector(tmp_path: Path) -> None:  # D4
    write(tmp_path, "careful", "allowed-tools: look")
    write(tmp_path, "free")
    _, requests = ran(
        tmp_path,
        activate("careful"),
        calls(("look", {})),
        activate("free"),
        DONE,
        toolsets=(Things(grouped=True),),
        tool_disclosure="skills",
        skill_disclosure_progression="expand_after_first_success",
    )
    assert set(offered(requests[2])) == {SELECTOR, "look"}
    assert set(offered(requests[3])) == {SELECTOR, "look", "listen", "touch"}


def test_tools_that_the_agent_does_not_have_are_named_and_never_offered(tmp_path: Path) -> None:
    write(tmp_path, "foreign", "allowed-tools: Lok look Bash(git:*)")
    toolsets = [Things(), SkillToolset.from_paths([tmp_path])]
    with pytest.warns(SkillWarning, match=r"'foreign' names Lok, Bash\(git:\*\).*permissions") as caught:
        agent = agent_with([activate("foreign"), DONE], toolsets=toolsets)
    assert "Did you mean 'look'?" in str(caught[0].message)
    agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    assert set(offered(agent.model.requests[1])) == {SELECTOR, "look"}


# -- configuration ---------------------------------------------------------------------------------------------------


def test_a_skill_that_breaks_a_rule_is_loaded_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "bad", "verion: 1")
    with pytest.warns(SkillWarning, match=r"bad/SKILL\.md:4:1: unknown field 'verion'"):
        toolset = SkillToolset(paths=[tmp_path])
    assert [skill.name for skill in toolset.skills] == ["bad", "good"]


def test_strict_makes_it_an_error(tmp_path: Path) -> None:
    write(tmp_path, "bad", "verion: 1")
    with pytest.raises(ConfigError, match=r"bad/SKILL\.md:4:1"):
        SkillToolset(paths=[tmp_path], strict=True)


def test_two_skills_of_one_name_are_told_when_the_agent_is_built(tmp_path: Path) -> None:  # D6
    write(tmp_path, "senses")
    toolsets = [Things(grouped=True), SkillToolset.from_paths([tmp_path])]
    with pytest.raises(ConfigError, match=r"skill 'senses' of .*senses has the name of one of a toolset; rename one"):
        agent_with([DONE], toolsets=toolsets, tool_disclosure="skills")


def agent_file(folder: Path, text: str) -> Path:
    path = folder / "agent.yaml"
    path.write_text(f"model: {{kind: scripted, replies: [done]}}\n{text}")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "skills: [skills]",
        "toolsets: [{kind: skills, paths: [skills]}]",
        "toolset: {kind: skills, paths: [skills/letters]}",
        "toolset: {kind: rustic_ai.skills.toolset.SkillToolset, skill_paths: [skills/letters]}",
    ],
)
def test_every_way_to_name_skills_starts_at_the_agent_file(tmp_path: Path, text: str) -> None:
    write(tmp_path / "skills", "letters")
    agent = ReActAgent.from_yaml(agent_file(tmp_path, text))
    (toolset,) = agent.config.toolsets
    assert isinstance(toolset, SkillToolset)
    assert [skill.name for skill in toolset.skills] == ["letters"]


@pytest.mark.parametrize(
    ("text", "place"),
    [("skills:\n  - no/such", ":3:5:"), ("toolsets:\n  - kind: skills\n    paths: [no/such]", ":4:13:")],
)
def test_a_directory_that_is_missing_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(ConfigError, match="no/such") as caught:
        ReActAgent.from_yaml(agent_file(tmp_path, text))
    assert f"agent.yaml{place}" in str(caught.value)


def test_strict_mistakes_are_told_with_both_places(tmp_path: Path) -> None:
    write(tmp_path / "skills", "bad", "verion: 1")
    with pytest.raises(ConfigError) as caught:
        ReActAgent.from_yaml(agent_file(tmp_path, "toolsets:\n  - {kind: skills, paths: [skills], strict: true}"))
    assert "agent.yaml:3:5" in str(caught.value)
    assert "bad/SKILL.md:4:1: unknown field 'verion'" in str(caught.value)


@pytest.mark.parametrize("linked", ["letters", "letters/SKILL.md"])
def test_a_link_to_a_skill_outside_of_the_directory_needs_trust(linked: str, tmp_path: Path) -> None:
    write(tmp_path / "private", "letters", references__a_dot_md="A")
    (tmp_path / "agents").mkdir()
    path = agent_file(tmp_path / "agents", "skills: [skills]")
    link = tmp_path / "agents" / "skills" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "private" / linked)
    with pytest.raises(ConfigError, match=r"skills outside its directory through links \(letters\).*react-run trust"):
        ReActAgentConfig.from_yaml(path, trusted=False)
    ReActAgentConfig.from_yaml(path)


def test_scripts_need_a_trusted_directory_and_the_rest_of_a_skill_does_not(tmp_path: Path) -> None:
    write(tmp_path / "skills", "letters", references__a_dot_md="A", scripts__run_dot_sh="echo")
    path = agent_file(tmp_path, "skills: [skills]")
    with pytest.raises(ConfigError, match=r"runs the scripts of skills \(letters\).*react-run trust"):
        ReActAgentConfig.from_yaml(path, trusted=False)
    ReActAgentConfig.from_yaml(path, trusted=True)
    path = agent_file(tmp_path, "toolsets: [{kind: skills, paths: [skills], scripts: false}]")
    (toolset,) = ReActAgentConfig.from_yaml(path, trusted=False).toolsets
    assert [tool.name for tool in toolset.tools()] == ["read_skill_file"]


# -- files -----------------------------------------------------------------------------------------------------------

PATHS = [json.loads(line) for line in (Path(__file__).parents[2] / "cases" / "paths.jsonl").read_text().splitlines()]


@contextmanager
def tree(folder: Path, spec: dict[str, Any]) -> Iterator[Path]:
    root = write(folder, "letters")
    for name in spec["dirs"]:
        (root / name).mkdir(parents=True)
    for name, text in [*spec["files"].items(), *spec["outside"].items()]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name, target in spec["links"].items():
        (root / name).symlink_to(target)
    for name in spec["fifo"]:
        os.mkfifo(root / name)
    yield folder


@pytest.mark.parametrize(
    "case", [case for case in PATHS[1:] if case["op"] == "read"], ids=lambda case: case["path"][:30]
)
def test_only_files_inside_the_skill_are_read(case: dict[str, Any], tmp_path: Path) -> None:
    with tree(tmp_path / "skills", PATHS[0]["tree"]) as folder:
        read = calls(("read_skill_file", {"skill": "letters", "path": case["path"]}))
        result, _ = ran(folder, activate("letters"), read, DONE)
    step = result.steps[1]
    assert step.failed == (case["expect"] == "block"), step.observation
    assert "CANARY" not in step.observation
    assert step.error_code == (None if case["reason"] == "inside" else case["reason"])


@pytest.mark.parametrize(
    "path", ["pipe", "sub", "sub/", ".", "", " ", "link_in/b.txt", "sub/up/a.txt", "loop", "a.txt/b"]
)
def test_what_is_no_plain_file_is_not_read(path: str, tmp_path: Path) -> None:
    with tree(tmp_path / "skills", PATHS[0]["tree"]) as folder:
        result, _ = ran(
            folder, activate("letters"), calls(("read_skill_file", {"skill": "letters", "path": path})), DONE
        )
    assert result.steps[1].failed
    assert "Traceback" not in result.steps[1].observation


def test_a_file_that_is_no_text_says_so(tmp_path: Path) -> None:
    (write(tmp_path, "letters") / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    result, _ = ran(
        tmp_path, activate("letters"), calls(("read_skill_file", {"skill": "letters", "path": "logo.png"})), DONE
    )
    assert result.steps[1].error_code == "binary_file"


def test_a_file_that_is_too_large_says_so(tmp_path: Path) -> None:
    (write(tmp_path, "letters") / "big.txt").write_text("x" * 1_100_000)
    result, _ = ran(
        tmp_path, activate("letters"), calls(("read_skill_file", {"skill": "letters", "path": "big.txt"})), DONE
    )
    assert result.steps[1].error_code == "too_large"


# -- scripts ---------------------------------------------------------------------------------------------------------


def script(folder: Path, text: str, name: str = "run.sh", **options: Any) -> Any:
    """The step of running this script of a skill, with no arguments."""
    write(folder, "letters", **{f"scripts__{name}".replace(".", "_dot_"): text})
    run = calls(("run_skill_script", {"skill": "letters", "script": f"scripts/{name}"}))
    result, _ = ran(folder, activate("letters"), run, DONE, skills=options)
    return result.steps[1]


def test_scripts_run_in_the_workspace_and_know_their_skill(tmp_path: Path) -> None:
    step = script(tmp_path, 'pwd; echo "$SKILL_DIRECTORY"')
    assert step.observation.splitlines() == [str(tmp_path), str(tmp_path / "letters")]


def test_scripts_see_little_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "CANARY")
    monkeypatch.setenv("PYTHONPATH", "CANARY")
    monkeypatch.setenv("LC_TIME", "C")
    text = script(tmp_path, "env", environment={"REGION": "eu"}).observation
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert "CANARY" not in text
    assert {"PATH", "LC_TIME", "REGION", "SKILL_DIRECTORY"} <= names
    shell = {"_", "PWD", "OLDPWD", "SHLVL"}
    known = {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "REGION"}
    ours = {"SKILL_DIRECTORY", "PYTHONDONTWRITEBYTECODE"}
    assert {name for name in names if not name.startswith("LC_")} <= known | shell | ours


@pytest.mark.skipif(not best_means(), reason="this system has neither Landlock nor bubblewrap")
@pytest.mark.parametrize(("sandbox", "written"), [(True, ["inside"]), (False, ["inside", "outside"])])
def test_scripts_are_confined_to_the_workspace_where_that_can_be_done(
    tmp_path: Path, sandbox: bool, written: list[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    line = "echo x > inside; echo x > ../outside; cat $SKILL_DIRECTORY/SKILL.md"
    assert "name: letters" in script(folder, line, sandbox=sandbox).observation
    assert [path.name for path in (folder / "inside", tmp_path / "outside") if path.exists()] == written


def test_what_confines_scripts_is_noted_once(tmp_path: Path) -> None:
    write(tmp_path, "letters", scripts__run_dot_sh="echo hello")
    run = calls(("run_skill_script", {"skill": "letters", "script": "scripts/run.sh"}))
    again = calls(("run_skill_script", {"skill": "letters", "script": "scripts/run.sh", "arguments": ["2"]}))
    notes: list[str] = []

    class Listens:
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            notes.append(guard)

    ran(tmp_path, activate("letters"), run, again, DONE, plugins=[Listens()])
    assert notes.count("sandbox") == 1


def test_python_scripts_run_with_our_python(tmp_path: Path) -> None:
    assert script(tmp_path, "import sys; print(sys.executable)", "run.py").observation == sys.executable


def test_an_executable_without_ending_runs_itself(tmp_path: Path) -> None:
    folder = write(tmp_path, "letters", scripts__go="echo gone")
    run = calls(("run_skill_script", {"skill": "letters", "script": "scripts/go"}))
    refused, _ = ran(tmp_path, activate("letters"), run, DONE)
    assert refused.steps[1].error_code == "script_not_started"
    (folder / "scripts" / "go").write_text("#!/bin/sh\necho gone")
    (folder / "scripts" / "go").chmod(0o755)
    result, _ = ran(tmp_path, activate("letters"), run, DONE)
    assert result.steps[1].observation == "gone"


def test_a_script_that_fails_shows_what_it_wrote(tmp_path: Path) -> None:
    step = script(tmp_path, "echo out; echo err >&2; exit 3")
    assert step.error_code == "script_failed"
    assert "ended with status 3" in step.observation
    assert "out\nerr" in step.observation


def test_a_script_that_writes_nothing_says_so(tmp_path: Path) -> None:
    assert script(tmp_path, "true").observation == "(no output)"


def test_a_script_has_nothing_on_its_standard_input(tmp_path: Path) -> None:
    assert script(tmp_path, "cat; echo end").observation == "end"


def test_a_script_is_ended_at_its_deadline_with_all_it_started(tmp_path: Path) -> None:  # T2
    started = time.monotonic()
    step = script(tmp_path, "echo begun; sleep 61.02 & sleep 62.02", script_timeout=0.5)
    assert time.monotonic() - started < 10
    assert step.error_code == "timeout"
    assert "begun" in step.observation
    assert command_ends("sleep", "61.02")
    assert command_ends("sleep", "62.02")


@pytest.mark.parametrize(
    "name",
    [
        "../letters/scripts/run.sh",
        "SKILL.md",
        "references/x.sh",
        "/bin/ls",
        "scripts",
        "scripts/no.sh",
        "scripts/out.sh",
    ],
)
def test_only_files_in_scripts_are_run(name: str, tmp_path: Path) -> None:
    folder = write(tmp_path, "letters", scripts__run_dot_sh="echo ran", references__x_dot_sh="echo ran")
    (tmp_path / "out.sh").write_text("echo ran")
    (folder / "scripts" / "out.sh").symlink_to("../../out.sh")
    result, _ = ran(
        tmp_path, activate("letters"), calls(("run_skill_script", {"skill": "letters", "script": name})), DONE
    )
    assert result.steps[1].failed
    assert "ran" not in result.steps[1].observation.replace("are run", "")


@pytest.mark.parametrize("name", ["run.sh", "new.sh", "lib.py", "__pycache__/lib.pyc"])
def test_what_the_model_wrote_into_scripts_is_not_run(name: str, tmp_path: Path) -> None:
    write(tmp_path, "letters", scripts__run_dot_sh="echo ran", scripts__lib_dot_py="")
    (tmp_path / "letters" / "scripts" / "__pycache__").mkdir()
    script = "run.sh" if name != "new.sh" else name
    wanted = calls(
        ("write_file", {"path": f"letters/scripts/{name}", "content": "echo pwned"}),
        ("run_skill_script", {"skill": "letters", "script": f"scripts/{script}"}),
    )
    toolsets = (FilesToolset(read_only=False),)
    result, _ = ran(tmp_path, activate("letters"), wanted, DONE, toolsets=toolsets)
    assert (result.steps[1].failed, result.steps[2].error_code) == (False, "script_changed")
    assert "pwned" not in result.steps[2].observation


def test_an_argument_that_no_program_can_take_is_told(tmp_path: Path) -> None:
    write(tmp_path, "letters", scripts__run_dot_sh="echo ran")
    run = calls(("run_skill_script", {"skill": "letters", "script": "scripts/run.sh", "arguments": ["a\0b"]}))
    result, _ = ran(tmp_path, activate("letters"), run, DONE)
    assert result.steps[1].error_code == "script_not_started"
