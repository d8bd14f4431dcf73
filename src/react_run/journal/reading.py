"""Reads journals: complete records only; a torn last line is dropped (behaviour J1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.errors import JournalError
from react_run.journal.iterations import Iteration, ModelCall, Reader
from react_run.journal.lines import from_json
from react_run.journal.stats import RunStats, stats_of
from react_run.journal.values import VERSION, Record, message_from_data
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.attachments import StoredParts
    from react_run.messages import Message
    from react_run.parts import Part

MODEL_RECORDS = ("model_request", "model_response", "model_error")
HEADER = frozenset(
    [
        "agent",
        "context_window",
        "incoming",
        "max_iterations",
        "model",
        "opening",
        "options",
        "plugins",
        "prompt",
        "python",
        "react_run",
        "run",
        "session",
        "started",
        "time",
        "toolsets",
        "type",
        "version",
        "workspace",
    ]
)
"""The fields of every header, as in ``schema.json``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Journal:
    """The records of one run and of its subagents.

    ``torn`` says that the last line is incomplete, as a crash leaves it.
    """

    records: Sequence[Record]
    path: Path | None = None
    torn: bool = False
    above: Journal | None = None
    """The journal of the parent run."""

    @cached_property
    def header(self) -> Record:
        """The first record: agent, versions, prompt."""
        return self.records[0]

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return str(self.header["run"])

    @cached_property
    def own(self) -> Sequence[Record]:
        """The run's own records, without those of subagents."""
        return [record for record in self.records if record["run"] == self.run_id]

    @cached_property
    def valid(self) -> Sequence[Record]:
        """The run's own records, without those that became void because model calls were repeated after a resume."""
        valid: list[Record] = []
        for record in self.own:
            if record["type"] == "resumed":
                valid = kept(valid, record["first_call"])
            valid.append(record)
        return valid

    @cached_property
    def footer(self) -> Record | None:
        """The last record of a run that ended; ``None`` if the run was killed or is still active."""
        last = self.own[-1]
        return last if last["type"] == "footer" else None

    @cached_property
    def incoming(self) -> tuple[Message, ...]:
        """The earlier turns of the conversation."""
        return tuple(message_from_data(message, self.attachment) for message in self.header["incoming"])

    @property
    def prompt(self) -> str | list[str | Part]:
        """The prompt: its text, and its attachments."""
        attached: list[str | Part] = [*map(self.attachment, self.header.get("attachments", ()))]
        text: str = self.header["prompt"]
        return [*([text] if text else ()), *attached] if attached else text

    def attachment(self, said: Record) -> Part:
        """Load the image or file that a record refers to."""
        return self._kept.part(said) if self.above is None else self.above.attachment(said)

    @cached_property
    def _kept(self) -> StoredParts:
        from react_run.journal.attachments import StoredParts

        return StoredParts(self.path, self.records)

    @cached_property
    def _read(self) -> Reader:
        try:
            return Reader(self.own, self.incoming, self.attachment)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:  # a damaged record
            problem = f"{self.path or 'the journal'}: a record of run {self.run_id} is damaged"
            raise JournalError(f"{problem} ({type(error).__name__}: {error})") from error

    @property
    def iterations(self) -> list[Iteration]:
        """The iterations with their model and tool calls; iteration 0 has what happened before the first one."""
        return list(self._read.iterations.values())

    @property
    def calls(self) -> dict[int, ModelCall]:
        """The model calls by number; if one was repeated after an interruption, the later one counts."""
        return self._read.calls

    @property
    def answers(self) -> dict[int, ModelCall]:
        """The model calls that have a reply or an error, by number."""
        return {number: call for number, call in self.calls.items() if call.end is not None}

    @property
    def first_unanswered(self) -> int:
        """The number of the first model call that a resumed run makes itself: trailing errors are retried."""
        return max((number for number, call in self.answers.items() if call.response), default=0) + 1

    @property
    def offers(self) -> dict[str, list[str]]:
        """The names in each list of tools that was offered to the model, by digest."""
        return {record["digest"]: record["names"] for record in self.own if record["type"] == "tools"}

    @property
    def resumed(self) -> bool:
        """Whether the run was interrupted and resumed."""
        return any(record["type"] == "resumed" for record in self.own)

    @property
    def opening(self) -> Sequence[Message]:
        """The conversation at the start of the run: system prompt, earlier turns, prompt."""
        return self._read.opening

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation at the end of the run, or of the last request."""
        return self._read.messages

    @cached_property
    def below(self) -> list[Journal]:
        """The journals of the run's subagents."""
        children = [record for record in self.records if record["run"] != self.run_id]
        return [Journal(records=records, path=self.path, above=self) for records in _grouped(children)]

    @property
    def stats(self) -> RunStats:
        """The run's calls, tokens, cost and seconds."""
        below = [child.stats for child in self.below]
        return stats_of(self.iterations, self.own, self.footer, below)

    @property
    def own_stats(self) -> RunStats:
        """The run's own calls, tokens, cost and seconds, without its subagents."""
        return stats_of(self.iterations, self.own, self.footer, ())


