"""Pieces of a Mutopia checkout: which folders are pieces, which file stands for each, and what is
left out.
"""

from pathlib import Path

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.mutopia import find_pieces, main_file, read_pieces
from music_evals.notation.lilypond.converters import ConversionError
from tests.datasets_builders.lilybench.conftest import write_files

MUTOPIA = Path(__file__).parents[4] / "shared" / "data" / "mutopia"
needs_mutopia = pytest.mark.skipif(
    not MUTOPIA.is_dir(), reason="the Mutopia Project's pieces are not at ../shared/data/mutopia"
)
SCORE = '\\version "2.24.0"\n\\header { title = "Air" }\n\\score { { c4 } }\n'


def refuse_old(text):
    if "1.9.0" in text:
        raise KeyError("1.9.0")
    if '"1.' in text:
        raise ConversionError("too old")
    return text


def busy(text):
    raise ConversionError("the clock ran out", is_measured=False)


def test_reading(tmp_path):
    write_files(
        tmp_path,
        {
            "ftp/A/one/one.ly": SCORE,
            "ftp/A/two/two-lys/two.ly": '\\version "2.24.0"\n\\include "h.ly"\n\\score { { c4 } }',
            "ftp/A/two/two-lys/h.ly": '\\header { title = "Two" composer = "B" }',
            "ftp/A/old/old.ly": SCORE.replace("2.24.0", "1.8.0"),
            "ftp/A/odd/odd.ly": SCORE.replace("2.24.0", "1.9.0"),
            "ftp/A/mute/mute-lys/mute.ly": "\\markup { nothing }",
            "ftp/A/mute/mute-lys/other.ly": "\\markup { nothing }",
        },
    )
    (tmp_path / "empty").mkdir()
    pieces, left_out = read_pieces(tmp_path, convert=refuse_old)
    assert [piece.id for piece in pieces] == ["A/old", "A/one", "A/two"]
    assert pieces[0].text == SCORE.replace(
        "2.24.0", "1.8.0"
    )  # what cannot be converted stays as it is
    assert pieces[1].header == {"title": "Air"}
    assert pieces[2].text.startswith(
        '\\version "2.24.0"\n\\include'
    )  # what is included is not read
    for folder, message in (
        (tmp_path / "none", "none is not a folder"),
        (tmp_path / "empty", "holds no LilyPond files"),
    ):
        with pytest.raises(DatasetError, match=f"{message}; a checkout of the Mutopia Project"):
            read_pieces(folder)
    assert left_out == {
        "A/mute": "no file of it is a score",
        "A/odd": "KeyError while it was read: '1.9.0'",
    }


def test_a_piece_that_the_machine_stopped_is_an_error(tmp_path):
    write_files(tmp_path, {"A/one/one.ly": SCORE})
    with pytest.raises(DatasetError, match="not measured: A/one;"):
        read_pieces(tmp_path, convert=busy)


def test_pieces_that_may_not_be_passed_on_are_left_out_if_asked(tmp_path):
    licences = {
        "free": "Public Domain",
        "shared": "CC BY-SA 4.0",
        "kept": "© 1999 A. B.",
        "silent": "",
    }
    for name, licence in licences.items():
        write_files(
            tmp_path,
            {f"ftp/A/{name}/{name}.ly": SCORE.replace('"Air"', f'"Air" license = "{licence}"')},
        )
    everything, _ = read_pieces(tmp_path, convert=str)
    free, left_out = read_pieces(tmp_path, convert=str, free_only=True)
    assert [piece.id for piece in everything] == ["A/free", "A/kept", "A/shared", "A/silent"]
    assert [piece.id for piece in free] == ["A/free", "A/shared"]
    assert set(left_out) == {"A/kept", "A/silent"}


@needs_mutopia
def test_every_folder_of_the_real_project_is_accounted_for() -> None:
    pieces = find_pieces(MUTOPIA / "ftp")
    # Folders with source files, counted apart from the code under test.
    folders = {
        str(path.parent.relative_to(MUTOPIA / "ftp")).split("-lys")[0]
        for path in (MUTOPIA / "ftp").rglob("*.ly")
        if "-lys" not in path.parent.as_posix()
    }
    assert folders <= set(pieces)
    assert len(pieces) == 807
    examples = {
        "BachJS/BWV1050/brand5-3": "score.ly",
        "MozartWA/KV421/k421": "k421-score.ly",
        "TelemannGP/Concerto_a_4_D": "Concerto_a_4_D_score.ly",
        "PachelbelJ/Canon_per_3_Violini_e_Basso": "canon_per_3_violini_e_basso.ly",
    }
    several = [name for name, files in pieces.items() if len(files) > 1]
    chosen = {name: main_file(name, pieces[name]) for name in (*several[::12], *examples)}
    assert None not in chosen.values()
    assert {name: chosen[name].name for name in examples} == examples
