"""strands-agents: a model of its own kind, nothing printed, nothing forgotten; without an OpenTelemetry SDK set up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; the agent is made once, and forgets its conversation before each run."""
    from opentelemetry.instrumentation.threading import ThreadingInstrumentor
    from strands import Agent, tool
    from strands.agent.conversation_manager import NullConversationManager
    from strands.models import Model

    class Scripted(Model):
        def update_config(self, **config: object) -> None: ...

        def get_config(self) -> dict[str, object]:
            return {}

        def structured_output(self, *args: object, **kwargs: object) -> object:
            raise NotImplementedError

        async def stream(self, *args: object, **kwargs: object) -> AsyncIterator[dict[str, object]]:
            calls = script.reply()
            yield {"messageStart": {"role": "assistant"}}
            for call in calls:
                yield {"contentBlockStart": {"start": {"toolUse": {"name": "add", "toolUseId": call.id}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": call.text}}}}
                yield {"contentBlockStop": {}}
            if not calls:
                yield {"contentBlockDelta": {"delta": {"text": ANSWER}}}
                yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}

    keeps_all = NullConversationManager()
    agent = Agent(Scripted(), tools=[tool(script.tool)], callback_handler=None, conversation_manager=keeps_all)
    if ThreadingInstrumentor().is_instrumented_by_opentelemetry:  # every thread of the process, the others' too
        ThreadingInstrumentor().uninstrument()

    async def run() -> str:
        agent.messages.clear()
        return str(await agent.invoke_async("go")).strip()

    return in_a_loop(run)
