"""Metrics for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from react_run.hookspecs import hookimpl
from react_run.serve.jobs import Job, current_job

if TYPE_CHECKING:
    from react_run.outcome import Observation
    from react_run.run import Run, ToolCall
    from react_run.serve.approvals import Approvals
    from react_run.serve.slots import Slots

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000)


class Measures:
    """The metrics of one server.

    Args:
        slots: Counts running and queued runs.
        approvals: The open questions.
    """

    def __init__(self, slots: Slots, approvals: Approvals) -> None:
        self.registry = registry = CollectorRegistry()
        self.plugin = _Failures(self)
        self.runs = Counter("react_run_runs", "Runs that ended.", ["agent", "reason"], registry=registry)
        self.seconds = Histogram(
            "react_run_run_seconds", "Seconds from start to end.", ["agent"], registry=registry, buckets=_SECONDS
        )
        self.tokens = Counter("react_run_tokens", "Tokens used, where known.", ["agent", "kind"], registry=registry)
        self.cost = Counter("react_run_cost_usd", "USD spent, where known.", ["agent"], registry=registry)
        self.failures = Counter("react_run_tool_failures", "Failed tool calls.", ["agent", "tool"], registry=registry)
        self._gauge("working", "Runs in flight now.", lambda: slots.working)
        self._gauge("queued", "Runs waiting for their turn.", lambda: slots.queued)
        self._gauge("approvals_waiting", "Questions waiting for a person.", lambda: len(approvals))

    def _gauge(self, name: str, text: str, value: object) -> None:
        Gauge(f"react_run_{name}", text, registry=self.registry).set_function(value)  # type: ignore[arg-type]  # untyped callables

    def ended(self, job: Job) -> None:
        """Count a run that has ended."""
        agent, result = job.served.name, job.result
        reason = str(result.stop_reason) if result is not None else job.ending or type(job.error).__name__
        self.runs.labels(agent, reason).inc()
        if job.started is not None and job.run is not None:
            from time import time

            self.seconds.labels(agent).observe(max(0.0, time() - job.started))
        usage = job.run.usage if job.run is not None else None
        if usage is None or usage.requests == 0:
            return
        for kind, amount in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            if amount:
                self.tokens.labels(agent, kind).inc(amount)
        if usage.cost:
            self.cost.labels(agent).inc(usage.cost)

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class _Failures:
    """A plugin that counts tool failures."""

    def __init__(self, measures: Measures) -> None:
        self.measures = measures

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        job = current_job.get()
        if observation.failed and job is not None:
            tool = "unknown" if call.tool is None else call.name  # a model may invent any number of names
            self.measures.failures.labels(job.served.name, tool).inc()
