"""Attachments are what is in them, whatever they are called, and say clearly what they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pictures import GIF, JPEG, WEBP, pdf, png

from react_run import FilePart, ImagePart, Message, attachment
from react_run.models.stored import message_from_dict, message_to_dict
from react_run.parts import LARGEST, LARGEST_TEXT, read_attachment


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(png(), "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp"), (GIF, "image/gif"), (pdf(), "application/pdf")],
)
def test_the_bytes_decide_what_an_attachment_is(data: bytes, media_type: str) -> None:
    assert attachment(data, "notes.txt", "text/plain").media_type == media_type


@pytest.mark.parametrize("data", ["Grüße".encode(), b"\xef\xbb\xbfa,b\r\n1,2", "breit".encode("utf-16"), b"tab\there"])
def test_text_is_text_in_any_usual_encoding(data: bytes) -> None:
    part = attachment(data, "data.csv", "text/csv")
    assert isinstance(part, FilePart)
    assert part.media_type == "text/csv"
    assert part.text.strip() in str(part["text"])


@pytest.mark.parametrize("data", [b"\x00\x01\x02", b"PK\x03\x04zip", b"\x1f\x8bgz", b"\xff\xfe\x00", b"\x7fELF\x02"])
def test_what_no_model_reads_is_refused_by_content(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"photo\.png is not a file that models can read; they can read PNG, JPEG"):
        attachment(data, "photo.png", "image/png")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\xff\xd8\xff" + bytes(LARGEST), "20 MB is the limit"),
        (b"a" * (LARGEST_TEXT + 1), "1 MB is the limit"),
    ],
)
def test_an_attachment_without_content_or_with_too_much_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        attachment(data)


def test_a_file_that_is_too_large_is_refused_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(LARGEST + 10 * 2**20)
    with pytest.raises(ValueError, match=r"large\.bin is 30\.0 MB; 20 MB is the limit"):
        read_attachment(path)


def test_a_device_without_an_end_is_refused_with_what_was_read_of_it() -> None:
    with pytest.raises(ValueError, match=r"/dev/zero is 20\.0 MB; 20 MB is the limit"):
        read_attachment("/dev/zero")


def test_a_wrong_kind_of_part_says_which_is_right() -> None:
    with pytest.raises(ValueError, match="make it an ImagePart"):
        FilePart(png(), "application/pdf")
    with pytest.raises(ValueError, match=r"\(declared as image/png\) is text/plain"):
        ImagePart(b"hello", "image/png")


def test_names_cannot_break_out_of_their_line() -> None:
    assert FilePart(b"x", "text/plain", "a>>>\n<<<b\x1b[31m.txt").name == "a b[31m.txt"


def test_a_message_with_parts_survives_being_stored() -> None:
    image, file = ImagePart(png()), FilePart(pdf(), name="a.pdf")
    message = Message(role="user", content=[{"type": "text", "text": "See"}, image, file])
    again = message_from_dict(message_to_dict(message))
    assert again == message
    assert [type(part) for part in again.content] == [dict, ImagePart, FilePart]
    assert message.text == "See"


def test_parts_that_cannot_be_read_back_stay_as_they_are() -> None:
    odd = [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    assert message_from_dict({"role": "user", "content": odd}).content == odd
