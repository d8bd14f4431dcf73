"""What users of other clients complain about, row by row: which test holds each, and those that no other file holds."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.toolsets.mcp.local_servers import Call, agent_of, children, code_of, local, steps_of

from react_run import ConfigError, Recorder, ToolsetError
from react_run.testing import agent_with, says
from react_toolsets.mcp import McpToolset, McpWarning

HERE = Path(__file__).parent
needs_time = pytest.mark.skipif(
    not os.environ.get("REACT_RUN_LONG_TESTS"),
    reason="takes a minute: REACT_RUN_LONG_TESTS=1 runs it, as CI does at night",
)
HELD_BY = {
    "1 cancel scopes": [
        "test_complaints::test_servers_open_and_close_a_hundred_times_from_tasks_threads_and_loops",
    ],
    "2 orphans": [
        "test_complaints::test_reconnects_and_failed_starts_leave_no_process",
        "test_processes::test_nothing_is_left_when_a_run_has_ended",
        "test_processes::test_nothing_is_left_when_a_run_is_ended_by_a_signal",
        "test_processes::test_what_a_server_has_started_ends_with_a_killed_run",
    ],
    "3 hangs": [
        "test_lifecycle::test_a_stopped_server_fails_in_time_and_works_again_when_it_goes_on",
        "test_lifecycle::test_a_server_that_does_not_read_fails_in_time_too",
        "test_lifecycle::test_a_call_that_may_have_taken_effect_is_not_repeated",
    ],
    "4 restarted servers": [
        "test_remote::test_a_server_that_was_restarted_between_calls_just_works",
    ],
    "5 equal names": [
        "test_complaints::test_two_servers_with_one_tool_are_both_named_with_the_way_out",
        "test_calls::test_two_servers_with_the_same_tools_work_side_by_side",
        "test_real::test_two_filesystem_servers_work_in_one_agent",
    ],
    "6 bad and long names": [
        "test_calls::test_names_that_providers_refuse_are_mapped_and_the_server_gets_its_own",
    ],
    "7 unusable schemas": [
        "test_calls::test_a_tool_with_an_unusable_schema_is_left_out_and_the_others_stay",
    ],
    "8 lost images": [
        "test_calls::test_a_picture_reaches_a_model_that_reads_pictures",
        "test_calls::test_an_image_is_kept_in_a_file_and_the_model_reads_where",
    ],
    "9 the same data twice": [
        "test_calls::test_text_of_all_blocks_is_one_text_and_structure_is_not_said_twice",
    ],
    "10 one dead server": [
        "test_lifecycle::test_the_others_go_on_when_one_does_not_start",
        "test_lifecycle::test_required_means_that_there_is_no_agent_without_it",
        "test_lifecycle::test_a_locked_server_that_is_required_starts_with_the_agent_or_it_does_not",
    ],
    "11 context eaten": [
        "test_complaints::test_five_servers_cost_a_first_request_two_kilobytes",
    ],
    "12 pages": [
        "test_calls::test_all_pages_of_tools_are_read",
        "test_calls::test_pages_without_end_leave_the_server_out",
    ],
    "13 list_changed": [
        "test_lifecycle::test_a_list_that_changes_is_noted_and_read_again",
        "test_lock::test_a_tool_that_changes_during_the_run_is_refused_from_then_on",
    ],
    "14 environment": [
        "test_servers::test_a_server_gets_few_variables_and_those_that_it_is_given",
        "test_servers::test_a_variable_that_is_not_set_is_an_error_of_the_file",
    ],
    "15 OAuth": [
        "test_remote::test_an_expired_token_is_replaced_without_a_browser",
        "test_remote::test_a_token_that_is_refused_for_good_is_forgotten_and_the_command_is_named",
    ],
    "16 stderr": [
        "test_servers::test_standard_error_goes_to_a_log_and_not_to_the_terminal",
    ],
    "17 progress": [
        "test_lifecycle::test_progress_gives_more_time_but_never_more_than_the_longest",
    ],
    "18 cancelling": [
        "test_lifecycle::test_the_server_hears_that_a_call_was_given_up",
        "test_interrupts::test_a_run_ends_with_130_and_its_server_has_heard_why",
        "test_interrupts::test_a_chat_goes_on_with_the_same_server",
    ],
    "19 changed descriptions": [
        "test_lock::test_a_changed_description_is_refused_before_any_model_sees_it",
        "test_lock::test_new_tools_are_not_offered_and_removed_ones_fail",
    ],
    "20 elicitation": [
        "test_servers::test_a_question_of_the_server_is_put_to_the_user",
        "test_servers::test_nobody_there_is_a_refusal_and_the_run_goes_on",
        "test_servers::test_a_page_is_shown_and_never_opened",
    ],
    "21 huge results": [
        "test_complaints::test_a_result_of_fifty_megabytes_is_kept_whole_and_previewed",
        "test_lines::test_a_server_that_floods_is_ended_and_started_again_for_the_next_call",
        "test_remote::test_a_result_of_megabytes_is_read_and_one_that_is_too_large_is_said_to_be",
    ],
    "22 hints": [
        "test_calls::test_hints_grant_nothing_and_bad_news_is_believed",
        "test_calls::test_a_claim_to_change_nothing_does_not_pass_permissions",
    ],
    "23 untrusted files": [
        "test_processes::test_no_process_is_started_for_a_file_that_is_not_trusted",
        "test_processes::test_every_command_is_tried_with_a_file_that_is_not_trusted",
        "test_lock::test_check_and_explain_start_nothing_with_a_lock_or_without",
    ],
    "24 noise": [
        "test_servers::test_noise_and_broken_bytes_are_skipped_and_noted_once",
    ],
    "25 npx": [
        "test_lifecycle::test_a_slow_start_with_npx_says_what_to_do",
        "test_complaints::test_the_start_of_a_server_is_not_the_time_of_its_first_call",
    ],
    "26 output schemas": [
        "test_calls::test_structure_that_breaks_its_promise_says_that_the_tool_ran",
    ],
    "27 secrets": [
        "test_complaints::test_headers_are_shown_nowhere",
        "test_servers::test_the_values_of_env_are_masked_wherever_they_turn_up",
        "test_lock::test_secrets_are_masked_in_the_lock",
        "test_complaints::test_explain_shows_no_secret",
    ],
    "28 runs and runs": [
        "test_lifecycle::test_a_run_that_is_cancelled_leaves_the_others_alone",
    ],
    "29 threads and loops": [
        "test_lifecycle::test_many_runs_threads_and_loops_share_one_process",
    ],
    "30 recursion": [
        "../openapi/test_documents::test_schemas_that_contain_themselves_build_and_check",
    ],
    "31 styles": [
        "../openapi/test_styles::test_what_is_sent_is_read_as_it_was_meant",
    ],
}


@pytest.mark.parametrize(("complaint", "tests"), HELD_BY.items(), ids=HELD_BY)
def test_every_complaint_is_held_by_tests(complaint: str, tests: list[str]) -> None:
    for test in tests:
        module, _, name = test.partition("::")
        tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, test


def test_no_complaint_is_left_out() -> None:
    assert [int(row.partition(" ")[0]) for row in HELD_BY] == list(range(1, 32))


@pytest.mark.slow
def test_servers_open_and_close_a_hundred_times_from_tasks_threads_and_loops(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """34 rounds of three servers, opened and closed in changing orders, each by a task of its own."""
    agents = [agent_of(workspace, [local(workspace, name=name)], ("ping", {})) for name in ("a", "b", "c")]
    failures: list[BaseException] = []

    async def round_(number: int) -> None:
        for index in (number % 3, (number + 1) % 3, (number + 2) % 3):
            await asyncio.create_task(agents[index].__aenter__())
        assert [len((await agent.run("go")).steps) for agent in agents] == [1, 1, 1]
        for index in (0, 2, 1) if number % 2 else (2, 0, 1):
            await asyncio.create_task(agents[index].__aexit__())

    def work(number: int) -> None:
        try:
            asyncio.run(round_(number))
        except BaseException as error:
            failures.append(error)

    for number in range(34):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    assert failures == []
    assert caplog.records == []


def test_reconnects_and_failed_starts_leave_no_process(workspace: Path) -> None:
    dying = "import os\nserve([tool('go')], lambda name, arguments, request: os._exit(3))"

    async def five_losses() -> None:
        agent = agent_of(workspace, [local(workspace, dying)], ("go", {}))
        async with agent:
            for _ in range(5):
                [step] = (await agent.run("go")).steps
                assert code_of(step) in ("server_gone", "server_unstable")

    asyncio.run(five_losses())
    with pytest.warns(McpWarning, match="not ready"):
        local(workspace, "import time\ntime.sleep(600)", name="slow", start_timeout=1).tools()
    psutil.wait_procs(children(), timeout=3)
    assert children() == []


def test_two_servers_with_one_tool_are_both_named_with_the_way_out(workspace: Path) -> None:
    with pytest.raises(
        (ToolsetError, ConfigError), match="toolsets mcp:one and mcp:two both offer a tool 'ping': give one"
    ):
        agent_of(workspace, [local(workspace, name="one"), local(workspace, name="two")])


def test_five_servers_cost_a_first_request_two_kilobytes(workspace: Path) -> None:
    body = """
    about = {"type": "string", "description": "Something that has to be described. " * 5}
    serve([tool(f"tool_{n}", "Does something. " * 20, properties={"what": about}) for n in range(10)])
    """
    servers = [local(workspace, body, name=f"server-{n}", prefix=f"s{n}_") for n in range(5)]
    agent = agent_of(workspace, servers, tool_disclosure="skills")
    asyncio.run(steps_of(agent))
    first = agent.model.requests[0]  # type: ignore[attr-defined]
    assert len(json.dumps([tool.wire for tool in first.tools])) <= 2_000
    assert len(agent.tools) == 50


def test_a_result_of_fifty_megabytes_is_kept_whole_and_previewed(workspace: Path) -> None:
    """The SDK's reader alone needs 20 s of CPU time for this line, and 0.5 s with our decoder."""
    body = "serve([tool('go')], lambda name, arguments, request: text('x' * 50_000_000))"
    agent = agent_of(workspace, [local(workspace, body, timeout=300)], ("go", {}))
    process = psutil.Process()
    before, began = process.memory_info().rss, time.process_time()
    [step] = asyncio.run(steps_of(agent))
    assert code_of(step) == ""
    assert time.process_time() - began < 10
    assert len(step.observation) < 100_000
    assert process.memory_info().rss - before < 400 * 2**20
    assert max(path.stat().st_size for path in workspace.rglob("*") if path.is_file()) >= 50_000_000


