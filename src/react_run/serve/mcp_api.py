"""An agent as an MCP server: the whole agent as one tool, or its tools individually.

Callers are not trusted, so everything happens within runs: permissions, limits and the journal apply as usual.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    ElicitationCapability,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from react_run import __version__
from react_run.agent import ReActAgent
from react_run.engine.one_call import CALLER
from react_run.engine.state import EngineState
from react_run.errors import ReactError
from react_run.hookspecs import hookimpl
from react_run.questions import NO, Answer, Question
from react_run.run import Run, ToolCall

if TYPE_CHECKING:
    from react_run.tools.tool import Tool as OurTool

Context = ServerRequestContext[Any]
_asking: ContextVar[Context | None] = ContextVar("react_run_mcp_client", default=None)
"""The request that the current run belongs to."""
TASK = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "What to do, with all the context it needs."}},
    "required": ["task"],
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "success": {"type": "boolean"},
        "stop_reason": {"type": "string", "description": "Why the run ended, such as completed or timeout."},
        "run_id": {"type": "string", "description": "The id of the run and of its journal."},
    },
    "required": ["answer", "success", "stop_reason", "run_id"],
}


class _Counted:
    """The number of calls of one run so far."""

    def __init__(self) -> None:
        self.calls = 0


class Client:
    """A plugin that sends a run's questions and progress to the MCP client that started it."""

    kind = "mcp_client"

    @hookimpl
    async def react_tool_call_started(self, run: Run, call: ToolCall) -> None:
        """Report each of the agent's calls as progress."""
        context = _asking.get()
        if context is not None and run.parent is None and run.state(EngineState).model_name != CALLER:
            counted = run.state(_Counted)
            counted.calls += 1
            await context.session.report_progress(counted.calls, None, call.name)

    @hookimpl
    async def react_ask(self, run: Run, question: Question) -> Answer | None:
        """Ask the client's user, if the client supports it. The server's own terminal is never asked."""
        context = _asking.get()
        if context is None:
            return None
        wanted = ClientCapabilities(elicitation=ElicitationCapability())
        if not (context.session.can_send_request and context.session.check_client_capability(wanted)):
            return Answer(None)
        said = await context.session.elicit_form(question.about, _form(question), context.request_id)
        if said.action != "accept":
            return Answer(NO if NO in question.choices else None)
        content = said.content or {}
        return Answer(content if question.schema is not None else content.get("answer"))

    @hookimpl
    async def react_tool_progress(self, done: float | None, total: float | None, message: str) -> None:
        """Forward a tool's progress unchanged."""
        context = _asking.get()
        if context is not None and done is not None:
            await context.session.report_progress(done, total, message or None)


class Offered:
    """What one MCP server offers.

    Args:
        agent: The agent, built with :class:`Client` among its plugins.
        one_by_one: Whether to offer its tools instead of the whole agent.
    """

    def __init__(self, agent: ReActAgent, *, one_by_one: bool) -> None:
        self.agent, self.one_by_one = agent, one_by_one
        config = agent.config
        name = config.name or config.id or (config.path.stem if config.path else "agent")
        self.name = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "agent"

    def server(self) -> Server[Any]:
        """The MCP server, for any transport."""
        return Server(self.name, version=__version__, on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        tools = [_described(tool) for tool in self.agent.tools] if self.one_by_one else [self._whole()]
        return ListToolsResult(tools=tools)

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        _asking.set(context)
        arguments = params.arguments or {}
        try:
            if self.one_by_one:
                observation = await self.agent.call(params.name, arguments)
                return _result(observation.content, failed=observation.failed)
            if params.name != self.name:
                return _result(f"there is no tool {params.name!r}; the agent is {self.name!r}", failed=True)
            task = arguments.get("task")
            if not isinstance(task, str) or not task.strip():
                return _result("task is missing: say what to do, as text", failed=True)
            return await self._answered(task)
        except ReactError as error:  # a provider or plugin failed: tell the client, and keep serving
            return _result(self.agent.config.masker.mask(str(error)), failed=True)

    async def _answered(self, task: str) -> CallToolResult:
        result = await self.agent.run(task)  # cancelling the request cancels it
        return _result(
            result.answer,
            failed=not result.success,
            structured={
                "answer": result.answer,
                "success": result.success,
                "stop_reason": str(result.stop_reason),
                "run_id": result.run_id,
            },
        )

    def _whole(self) -> Tool:
        tools = self.agent.tools
        changes = [tool.read_only for tool in tools]
        return Tool(
            name=self.name,
            description=self.agent.config.description or f"Hands a task to the agent {self.name}.",
            input_schema=TASK,
            output_schema=RESULT,
            annotations=ToolAnnotations(
                read_only_hint=all(changes), open_world_hint=any(tool.network for tool in tools)
            ),
        )


def _described(tool: OurTool) -> Tool:
    function = tool.wire["function"]
    hints = ToolAnnotations(
        read_only_hint=tool.read_only is True,
        idempotent_hint=tool.idempotent or tool.read_only is True,
        open_world_hint=tool.network,
    )
    return Tool(
        name=tool.name,
        description=function["description"],
        input_schema=function["parameters"],
        annotations=hints,
    )


def _result(text: str, *, failed: bool, structured: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=failed, structured_content=structured)


def _form(question: Question) -> dict[str, Any]:
    if question.schema is not None:
        return dict(question.schema)
    answer: dict[str, Any] = {"type": "string"}
    if question.choices:
        answer["enum"] = list(question.choices)
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
