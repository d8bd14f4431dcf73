"""The cases of provider data through real clients, a real server and the loop: what a run makes of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.cli.command_line import react_run, write
from tests.models.case_results import Seen, Watching
from tests.models.case_runs import BOTH, CLIENTS, Failing, agent_for, outcome_of, run_case, tools_of
from tests.models.cases import TOOLS, Case, Json, cases
from tests.models.expectations import check
from tests.models.stub_server import StubServer, completion

from react_run import RunResult
from react_run.models.reply import transport_error

LITELLM_LOSES = {
    # LiteLLM reads these before we do, and what it makes of them is lost to us.
    "args_int_4301_digits": "the whole call is dropped",
    "content_part_null_text": "the whole content is dropped",
    "stream_no_index_with_ids": "the pieces of two calls are mixed up",
}

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic serializer):UserWarning"
)
BY_STATUS = [case for case in cases("error") if "status" in case.input]
BY_EXCEPTION = [case for case in cases("error") if "exception" in case.input]
BY_TOOL = [case for case in cases("error") if "exception_in_tool" in case.input]


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize("case", [*cases("response", "stream"), *BY_STATUS], ids=lambda case: case.name)
def test_a_run_makes_the_best_of_what_a_provider_sends(case: Case, client: str) -> None:
    seen = run_case(case, client)
    if client == "litellm" and case.name in LITELLM_LOSES:
        assert isinstance(seen.outcome, RunResult)  # nothing is executed that was not asked for; the run goes on
        assert not any(step.executed and step.failed for step in seen.outcome.steps)
        return
    check(seen)
    if case.expect["outcome"] == "final" and "truncated" not in case.expect.get("flags", ()):
        assert len(seen.bodies) == case.expect.get("model_calls", 1)
    elif case.expect["outcome"] in ("execute", "feedback", "retry", "final"):
        assert len(seen.bodies) == 2


@pytest.mark.parametrize("case", BY_EXCEPTION, ids=lambda case: case.name)
def test_what_is_raised_instead_of_a_reply_ends_a_run_as_it_must(case: Case, tmp_path: Path) -> None:  # S6, T1
    watching = Watching()
    agent = agent_for(Failing(error=error_of(case)), watching, tools_of(case, []))
    status = exit_status(case, tmp_path) if "exit_code" in case.expect else None
    check(Seen(case=case, client="none", outcome=outcome_of(agent), watching=watching, exit_status=status))


def error_of(case: Case) -> BaseException:
    module, _, name = case.input["exception"].rpartition(".")
    if module != "httpx":
        return {"KeyboardInterrupt": KeyboardInterrupt, "CancelledError": asyncio.CancelledError}[name]()
    error = transport_error(getattr(httpx, name)(case.input["message"]), "stub", {})
    assert error is not None
    return error


RAISING = """\
from react_run.models.base import Model


class Raising(Model):
    \"\"\"Raises instead of answering.\"\"\"

    async def complete(self, request):
        raise {exception}
"""


def exit_status(case: Case, folder: Path) -> int:
    """What the command line ends with when the model raises what the case says."""
    write(folder, RAISING.format(**case.input), "raising.py")
    write(folder, "model: {kind: raising:Raising}\n")
    return react_run(folder, "agent.yaml", "go", "--trust").returncode


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize("case", BY_TOOL, ids=lambda case: case.name)
def test_a_tool_that_calls_sys_exit_does_not_end_the_host(case: Case, client: str) -> None:  # T1
    def leave() -> None:
        raise {"SystemExit(3)": SystemExit(3)}[case.input["exception_in_tool"]]

    call: Json = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    watching = Watching()
    with StubServer([completion(None, tool_calls=[call]), completion("ok")]) as server:
        agent = agent_for(CLIENTS[client](server.url), watching, [replace(TOOLS["now"], function=leave)])
        outcome = outcome_of(agent)
    bodies = [request.body for request in server.requests]
    check(Seen(case=case, client=client, outcome=outcome, watching=watching, bodies=bodies))
