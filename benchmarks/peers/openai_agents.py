"""openai-agents: a model of its own kind, tracing off, no limit of turns."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; the agent is made once."""
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool

    class Scripted(Model):
        async def get_response(self, *args: object, **kwargs: object) -> ModelResponse:
            calls = script.reply()
            output = [called(call.id, call.text) for call in calls] if calls else [answer()]
            return ModelResponse(output, Usage(requests=1), None)

        def stream_response(self, *args: object, **kwargs: object) -> object:
            raise NotImplementedError

    def called(call_id: str, text: str) -> ResponseFunctionToolCall:
        return ResponseFunctionToolCall(name="add", arguments=text, call_id=call_id, type="function_call")

    def answer() -> ResponseOutputMessage:
        text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
        return ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")

    agent = Agent(name="measured", model=Scripted(), tools=[function_tool(script.tool)])
    config = RunConfig(tracing_disabled=True)

    async def run() -> str:
        return str((await Runner.run(agent, "go", max_turns=None, run_config=config)).final_output)

    return in_a_loop(run)
