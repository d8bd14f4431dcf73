"""The page in a real browser: read, watch, approve, chat, compare; by keyboard, in both themes, on a small screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.serve.browser import Watched, browser, needs_chromium, violations
from tests.serve.running_server import Running, agent_file, calling, serving

from react_run import tool
from react_run.batch import Batch, run_batch
from react_run.evals.results import write_result
from react_run.evals.running import run_eval
from react_run.support.threads import run_blocking
from react_run.testing import agent_with, calls, says

__all__ = ["browser"]
pytestmark = [needs_chromium, pytest.mark.slow]

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u202egnp.exe"
expect.set_options(timeout=60_000)  # what a busy machine needs costs an idle one nothing
ASKS = {"permissions": [{"tool": "effect", "action": "ask"}]}
USAGE = {"input_tokens": 1200, "output_tokens": 80, "cached_tokens": 300, "cost": 0.01}


@tool(read_only=True, repeatable=True, inline=True)
def add(a: int) -> int:
    """Add one."""
    return a + 1


TOKEN = "a-token-of-a-good-length"


@pytest.fixture
def running(home: Path, tmp_path: Path) -> Iterator[Running]:
    asks = agent_file(
        tmp_path,
        "coder",
        [
            calling(("say", {"text": HOSTILE}), ("slow", {"seconds": "x"}), text=HOSTILE, usage=USAGE),
            calling(("effect", {"name": HOSTILE}), usage=USAGE),
            {"text": "The branch is pushed.", "usage": USAGE},
        ],
        description=HOSTILE,
        **ASKS,
    )
    talks = agent_file(
        tmp_path,
        "talker",
        [calling(("slow", {"seconds": 0.5}), text="Let me look."), {"text": "It is 5.", "delay": 0.3}],
    )
    with serving(talks, asks, home=home) as found:
        yield found


def start(running: Running, agent: str, prompt: str = "go") -> str:
    return str(running.http.post("/api/runs", json={"agent": agent, "prompt": prompt}).json()["id"])


def measured(home: Path, hostile: str = "no") -> str:
    """An evaluation of two agents that is kept in ``home``; its name."""
    cases = [{"name": f"{hostile} {number}", "prompt": hostile, "expected": "yes"} for number in range(4)]
    first, second = (agent_with([says(answer, usage=USAGE)], name=answer) for answer in ("yes", hostile))
    directory = home / "data" / "evals" / "measured"
    result = run_blocking(run_eval(first, cases, against=second, directory=directory, repeat=2))
    write_result(result, directory)
    return directory.name


def begin_batch() -> None:
    """A batch with a row of each kind."""
    rows = [{"prompt": HOSTILE, "id": HOSTILE}, {"text": HOSTILE}]
    run_blocking(
        all_of(run_batch(agent_with([calls(("add", {"a": 1})), says(HOSTILE)], tools=[add]), rows, name="hostile"))
    )


async def all_of(batch: Batch) -> None:
    await batch


@contextmanager
def looking(browser: Browser, url: str, **options: Any) -> Iterator[Watched]:
    with browser.new_context(**{"viewport": {"width": 1344, "height": 896}, **options}) as context:
        context.set_default_timeout(60_000)
        watched = Watched(context.new_page())
        yield watched
        watched.check(url)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1344), ("dark", 1344), ("light", 360)])
def test_every_page_is_accessible_and_keeps_what_was_recorded_as_text(
    browser: Browser, running: Running, home: Path, scheme: Any, width: int
) -> None:
    run, other = start(running, "coder", HOSTILE), start(running, "talker")
    running.question()
    running.wait_for("completed", other)
    begin_batch()
    paths = [
        "/runs",
        f"/runs/{run}",
        f"/runs/{run}?tab=messages",
        f"/runs/{run}?tab=tree",
        f"/runs/{run}?tab=changes",
        f"/runs/{run}?tab=usage",
        f"/runs/{run}?tab=agent",
        f"/runs/{other}",
        "/chat?agent=coder",
        "/approvals",
        "/agents",
        "/batches",
        "/batches/hostile",
        "/compare",
        f"/compare?a={run}&b={other}",
        "/evals",
        f"/evals/{measured(home, HOSTILE)}",
    ]
    view = {"width": width, "height": 800}
    with looking(browser, running.url, color_scheme=scheme, viewport=view, reduced_motion="reduce") as watched:
        page = watched.page
        for path in paths:
            page.goto(running.url + path)
            for closed in page.query_selector_all("details:not([open])"):
                closed.evaluate("element => { element.open = true; }")
            assert width < 1000 or violations(page) == [], path
            assert page.evaluate("window.hacked") is None, path
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width, path


def test_marks_of_an_evaluation_lead_to_their_runs(browser: Browser, running: Running, home: Path) -> None:
    measured(home)
    with looking(browser, running.url) as watched:
        page = watched.page
        page.goto(f"{running.url}/evals")
        page.get_by_role("link", name="yes and no").click()
        expect(page.locator("h1")).to_have_text("yes and no")
        expect(page.locator(".sentence")).to_contain_text("No difference is shown between no and yes")
        page.get_by_role("link", name="run 1: failed").first.click()
        expect(page.locator("h1")).to_contain_text("no")
        expect(page.locator("#badge")).to_have_text("completed")
    assert running.http.get("/evals/none").status_code == 404
    assert running.http.get("/evals/..%2f..%2fetc").status_code == 404


def test_a_run_is_watched_approved_and_done_without_a_reload(browser: Browser, running: Running) -> None:
    run = start(running, "coder", "push it")
    running.question()
    with looking(browser, running.url) as watched:
        page = watched.page
        page.goto(f"{running.url}/runs/{run}")
        page.evaluate("window.here = 1")
        expect(page.locator("#badge")).to_have_text("waiting for you")
        page.get_by_text("add a note").click()
        page.get_by_label("Note for the journal").fill("looks right")
        page.get_by_role("button", name="Allow once").click()
        expect(page.locator("#outcome")).to_contain_text("The branch is pushed.")
        expect(page.locator("#badge")).to_have_text("completed")
        expect(page.locator("#waiting")).to_be_empty()
        page.locator(".row", has_text="effect").click()
        expect(page.locator("#side")).to_contain_text("did <script>")
        assert page.evaluate("window.here") == 1
    journal = running.service.shelf.read(run)
    assert journal is not None
    decision = next(record for record in journal.records if record["type"] == "decided")
    assert (decision["answer"], decision["by"]) == ("yes", "someone at this machine")


def test_a_conversation_shows_steps_and_goes_on(browser: Browser, running: Running) -> None:
    with looking(browser, running.url) as watched:
        page = watched.page
        page.goto(f"{running.url}/chat?agent=talker&session=talk")
        for number in (1, 2):
            page.locator("#message").fill(f"question {number}")
            page.keyboard.press("Enter")
            expect(page.locator(".me")).to_have_count(number)
            expect(page.locator(".it")).to_have_count(number)
            expect(page.locator(".it").last).to_contain_text("It is 5.")
            expect(page.locator(".it").last).to_contain_text("completed")
        page.reload()
        expect(page.locator(".me")).to_have_text(["question 1", "question 2"])
        page.goto(f"{running.url}/chat?agent=coder&session=other")
        page.locator("#message").fill("push it")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Decline").click()
        expect(page.locator(".it").last).to_contain_text("The branch is pushed.")


def painted(page: Page) -> None:
    """Wait until the page is drawn: before that, the browser drops keys."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_everything_can_be_done_by_keyboard(browser: Browser, running: Running) -> None:
    done = [start(running, "talker", f"number {number}") for number in range(2)]
    for run in done:
        running.wait_for("completed", run)
    start(running, "coder", "push it")
    running.question()
    with looking(browser, running.url) as watched:
        page = watched.page
        page.goto(f"{running.url}/runs")
        painted(page)
        page.keyboard.press("/")
        page.keyboard.type("push")
        expect(page.locator("#runs tbody tr")).to_have_count(1)
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{running.url}/runs/{running.question()['run']}")
        page.wait_for_load_state()
        painted(page)
        page.keyboard.press("a")
        expect(page.locator("#badge")).to_have_text("completed")
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.keyboard.press("t")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.goto(f"{running.url}/runs")
        painted(page)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        for key in "jjxjxc":
            page.keyboard.press(key)
        expect(page.locator("h1")).to_have_text("Compare two runs")
        page.goto(f"{running.url}/runs")
        painted(page)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_it_can_be_read_and_answered_without_scripts(browser: Browser, running: Running) -> None:
    run = start(running, "coder", "push it")
    running.question()
    with looking(browser, running.url, java_script_enabled=False) as watched:
        page = watched.page
        page.goto(f"{running.url}/runs")
        page.get_by_role("link", name="push it").click()
        expect(page.locator("#badge")).to_have_text("waiting for you")
        with page.expect_navigation():  # without scripts the answer is a form that leads back here
            page.get_by_role("button", name="Allow once").click()
        running.wait_for("completed", run)
        page.reload()
        expect(page.locator("#outcome")).to_contain_text("The branch is pushed.")


