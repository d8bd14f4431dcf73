"""The canonical form of a run: the same for every replay of an unchanged run (behaviour J3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from typing import Any

from react_run.journal.reading import MODEL_RECORDS, Journal, read_journal
from react_run.journal.values import Record, message_to_data

_LEFT_OUT = frozenset(("time", "seconds", "run", "parent", "traceback"))
_APART = {kind: _LEFT_OUT | {"keep", "messages"} for kind in ("model_request", "footer")}
"""The fields to ignore in records that contain a conversation, which is compared as a whole."""
_WITH_PARTS = ("calls", "error")
"""Fields whose items contain such fields, too."""
_OF_HEADER = ("type", "version", "model", "prompt", "attachments", "incoming", "opening")
"""The header fields that describe what the run did, not the machine, the day, or how the agent file is written."""
_SECONDS = re.compile(r"(?<!\d)\d++(?:\.\d++)? s\b")
_MODEL = ("tools", *MODEL_RECORDS)
_TOOL = ("tool_started", "tool_finished", "tool_answered")
_KINDS = ("header", *_MODEL, *_TOOL, "looked", "decided", "guard", "iteration_finished", "footer")


_FROM_OUTSIDE = ("serve", "desk")
"""Notes by a server that stopped the run, and by people who answered its questions."""


def canonical_records(journal: Journal | str | PathLike[str]) -> list[Record]:
    """The records of a run without run id and times, in an order that does not depend on timing.

    Two runs that did the same have equal canonical forms, even if one was interrupted and resumed. Runs of subagents
    are left out.
    """
    if not isinstance(journal, Journal):
        journal = read_journal(journal)
    records = [canonical_record(record) for record in journal.valid if _is_of_the_run(record)]
    if journal.footer is not None:
        conversation = [message_to_data(message) for message in journal.messages]
        records[-1]["messages"] = anonymous(conversation, journal.run_id)
    return sorted(records, key=_place)


def in_order(journal: Journal) -> list[Record]:
    """The same records as :func:`canonical_records`, unchanged, in the same order."""
    return sorted(filter(_is_of_the_run, journal.valid), key=_place)


def alike(one: Record, other: Record) -> bool:
    """Whether two records have the same canonical form, judged without building it where possible.

    The conversation is not compared.
    """
    if one["type"] == "header":
        return canonical_record(one) == canonical_record(other)
    apart = _APART.get(one["type"], _LEFT_OUT)
    if one.keys() != other.keys():
        return False
    return all(value == other[name] or name in apart for name, value in one.items())


def _is_of_the_run(record: Record) -> bool:
    """Whether the run itself caused it; notes of a running tool are left out, as a recorded result has none."""
    kind = record["type"]
    if kind not in _KINDS or "inside" in record or "by_clock" in record:
        return False
    return not says_nothing_new(record) if kind == "iteration_finished" else record.get("guard") not in _FROM_OUTSIDE


def says_nothing_new(record: Record) -> bool:
    """Whether an ``iteration_finished`` record only repeats earlier records; the journal omits some of those."""
    if record["type"] != "iteration_finished" or "feedback" in record:
        return False
    return not any("content" in call for call in record["calls"])


def canonical_record(record: Record) -> Record:
    """The canonical form of one record.

    It leaves out how a conversation is stored, because that depends on whether a plugin masked it on the way.
    """
    kept = {name: value for name, value in record.items() if name not in _LEFT_OUT}
    if kept["type"] in ("model_request", "footer"):
        del kept["keep"], kept["messages"]
    elif kept["type"] == "header":
        kept = {name: kept[name] for name in _OF_HEADER if name in kept}
    elif kept["type"] == "guard":
        kept["detail"] = _SECONDS.sub("… s", kept["detail"])
    for name in _WITH_PARTS:
        if name in kept:
            kept[name] = _part(kept[name])
    made: Record = anonymous(kept, record["run"])
    return made


def _part(value: Any) -> Any:
    if isinstance(value, list):
        return [_part(item) for item in value]
    return {name: item for name, item in value.items() if name not in _LEFT_OUT}


def anonymous(value: Any, run_id: str) -> Any:
    """``value`` with its run's id replaced by a constant, for example in the paths of saved results."""
    if isinstance(value, Mapping):
        inside = value.get("type") == "attachment"  # where its data is stored depends on the sink
        return {key: anonymous(item, run_id) for key, item in value.items() if not (inside and key == "data")}
    if isinstance(value, list):
        return [anonymous(item, run_id) for item in value]
    return value.replace(run_id, "RUN") if isinstance(value, str) else value


def _place(record: Record) -> tuple[object, ...]:
    """The sort key of a record: by iteration, then model calls before tool calls, whatever happened first."""
    kind = record["type"]
    end = {"header": -1, "footer": 1}.get(kind, 0)
    if kind in _MODEL:
        part = (0, record.get("call", 0), _MODEL.index(kind))
    elif kind in _TOOL:
        part = (1, record["position"], 3 * record.get("attempt", 1) + _TOOL.index(kind))
    else:
        part = (_KINDS.index(kind), 0, 0)
    return (
        end,
        record.get("iteration", 0),
        *part,
        f"{record.get('what') or record.get('question')} {record.get('guard')} {record.get('detail')}",
    )
