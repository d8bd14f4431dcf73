"""The plugin ``metrics``: counters for each run, and for all runs of an agent together."""

from __future__ import annotations

import os
from time import perf_counter
from typing import ClassVar, Literal

from pydantic import PrivateAttr

from react_plugins.lines import append_line
from react_plugins.shown import value_as_json
from react_run import LocalPath, ModelResponse, Observation, Plugin, Run, RunResult, ToolCall, hookimpl

Labels = tuple[tuple[str, str], ...]


class Counts:
    """Counters by name and labels."""

    def __init__(self) -> None:
        self.started = perf_counter()
        self.values: dict[tuple[str, Labels], float] = {}

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add ``amount`` to the counter for ``name`` and ``labels``."""
        key = (name, tuple(sorted(labels.items())))
        self.values[key] = self.values.get(key, 0) + amount

    def add_all(self, other: Counts) -> None:
        """Add all counters of ``other``."""
        for (name, labels), amount in other.values.items():
            self.add(name, amount, **dict(labels))

    def to_dict(self) -> dict[str, object]:
        """The counters: a number for each name, or numbers by label if it has labels."""
        found: dict[str, object] = {}
        for (name, labels), amount in sorted(self.values.items()):
            if not labels:
                found[name] = _rounded(amount)
                continue
            by_label = found.setdefault(name, {})
            assert isinstance(by_label, dict)  # a name always has labels, or never
            by_label[" ".join(value for _, value in labels)] = _rounded(amount)
        return found


class Metrics(Plugin):
    """Counts model calls, tool calls, failures, tokens, costs, seconds and interventions.

    In Python, `run.state(plugin.counts)` has the counters of one run and `.totals` those of all runs.
    """

    kind: ClassVar[str] = "metrics"

    path: LocalPath | None = None
    """A file to write to after each run."""
    format: Literal["json", "prometheus"] = "json"
    """`json` appends a line with the counters of each run; `prometheus` rewrites the file with the totals."""

    _totals: Counts = PrivateAttr(default_factory=Counts)

    @property
    def totals(self) -> Counts:
        """The counters of all runs that have ended."""
        return self._totals

    def counts(self) -> Counts:
        """The state of this plugin, created by `run.state`; it is separate if the kind is listed twice."""
        return Counts()

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        run.state(self.counts)

    @hookimpl
    def react_model_call_finished(self, run: Run, response: ModelResponse) -> None:
        run.state(self.counts).add("replies", finish_reason=_safe(run, response.finish_reason))

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        counts = run.state(self.counts)
        tool = _safe(run, call.name)
        counts.add("tool_calls", tool=tool)
        counts.add("tool_seconds", call.seconds, tool=tool)
        if observation.failed and observation.outcome is not None:
            counts.add("tool_failures", tool=tool, code=_safe(run, observation.outcome.code))

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str) -> None:
        run.state(self.counts).add("interventions", guard=_safe(run, guard))

    @hookimpl
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        self._end(run, str(result.stop_reason))

    @hookimpl
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        self._end(run, f"raised {type(error).__name__}")

    def _end(self, run: Run, reason: str) -> None:
        counts, usage = run.state(self.counts), run.usage
        counts.add("runs", reason=reason)
        counts.add("run_seconds", perf_counter() - counts.started)
        counts.add("iterations", len(run.iterations))
        counts.add("model_calls", usage.requests)
        known = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost_usd": usage.cost}
        for name, amount in known.items():
            if amount is None:
                counts.add("unknown", what=name)
            else:
                counts.add(name, amount)
        self._totals.add_all(counts)
        if self.path is not None and self.format == "json":
            append_line(self.path, value_as_json({"run": run.id, "agent": run.agent.config.name, **counts.to_dict()}))
        elif self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            part.write_text(_exposition(self._totals), encoding="utf-8")
            part.replace(self.path)


def _safe(run: Run, text: str) -> str:
    """A label without secrets: a model may call a tool by the name of a key."""
    return run.agent.config.masker.mask(text)


def _rounded(amount: float) -> float:
    return amount if isinstance(amount, int) else round(amount, 9)


def _exposition(counts: Counts) -> str:
    """The counters in Prometheus' text format."""
    lines: list[str] = []
    for name in sorted({name for name, _ in counts.values}):
        lines.append(f"# TYPE react_run_{name}_total counter")
        for (other, labels), amount in sorted(counts.values.items()):
            if other == name:
                shown = ",".join(f'{label}="{_escaped(value)}"' for label, value in labels)
                lines.append(f"react_run_{name}_total{f'{{{shown}}}' if shown else ''} {_rounded(amount)}")
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
