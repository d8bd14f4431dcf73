"""What subagents, providers and people who were asked leave behind: facts, counts, and calls that never began."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from react_run import (
    Model,
    ModelRequest,
    ModelResponse,
    NoResult,
    ReActAgent,
    ReActAgentConfig,
    ToolCall,
    hookimpl,
    tool,
)
from react_run.models.scripted import ScriptedModel
from react_run.testing import agent_with, calls, run_agent, says

SHOP = """
from react_run import ToolError, tool

@tool(read_only=False)
def pay(to: str) -> str:
    "Pay."
    raise PermissionError("not your account")
"""


@pytest.mark.parametrize("claim", ["I have paid 5 EUR.", "Paid.", "Done: bob has his money."])
def test_what_a_subagent_claims_is_no_verified_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claim: str
) -> None:  # F5, X1
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    replies = json.dumps([calls(("pay", {"to": "bob"})), claim])
    (tmp_path / "kid.yaml").write_text(
        f"name: kid\ndescription: Pays.\nmodel: {{kind: scripted, replies: {replies}}}\n"
        "toolsets: [{kind: functions, path: shop.py}]\n",
        encoding="utf-8",
    )
    (tmp_path / "lead.yaml").write_text("name: lead\nmodel: offline\nsubagents: [kid.yaml]\n", encoding="utf-8")
    config = ReActAgentConfig.from_yaml(tmp_path / "lead.yaml", trusted=True)
    model = ScriptedModel(replies=[calls(("kid", {"task": "pay bob"})), "Bob was paid."])
    result = ReActAgent(config, model=model).run_sync("Pay bob.")
    told = json.loads(result.steps[0].observation)
    assert (told["success"], bool(told["unresolved"])) == (False, True)
    assert claim not in result.answer
    assert not result.success


class Slow(Model):
    """A model that does not answer in time."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(30)
        raise AssertionError("nobody waits so long")


def test_a_model_call_that_was_cancelled_is_counted_and_its_tokens_are_unknown() -> None:  # H3
    result = ReActAgent({"run_timeout": 0.2}, model=Slow()).run_sync("q")
    assert (result.stop_reason, result.usage.requests) == ("timeout", 1)
    assert (result.usage.input_tokens, result.usage.cost) == (None, None)


@pytest.mark.parametrize("read_only", [True, False, None])
def test_a_call_that_waited_for_permission_never_began(read_only: bool | None) -> None:  # T2
    ran: list[str] = []

    @tool(read_only=read_only)
    def send(to: str) -> str:
        """Send."""
        ran.append(to)
        return "sent"

    class Thinks:
        @hookimpl
        async def react_tool_permit(self, call: ToolCall) -> None:
            await asyncio.sleep(30)

    asked = calls(("send", {"to": "bob"}))
    result = run_agent([asked, says("sent")], tools=[send], plugins=[Thinks()], run_timeout=0.2)
    (step,) = result.steps
    assert (result.success, step.executed, ran) == (False, False, [])
    assert "unknown" not in step.observation


@pytest.mark.parametrize("first", ["small", "big"])
def test_two_sources_asked_in_one_reply_are_one_question(first: str) -> None:  # F1b
    @tool(read_only=True)
    def small(q: str) -> str:
        """A small source."""
        raise NoResult(f"nothing about {q}")

    @tool(read_only=True)
    def big(q: str) -> str:
        """A big source."""
        return f"{q}: a bird"

    names = [first, "big" if first == "small" else "small"]
    agent = agent_with([calls(*[(name, {"q": "kite"}) for name in names]), "A bird."], tools=[small, big])
    result = agent.run_sync("What is a kite?")
    assert (result.success, result.answer) == (True, "A bird.")