def test_headers_are_shown_nowhere(workspace: Path) -> None:
    options = {"name": "remote", "url": "http://127.0.0.1:9", "headers": {"Authorization": "hunter2000"}}
    toolset = McpToolset.model_validate(options)
    with pytest.warns(McpWarning) as told:
        agent = agent_with([says("done")], toolsets=[toolset])
    agent.replace(journal=Recorder(path=workspace / "run.jsonl")).run_sync("go")
    assert "hunter2000" not in " ".join(str(warning.message) for warning in told)
    assert "hunter2000" not in (workspace / "run.jsonl").read_text()
    assert "hunter2000" not in repr(toolset)


def test_explain_shows_no_secret(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from react_run.cli import main

    monkeypatch.setenv("TRACKER_TOKEN", "hunter2000")
    headers = {"Authorization": "Bearer ${TRACKER_TOKEN}", "X-Key": "literal-4711"}
    remote = {"kind": "mcp", "name": "remote", "url": "https://example.com/mcp", "headers": headers}
    program = {
        "kind": "mcp",
        "name": "here",
        "command": "server",
        "env": {"TOKEN": "${TRACKER_TOKEN}", "B": "other-4711"},
    }
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"toolsets": [remote, program]}))
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit), pytest.warns(McpWarning):
            main(["explain", str(path), "--trust", *more])
        shown = "".join(capsys.readouterr())
        assert "remote" in shown
        assert not [secret for secret in ("hunter2000", "literal-4711", "other-4711") if secret in shown]


