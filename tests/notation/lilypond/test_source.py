"""Files of LilyPond source: encodings, includes, and one text of them all."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from music_evals.notation.lilypond import source
from music_evals.notation.lilypond.source import (
    MAX_BYTES,
    OWN_FILES,
    SourceError,
    decode,
    included_names,
    read_text,
    resolve_includes,
)


def write(folder: Path, **files: str) -> Path:
    """Write files (``a__b`` is a/b.ly) and return the one named main."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".ly")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.ly"


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
def test_encodings(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_includes_are_put_in_place(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='% a score\n\\version "2.18.0"\n\\include "notes.ly"\n\\score { \\upper \\include "parts/lower.ly" }\n',
        notes='\\version "2.16.0"\nupper = { c4 } % no line end after this comment',
        parts__lower='{ \\include "../deep/x.ly" \\include "y.ly" }\n',
        deep__x="d4",
        y="e4",  # beside the main file, not beside lower.ly
    )
    assert resolve_includes(main).split("\n") == [
        *['\\version "2.18.0"', "% a score", "", "", "upper = { c4 } % no line end after this comment", ""],
        *["\\score { \\upper { d4", " e4", " }", " }", ""],
    ]


def test_files_of_lilypond_stay_included_unless_the_piece_has_its_own(tmp_path: Path) -> None:
    main = write(tmp_path, main='\\include "english.ly"\n\\include #"bagpipe.ly"\n', bagpipe="own = 1")
    assert resolve_includes(main) == '\\include "english.ly"\nown = 1\n\n'
    lilypond = pytest.importorskip("lilypond", reason="the package lilypond is not installed")
    folder = next(Path(lilypond.executable()).parents[1].glob("share/lilypond/*/ly"))
    assert {name for name in OWN_FILES if (folder / name).is_file()} == OWN_FILES


def test_comments_and_strings_include_nothing_and_a_variable_may_name_the_file(tmp_path: Path) -> None:
    text = '% \\include "a.ly"\n%{ \\include "b.ly" %} c = "\\\\include \\"d.ly\\""\n'
    assert resolve_includes(write(tmp_path, main=text)) == text
    assert included_names(text + '\\include "e.ly"') == ["e.ly"]
    main = write(tmp_path, main='midi = "old.ly"\n\\include "a.ly"\n', a="\\include \\midi")
    (tmp_path / "old.ly").write_bytes('a = "Fauré"'.encode("cp1252"))
    assert 'a = "Fauré"' in resolve_includes(main)


def test_each_file_is_converted_by_its_own_version(tmp_path: Path) -> None:
    def convert(text: str) -> str:
        version, _, rest = text.partition("\n")
        return f'\\version "2.24.3"\n{version.split()[1]} {rest}'

    main = write(
        tmp_path,
        main='\\version "2.10.0"\nmain \\include "a.ly"\\include "b.ly"\\include "a.ly"\n',
        a='\\version "2.4.0"\nfrom a',
        b="from b",
    )
    words = resolve_includes(main, convert=convert).split()
    assert words[:2] == ["\\version", '"2.24.3"']
    assert words[2:] == ['"2.10.0"', "main", '"2.4.0"', "from", "a", '"2.10.0"', "from", "b", '"2.4.0"', "from", "a"]


CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CHAIN = {f"f{number}": f'\\include "f{number + 1}.ly"' for number in range(40)}


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["message"])
def test_what_cannot_be_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 5_000 if "5,000" in case["message"] else MAX_BYTES)
    main = write(tmp_path, **CHAIN, main=case["main"] * case.get("times", 1), a=case.get("a", ""))
    with pytest.raises(SourceError, match=re.escape(case["message"])):
        resolve_includes(main)


def test_links_do_not_lead_outside_and_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret.ly").write_text("secret", encoding="utf-8")
    main = write(tmp_path / "piece", main='\\include "link.ly"')
    (tmp_path / "piece" / "link.ly").symlink_to(tmp_path / "secret.ly")
    with pytest.raises(SourceError, match="outside"):
        resolve_includes(main)
    assert "secret" in resolve_includes(main, root=tmp_path)
    with pytest.raises(SourceError, match=r"gone\.ly cannot be read: No such file"):
        read_text(tmp_path / "gone.ly")
