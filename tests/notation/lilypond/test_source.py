"""Files of LilyPond source: encodings and size."""

import pytest

from music_evals.notation.lilypond.source import MAX_BYTES, SourceError, decode, read_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("né ♯\n".encode(), "né ♯\n"),
        ("né ♯\n".encode("utf-8-sig"), "né ♯\n"),
        ("né ♯\r\n".encode("utf-16"), "né ♯\n"),
        (b"\xfe\xff" + "né ♯\r".encode("utf-16-be"), "né ♯\n"),
        ("né".encode("utf-16")[:-1], "n\ufffd"),
        ("Dvořák".encode("cp1250"), "Dvoøák"),  # Windows-1250 cannot be told from Windows-1252
        ("à “b” – c".encode("cp1252"), "à “b” – c"),
        (b"\xe9\x81", "é\x81"),  # Windows-1252 has no 0x81
    ],
)
def test_encodings(data, text):
    assert decode(data) == text


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.ly cannot be read: No such file"):
        read_text(tmp_path / "gone.ly")
    (tmp_path / "large.ly").write_bytes(b"%" * (MAX_BYTES + 1))
    with pytest.raises(SourceError, match=r"large\.ly is larger than 4,000,000 bytes"):
        read_text(tmp_path / "large.ly")
