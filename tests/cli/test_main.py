"""``python -m react_run`` is what ``react-run`` is."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import react_run, write


def test_a_module_in_the_working_directory_is_never_imported(tmp_path: Path) -> None:
    """Neither one that was there, nor one that the agent wrote there and that is imported later."""
    for name in ("yaml", "click", "pydantic", "trafilatura", "react_toolsets"):
        write(tmp_path, "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n", f"{name}.py")
    write(tmp_path, "model: {kind: scripted, replies: [done]}\ntoolsets: [web]\n")
    assert react_run(tmp_path, "agent.yaml", "go").stdout == "done\n"
    assert not (tmp_path / "imported").exists()
