"""Images and files in runs: the model that can read them sees them, another one is told what there is and where."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.pictures import pdf, png

from react_run import ConfigError, FilePart, ImagePart, Message, Observation, ReActAgent, ScriptedModel, Tool
from react_run.engine import attachments
from react_run.testing import calls

PHOTO = ImagePart(png(), name="photo.png")
PHOTOGRAPHED = calls(("photograph", {})), "A dot."


def agent(*replies: object, reads: list[str], tools: tuple[Tool, ...] = ()) -> tuple[ReActAgent, ScriptedModel]:
    model = ScriptedModel(replies=list(replies), reads=reads)
    return ReActAgent(model=model, toolsets=tools), model


def last(model: ScriptedModel) -> Message:
    return model.requests[-1].messages[-1]


def test_a_prompt_carries_parts_to_a_model_that_reads_them() -> None:
    built, model = agent("A red dot.", reads=["image/*"])
    result = built.run_sync(["What is this?", PHOTO])
    assert result.success
    assert last(model).content == [{"type": "text", "text": "What is this?"}, PHOTO]


def test_a_model_that_cannot_read_them_is_told_what_there_is_and_where(tmp_path: Path) -> None:
    built, model = agent("I cannot see it.", reads=[])
    asyncio.run(built.run(["What is this?", PHOTO], workspace=tmp_path))
    text = last(model).content
    assert isinstance(text, str)
    assert f"photo.png (image/png, {PHOTO.size} bytes): it is not shown here" in text
    saved = text.partition("A copy is at ")[2].partition(".png")[0] + ".png"
    assert (tmp_path / saved).read_bytes() == PHOTO.data


def test_every_model_reads_text_files() -> None:
    built, model = agent("Two rows.", reads=[])
    built.run_sync(["How many rows?", FilePart(b"a\n1\n2\n", "text/csv", "rows.csv")])
    assert "<<<file rows.csv" in last(model).text
    assert "a\n1\n2\n" in last(model).text


def test_what_a_tool_returns_reaches_the_model() -> None:
    def photograph() -> ImagePart:
        """Take a photograph."""
        return PHOTO

    built, model = agent(
        calls(("photograph", {})), "A dot.", reads=["image/*"], tools=(Tool.from_function(photograph),)
    )
    result = built.run_sync("Look!")
    assert last(model).content == [{"type": "text", "text": f"[{PHOTO.label}]"}, PHOTO]
    assert result.steps[0].observation == f"[{PHOTO.label}]"


def test_an_observation_carries_parts() -> None:
    def photograph() -> Observation:
        """Take a photograph."""
        return Observation(content="Taken at noon.", parts=(PHOTO,))

    built, model = agent(
        calls(("photograph", {})), "A dot.", reads=["image/*"], tools=(Tool.from_function(photograph),)
    )
    built.run_sync("Look!")
    assert last(model).content == [{"type": "text", "text": "Taken at noon."}, PHOTO]


def test_a_list_of_texts_and_parts_is_one_result() -> None:
    def report() -> list[object]:
        """Report."""
        return ["Total: 3", PHOTO, FilePart(b"a,b", "text/csv", "t.csv")]

    built, model = agent(calls(("report", {})), "Done.", reads=["image/*"], tools=(Tool.from_function(report),))
    built.run_sync("Report!")
    assert last(model).text.startswith("Total: 3\n[photo.png")
    assert "<<<file t.csv" in last(model).text
    assert last(model).content[-1] == PHOTO


def test_what_is_too_large_for_a_request_is_left_out_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "LARGEST", PHOTO.size + 1)

    def album() -> list[ImagePart]:
        """Show the album."""
        return [PHOTO, ImagePart(png(2), name="second.png")]

    built, model = agent(calls(("album", {})), "Seen.", reads=["image/*"], tools=(Tool.from_function(album),))
    asyncio.run(built.run("Look!", workspace=tmp_path))
    assert [part for part in last(model).content if part == PHOTO]
    assert len(last(model).content) == 2
    assert [path.read_bytes() for path in tmp_path.rglob("*.png")] == [png(2)]


def test_earlier_turns_may_carry_parts() -> None:
    built, model = agent("Still red.", reads=["image/*"])
    earlier = [Message(role="user", content=[PHOTO]), Message(role="assistant", content="A red dot.")]
    built.run_sync("And now?", messages=earlier)
    assert model.requests[-1].messages[1].content == [PHOTO]


def test_an_attachment_alone_is_a_prompt() -> None:
    built, model = agent("A page.", reads=["application/pdf"])
    page = FilePart(pdf(), name="page.pdf")
    assert built.run_sync([page]).success
    assert last(model).content == [page]


def test_a_prompt_of_something_else_is_refused() -> None:
    built, _ = agent("no", reads=[])
    with pytest.raises(ConfigError, match="a list of texts, ImagePart and FilePart, not int"):
        built.run_sync(["look", 3])  # type: ignore[list-item]
