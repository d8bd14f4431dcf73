"""What the page of a run says about it, and what it leaves alone."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from tests.serve.running_server import Running, agent_file, calling, serving

from react_run.serve.page.parts import badge


def test_the_plan_that_a_model_kept_stands_beside_its_answer(home: Path, tmp_path: Path) -> None:
    steps = [{"step": "Count <b>guests</b>", "status": "done"}, {"step": "Write the menu"}]
    file = agent_file(tmp_path, "one", [calling(("plan", {"steps": steps})), "done"], toolsets=["plan"])
    with serving(file, home=home) as running:
        run = running.chat("one").headers["x-request-id"]
        page = running.http.get(f"/runs/{run}").text
    _, _, side = page.partition('id="outcome"')
    assert "<h3>Plan</h3>" in side
    assert "✓ Count &lt;b&gt;guests&lt;/b&gt;\n· Write the menu" in side


def first_update(running: Running, path: str) -> str:
    """What the page at ``path`` is told first when it has begun to listen."""
    (address,) = re.findall(r'hx-sse:connect="([^"]*)"', running.http.get(path).text)
    with running.http.stream("GET", unescape(address)) as answer:
        lines = []
        for line in answer.iter_lines():
            if not line:
                break
            lines.append(line)
    return "\n".join(lines)


def test_a_badge_says_why_a_run_ended_in_words_or_in_a_list_by_its_code() -> None:
    words = "it went in circles"
    assert badge("stuck") == f'<span class="badge err" title="stuck">{words}</span>'
    assert badge("stuck", spelled=False) == f'<span class="badge err" title="{words}">stuck</span>'
    assert badge("completed", success=True) == '<span class="badge ok">completed</span>'


def test_a_question_that_is_shown_already_is_left_alone(home: Path, tmp_path: Path) -> None:
    asks = {"permissions": [{"tool": "effect", "action": "ask"}]}
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "x"})), "done"], **asks)
    with serving(file, home=home) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        running.question()
        told = first_update(running, f"/runs/{run}")
        assert 'id="badge"' in told
        assert 'id="questions"' not in told
        with running.http.stream("GET", f"/runs/{run}/live") as answer:  # a page that was made before it came
            assert any('id="questions"' in line and "data-approval" in line for line in answer.iter_lines())