CHANGING = """
import itertools
numbers = itertools.count()
def listed(message):
    return {"tools": [tool("go", f"Version {next(numbers)}")]}
serve(listed)
"""


def test_a_list_that_is_different_each_time_is_believed_once(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, CHANGING)], ("go", {}), ("go", {}))
    steps = asyncio.run(steps_of(agent))
    assert [step.observation for step in steps] == ["go", "go"]
    assert {tool.description for tool in agent.tools} == {"Version 0"}


@pytest.mark.parametrize(
    ("seconds", "options"),
    [
        (1.5, {"start_timeout": 60}),
        pytest.param(29, {"start_timeout": 30}, marks=[pytest.mark.slow, needs_time]),  # as long as the default lets it
    ],
)
def test_the_start_of_a_server_is_not_the_time_of_its_first_call(
    workspace: Path, seconds: float, options: dict[str, Any]
) -> None:
    """It is slow each time it starts: when it is asked for its tools, and when the first call finds it dead."""
    body = f"""
    import os, time
    time.sleep({seconds})
    serve([tool("go")], lambda name, arguments, request: text(str(os.getpid())))
    """
    slow = local(workspace, body, timeout=1, read_only=["go"], **options)
    agent = agent_of(workspace, [slow], ("go", {}))
    assert [tool.name for tool in agent.tools] == ["go"]
    first = agent.run_sync("go").steps[0]
    assert code_of(first) == ""
    psutil.Process(int(first.observation)).kill()
    again = agent.run_sync("go").steps[0]
    assert code_of(again) == ""
    assert again.observation != first.observation


