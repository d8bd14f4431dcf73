"""One journal: the sink of a run and of the runs below it, and what they share in it."""

from __future__ import annotations

from hashlib import sha256
from time import perf_counter, time
from typing import TYPE_CHECKING

from react_run.journal.lines import encoded
from react_run.journal.sinks import Sink
from react_run.journal.values import Record, in_micros
from react_run.tools.annotations import ToolAnnotations

if TYPE_CHECKING:
    from react_run.journal.attachments import Keeper
    from react_run.parts import Part
    from react_run.secrets import Masker
    from react_run.tools.tool import Tool

FLAGS = [name for name in ToolAnnotations.__dataclass_fields__ if name != "timeout"]


class JournalWriter:
    """Takes the records of one run and of those below it, masks them, and describes each tool once.

    Args:
        sink: The sink of the records.
        masker: Masks secrets.
    """

    def __init__(self, sink: Sink, masker: Masker) -> None:
        self.sink, self.masker = sink, masker
        self._write = sink.write
        self._keeper: Keeper | None = None
        self.run_ids: dict[str, str] = {}
        """The constant names that replace run ids in digests."""
        self._since = time() - perf_counter()
        self._offers: dict[tuple[int, ...], str] = {}
        self._offered: tuple[tuple[Tool, ...], str] = ((), "")
        """The list that was offered last, and its digest."""
        self._described: dict[int, Tool] = {}

    def now(self) -> float:
        """Seconds since 1970, from a clock that never goes back."""
        return in_micros(self._since + perf_counter())

    def put(self, record: Record) -> None:
        """Write one record.

        Raises:
            JournalError: It cannot be written.
        """
        self._write(*encoded(record, self.masker))

    def keep(self, part: Part) -> Record:
        """Store an attachment, and return its reference.

        Raises:
            JournalError: It cannot be stored.
        """
        return self._attachments.keep(part)

    def refer(self, part: Part) -> Record:
        """The reference to an attachment."""
        return self._attachments.reference(part)

    @property
    def _attachments(self) -> Keeper:
        if self._keeper is None:
            from react_run.journal.attachments import Keeper

            self._keeper = Keeper(self.sink, self.masker)
        return self._keeper

    def enter(self, run_id: str) -> None:
        """Assign a run its constant name in digests."""
        self.run_ids[run_id] = f"RUN.{len(self.run_ids)}" if self.run_ids else "RUN"

    def offer(self, tools: tuple[Tool, ...], head: Record) -> str:
        """The digest of a list of tools; a new list is written first, with every tool that is new."""
        if self._offered[0] is tools:
            return self._offered[1]
        key = tuple(map(id, tools))
        if key not in self._offers:
            new = [tool for tool in tools if id(tool) not in self._described]
            self._described.update((id(tool), tool) for tool in new)  # held, because the keys are made of their ids
            _, text = encoded({"tools": [described_tool(tool) for tool in tools]}, self.masker)
            self._offers[key] = digest = sha256(text.encode(errors="replace")).hexdigest()[:32]
            names = [tool.name for tool in tools]
            self.put({**head, "digest": digest, "names": names, "new": [described_tool(tool) for tool in new]})
        self._offered = tools, self._offers[key]
        return self._offers[key]


def described_tool(tool: Tool) -> Record:
    """A tool as it is offered to the model, with its annotations."""
    flags = {name: value for name in FLAGS if (value := getattr(tool, name)) not in (None, False)}
    data: Record = {"name": tool.name, "description": tool.description, "parameters": tool.parameters, **flags}
    if tool.called:
        data["toolset"] = tool.called
    return data if tool.read_only is None else {**data, "read_only": tool.read_only}
