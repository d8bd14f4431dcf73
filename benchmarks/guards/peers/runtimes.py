"""The runtimes: each at its defaults, and once with the options its documentation has for safety."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Tools = Sequence[Callable[..., Any]]
Marks = Mapping[str, Mapping[str, object]]
Run = Callable[[str, Tools, Marks, str, bool], "tuple[str, bool]"]
"""Runs an agent: server, tools, marks, prompt, whether options are on → its answer, and whether it claims success."""

TOOL_SECONDS = 2.0
TURNS = 10


def react_run(url: str, tools: Tools, marks: Marks, prompt: str, careful: bool) -> tuple[str, bool]:
    """Ours."""
    from react_run import ReActAgent, Tool

    made = [Tool.from_function(tool, **(marks.get(tool.__name__, {}) if careful else {})) for tool in tools]  # type: ignore[arg-type]
    model = {"kind": "openai", "model": "scripted", "base_url": url, "api_key": "k"}
    config = {"tool_timeout": TOOL_SECONDS, "run_timeout": 20, "max_iterations": TURNS} if careful else {}
    result = ReActAgent(config, model=model, toolsets=made).run_sync(prompt)
    return result.answer, result.success


def pydantic_ai(url: str, tools: Tools, marks: Marks, prompt: str, careful: bool) -> tuple[str, bool]:
    """pydantic-ai; options: a time limit for tools, more retries, limits, and a hook that tells the model of errors."""
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import Hooks
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="k"))

    async def told(*_: object, error: Exception, **__: object) -> str:
        return f"Error: {error}"

    options: dict[str, Any] = {}
    if careful:
        hooks = Hooks(tool_execute_error=told)
        options = {"retries": 3, "tool_timeout": TOOL_SECONDS, "capabilities": [hooks]}
    agent = Agent(model, tools=list(tools), **options)
    limits = UsageLimits(request_limit=TURNS, tool_calls_limit=2 * TURNS) if careful else None
    return str(agent.run_sync(prompt, usage_limits=limits).output), True


def openai_agents(url: str, tools: Tools, marks: Marks, prompt: str, careful: bool) -> tuple[str, bool]:
    """openai-agents; options: a time limit for tools, unknown tools told to the model, an answer when turns run out."""
    from openai import AsyncOpenAI

    import agents

    agents.set_tracing_disabled(True)
    model = agents.OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=url, api_key="k"))
    options: dict[str, Any] = {"timeout": TOOL_SECONDS} if careful else {}
    made: list[Any] = [agents.function_tool(_in_thread(tool) if careful else tool, **options) for tool in tools]
    agent = agents.Agent(name="a", model=model, tools=made)
    stopped: list[bool] = []

    def out_of_turns(data: object) -> Any:
        stopped.append(True)
        return agents.RunErrorHandlerResult(final_output="The turns are used up.")

    extra: dict[str, Any] = {}
    if careful:
        extra = {"max_turns": TURNS, "error_handlers": {"max_turns": out_of_turns}}
        extra["run_config"] = agents.RunConfig(tool_not_found_behavior="return_error_to_model")
    loop = asyncio.new_event_loop()  # asyncio.run would wait for threads that were given up
    result = loop.run_until_complete(agents.Runner.run(agent, prompt, **extra))
    return str(result.final_output), not stopped


def _in_thread(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A coroutine function for ``tool``: only such tools may have a time limit in openai-agents."""
    from functools import wraps

    @wraps(tool)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(tool, *args, **kwargs)

    return wrapped


def langchain(url: str, tools: Tools, marks: Marks, prompt: str, careful: bool) -> tuple[str, bool]:
    """langchain's ``create_agent``; options: its middleware for retries, errors of tools, and limits."""
    import langchain.agents.middleware as m
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="scripted", base_url=url, api_key="k")
    middleware: list[Any] = []
    if careful:
        middleware = [
            m.ModelCallLimitMiddleware(run_limit=TURNS, exit_behavior="end"),
            m.ToolCallLimitMiddleware(run_limit=2 * TURNS, exit_behavior="continue"),
            m.ModelRetryMiddleware(max_retries=3, initial_delay=0.1),
            m.ToolErrorMiddleware(lambda error, _: f"Error: {error}"),
        ]
    agent = create_agent(model, list(tools), middleware=middleware)
    answer = str(agent.invoke({"messages": [{"role": "user", "content": prompt}]})["messages"][-1].content)
    return answer, not answer.startswith(("Model call limits exceeded", "Model call failed"))


def smolagents(url: str, tools: Tools, marks: Marks, prompt: str, careful: bool) -> tuple[str, bool]:
    """smolagents' ``ToolCallingAgent``; options: fewer steps, and a check that an answer is not empty."""
    import smolagents as s

    model = s.OpenAIServerModel(model_id="scripted", api_base=url, api_key="k")
    options: dict[str, Any] = {}
    if careful:
        options = {"max_steps": TURNS, "final_answer_checks": [lambda answer, *_, **__: bool(str(answer).strip())]}
    agent = s.ToolCallingAgent(
        tools=[s.tool(tool) for tool in tools],
        model=model,
        verbosity_level=s.LogLevel.OFF,
        return_full_result=True,
        **options,
    )
    result = agent.run(prompt)
    return str(result.output), result.state == "success"


RUNTIMES: dict[str, tuple[str, Run]] = {
    "react-run": ("react-run", react_run),
    "pydantic-ai": ("pydantic-ai-slim", pydantic_ai),
    "openai-agents": ("openai-agents", openai_agents),
    "langchain": ("langchain", langchain),
    "smolagents": ("smolagents", smolagents),
}


def installed() -> dict[str, str]:
    """The runtimes that are here, with their versions."""
    found = {}
    for name, (distribution, _) in RUNTIMES.items():
        try:
            found[name] = version(distribution)
        except PackageNotFoundError:
            continue
    return found
