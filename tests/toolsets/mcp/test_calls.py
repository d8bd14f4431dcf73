"""Calls: what reaches the server, what comes back, and what a model reads when something is wrong."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.mcp.local_servers import agent_of, code_of, local, steps_of

from react_run import Answer, ScriptedModel, hookimpl
from react_run.testing import calls, says
from react_toolsets.mcp import McpWarning

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ECHO = """
def call(name, arguments, request):
    return text(f"{name} {json.dumps(arguments, sort_keys=True)}")
serve([tool("add", properties={"a": {"type": "integer"}, "self": {"type": "string"}})], call)
"""


def one(workspace: Path, body: str, tool: str = "go", **options: Any) -> str:
    """What a model reads of one call without arguments."""
    [step] = asyncio.run(steps_of(agent_of(workspace, [local(workspace, body, **options)], (tool, {}))))
    return f"{code_of(step)}: {step.observation}" if code_of(step) else step.observation


def answering(result: str, listed: str = "tool('go')") -> str:
    return f"serve([{listed}], lambda name, arguments, request: {result})"


def test_arguments_reach_the_server_repaired_whatever_their_names(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, ECHO)], ("add", {"a": "3", "self": "me", "__call": 1}))
    [step] = asyncio.run(steps_of(agent))
    assert step.observation.startswith('add {"__call": 1, "a": 3, "self": "me"}')
    assert 'a: "3" was read as 3' in step.observation


def test_text_of_all_blocks_is_one_text_and_structure_is_not_said_twice(workspace: Path) -> None:
    both = """{"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
               "structuredContent": {"three": 3}}"""
    assert one(workspace, answering(both)) == "one\ntwo"


def test_structure_alone_is_given_as_json(workspace: Path) -> None:
    assert one(workspace, answering("{'content': [], 'structuredContent': {'three': 3}}")) == '{"three": 3}'


def test_an_image_is_kept_in_a_file_and_the_model_reads_where(workspace: Path) -> None:
    data = base64.b64encode(b"not really a picture").decode()
    image = f"{{'content': [{{'type': 'image', 'mimeType': 'image/png', 'data': '{data}'}}]}}"
    read = one(workspace, answering(image))
    assert read.startswith("[image image/png, 20 bytes, saved as .react-run/runs/")
    [path] = workspace.glob(".react-run/runs/*/mcp/*.png")
    assert path.read_bytes() == b"not really a picture"
    assert str(path.relative_to(workspace)) in read


@pytest.mark.parametrize(("reads", "sent"), [(["image/*"], True), ([], False)])
def test_a_picture_reaches_a_model_that_reads_pictures(workspace: Path, reads: list[str], sent: bool) -> None:
    data = base64.b64encode(PIXEL).decode()
    text = "{'type': 'text', 'text': 'Look:'}"
    image = f"{{'content': [{text}, {{'type': 'image', 'mimeType': 'image/png', 'data': '{data}'}}]}}"
    agent = agent_of(workspace, [local(workspace, answering(image))], ("go", {}))
    model = ScriptedModel(replies=[calls(("go", {})), says("A dot.")], reads=reads)
    asyncio.run(steps_of(agent.replace(model=model)))
    messages = model.requests[-1].messages
    said = [message.text for message in messages if message.role == "tool"]
    assert re.match(r"Look:\n\[image image/png, 70 bytes, saved as \.react-run/runs/\w+/mcp/\w+\.png\]", said[0])
    carried = [
        part for m in messages if not isinstance(m.content, str) for part in m.content if isinstance(part, Mapping)
    ]
    assert any(part.get("type") == "image_url" for part in carried) is sent


def test_what_is_meant_for_the_user_only_is_left_out(workspace: Path) -> None:
    block = "{'type': 'text', 'text': 'psst', 'annotations': {'audience': ['user']}}"
    assert one(workspace, answering(f"{{'content': [{block}]}}")) == "[text meant for the user only: left out]"


def test_links_and_embedded_resources_are_told(workspace: Path) -> None:
    link = "{'type': 'resource_link', 'uri': 'file:///a.txt', 'name': 'a', 'mimeType': 'text/plain'}"
    embedded = "{'type': 'resource', 'resource': {'uri': 'file:///b', 'text': 'inside'}}"
    read = one(workspace, answering(f"{{'content': [{link}, {embedded}]}}"))
    assert read == "[resource file:///a.txt a text/plain]\ninside"


def test_an_error_of_the_tool_is_a_failed_call_that_other_arguments_may_mend(workspace: Path) -> None:
    body = answering("text('no such issue', isError=True)")
    agent = agent_of(workspace, [local(workspace, body)], ("go", {}))
    [step] = asyncio.run(steps_of(agent))
    assert (code_of(step), step.observation, step.opaque) == ("mcp_error", "Error: no such issue", True)


def test_an_error_of_the_protocol_is_a_failed_call(workspace: Path) -> None:
    assert one(workspace, answering("refuse(request, -32602, 'no such tool')")) == "mcp_error: Error: no such tool"


def test_structure_that_breaks_its_promise_says_that_the_tool_ran(workspace: Path) -> None:
    listed = "tool('go', outputSchema={'type': 'object', 'properties': {'n': {'type': 'integer'}}})"
    read = one(workspace, answering("text('x', structuredContent={'n': 'many'})", listed))
    assert read.startswith("invalid_result: Error: the tool ran, but")
    assert one(workspace, answering("text('bad', isError=True)", listed), name="b") == "mcp_error: Error: bad"


def test_what_does_not_fit_the_protocol_is_said_to_be_so(workspace: Path) -> None:
    assert one(workspace, answering("{'content': 5}")).startswith("server_protocol: Error: the MCP server demo sent")


def test_names_that_providers_refuse_are_mapped_and_the_server_gets_its_own(workspace: Path) -> None:
    long = "x" * 100
    body = f"""
    names = ["a.b", "a/b", {long!r}, "activate_tool_skill", "__call"]
    serve([tool(name) for name in names], lambda name, arguments, request: text(name))
    """
    toolset = local(workspace, body)
    ours = [tool.name for tool in toolset.tools()]
    assert len(set(ours)) == 5
    assert all(len(name) <= 64 and set("./").isdisjoint(name) for name in ours)
    assert ours == [tool.name for tool in local(workspace, body).tools()]
    steps = asyncio.run(steps_of(agent_of(workspace, [toolset], [(name, {}) for name in ours])))
    assert [step.observation for step in steps] == ["a.b", "a/b", long, "activate_tool_skill", "__call"]


def test_a_tool_with_an_unusable_schema_is_left_out_and_the_others_stay(workspace: Path) -> None:
    body = """
    bad = {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://x/y"}}}}
    serve([tool("good"), bad])
    """
    with pytest.warns(McpWarning) as warned:
        assert [tool.name for tool in local(workspace, body).tools()] == ["good"]
    [warning] = warned
    assert str(warning.message).startswith("the tool 'bad' of the MCP server demo is left out: ")


def test_two_servers_with_the_same_tools_work_side_by_side(workspace: Path) -> None:
    body = answering("text(sys.argv[0][-4])")
    both = [local(workspace, body, name=name, prefix=None) for name in ("x", "y")]
    steps = asyncio.run(steps_of(agent_of(workspace, both, [("x__go", {}), ("y__go", {})])))
    assert [step.observation for step in steps] == ["x", "y"]


def test_include_and_exclude_choose_tools_by_the_servers_names(workspace: Path) -> None:
    body = "serve([tool('read.a'), tool('read.b'), tool('write')])"
    toolset = local(workspace, body, include=["read.*"], exclude=["*b"])
    assert [tool.name for tool in toolset.tools()] == ["read_a"]


def test_hints_grant_nothing_and_bad_news_is_believed(workspace: Path) -> None:
    body = """
    serve([tool("claims", annotations={"readOnlyHint": True, "idempotentHint": True}),
           tool("warns", annotations={"readOnlyHint": False}),
           tool("breaks", annotations={"readOnlyHint": True, "destructiveHint": True}), tool("silent")])
    """

    def flags(**options: Any) -> dict[str, object]:
        tools = local(workspace, body, **options).tools()
        return {tool.name: (tool.read_only, tool.idempotent) for tool in tools}

    careful = {"claims": (None, False), "warns": (False, False), "breaks": (False, False), "silent": (None, False)}
    assert flags() == careful
    assert flags(trust_hints=True)["claims"] == (True, True)
    assert flags(read_only=["sil*"], changes=["claims"]) == {
        **careful,
        "claims": (False, False),
        "silent": (True, False),
    }


@pytest.mark.parametrize(("options", "asked"), [({}, 1), ({"trust_hints": True}, 0), ({"read_only": ["claims"]}, 0)])
def test_a_claim_to_change_nothing_does_not_pass_permissions(
    workspace: Path, options: dict[str, Any], asked: int
) -> None:
    questions: list[object] = []

    class Nobody:
        @hookimpl
        def react_ask(self, question: object) -> Answer:
            questions.append(question)
            return Answer("no")

    body = "serve([tool('claims', annotations={'readOnlyHint': True})], lambda name, arguments, request: text('ran'))"
    toolset = local(workspace, body, **options)
    plugins = [{"kind": "approval", "default": "ask"}, Nobody()]
    agent = agent_of(workspace, [toolset], ("claims", {}), plugins=plugins)
    [step] = asyncio.run(steps_of(agent))
    assert len(questions) == asked
    assert (step.observation == "ran") is not bool(asked)


def test_all_pages_of_tools_are_read(workspace: Path) -> None:
    body = """
    def page(request):
        number = int(request.get("params", {}).get("cursor", 0))
        return {"tools": [tool(f"t{number}")], **({"nextCursor": str(number + 1)} if number < 2 else {})}
    serve(page)
    """
    assert [tool.name for tool in local(workspace, body).tools()] == ["t0", "t1", "t2"]


@pytest.mark.parametrize(("cursor", "why"), [("'again'", "is circular"), ("str(next(n))", "than 100 pages")])
def test_pages_without_end_leave_the_server_out(workspace: Path, cursor: str, why: str) -> None:
    endless = f"""
    import itertools
    n = itertools.count()
    serve(lambda request: {{'tools': [tool('t')], 'nextCursor': {cursor}}})
    """
    with pytest.warns(McpWarning, match=f"left out: the MCP server demo breaks the protocol: .* {why}"):
        assert local(workspace, endless).tools() == []


def test_a_huge_result_is_spilled_like_any_other(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, answering("text('x' * 3_000_000)"))], ("go", {}))
    [step] = asyncio.run(steps_of(agent))
    assert len(step.observation) < 100_000
    assert max(path.stat().st_size for path in workspace.rglob("*") if path.is_file()) >= 3_000_000


def test_progress_is_an_event_of_the_call(workspace: Path) -> None:
    heard = []

    class Listener:
        @hookimpl
        def react_tool_progress(self, done: float, total: float, message: str) -> None:
            heard.append((done, total, message))

    body = """
    def call(name, arguments, request):
        token = request["params"]["_meta"]["progressToken"]
        send({"method": "notifications/progress",
              "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half"}})
        return text("done")
    serve([tool("go")], call)
    """
    agent = agent_of(workspace, [local(workspace, body)], ("go", {}), plugins=[Listener()])
    [step] = asyncio.run(steps_of(agent))
    assert (step.observation, heard) == ("done", [(1, 2, "half")])
