"""LilyBench as a dataset folder, from a checkout like Mutopia's and clips like EMOPIA's."""

import pytest
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.lilybench.strict import survey as module
from music_evals.datasets_builders.lilybench.strict.survey import survey
from music_evals.notation.lilypond.compiler import Compiled
from tests.datasets_builders.lilybench.conftest import write_files

BROKEN = (
    '\\version "2.24.0" \\header { title = "Broken" } \\score { { c\'4 d\' \\nonsense } \\layout '
    "{ } }"
)


def test_too_few_pieces_are_named_before_anything_is_written(tunes, tmp_path):
    files = {f"ftp/{piece.id}/score.ly": piece.text for piece in tunes[:2]}
    files["ftp/BachJS/broken/score.ly"] = BROKEN
    files["ftp/BachJS/missing/score.ly"] = '\\version "2.24.0" \\include "absent.ily" { c\'1 }'
    source = write_files(tmp_path / "mutopia", files)
    (tmp_path / "none").mkdir()

    def refused(*options):
        arguments = ["build", "lilybench", "--out", str(tmp_path / "out"), *map(str, options)]
        ended = CliRunner(env={"COLUMNS": "300"}).invoke(app, arguments)
        return ended.exit_code, ended.output

    code, output = refused("--source", source)
    assert "4 pieces, 2 of them usable by strict tasks, are too few: bar_count" in output
    assert (code, (tmp_path / "out").exists()) == (1, False)
    assert refused("--emopia", source)[0] == 2
    assert "holds no LilyPond files" in refused("--source", tmp_path / "none")[1]


def test_pieces_that_strict_tasks_cannot_use_say_why():
    texts = {
        "several": "\\score { { c'1 } } \\score { { d'1 } }",
        "free": "\\score { { \\cadenzaOn c'1 d'2 } }",
        "short": "\\score { { c'1 c'2 \\partial 4 c'4 c'1 } }",
        "empty": '\\markup "words"',
        "drums": "\\score { \\new DrumStaff \\drummode { bd4 sn bd sn } }",
        "fine": "\\score { { c'1 d'1 } }",
    }
    pieces = [Piece(name, f'\\version "2.24.0" {text}', {}) for name, text in texts.items()]
    assert {row["id"]: row["reason"] for row, _ in survey(pieces)} == {
        "several": "it holds 2 scores",
        "free": "it has unmeasured music; it has an incomplete measure inside",
        "short": "it has an incomplete measure inside",
        "empty": "LilyPond read no score: there is no music in the text",
        "fine": None,
        "drums": "it has notes without a pitch",
    }


def test_pieces_that_the_machine_stopped_are_an_error(tunes, monkeypatch):
    """They are not left out, or two builds would differ; the others are surveyed first."""

    def busy(texts, **_):
        return (
            Compiled(None, "clock", "") if "Bach" in text else Compiled(0, None, "")
            for text in texts
        )

    monkeypatch.setattr(module, "compile_texts", busy)
    surveyed = []
    with pytest.raises(DatasetError, match=r"not measured: BachJS/piece0; .* Run it again"):
        surveyed.extend(row["id"] for row, _ in survey(tunes[:2]))
    assert surveyed == [tune.id for tune in tunes[:2]]
