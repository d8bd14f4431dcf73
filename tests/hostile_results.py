"""What becomes of a hostile result, and a check for everything that its case can expect."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from pydantic import SecretStr
from tests.case_checks import look, same
from tests.plugins.traces import Person, Traces

from react_plugins.redact import Redact
from react_run import ReActAgent, ReActSkillSpec, ReActToolset, RunResult, Tool
from react_run.cli.trace import show_tree
from react_run.journal.reading import Journal
from react_run.journal.recorder import Recorder
from react_run.journal.sinks import MemorySink
from react_run.journal.view.html import page
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.web import WebToolset

Json = Any  # a case, or a part of one
ARGUMENTS: Json = {"args": {"keep": [1, {"me": 2}]}}
ASKED = calls(("t", ARGUMENTS))


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of a case: the result as data, and all of it where the run was one of this process."""

    case: Json
    tool: Tool | None = None
    data: Json = None
    result: RunResult | None = None
    raised: BaseException | None = None
    records: Sequence[Json] = ()
    log: str = ""
    seconds: float = 0.0
    exit_status: int | None = None

    @property
    def step(self) -> Json:
        return self.data["steps"][0]

    @property
    def text(self) -> str:
        """What the model reads."""
        text: str = self.step["observation"]
        return text

    @property
    def terminal(self) -> str:
        """What a terminal gets to show of the run."""
        with redirect_stdout(io.StringIO()) as out:
            show_tree(Journal(records=list(self.records)), full=True)
        return out.getvalue()

    def messages(self, role: str) -> list[Json]:
        assert self.result is not None
        return [message for message in self.result.messages if message.role == role]

    def then(self, *replies: Json, **options: Any) -> RunResult:
        """A run that goes on with ``reply_checks`` when it has read the result."""
        return run_agent([ASKED, *replies, says("done")], **{"tools": [self.tool], **options})


def run_case(case: Json, tool: Tool) -> dict[str, Json]:
    """One run in which the tool is called once: how it ended, its records and its log."""
    agent = agent_with([ASKED, says("done")], tools=[tool])
    if "secret" in case:
        agent.config.masker.add(case["secret"])
    return recorded(agent)


def recorded(agent: ReActAgent) -> dict[str, Json]:
    sink = MemorySink()
    found: dict[str, Json] = {"records": sink.records}
    with logged() as log:
        try:
            found["result"] = agent.replace(journal=Recorder.into(sink)).run_sync("go")
            found["data"] = found["result"].to_dict()
        except BaseException as error:
            found["raised"] = error
    return {**found, "log": log.getvalue()}


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """What is logged meanwhile, tracebacks included."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    logger = logging.getLogger("react_run")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


# -- what the model reads ----------------------------------------------------------------------------------------------


def has_all(done: Done, wanted: Sequence[str]) -> None:
    assert [words for words in wanted if words not in done.text] == []


def has_none(done: Done, wanted: Sequence[str]) -> None:
    for words in wanted:
        assert words in repr(eval(done.case["make"]))  # or it could not be there
        assert words not in done.text


def is_utf8(done: Done, wanted: bool) -> None:
    done.text.encode()
    assert wanted


def is_preview(done: Done, wanted: bool) -> None:  # T4
    assert ("bytes in all" in done.text) is wanted


# -- what people see ---------------------------------------------------------------------------------------------------


def terminal_shows(done: Done, wanted: Sequence[str]) -> None:
    assert [words for words in wanted if words not in done.terminal] == []


def terminal_gets_none(done: Done, wanted: Sequence[str]) -> None:
    for words in wanted:
        assert words in eval(done.case["make"])
        assert words not in done.terminal


class Addresses(HTMLParser):
    """What a browser would fetch of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("src", "srcset", "data", "poster")]
        self.found += [value for name, value in attrs if tag == "link" and name == "href" and value != "data:,"]


def fetches_nothing(done: Done, wanted: bool) -> None:
    repeated = recorded(agent_with([says(done.text)]))["records"]  # an answer is Markdown on the page
    for records in (done.records, repeated):
        assert (Addresses(page(Journal(records=list(records)))).found == []) is wanted


# -- secrets -----------------------------------------------------------------------------------------------------------

