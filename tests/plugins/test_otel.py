"""The plugin ``otel``: spans by the conventions for generative AI."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.traces import Traces, failing

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from react_plugins.metrics import Metrics
from react_plugins.otel import Otel
from react_run import ModelError, Outcome, RunResult
from react_run.testing import agent_with, calls, says

USAGE = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 3, "cost": 0.25}
KEY = "sk-canary-of-a-label-0123"


class Recorded(Otel):
    """The plugin with a provider whose spans are kept."""

    async def open(self) -> None:
        await super().open()
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._provider, self._tracer = provider, provider.get_tracer("test")

    _exporter: InMemorySpanExporter

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in order of their start."""
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)


def recorded(
    replies: list[Any], prompt: str = "go", otel: Recorded | None = None, **options: Any
) -> list[ReadableSpan]:
    """The spans of one run."""
    otel = otel or Recorded()

    async def scenario() -> list[ReadableSpan]:
        async with agent_with(replies, plugins=[otel], **options) as agent:
            with suppress(ModelError):
                await agent.run(prompt)
            return otel.spans

    return asyncio.run(scenario())


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


def test_a_run_is_a_tree_of_agent_chat_and_tool_spans() -> None:
    replies = [calls(("read", {"path": "a"}), usage=USAGE), says("done", usage=USAGE)]
    spans = recorded(replies, tools=Traces().tools(), name="reader", id="reader-1")
    agent, *inner = spans
    assert [span.name for span in spans] == [
        "invoke_agent reader",
        "chat scripted",
        "execute_tool read",
        "chat scripted",
    ]
    assert all(span.parent is not None and span.parent.span_id == agent.context.span_id for span in inner)
    assert [span.kind for span in spans] == [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.CLIENT]
    assert attributes(agent)["gen_ai.operation.name"] == "invoke_agent"
    assert attributes(agent)["gen_ai.usage.input_tokens"] == 20
    assert attributes(agent)["gen_ai.agent.id"] == "reader-1"
    assert attributes(spans[1])["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert attributes(spans[1])["gen_ai.usage.cache_read.input_tokens"] == 3
    assert attributes(spans[2])["gen_ai.tool.name"] == "read"
    assert attributes(spans[2])["gen_ai.tool.call.id"] == "call_1_1"
    assert {attributes(span).get("gen_ai.conversation.id") for span in (agent, spans[1])} != {None}


def test_content_is_recorded_only_when_asked_for_and_masked() -> None:
    replies = [calls(("read", {"path": "hunter2hunter2"})), says("It is hunter2hunter2.")]
    text = json.dumps([dict(attributes(span)) for span in recorded(replies, "say it", tools=Traces().tools())])
    assert not {"say it", "It is"} & {word for word in ("say it", "It is") if word in text}
    otel = Recorded(content=True)

    async def scenario() -> str:
        async with agent_with(replies, plugins=[otel], tools=Traces("hunter2hunter2").tools()) as agent:
            agent.config.masker.add("hunter2hunter2")
            await agent.run("say hunter2hunter2")
            return json.dumps([dict(attributes(span)) for span in otel.spans], default=str)

    text = asyncio.run(scenario())
    assert "hunter2" not in text
    assert "It is ***." in text
    assert "say ***" in text


@pytest.mark.parametrize("form", [KEY, KEY.encode().hex(), b64encode(KEY.encode()).decode().rstrip("="), f"x_{KEY}_y"])
def test_no_label_shows_a_secret_that_a_model_calls_a_tool_by(form: str, tmp_path: Path) -> None:
    otel, metrics = Recorded(), Metrics(path=tmp_path / "metrics.json")

    async def scenario() -> str:
        replies = [calls((form, {form: form})), says("done")]
        async with agent_with(replies, plugins=[otel, metrics], tools=Traces().tools()) as agent:
            agent.config.masker.add(KEY)
            await agent.run("go")
            return "".join(span.to_json() for span in otel.spans)

    text = asyncio.run(scenario()) + (tmp_path / "metrics.json").read_text(encoding="utf-8")
    assert form not in text
    assert KEY not in text


def test_failures_are_marked_with_their_kind() -> None:
    flaky, _ = failing(ValueError("with details"))
    spans = recorded([calls(("flaky", {})), {"error": {"status": 400, "message": "bad key"}}], tools=[flaky])
    marks = {span.name: (span.status.status_code, attributes(span).get("error.type")) for span in spans}
    assert marks["execute_tool flaky"] == (StatusCode.ERROR, "execution_error")
    assert marks["invoke_agent agent"] == (StatusCode.ERROR, "ModelError")
    assert "bad key" not in json.dumps([span.to_json() for span in spans])


def test_a_limit_marks_the_run() -> None:
    spans = recorded([calls(("read", {"path": "a"}))], tools=Traces().tools(), max_iterations=1)
    assert attributes(spans[0])["error.type"] == "max_iterations"


def test_parallel_runs_keep_their_own_trees() -> None:
    otel = Recorded()

    async def scenario() -> list[RunResult]:
        replies = [calls(("read", {"path": "a"}), ("read", {"path": "b"})), says("done")]
        async with agent_with(replies, plugins=[otel], tools=Traces().tools()) as agent:
            return list(await asyncio.gather(*(agent.run(str(n)) for n in range(50))))

    asyncio.run(scenario())
    roots = {span.context.span_id for span in otel.spans if span.parent is None}
    children = [span.parent.span_id for span in otel.spans if span.parent is not None]
    assert len(roots) == 50
    assert all(children.count(root) == 4 for root in roots)


def test_without_a_provider_nothing_happens() -> None:
    async def scenario() -> RunResult:
        async with agent_with([says("done")], plugins=[Otel()]) as agent:
            return await agent.run("go")

    assert asyncio.run(scenario()).success


def test_the_console_exporter_prints_spans(capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> None:
        async with agent_with([says("done")], plugins=[Otel(exporter="console")]) as agent:
            await agent.run("go")

    asyncio.run(scenario())
    assert '"name": "invoke_agent agent"' in capsys.readouterr().err


def test_outcomes_without_a_code_are_marked_by_their_disposition() -> None:
    from react_run import Disposition, Observation, tool

    @tool
    def vague() -> Observation:
        """Fail, without a code."""
        return Observation(content="no", outcome=Outcome(disposition=Disposition.NO_RESULT))

    spans = recorded([calls(("vague", {})), says("done")], tools=[vague])
    assert attributes(spans[2])["error.type"] == "no_result"