def test_an_answer_to_another_request_is_no_answer(workspace: Path) -> None:
    body = """
    def other(name, arguments, request):
        answer({"id": 4711}, text("not for you"))
        answer({"id": str(request["id"]) + "x"}, text("not for you either"))
    serve([tool("go")], other)
    """
    [step] = asyncio.run(steps_of(agent_of(workspace, [local(workspace, body, timeout=0.5)], ("go", {}))))
    assert code_of(step) == "timeout"
    assert "not for you" not in step.observation


def test_tools_with_names_of_ours_are_the_servers_behind_skills(workspace: Path) -> None:
    body = "serve([tool('activate_tool_skill'), tool('__call')], lambda name, arguments, request: text('of ' + name))"
    toolset = local(workspace, body, prefix=None)
    calls: list[Call] = [("activate_tool_skill", {"skill": "demo"}), *((tool.name, {}) for tool in toolset.tools())]
    agent = agent_of(workspace, [toolset], *calls, tool_disclosure="skills")
    steps = asyncio.run(steps_of(agent))
    assert [step.observation for step in steps[1:]] == ["of activate_tool_skill", "of __call"]


def test_a_line_that_is_never_finished_ends_in_a_time_out(workspace: Path) -> None:
    body = """
    def half(name, arguments, request):
        sys.stdout.write('{"jsonrpc": "2.0", "id":')
        sys.stdout.flush()
    serve([tool("go")], half)
    """
    [step] = asyncio.run(steps_of(agent_of(workspace, [local(workspace, body, timeout=0.5)], ("go", {}))))
    assert code_of(step) == "timeout"