PLACES: Mapping[str, Callable[[Done], str]] = {
    "log": lambda done: done.log,
    "record": lambda done: json.dumps(done.records, ensure_ascii=False),
    "trace": lambda done: done.terminal,
}


def is_masked_in(done: Done, wanted: Sequence[str]) -> None:  # J2
    assert sorted(wanted) == sorted(PLACES)
    assert done.case["secret"] in done.case["make"]
    for place in wanted:
        assert done.case["secret"] not in PLACES[place](done)


def model_reads_as_configured(done: Done, wanted: str) -> None:
    secret = done.case["secret"]
    masked = done.then(plugins=[Redact(values=[SecretStr(secret)])])
    assert (secret in done.text, secret in masked.steps[0].observation) == (True, wanted != "configurable")


# -- what it cannot do -------------------------------------------------------------------------------------------------


def is_data(done: Done, wanted: bool) -> None:
    assert done.result is not None
    said = [message.role for message in done.result.messages if done.text in message.text]
    assert (said == ["tool"]) is wanted


def fetch_is_refused(done: Done, wanted: bool) -> None:
    (url,) = re.findall(r"https?://\S+", done.text)
    result = done.then(calls(("web_fetch", {"url": url})), toolsets=[WebToolset()])
    assert (result.steps[1].error_code == "address_refused") is wanted


class Skilled(ReActToolset):
    """A tool that belongs to a skill."""

    only: Any

    def tools(self) -> list[Tool]:
        return [self.only]

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [ReActSkillSpec(name="hostile", description="Is hostile.", tool_names=("t",))]


def skill_is_refused(done: Done, wanted: bool) -> None:  # D2
    (name,) = re.findall(r"skill (\S+)", done.text)
    known, unknown = (calls(("activate_tool_skill", {"skill": skill})) for skill in ("hostile", name))
    replies, toolset = [known, ASKED, unknown, says("done")], Skilled(only=done.tool)
    result = run_agent(replies, toolsets=[toolset], tool_disclosure="skills")
    assert result.steps[1].observation == done.text
    assert (result.steps[2].error_code == "unknown_skill") is wanted


def is_asked_all_the_same(done: Done, wanted: bool) -> None:
    traces, person = Traces(), Person.saying("no", rules=[{"tool": "t", "action": "allow"}])
    done.then(calls(("write", {"path": "a"})), tools=[done.tool, *traces.tools()], plugins=[person])
    assert (len(person.questions), traces.writes) == (int(wanted), [])


CHECKS: Mapping[str, Callable[[Done, Json], None]] = {
    "is_error": lambda done, wanted: same(done.step["error_code"] is not None, wanted),
    "contains": has_all,
    "sent_contains": has_all,
    "sent_equals": lambda done, wanted: same(done.text, wanted),
    "sent_chars_max": lambda done, most: same(len(done.text) <= most, True),
    "never": has_none,
    "non_empty": lambda done, wanted: same(bool(done.text.strip()), wanted),
    "valid_utf8": is_utf8,
    "marker": is_preview,
    "within_s": lambda done, most: same(done.seconds < most, True),
    "terminal_contains": terminal_shows,
    "terminal_never": terminal_gets_none,
    "no_network": fetches_nothing,
    "redacted_in": is_masked_in,
    "policy_for_model": model_reads_as_configured,
    "wrapped_as_data": is_data,
    "then_fetch_blocked": fetch_is_refused,
    "then_skill_refused": skill_is_refused,
    "permission_still_asked": is_asked_all_the_same,
    "results_count": lambda done, wanted: same(len(done.messages("tool")), wanted),  # L3
    "executed_extra": lambda done, wanted: same(sum(step["executed"] for step in done.data["steps"]) - 1, wanted),
    "history_args_unchanged": lambda done, wanted: same(arguments_stored(done) == ARGUMENTS, wanted),
    "run_finishes": lambda done, wanted: same((done.data["answer"], done.data["success"]) == ("done", True), wanted),
    "propagates": lambda done, wanted: same(done.raised is not None, wanted),
    "exit_code": lambda done, wanted: same(done.exit_status, wanted),
}


def arguments_stored(done: Done) -> Json:
    return done.messages("assistant")[0].tool_requests[0].arguments


def check(done: Done) -> None:
    """All that the case expects."""
    look(CHECKS, done.case["expect"], done)