def test_a_token_is_asked_for_and_kept_in_a_cookie_that_scripts_cannot_read(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    with (
        serving(agent_file(tmp_path, "one", ["done"]), home=home, tokens={"ada": TOKEN}) as running,
        browser.new_context() as context,
    ):
        page = context.new_page()
        page.goto(f"{running.url}/runs")
        expect(page).to_have_url(f"{running.url}/login")
        assert violations(page) == []
        page.get_by_label("Token").fill("wrong-token-of-some-length")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not valid")
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Runs")
        (cookie,) = context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert TOKEN not in str(cookie)
        kept = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        assert httpx.get(f"{running.url}/api/runs", headers=kept, trust_env=False).status_code == 200
        body = {"agent": "one", "prompt": "go"}
        forged = httpx.post(f"{running.url}/api/runs", json=body, headers=kept, trust_env=False)
        assert (forged.status_code, forged.json()["error"]["code"]) == (403, "page_token")
        forged = httpx.post(f"{running.url}/chat", data={"message": "go"}, headers=kept, trust_env=False)
        assert forged.status_code == 403


def test_a_run_of_2000_iterations_is_shown_in_parts(browser: Browser, home: Path) -> None:
    runs = home / "data" / "runs"
    runs.mkdir(parents=True)
    agent = agent_with([*(calls(("add", {"a": number})) for number in range(2_000)), says("done")], tools=[add])
    agent.config.max_iterations = 2_001
    long = agent.replace(journal=runs).run_sync("go").run_id
    with serving(home=home) as running, looking(browser, running.url) as watched:
        page = watched.page
        page.goto(f"{running.url}/runs/{long}")
        expect(page.locator("#facts")).to_contain_text("2,001")
        before = page.locator(".row").count()
        assert before <= 2 * 60 + 1
        page.get_by_role("button", name="earlier iterations").click()
        expect(page.locator(".row")).to_have_count(before + 2 * 60)
        assert len(page.content()) < 500_000
