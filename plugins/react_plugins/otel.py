"""The plugin ``otel``: OpenTelemetry spans that follow the conventions for generative AI (behaviour J5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import PrivateAttr, model_validator

from react_plugins.shown import head, value_as_json
from react_run import Iteration, ModelResponse, Observation, Plugin, Run, RunResult, ToolCall, __version__, hookimpl

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

Value = str | int | float | bool | list[str] | None
LONGEST = 10_000
"""The most characters of a text in an attribute."""


class Otel(Plugin):
    """Creates a span for each run (`invoke_agent`), model call (`chat`) and tool call (`execute_tool`).

    Spans go to the program's tracer provider (as with `opentelemetry-instrument react-run …`). Without one, nothing
    happens. A subagent's run is a child of the tool call that started it.
    """

    kind: ClassVar[str] = "otel"
    inherited_by_subagents: ClassVar[bool | None] = True

    exporter: Literal["global", "console"] = "global"
    """`global`: the tracer provider of the program. `console`: print finished spans to stderr, to try it out."""
    content: bool = False
    """Whether to record prompts, answers, arguments and results as well, with secrets masked."""

    _tracer: Tracer | None = PrivateAttr(default=None)
    _provider: TracerProvider | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _is_installed(self) -> Self:
        wanted = "opentelemetry.sdk" if self.exporter == "console" else "opentelemetry.trace"
        if find_spec("opentelemetry") is None or find_spec(wanted) is None:
            raise ValueError("OpenTelemetry is not installed: pip install 'react-run[otel]'")
        return self

    async def open(self) -> None:
        """Get the tracer; for the console, from our own provider."""
        from opentelemetry.trace import get_tracer

        if self.exporter == "global":
            self._tracer = get_tracer("react_run", __version__)
            return
        import sys

        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

        self._provider = TracerProvider(shutdown_on_exit=False)
        self._provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
        self._tracer = self._provider.get_tracer("react_run", __version__)

    async def close(self) -> None:
        """Shut down the provider for the console."""
        if self._provider is not None:
            self._provider.shutdown()
        self._provider = self._tracer = None

    # -- one span for each layer ------------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        config = run.agent.config
        name = config.name or "agent"
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": name,
            "gen_ai.agent.id": config.id,
            "gen_ai.agent.description": config.description,
            "gen_ai.conversation.id": run.id,
            "gen_ai.provider.name": _provider_of(run.agent.model.name),
            "gen_ai.request.model": run.agent.model.name,
        }
        with self._span(run, f"invoke_agent {name}", "INTERNAL", attributes) as span:
            result = await proceed()
            _set(
                run,
                span,
                {
                    "gen_ai.usage.input_tokens": result.usage.input_tokens,
                    "gen_ai.usage.output_tokens": result.usage.output_tokens,
                    "gen_ai.response.finish_reasons": [result.finish_reason],
                    "react_run.stop_reason": str(result.stop_reason),
                    "react_run.success": result.success,
                    "react_run.iterations": result.iterations,
                    "react_run.cost_usd": result.usage.cost,
                },
            )
            if self.content:
                texts = {"gen_ai.input.messages": _message(run, "user", run.prompt)}
                texts["gen_ai.output.messages"] = _message(run, "assistant", result.answer)
                _set(run, span, texts)
            if not result.success:
                _failed(run, span, str(result.stop_reason))
            return result

    @hookimpl(trylast=True)
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        model = run.agent.model.name
        settings = iteration.request.settings
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider_of(model),
            "gen_ai.request.model": model,
            "gen_ai.conversation.id": run.id,
            **{
                f"gen_ai.request.{name}": _number(settings.get(name)) for name in ("temperature", "max_tokens", "top_p")
            },
        }
        with self._span(run, f"chat {model}", "CLIENT", attributes) as span:
            response = await proceed()
            usage = response.usage
            _set(
                run,
                span,
                {
                    "gen_ai.response.model": response.model or None,
                    "gen_ai.response.finish_reasons": [response.finish_reason],
                    "gen_ai.usage.input_tokens": usage.input_tokens,
                    "gen_ai.usage.output_tokens": usage.output_tokens,
                    "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
                    "react_run.iteration": iteration.number,
                    "gen_ai.output.messages": _message(run, "assistant", response.text) if self.content else None,
                },
            )
            return response

    @hookimpl(tryfirst=True)
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.request.id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": None if call.tool is None else call.tool.description,
            "gen_ai.tool.call.arguments": head(run, value_as_json(call.arguments), LONGEST) if self.content else None,
        }
        with self._span(run, f"execute_tool {call.name}", "INTERNAL", attributes) as span:
            observation = await proceed()
            result = head(run, observation.content, LONGEST) if self.content else None
            _set(run, span, {"react_run.executed": call.executed, "gen_ai.tool.call.result": result})
            if observation.failed and observation.outcome is not None:
                _failed(run, span, observation.outcome.code or str(observation.outcome.disposition))
            return observation

    @contextmanager
    def _span(self, run: Run, name: str, kind: str, attributes: Mapping[str, Value]) -> Iterator[Span]:
        """A span around the block; an exception is recorded with its type, not its text."""
        from opentelemetry.trace import SpanKind, Status, StatusCode

        assert self._tracer is not None  # opened before the first run
        with self._tracer.start_as_current_span(
            run.agent.config.masker.mask(name),
            kind=SpanKind[kind],
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            _set(run, span, attributes)
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise


def _failed(run: Run, span: Span, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    _set(run, span, {"error.type": kind})
    span.set_status(Status(StatusCode.ERROR))


def _set(run: Run, span: Span, attributes: Mapping[str, Value]) -> None:
    """Set the known attributes with secrets masked: a server may return a key as a model name or call id."""
    for name, value in attributes.items():
        if isinstance(value, str):
            span.set_attribute(name, run.agent.config.masker.mask(value))
        elif value is not None:
            span.set_attribute(
                name, [run.agent.config.masker.mask(it) for it in value] if isinstance(value, list) else value
            )


def _provider_of(model: str) -> str:
    """The provider in a model id such as ``openai/gpt-5``; the id itself if it has none."""
    return model.partition("/")[0]


def _number(value: object) -> float | None:
    return value if isinstance(value, (int, float)) else None


def _message(run: Run, role: str, text: str) -> str:
    """A message in the form of the conventions for recorded content."""
    return value_as_json([{"role": role, "parts": [{"type": "text", "content": head(run, text, LONGEST)}]}])
