"""What a run changed in files is on its page, as differences, and stays there when the files have changed again."""

from __future__ import annotations

from pathlib import Path

from tests.serve.running_server import agent_file, calling, serving


def test_files_that_tools_wrote_and_edited_are_shown_as_differences(home: Path, tmp_path: Path) -> None:
    replies: list[object] = [
        calling(("write_file", {"path": "notes.txt", "content": "one\ntwo <b>\nthree\n"})),
        calling(("edit_file", {"path": "notes.txt", "old_text": "two <b>", "new_text": "deux <script>"})),
        calling(("edit_file", {"path": "notes.txt", "old_text": "not there", "new_text": "never shown"})),
        calling(("write_file", {"path": "notes.txt", "content": "one\ndeux <script>\n"})),
        "done",
    ]
    file = agent_file(tmp_path, "one", replies, toolsets=[{"kind": "files", "read_only": False}])
    with serving(file, home=home, workspaces=tmp_path / "spaces") as running:
        run = running.chat("one").headers["x-request-id"]
        page = running.http.get(f"/runs/{run}?tab=changes").text
    assert page.count("<b>notes.txt</b>") == 3
    assert '<span class="good">+3</span> <span class="bad">-0</span>' in page
    assert '<span class="bad">-two &lt;b&gt;</span>' in page
    assert '<span class="good">+deux &lt;script&gt;</span>' in page
    assert '<span class="bad">-three</span>' in page
    assert "never shown" not in page.partition('id="content"')[2]


def test_a_run_that_changed_nothing_says_so(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", [calling(("say", {"text": "x"})), "done"]), home=home) as running:
        run = running.chat("one").headers["x-request-id"]
        assert "No tool wrote or edited a file" in running.http.get(f"/runs/{run}?tab=changes").text
