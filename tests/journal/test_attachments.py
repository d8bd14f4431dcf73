"""What came with a prompt or from a tool is in the journal once, and a replay, a resumed run and the page have it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from tests.pictures import pdf, png

from react_run import FilePart, ImagePart, Message, ReActAgent, Recorder, ScriptedModel, Tool, read_journal
from react_run import resume as resume_run
from react_run.journal.attachments import folder_of
from react_run.journal.files import FileSink
from react_run.journal.replay.replay import replay
from react_run.journal.sinks import MemorySink
from react_run.journal.summaries import remove_run, summaries
from react_run.journal.validation import damage_in
from react_run.journal.view.export import as_markdown
from react_run.journal.view.html import page
from react_run.testing import calls

PHOTO, OTHER = ImagePart(png(), name="photo.png"), ImagePart(png(2), name="other.png")
PAGE = FilePart(pdf(), name="page.pdf")


def look() -> list[object]:
    """Look."""
    return ["Taken at noon.", OTHER]


def agent(*replies: object, reads: tuple[str, ...] = ("image/*",), **config: object) -> ReActAgent:
    said = replies or (calls(("look", {}), ("look", {})), "Two dots.")
    model = ScriptedModel(replies=list(said), reads=list(reads))
    return ReActAgent(config, model=model, toolsets=[Tool.from_function(look, repeatable=True)])


def recorded(path: Path, *prompt: object, built: ReActAgent | None = None, **options: object) -> None:
    made = (built or agent()).replace(journal=path)
    asyncio.run(made.run(list(prompt) or ["See?", PHOTO, PHOTO], **options))  # type: ignore[arg-type]


def test_each_attachment_is_kept_once_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path)
    kept = sorted(folder_of(path).iterdir())
    assert sorted(file.read_bytes() for file in kept) == sorted([PHOTO.data, OTHER.data])
    assert {file.name for file in kept} == {f"{PHOTO.digest}.png", f"{OTHER.digest}.png"}
    assert PHOTO.url[:60] not in path.read_text()
    assert damage_in(path) == ""


def test_a_journal_gives_back_what_it_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path, messages=[Message(role="user", content=[PAGE]), Message(role="assistant", content="A page.")])
    journal = read_journal(path)
    assert journal.prompt == ["See?", PHOTO, PHOTO]
    assert journal.incoming[0].content == [PAGE]
    assert journal.messages[-2].content == [{"type": "text", "text": f"Taken at noon.\n[{OTHER.label}]"}, OTHER]


@pytest.mark.parametrize("tools", ["recorded", "live"])
@pytest.mark.parametrize("reads", [("image/*",), ()])
def test_a_run_with_attachments_replays(tmp_path: Path, tools: str, reads: tuple[str, ...]) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path, built=agent(reads=reads), workspace=tmp_path)
    done = asyncio.run(replay(read_journal(path), agent(reads=reads), tools=tools))  # type: ignore[arg-type]
    assert done.complete


def test_a_run_replays_although_its_files_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path)
    for file in folder_of(path).iterdir():
        file.unlink()
    assert asyncio.run(replay(read_journal(path), agent())).complete
    assert "not kept" in read_journal(path).messages[1].text


def test_a_killed_run_goes_on_with_its_attachments(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path)
    lines = path.read_bytes().splitlines(keepends=True)
    asked = [n for n, line in enumerate(lines) if json.loads(line)["type"] == "model_request"]
    path.write_bytes(b"".join(lines[: asked[1] + 1]))
    goes_on = agent()
    result = asyncio.run(resume_run(path, goes_on))
    assert result.answer == "Two dots."
    last = goes_on.model.requests[-1].messages  # type: ignore[attr-defined]
    assert last[1].content[1:] == [PHOTO, PHOTO]
    assert last[-1].content[-1] == OTHER


def test_a_run_that_goes_on_with_a_blind_model_tells_it_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path)
    lines = path.read_bytes().splitlines(keepends=True)
    asked = [n for n, line in enumerate(lines) if json.loads(line)["type"] == "model_request"]
    path.write_bytes(b"".join(lines[: asked[1] + 1]))
    monkeypatch.chdir(tmp_path)
    blind = agent(reads=())
    asyncio.run(resume_run(path, blind))
    (request,) = blind.model.requests  # type: ignore[attr-defined]
    assert "photo.png" in request.messages[1].text
    assert "A copy is at .react-run/runs/" in request.messages[1].text
    assert all(isinstance(message.content, str) for message in request.messages)


def test_secrets_in_text_are_masked_and_other_files_with_one_are_left_out(tmp_path: Path) -> None:
    path, secret = tmp_path / "run.jsonl", "hunter2hunter2"
    built = agent("Noted.")
    built.config.masker.add(secret)
    text = FilePart(f"password: {secret}\n".encode(), "text/plain", "notes.txt")
    image = ImagePart(png() + secret.encode(), name="leaky.png")
    recorded(path, "Read this.", text, image, PHOTO, built=built)
    everything = [path, *folder_of(path).iterdir()]
    assert len(everything) == 3
    assert all(secret.encode() not in file.read_bytes() for file in everything)
    assert asyncio.run(replay(read_journal(path), built)).complete


def test_a_sink_without_a_place_has_them_in_its_records(tmp_path: Path) -> None:
    class Plain(MemorySink):
        attach = None  # type: ignore[assignment]

    sink = Plain()
    asyncio.run(agent().replace(journal=[Recorder.into(sink)]).run(["See?", PHOTO]))
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in sink.records))
    assert path.read_text().count(PHOTO.url) == 1
    assert damage_in(path) == ""
    assert read_journal(path).prompt == ["See?", PHOTO]
    assert asyncio.run(replay(read_journal(path), agent())).complete


def test_the_page_shows_images_and_names_files(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    rows = FilePart(b"<b>1</b>", "text/csv", "rows.csv")
    recorded(path, "See?", PHOTO, PAGE, rows, built=agent(reads=("image/*", "application/pdf")))
    html = page(read_journal(path))
    assert f'<img src="{PHOTO.url}" alt="{PHOTO.label}">' in html
    assert html.count(OTHER.url) == 2
    assert PAGE.label in html
    assert "&lt;b&gt;1&lt;/b&gt;" in html
    assert "<b>1</b>" not in html
    assert f"Attached: {PHOTO.label}" in as_markdown(read_journal(path))


def test_removing_a_run_removes_its_attachments(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path)
    (summary,) = summaries([path])
    remove_run(summary)
    assert not folder_of(path).exists()


def test_an_attachment_has_its_name_only_once_it_is_on_disk(tmp_path: Path) -> None:
    synced: list[list[str]] = []
    folder = folder_of(tmp_path / "run.jsonl")

    def fsync(descriptor: int) -> None:
        assert os.fstat(descriptor).st_size == len(b"whole")
        synced.append([path.name for path in folder.iterdir()])

    sink = FileSink(tmp_path / "run.jsonl", fsync=fsync)
    assert sink.attach("abc.png", b"whole")
    sink.close()
    ((name,),) = synced
    assert name != "abc.png"
    assert [path.read_bytes() for path in folder.iterdir()] == [b"whole"]
