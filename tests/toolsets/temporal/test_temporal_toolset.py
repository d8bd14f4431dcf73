"""The toolset ``temporal`` in a run, the zone of the computer, and what it costs before it is used."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.toolsets.calling import Result

from react_run import Disposition
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.temporal import TemporalToolset
from react_toolsets.temporal import toolset as module
from react_toolsets.temporal.toolset import ASK

PACKAGE = Path(module.__file__).parent
DOCS = Path(__file__).parents[3] / "docs" / "toolsets" / "temporal.md"


@pytest.mark.parametrize(
    ("name", "arguments", "summary"),
    [
        (
            "convert_datetime",
            {"datetime": "2026-08-06T14:30", "from_timezone": "America/Vancouver", "to_timezone": "Europe/London"},
            "2026-08-06T14:30:00-07:00 (America/Vancouver) = Thursday, 2026-08-06T22:30:00+01:00 (Europe/London)",
        ),
        (
            "get_date_info",
            {"date": "2024-02-29"},
            "2024-02-29 is a Thursday, day 60 of the year, in ISO week 9 of 2024",
        ),
        ("add_calendar_period", {"date": "2026-01-31", "months": 1}, "2026-01-31 + 1 month = 2026-02-28 (Saturday)"),
        ("add_calendar_period", {"date": "2026-01-31"}, "2026-01-31 + 0 days = 2026-01-31 (Saturday)"),
        (
            "add_calendar_period",
            {"date": "2026-01-31T10:00Z", "days": -2, "hours": 3},
            "2026-01-31T10:00:00+00:00 - 2 days + 3 hours = 2026-01-29T13:00:00+00:00 (Thursday)",
        ),
        (
            "add_business_days",
            {"date": "2026-07-03", "days": -1},
            "2026-07-03 - 1 business day = 2026-07-02 (Thursday)",
        ),
        (
            "calendar_days_between",
            {"start_date": "2026-01-01", "end_date": "2026-12-31"},
            "From 2026-01-01 to 2026-12-31: 364 days",
        ),
        (
            "business_days_between",
            {"start_date": "2026-07-06", "end_date": "2026-07-10", "inclusive": True},
            "From 2026-07-06 to 2026-07-10: 5 business days, both ends included",
        ),
        (
            "duration_between",
            {"start_datetime": "2025-08-05", "end_datetime": "2026-08-06"},
            "From 2025-08-05 to 2026-08-06: 366 days (31622400 seconds; 1 year 0 months 1 day)",
        ),
    ],
)
def test_a_result_is_summed_up_as_one_verified_line(name: str, arguments: dict[str, object], summary: str) -> None:
    step = run_agent([calls((name, arguments)), says("done")], toolsets=[TemporalToolset()]).steps[0]
    assert step.outcome is not None
    assert step.outcome.verified_summary == summary


def test_the_clock_can_be_read_again_in_a_run() -> None:  # F4
    request = calls(("get_current_time", {"timezone": "UTC"}))
    result = run_agent([request, request, says("It is late.")], toolsets=[TemporalToolset()])
    assert [step.executed for step in result.steps] == [True, True]
    first = result.steps[0].outcome
    assert first is not None
    assert re.fullmatch(r"It is \w+day, \S+ in UTC", first.verified_summary)


def test_a_local_time_with_two_meanings_ends_the_run_with_the_question() -> None:  # F2
    request = calls(
        (
            "convert_datetime",
            {"datetime": "2026-11-01T01:30", "from_timezone": "America/New_York", "to_timezone": "UTC"},
        )
    )
    result = run_agent([request, says("05:30")], toolsets=[TemporalToolset()])
    assert result.stop_reason == "clarification_required"
    assert "2026-11-01T01:30:00-04:00 or 2026-11-01T01:30:00-05:00?" in result.answer


def codes() -> set[str]:
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r'Refusal\(\s*"([a-z_]+)"', sources))


def test_codes_that_only_the_user_can_settle_ask() -> None:
    toolset = TemporalToolset()
    assert codes() >= ASK
    for code in codes():
        outcome = toolset.interpret_result("x", {}, {"status": "error", "error": {"code": code, "message": "m"}})
        assert outcome is not None
        expected = Disposition.CLARIFICATION_REQUIRED if code in ASK else Disposition.RETRYABLE_ERROR
        assert outcome.disposition == expected


def test_every_code_is_documented() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert codes() == documented


def system_time(before: str = "", **environment: str) -> Result:
    """The clock of a fresh process in that environment, read without naming a zone."""
    program = (
        f"{before}\nfrom react_toolsets.temporal import TemporalToolset\n"
        "tools = {tool.name: tool for tool in TemporalToolset().tools()}\n"
        "print(tools['get_current_time'].function())"
    )
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result = json.loads(shown)
    assert isinstance(result, dict)
    return result


def test_the_zone_of_the_computer_is_taken_from_its_settings() -> None:
    assert system_time(TZ="Asia/Kolkata")["timezone"] == "Asia/Kolkata"
    assert system_time(TZ=":Europe/Paris")["timezone"] == "Europe/Paris"


@pytest.mark.parametrize(
    "setting", ["EST5EDT4,M3.2.0,M11.1.0", "Nowhere/City", "<+03>-3", "/no/such/file", "America/Argentina"]
)
def test_a_zone_that_cannot_be_told_is_an_error_that_says_so(setting: str) -> None:
    result = system_time(TZ=setting)
    assert result["error"]["code"] == "system_timezone_unavailable"
    assert "TZ" in result["error"]["message"]


def test_a_computer_without_a_zone_is_not_taken_to_be_in_utc(tmp_path: Path) -> None:
    empty = (
        f"import tzlocal.unix as u; import tzlocal as t; t.get_localzone = lambda: u._get_localzone({str(tmp_path)!r})"
    )
    result = system_time(empty, TZ="")
    assert result["error"]["code"] == "system_timezone_unavailable"
    assert "defaulting to UTC" in result["error"]["message"]


def test_nothing_is_imported_before_it_is_used() -> None:
    program = (
        "import sys, react_toolsets.temporal as t; tools = {tool.name: tool for tool in t.TemporalToolset().tools()};"
        "late = ('holidays', 'tzlocal', 'react_toolsets.temporal.facts');"
        "print([n for n in late if n in sys.modules]);"
        "tools['get_current_time'].function('Asia/Tokyo');"
        "print([n for n in late if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.split("\n")[:2] == ["[]", "['react_toolsets.temporal.facts']"]


# -- waiting ----------------------------------------------------------------------------------------------------------


def test_waiting_takes_the_time_it_was_asked_for() -> None:  # S1
    result = run_agent([calls(("wait", {"seconds": 0.05})), says("waited")], toolset="temporal")
    assert json.loads(result.steps[0].observation) == {"status": "ok", "waited_seconds": 0.05}
    assert 0.05 <= (result.steps[0].seconds or 0) < 5


@pytest.mark.parametrize("seconds", [61, -1, "an hour"])
def test_nobody_waits_longer_than_a_minute_or_back(seconds: object) -> None:  # A2
    (step,) = run_agent([calls(("wait", {"seconds": seconds})), says("no")], toolset="temporal").steps
    assert (step.executed, step.error_code) == (False, "invalid_arguments")


def test_waiting_is_over_when_the_run_is_cancelled_or_out_of_time() -> None:  # T2
    async def cancelled() -> float:
        run = asyncio.ensure_future(agent_with([calls(("wait", {"seconds": 60}))], toolset="temporal").run("go"))
        await asyncio.sleep(0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return time.monotonic()

    started = time.monotonic()
    assert asyncio.run(cancelled()) - started < 10
    result = run_agent([calls(("wait", {"seconds": 60})), says("x")], toolset="temporal", run_timeout=0.2)
    assert (result.stop_reason, time.monotonic() - started < 20) == ("timeout", True)


def test_waiting_outlives_the_deadline_that_other_tools_have() -> None:  # T2
    asked = [calls(("wait", {"seconds": 0.3})), says("waited")]
    assert run_agent(asked, toolset="temporal", tool_timeout=0.1).success


def test_waiting_proves_nothing() -> None:  # F6
    failing = calls(("convert_datetime", {"datetime": "x", "from_timezone": "UTC", "to_timezone": "UTC"}))
    result = run_agent([failing, calls(("wait", {"seconds": 0})), says("It is noon.")], toolset="temporal")
    assert not result.success
