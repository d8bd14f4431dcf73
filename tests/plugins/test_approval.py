"""The plugin ``approval``, that is ``permissions:``: nothing that asks for a person runs without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fired import Fired
from tests.plugins.traces import Person, Proceed, Traces, failing

from react_plugins.approval import Approval
from react_plugins.approval_rules import Rule
from react_plugins.cache import Cache
from react_plugins.retry import Retry
from react_run import (
    PluginError,
    ReActAgent,
    Run,
    RunResult,
    StopReason,
    Tool,
    ToolCall,
    ToolError,
    ToolRequest,
    hookimpl,
    tool,
)
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.files.toolset import FilesToolset

WRITE = [calls(("write", {"path": "a", "text": "hello"})), says("done")]


def writing(
    *plugins: object, traces: Traces | None = None, replies: Sequence[object] = WRITE, **config: Any
) -> RunResult:
    """One run of a new agent that writes."""
    return run_agent(replies, tools=(traces or Traces()).tools(), plugins=plugins, **config)


SPELLINGS = ["n/x", "./n/x", "n//x", ".//n/./x", "m/../n/x", "n\\x"]
STEERING = ["; rm -r .", "&& a", "| sh", "$(a)", "`a`", "> .bashrc", "< a", "\na", "& a", "{a,b}", "(a)"]
LINES = {"arguments": {"line": "git log*"}, "action": "allow"}


def call_of(tool: Tool, arguments: dict[str, object]) -> ToolCall:
    """A call that only rules look at."""
    request = ToolRequest(id="1", name=tool.name, arguments=arguments)
    return ToolCall(
        run=cast("Run", None), request=request, tool=tool, prepared=tool.prepare(arguments), arguments=arguments
    )


DENY_N = [{"arguments": {"path": "n/*"}, "action": "deny"}]


@pytest.mark.parametrize(
    "path",
    [*SPELLINGS, "N/x", "n/X", "\uff4e/x", "n", "n/", "./N", str(Path.cwd() / "n" / "x"), f"{Path.cwd()}/m/../n/x"],
)
def test_a_rule_that_denies_sees_every_spelling(path: str) -> None:
    read = next(tool for tool in Traces().tools() if tool.name == "read")
    call = call_of(read, {"path": path})
    assert Approval(rules=[Rule.model_validate(rule) for rule in DENY_N]).action_for(call) == "deny"


@pytest.mark.parametrize(("pattern", "denied"), [("n*", True), ("*", True), ("N/", True), ("m*", False)])
def test_a_rule_that_denies_sees_defaults(pattern: str, denied: bool) -> None:
    @tool(read_only=True)
    def look(path: str = "n") -> str:
        """Look."""
        return path

    call = call_of(Tool.from_function(look, read_only=True), {})
    rule = Rule(arguments={"path": pattern}, action="deny")
    assert (Approval(rules=[rule]).action_for(call) == "deny") is denied


@pytest.mark.parametrize(
    "line",
    [
        *("cat notes/x ../y", "cat notes/x --out=../y", "cat notes/x '../y'", "cat notes/a:../y", "cat notes/\r../y"),
        *("cat notes/.\\./y", "cat notes/x .''./y", 'cat notes/x "."./y', "cat notes/x .?/y", "cat notes/x .*"),
        *("cat notes/x .[.]/y", "cat notes/x ..*/y", "cat notes/x \\.\\./y"),
    ],
)
def test_what_climbs_is_not_allowed_by_a_pattern_that_does_not(line: str) -> None:
    def carry_out(line: str) -> str:
        """Carry it out."""
        return line

    run = Tool.from_function(carry_out, runs_programs=True)
    call = call_of(run, {"line": line})
    assert Approval(rules=[Rule(arguments={"line": "cat notes/*"}, action="allow")]).action_for(call) == "ask"


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("cat *", "cat ./notes/x"),
        ("cat *", "cat .gitignore"),
        ("cat *", "cat *.md 'two words'"),
        ("go *", "go test ./..."),
        ("git *", "git log main..dev"),
        ("cat ../*", "cat ../y"),
        ("ls .*", "ls .*"),
    ],
)
def test_what_does_not_climb_is_allowed_as_ever(pattern: str, line: str) -> None:
    def carry_out(line: str) -> str:
        """Carry it out."""
        return line

    call = call_of(Tool.from_function(carry_out, runs_programs=True), {"line": line})
    assert Approval(rules=[Rule(arguments={"line": pattern}, action="allow")]).action_for(call) == "allow"


# -- the rules -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "name", "arguments", "action"),
    [
        ([], "read", {"path": "a"}, "allow"),
        ([], "write", {"path": "a"}, "ask"),
        ([], "other", {"path": "a"}, "ask"),
        ([{"tool": "read", "action": "deny"}], "read", {"path": "a"}, "deny"),
        ([{"tool": "r*", "action": "ask"}], "read", {"path": "a"}, "ask"),
        ([{"tool": "R*", "action": "deny"}], "read", {"path": "a"}, "allow"),
        ([{"tool": "write", "action": "allow"}, {"action": "deny"}], "write", {"path": "a"}, "allow"),
        ([{"tool": "write", "action": "allow"}, {"action": "deny"}], "read", {"path": "a"}, "deny"),
        ([{"tool": "write", "arguments": {"path": "n/*"}, "action": "allow"}], "write", {"path": "n/x"}, "allow"),
        ([{"tool": "write", "arguments": {"path": "n/*"}, "action": "allow"}], "write", {"path": "m/x"}, "ask"),
        ([{"tool": "write", "arguments": {"path": "n/*"}, "action": "allow"}], "write", {"path": "n/../x"}, "ask"),
        ([{"tool": "write", "arguments": {"path": "n/*"}, "action": "allow"}], "write", {"path": "n/..\\x"}, "ask"),
        ([{"tool": "write", "arguments": {"path": "n/*"}, "action": "deny"}], "write", {"path": "n/../x"}, "deny"),
        ([{"tool": "write", "arguments": {"path": "../n/*"}, "action": "allow"}], "write", {"path": "../n/x"}, "allow"),
        *[([{"arguments": {"path": "n/*"}, "action": "deny"}], "read", {"path": path}, "deny") for path in SPELLINGS],
        ([{"arguments": {"path": "./n/*"}, "action": "ask"}], "read", {"path": "n/x"}, "ask"),
        ([{"arguments": {"path": "n/*"}, "action": "deny"}], "read", {"path": "n/../x"}, "deny"),
        ([{"arguments": {"path": "n/*"}, "action": "deny"}], "read", {"path": "m/x"}, "allow"),
        ([{"arguments": {"mode": "*"}, "action": "allow"}], "write", {"path": "a"}, "ask"),
        ([{"tool": "write", "action": "allow"}], "write", {}, "ask"),
        ([{"tool": "read", "action": "allow"}], "read", {}, "allow"),
        ([{"tool": "none", "action": "allow"}], "none", {}, "allow"),
        ([{"arguments": {"argv": "git *"}, "action": "allow"}], "run", {"argv": ["git", "log"]}, "allow"),
        ([{"arguments": {"argv": "git log"}, "action": "allow"}], "run", {"argv": ["git log"]}, "ask"),
        ([LINES], "shell", {"line": "git log -1"}, "allow"),
        *[([LINES], "shell", {"line": f"git log {more}"}, "ask") for more in STEERING],
        (
            [{"arguments": {"line": "git log | head*"}, "action": "allow"}],
            "shell",
            {"line": "git log | head -1"},
            "allow",
        ),
        ([LINES], "other", {"line": "git log; a"}, "allow"),
        ([{"arguments": {"deep.er": "x"}, "action": "allow"}], "run", {"deep": {"er": "x"}}, "allow"),
        ([{"arguments": {"deep.er": "x"}, "action": "allow"}], "run", {"deep": "er"}, "ask"),
        ([{"arguments": {"flag": "true"}, "action": "deny"}], "run", {"flag": True}, "deny"),
    ],
)
def test_the_first_rule_that_applies_decides(
    rules: list[dict[str, Any]], name: str, arguments: dict[str, object], action: str
) -> None:
    @tool
    def run(argv: list[str] | None = None, deep: object = None, flag: bool = False) -> str:
        """Run."""
        return ""

    @tool(runs_programs=True)
    def shell(line: str) -> str:
        """Run a line."""
        return ""

    @tool
    def none() -> str:
        """Take nothing."""
        return ""

    decided: list[str] = []

    class Looks(Approval):
        def action_for(self, call: ToolCall) -> Any:
            decided.append(super().action_for(call))
            return "deny"

    @tool(read_only=True)
    def read(path: str = "") -> str:
        """Read."""
        return ""

    @tool(read_only=False)
    def write(path: str = "") -> str:
        """Write."""
        return ""

    @tool
    def other(path: str = "", line: str = "") -> str:
        """Do."""
        return ""

    approval = Looks(rules=[Rule(**rule) for rule in rules])
    run_agent(
        [calls((name, arguments)), says("done")], tools=[run, shell, none, read, write, other], plugins=[approval]
    )
    assert decided == [action]


def test_permissions_in_an_agent_file_become_this_plugin() -> None:
    rules = [{"tool": "write", "action": "deny"}]
    agent = agent_with(WRITE, tools=Traces().tools(), permissions=rules)
    result = agent.run_sync("go")
    assert result.steps[0].error_code == "denied"
    assert "may not be called" in result.steps[0].observation


# -- a person decides ------------------------------------------------------------------------------------------------


def test_yes_lets_one_call_run_and_no_keeps_it_from_running() -> None:
    for answer, written in (("yes", ["a"]), ("no", [])):
        traces, person = Traces(), Person.saying(answer)  # type: ignore[arg-type]  # one of the answers
        result = writing(person, traces=traces)
        assert traces.writes == written
        assert len(person.questions) == 1
        assert result.steps[0].executed is bool(written)


def test_the_model_is_told_of_a_refusal_and_the_same_call_is_not_asked_again() -> None:
    person, traces = Person.saying("no"), Traces()
    replies = [
        calls(("write", {"path": "a"})),
        calls(("write", {"path": "a"})),
        calls(("read", {"path": "a"})),
        says("no"),
    ]
    result = writing(person, traces=traces, replies=replies, failure_handling="legacy")
    assert [step.error_code for step in result.steps] == ["declined", "declined", None]
    assert "declined this call" in result.steps[0].observation
    assert len(person.questions) == 1


def test_always_is_about_exactly_these_arguments_in_this_run() -> None:
    person, traces = Person.saying("always", "no"), Traces()
    replies = [
        calls(("write", {"path": "a", "text": "1"})),
        calls(("write", {"text": "1", "path": "a"})),
        calls(("write", {"path": "a", "text": "2"})),
        says("done"),
    ]
    agent = agent_with(replies, tools=traces.tools(), plugins=[person], failure_handling="legacy")
    agent.run_sync("go")
    assert traces.writes == ["a", "a"]
    assert len(person.questions) == 2
    agent.run_sync("go")
    assert len(person.questions) == 4


def test_always_may_hold_for_as_long_as_the_agent_lives() -> None:
    person, traces = Person.saying("always", "no", remember="agent"), Traces()
    agent = agent_with(WRITE, tools=traces.tools(), plugins=[person])
    agent.run_sync("go")
    agent.run_sync("go")
    assert (traces.writes, len(person.questions)) == (["a", "a"], 1)


@pytest.mark.parametrize("answer", [False, True, "No", "sure", "", 0])
def test_an_answer_that_is_no_clear_word_is_no_permission(answer: Any) -> None:
    class Unclear(Approval):
        async def ask(self, run: Run, call: ToolCall) -> Any:
            return answer

    traces = Traces()
    with pytest.raises(PluginError, match=r"Unclear.ask answered .* about write; return yes, always, no, or None"):
        writing(Unclear(), traces=traces)
    assert traces.writes == []


def test_without_anybody_to_ask_the_run_ends_and_says_what_it_needs() -> None:
    for mode in ("safe", "legacy"):
        traces = Traces()
        result = writing(Person.saying(None), traces=traces, failure_handling=mode)
        assert result.stop_reason == StopReason.CLARIFICATION_REQUIRED
        assert "write needs approval" in result.answer
        assert (traces.writes, result.success) == ([], False)


def test_other_calls_of_the_same_reply_still_finish() -> None:
    traces = Traces()
    replies = [calls(("write", {"path": "a"}), ("read", {"path": "b"})), says("done")]
    result = writing(Person.saying(None), traces=traces, replies=replies)
    assert traces.reads == ["b"]
    assert [step.executed for step in result.steps] == [False, True]


def test_allowing_changes_answers_for_the_person_but_not_for_a_rule_that_denies() -> None:
    traces, fired = Traces(), Fired()
    approval = Approval(allow_changes=True, rules=[Rule(tool="other", action="deny")])
    replies = [calls(("write", {"path": "a"}), ("other", {"path": "b"})), says("done")]
    writing(approval, fired, traces=traces, replies=replies)
    assert (traces.writes, traces.others) == (["a"], [])
    assert "write: allowed without asking" in fired.of("approval")


def test_a_call_that_hides_its_arguments_is_refused_and_the_model_told_why() -> None:
    wiped: list[str] = []

    @tool
    def wipe(path: str = "everything") -> str:
        """Wipe a path."""
        wiped.append(path)
        return "wiped"

    replies = [calls(("wipe", {})), calls(("wipe", {"path": "a"})), says("done")]
    result = run_agent(replies, tools=[wipe], plugins=[Approval(allow_changes=True)])
    assert "Name what you mean" in result.steps[0].observation
    assert (wiped, result.success) == (["a"], True)


def test_time_with_a_person_counts_towards_no_deadline() -> None:  # T2
    class Slow(Person):
        async def ask(self, run: Run, call: ToolCall) -> Any:
            answer = await super().ask(run, call)
            await asyncio.sleep(0.3)
            return answer

    result = writing(Slow.saying("yes"), run_timeout=0.25, tool_timeout=0.2)
    assert (result.stop_reason, result.steps[0].observation) == (StopReason.COMPLETED, "written")


def test_a_question_shows_every_argument_and_steers_no_terminal() -> None:
    person = Person.saying("no")
    hostile = "\x1b[2J\r\u202ey\x07\nAllow it? y"
    writing(person, replies=[calls(("write", {"path": hostile, "text": "t"})), says("done")])
    (question,) = person.questions
    assert question.count("\n") == 4
    assert not {"\x1b", "\r", "\x07", "\u202e"} & set(question)
    assert "text" in question


def test_a_question_masks_secrets() -> None:
    person = Person.saying("no")
    agent = agent_with(WRITE, tools=Traces().tools(), plugins=[person])
    agent.config.masker.add("hello")
    agent.run_sync("go")
    assert "hello" not in person.questions[0]


# -- tried to be got round -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("approval_first", [True, False])
def test_with_retry_and_approval_in_either_order_the_person_is_asked_once_per_call(approval_first: bool) -> None:
    flaky, attempts = failing(ValueError(), ValueError(), read_only=None)
    person, retry = Person.saying("yes"), Retry(first_wait=0)
    plugins = [person, retry] if approval_first else [retry, person]
    result = run_agent([calls(("flaky", {"x": 1})), says("done")], tools=[flaky], plugins=plugins)
    assert (len(attempts), len(person.questions), result.steps[0].observation) == (3, 1, "fine")


@pytest.mark.parametrize("approval_first", [True, False])
def test_a_declined_call_is_not_retried(approval_first: bool) -> None:
    person, retry, traces = Person.saying("no"), Retry(first_wait=0, changing=["*"]), Traces()
    writing(*([person, retry] if approval_first else [retry, person]), traces=traces)
    assert (traces.writes, len(person.questions)) == ([], 1)


@pytest.mark.parametrize("approval_first", [True, False])
def test_a_cached_result_is_asked_about_like_the_call_itself(approval_first: bool) -> None:
    cache, traces = Cache(), Traces("secret plans")
    replies: list[object] = [calls(("read", {"path": "a"})), says("done")]
    writing(cache, traces=traces, replies=replies)
    person = Person.saying("no", rules=[Rule(tool="read", action="ask")])
    result = writing(*([person, cache] if approval_first else [cache, person]), traces=traces, replies=replies)
    assert len(person.questions) == 1
    assert "secret plans" not in result.steps[0].observation


class ChangesWhileAsking:
    """A bug: arguments are swapped between the question and the call."""

    def __init__(self, how: str) -> None:
        self.how = how

    @hookimpl
    async def react_tool_permit(self, call: ToolCall) -> None:
        await asyncio.sleep(0)
        if self.how == "in place":
            call.arguments["path"] = "/etc/passwd"
        elif self.how == "replaced":
            call.arguments = {"path": "/etc/passwd"}
        elif self.how == "prepared":
            assert call.tool is not None
            call.arguments = {"path": "/etc/passwd"}
            call.prepared = call.tool.prepare(dict(call.arguments))
        else:
            call.tool = Tool.from_function(tool(read_only=True)(lambda path, text="": "stolen"), name="write")


@pytest.mark.filterwarnings("ignore:tool 'write' has")
@pytest.mark.parametrize("how", ["in place", "replaced", "prepared", "tool"])
@pytest.mark.parametrize("approval_first", [True, False])
def test_what_runs_is_what_was_approved_or_nothing(how: str, approval_first: bool) -> None:
    traces, person, bug = Traces(), Person.saying("yes"), ChangesWhileAsking(how)
    result = writing(*([person, bug] if approval_first else [bug, person]), traces=traces)
    assert traces.writes == []
    assert "changed while waiting for permission" in result.steps[0].observation


def test_a_plugin_that_breaks_while_permission_is_asked_keeps_the_tool_from_running() -> None:
    class Breaks:
        @hookimpl
        def react_tool_permit(self) -> None:
            raise KeyError("bug")

    traces = Traces()
    with pytest.raises(KeyError):
        writing(Breaks(), Person.saying("yes"), traces=traces)
    assert traces.writes == []


def test_arguments_that_are_changed_after_a_failure_are_asked_about_anew() -> None:
    class Again:
        @hookimpl
        async def react_tool_call(self, call: ToolCall, proceed: Proceed) -> Any:
            await proceed()
            call.arguments["x"] = 2
            return await proceed()

    flaky, attempts = failing(ToolError("no"))
    person = Person.saying("yes", "no")
    run_agent([calls(("flaky", {"x": 1})), says("done")], tools=[flaky], plugins=[Again(), person])
    assert (attempts, len(person.questions)) == ([1], 2)


def test_two_hundred_runs_at_once_mix_no_approvals() -> None:
    class ByMark(Approval):
        async def ask(self, run: Run, call: ToolCall) -> Any:
            await asyncio.sleep(0)
            return "always" if int(run.prompt) % 2 else "no"

    traces = Traces()
    replies = [calls(("write", {"path": "a"})), calls(("write", {"path": "a"})), says("done")]
    agent = agent_with(replies, tools=traces.tools(), plugins=[ByMark()], failure_handling="legacy")

    async def scenario() -> list[RunResult]:
        return list(await asyncio.gather(*(agent.run(str(mark)) for mark in range(200))))

    results = asyncio.run(scenario())
    for mark, result in enumerate(results):
        assert [step.executed for step in result.steps] == [bool(mark % 2)] * 2


def test_a_subagent_shares_the_decisions_of_the_run_above_it() -> None:
    traces, person = Traces(), Person.saying("always", "no")
    agent = agent_with(WRITE, tools=traces.tools(), plugins=[person])

    class Below:
        """Runs another agent's run below this one, as a subagent does."""

        @hookimpl
        async def react_run(self, run: Run, proceed: Proceed) -> Any:
            inner: ReActAgent = agent_with(WRITE, tools=traces.tools(), plugins=[person, Child(run)])
            await inner.run("go")
            return await proceed()

    class Child:
        def __init__(self, parent: Run) -> None:
            self.parent = parent

        @hookimpl(tryfirst=True)
        def react_guide(self, run: Run) -> None:
            run.parent = self.parent

    agent = agent_with(WRITE, tools=traces.tools(), plugins=[person, Below()])
    agent.run_sync("go")
    assert (traces.writes, len(person.questions)) == (["a", "a"], 1)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "a.txt", "content": "new"}),
        ("write_file", {"path": "./a.txt", "content": "new"}),
        ("edit_file", {"path": "a.txt", "old_text": "old", "new_text": "new"}),
        ("edit_file", {"path": "a.txt", "old_text": "o", "new_text": "n", "everywhere": True}),
    ],
)
def test_always_lets_no_tool_of_the_same_name_with_another_root_pass(
    name: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    person = Person.saying("always", "no")
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
        (root / "a.txt").write_text("old", encoding="utf-8")
    toolsets = [FilesToolset(root=root, read_only=False) for root in roots]
    script = [calls((name, arguments)), says("done")]

    class Below:
        """Runs another agent's run below this one, as a subagent does."""

        @hookimpl
        async def react_run(self, run: Run, proceed: Proceed) -> Any:
            result = await proceed()
            await agent_with(script, toolsets=[toolsets[1]], plugins=[person, Child(run)]).run("go")
            return result

    class Child:
        def __init__(self, parent: Run) -> None:
            self.parent = parent

        @hookimpl(tryfirst=True)
        def react_guide(self, run: Run) -> None:
            run.parent = self.parent

    agent_with(script, toolsets=[toolsets[0]], plugins=[person, Below()]).run_sync("go")
    assert len(person.questions) == 2
    assert (roots[0] / "a.txt").read_text(encoding="utf-8") != "old"
    assert (roots[1] / "a.txt").read_text(encoding="utf-8") == "old"


def test_the_rules_are_documented_options() -> None:
    assert json.loads(json.dumps(Approval.model_json_schema()))["properties"].keys() == {
        "rules",
        "default",
        "remember",
        "allow_changes",
    }
