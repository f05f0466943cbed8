"""LilyBench as a dataset folder, from a checkout like Mutopia's and clips like EMOPIA's."""

from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.folder import DatasetError, describe_dataset, load_split
from music_evals.datasets_builders.lilybench.corpus import survey
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK, build_mutopia, write
from music_evals.datasets_builders.lilybench.emopia import compose_clips
from music_evals.datasets_builders.lilybench.rows import PROTOCOLS, SIZES, TASKS, Piece

FEW = {**dict.fromkeys(TASKS, 12), "error_detection": 10, "emotion_recognition": 8}
BROKEN = '\\version "2.24.0" \\header { title = "Broken" } \\score { { c\'4 d\' \\nonsense } \\layout { } }'


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, tunes: list[Piece]) -> Path:
    root = tmp_path_factory.mktemp("mutopia")
    texts = {piece.id: piece.text for piece in tunes}
    texts["BachJS/broken"] = BROKEN
    texts["BachJS/missing"] = '\\version "2.24.0" \\include "absent.ily" { c\'1 }'
    for name, text in texts.items():
        folder = root / "ftp" / name
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.ly").write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def emopia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("emopia")
    for clip in compose_clips(3, per_quadrant=3):
        (folder / f"{clip.id}.mid").write_bytes(clip.midi)
    (folder / "Q2_damaged_0.mid").write_bytes(b"MThd no music")
    return folder


def test_all_tasks_in_both_protocols(source: Path, emopia: Path, tmp_path: Path) -> None:
    plan = build_mutopia(source, emopia, seed=5, sizes=FEW)
    assert "absent.ily" in plan.left_out["BachJS/missing"]
    assert "Q2_damaged_0.mid" in plan.left_out
    broken = next(row for row in plan.corpus if row["id"] == "BachJS/broken")
    assert (broken["compiles"], broken["usable"]) == (False, False)
    assert broken["reason"] is not None
    assert "\\nonsense" in broken["messages"]
    assert plan.unusable == {"LilyPond does not compile it": 1}
    made = write(plan, tmp_path / "first")
    again = write(build_mutopia(source, emopia, seed=5, sizes=FEW), tmp_path / "again")
    assert made.files == again.files
    assert {task: made.counts[task] for task in TASKS} == {
        task: {"strict": FEW[task] + (2 if task == "error_detection" else 0), "paper": FEW[task]} for task in TASKS
    }
    dataset = str(tmp_path / "first")
    assert describe_dataset(dataset, benchmark=BENCHMARK).label == "mutopia"
    for task in TASKS:
        for protocol in PROTOCOLS:
            rows = load_split(dataset, task, protocol, benchmark=BENCHMARK).to_list()
            assert rows == sorted(rows, key=lambda row: row["id"]) or protocol == "paper" or task.startswith("emotion")
            assert all(row["answer"] for row in rows)
    pieces = load_split(dataset, "corpus", "full", benchmark=BENCHMARK).to_list()
    assert Counter(row["compiles"] for row in pieces) == {True: 16, False: 1}
    first = next(row for row in pieces if row["id"] == "BachJS/piece0")
    assert (first["composer"], first["title"]) == ("Johann Sebastian Bach", "Minuet No. 0 of Bach")
    assert (first["key"], first["metre"], first["measures"]) == ("C major", "3/4", 9)
    assert (first["style"], first["licence"]) == ("Baroque", "Public Domain")
    assert "not the published benchmark" not in (tmp_path / "first" / "README.md").read_text(encoding="utf-8").lower()


def test_too_few_pieces_are_named_before_anything_is_written(source: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="17 pieces, 16 of them usable by strict tasks, are too few: bar_count"):
        build_mutopia(source, sizes=SIZES)
    ended = CliRunner().invoke(app, ["build", "lilybench", "--out", str(tmp_path / "out"), "--source", str(source)])
    assert ended.exit_code == 1
    assert not (tmp_path / "out").exists()
    ended = CliRunner().invoke(app, ["build", "lilybench", "--out", str(tmp_path / "out"), "--emopia", str(source)])
    assert ended.exit_code == 2
    with pytest.raises(DatasetError, match=r"holds no piece|no LilyPond|no such"):
        build_mutopia(tmp_path)


def test_pieces_that_strict_tasks_cannot_use_say_why() -> None:
    texts = {
        "several": "\\score { { c'1 } } \\score { { d'1 } }",
        "free": "\\score { { \\cadenzaOn c'1 d'2 } }",
        "short": "\\score { { c'1 c'2 \\partial 4 c'4 c'1 } }",
        "empty": '\\markup "words"',
        "fine": "\\score { { c'1 d'1 } }",
    }
    pieces = [Piece(name, text, f'\\version "2.24.0" {text}', {}) for name, text in texts.items()]
    reasons = {row["id"]: row["reason"] for row, _ in survey(pieces)}
    assert reasons.pop("fine") is None
    assert reasons["several"] == "it holds 2 scores"
    assert reasons["free"] is not None
    assert "unmeasured" in reasons["free"]
    assert reasons["short"] == "it has an incomplete measure inside"
    assert reasons["empty"] == "LilyPond read no score: there is no music in the text"
