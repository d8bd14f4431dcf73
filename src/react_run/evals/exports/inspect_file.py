"""The result as logs of inspect_ai (``.eval``), one per variant, for ``inspect view``.

A log is a zip archive of JSON members. Samples are written one at a time, to save memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

from react_run.errors import ConfigError, JournalError
from react_run.evals.running import read_case_facts
from react_run.evals.samples import Sample, read_samples

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.messages import Message


def write(result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write the logs; with several variants, each file name contains the variant's.

    Raises:
        ConfigError: inspect_ai is not installed, or its import fails.
    """
    try:
        import inspect_ai.log  # noqa: F401  # fails here, before anything is written
    except ImportError as error:
        raise ConfigError(f"--export inspect needs: pip install 'react-run[evals]' ({error})") from None
    written = []
    for measured in result["variants"]:
        name = measured["name"]
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
        own = path if len(result["variants"]) == 1 else path.with_name(f"{path.stem}-{safe}{path.suffix}")
        _write_log(result, measured, directory, own)
        written.append(own)
    return written


def _write_log(result: Mapping[str, Any], measured: Mapping[str, Any], directory: Path, path: Path) -> None:
    from inspect_ai.log import EvalLog, EvalPlan, EvalStats

    facts, summaries = read_case_facts(directory), []
    ids: dict[str, None] = {}
    started, finished = (_moment(result.get(key) or result.get("finished") or 0.0) for key in ("started", "finished"))
    spec = _spec(result, measured, started)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        start = {"version": 2, "eval": spec.model_dump(mode="json", exclude_none=True), "plan": EvalPlan().model_dump()}
        archive.writestr("_journal/start.json", json.dumps(start))
        for sample in read_samples(directory):
            if sample.variant != measured["name"]:
                continue
            made = _sample(sample, facts.get(sample.case, {}), directory, measured["model"])
            archive.writestr(f"samples/{made.id}_epoch_{made.epoch}.json", made.model_dump_json(exclude_none=True))
            summaries.append(made.summary().model_dump(mode="json", exclude_none=True))
            ids[sample.case] = None
        archive.writestr("summaries.json", json.dumps(summaries))
        spec.dataset.samples, spec.dataset.sample_ids = len(ids), list(ids)
        log = EvalLog(
            status="success" if result.get("complete", True) else "cancelled",
            eval=spec,
            results=_results(measured),
            stats=EvalStats(started_at=started, completed_at=finished),
        )
        header = log.model_dump(mode="json", exclude_none=True, exclude={"samples", "location"})
        archive.writestr("header.json", json.dumps(header))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _spec(result: Mapping[str, Any], measured: Mapping[str, Any], started: str) -> Any:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec

    digest = sha256(f"{result['title']}{started}{measured['name']}".encode()).hexdigest()
    return EvalSpec(
        eval_id=digest[:22],
        run_id=digest[22:44],
        task_id=digest[42:64],
        created=started,
        task=measured["name"],
        task_file=measured["file"] or None,
        dataset=EvalDataset(name=result["title"]),
        model=f"react-run/{measured['model']}",
        config=EvalConfig(epochs=result["repeat"]),
        metadata={"title": result["title"], "seed": result["seed"]},
    )


def _results(measured: Mapping[str, Any]) -> Any:
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    shown = [("passed", measured["rate"])] if measured["rate"] else []
    shown += [(label, found["mean"]) for label, found in measured["scorers"].items()]
    return EvalResults(
        total_samples=measured["runs"],
        completed_samples=measured["runs"] - measured["errors"],
        scores=[
            EvalScore(
                name=label,
                scorer=label,
                scored_samples=measured["runs"] - measured["errors"],
                unscored_samples=measured["errors"],
                metrics={
                    key: EvalMetric(name=key, value=mean[of])
                    for key, of in (("mean", "value"), ("low_95", "low"), ("high_95", "high"))
                },
            )
            for label, mean in shown
        ],
    )


def _sample(sample: Sample, about: Mapping[str, Any], directory: Path, model: str) -> Any:
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage
    from inspect_ai.scorer import Score

    journal = _journal(directory, sample)
    messages = [_message(message) for message in journal.messages] if journal is not None else []
    messages = messages or [ChatMessageAssistant(content=sample.answer)]
    usage = ModelUsage(
        input_tokens=sample.input_tokens or 0,
        output_tokens=sample.output_tokens or 0,
        total_tokens=sample.tokens or 0,
        total_cost=sample.cost,
    )
    scores = {
        mark["scorer"]: Score(value=mark["value"], answer=sample.answer, explanation=mark["reason"] or None)
        for mark in sample.marks
    }
    if sample.outcome != "error":
        said = Score(value=float(sample.outcome == "pass"), answer=sample.answer, explanation=sample.why or None)
        scores = {"passed": said, **scores}
    expected = about.get("expected")
    problem = sample.error or ""
    return EvalSample(
        id=sample.case,
        epoch=sample.repeat + 1,
        input=about.get("prompt") or sample.case,
        target=expected if isinstance(expected, str) else "" if expected is None else json.dumps(expected),
        messages=messages,
        output=ModelOutput.from_content(model=model, content=sample.answer),
        scores=scores,
        metadata={"tags": about.get("tags", []), "run_id": sample.run_id, "stop_reason": sample.stop_reason},
        events=list(_tool_events(journal)) if journal is not None else [],
        model_usage={model: usage},
        total_time=sample.seconds,
        uuid=sample.run_id,
        error=EvalError(message=problem, traceback="", traceback_ansi="") if sample.outcome == "error" else None,
    )


def _journal(directory: Path, sample: Sample) -> Journal | None:
    from react_run.journal.reading import read_journal

    try:
        return read_journal(directory / "runs" / f"{sample.run_id}.jsonl")
    except JournalError:  # moved or never written: use the sample alone
        return None


def _message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    text = message.text
    if message.role == "assistant":
        calls = [
            ToolCall(id=wanted.id, function=wanted.name, arguments=_arguments(wanted.arguments), type="function")
            for wanted in message.tool_requests
        ]
        return ChatMessageAssistant(content=text, tool_calls=calls or None)
    if message.role == "tool":
        return ChatMessageTool(content=text, tool_call_id=message.tool_request_id)
    return ChatMessageSystem(content=text) if message.role == "system" else ChatMessageUser(content=text)


def _tool_events(journal: Journal) -> Iterator[Any]:
    from inspect_ai.event import ToolEvent
    from inspect_ai.tool import ToolCallError

    for iteration in journal.iterations:
        for use in iteration.tools:
            began, ended = use.span or (iteration.started_at, iteration.started_at)
            yield ToolEvent(
                id=use.id or f"{use.iteration}-{use.position}",
                function=use.name,
                arguments=_arguments(use.arguments),
                result=use.content or "",
                error=ToolCallError(type="unknown", message=use.content or "") if use.failed else None,
                timestamp=datetime.fromtimestamp(began, UTC),
                completed=datetime.fromtimestamp(ended, UTC),
                working_time=ended - began,
            )


def _arguments(arguments: object) -> dict[str, Any]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    try:
        found = json.loads(str(arguments))
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"text": str(arguments)}