def read_journal(path: str | PathLike[str], run: str | None = None) -> Journal:
    """Read the journal of one run: the one whose id begins with ``run``, or the last one in the file.

    Raises:
        JournalError: The file or run does not exist, or it is not a journal of this format version.
    """
    journals = read_journals(path)
    found = [journal for journal in journals if run is None or journal.run_id.startswith(run)]
    if not found:
        raise JournalError(f"{path}: no run {run}" if journals else f"{path}: no run was recorded here")
    return found[-1]


def read_journals(path: str | PathLike[str]) -> list[Journal]:
    """Read the journals of all runs in a file, in the order in which they began.

    Raises:
        JournalError: The file does not exist, or it is not a journal of this format version.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    lines = data.split(b"\n")
    torn = bool(lines.pop())
    records = _records(lines, path)
    groups = _grouped(records)
    for own in groups:
        if own[0]["type"] != "header":
            raise JournalError(f"{path}: a run in this file does not begin with a header")
        if missing := sorted(HEADER - own[0].keys()):
            raise JournalError(f"{path}: the header of run {own[0]['run']} lacks {', '.join(missing)}")
    return [Journal(records=own, path=path, torn=torn and own[-1] is records[-1]) for own in groups]


def kept(records: Iterable[Record], first_call: int) -> list[Record]:
    """The records that remain valid when the model calls from ``first_call`` on are repeated."""
    found: list[Record] = []
    void = False
    for record in records:
        again = record["type"] in MODEL_RECORDS and record["call"] >= first_call
        void = void or again
        if not (again or record["type"] == "footer" or (void and record["type"] == "guard")):
            found.append(record)
    return found


def _records(lines: list[bytes], path: Path) -> list[Record]:
    try:
        found: list[Record] = from_json(b"[%b]" % b",".join(lines))  # several times faster than line by line
    except (ValueError, RecursionError):
        found = []
    if len(found) != len(lines):
        found = [_parsed(line, path, number) for number, line in enumerate(lines, 1)]
    for number, record in enumerate(found, 1):
        _check(record, path, number)
    return found


def _parsed(line: bytes, path: Path, number: int) -> Record:
    try:
        return from_json(line)  # type: ignore[no-any-return]  # checked by the caller
    except (ValueError, RecursionError):
        raise JournalError(f"{path}:{number}: this is not a journal record") from None


def _check(record: object, path: Path, number: int) -> None:
    if not (isinstance(record, dict) and isinstance(record.get("type"), str) and isinstance(record.get("run"), str)):
        raise JournalError(f"{path}:{number}: this is not a journal record")
    version = record.get("version", VERSION)
    if record["type"] == "header" and version != VERSION:
        problem = f"the journal has format {version!r}, and this react-run reads format {VERSION} only"
        raise JournalError(f"{path}:{number}: {problem}; open it with {_writer_of(record)}")


def _writer_of(header: Record) -> str:
    """The release that wrote a journal, according to its header."""
    release = header.get("react_run")
    named = isinstance(release, str) and re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,40}", release)
    return f"react-run {release}, which wrote it" if named else "the version that wrote it"


def _grouped(records: Iterable[Record]) -> list[list[Record]]:
    """Group records by outermost run: each run together with its subagents."""
    groups: dict[str, list[Record]] = {}
    root: dict[str, str] = {}
    for record in records:
        run: str = record["run"]
        if run not in root:
            root[run] = root.get(record.get("parent", ""), run)
        groups.setdefault(root[run], []).append(record)
    return list(groups.values())
