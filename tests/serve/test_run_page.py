"""What the page of a run says about it."""

from __future__ import annotations

from pathlib import Path

from tests.serve.kit import agent_file, calling, serving


def test_the_plan_that_a_model_kept_stands_beside_its_answer(home: Path, tmp_path: Path) -> None:
    steps = [{"step": "Count <b>guests</b>", "status": "done"}, {"step": "Write the menu"}]
    file = agent_file(tmp_path, "one", [calling(("plan", {"steps": steps})), "done"], toolsets=["plan"])
    with serving(file, home=home) as running:
        run = running.chat("one").headers["x-request-id"]
        page = running.http.get(f"/runs/{run}").text
    _, _, side = page.partition('id="outcome"')
    assert "<h3>Plan</h3>" in side
    assert "✓ Count &lt;b&gt;guests&lt;/b&gt;\n· Write the menu" in side
