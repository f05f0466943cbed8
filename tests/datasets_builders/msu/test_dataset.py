"""MSU-Bench's rows: as published, from a snapshot of the Hub, and computed on scores."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.msu import computed
from music_evals.datasets_builders.msu.computed import build_own
from music_evals.datasets_builders.msu.published import (
    build_snapshot,
)
from music_evals.datasets_builders.msu.rows import split_works
from music_evals.datasets_builders.msu.works import Work
from tests.msu_dataset import ABC, png


def rows(plan, config):
    return [row for split in getattr(plan, config).values() for row in split]


def song(number):
    return ABC.format(title=f"Song {number}", metre="4/4").replace("C D", "C " * number + "D")


def write_snapshot(
    folder,
    answer="Yes",
    pdf=b"%PDF-1.7 of song ",
    levels=(1, 2, 3, 4),
):
    nested, flat = [], []
    for number in range(1, 6):
        questions = [
            {
                "level": level,
                "question": f"Question {place}?",
                "answer": "None" if place == 2 else answer,
            }
            for level in levels
            for place in (1, 2, 3)
        ]
        nested.append(
            {
                "song_id": f"song{number}",
                "abc_notation": song(number),
                "pdf": None if number == 1 else pdf + bytes([number]),
                "images": [{"bytes": png(number), "path": None}, {"bytes": png(100), "path": None}],
                "questions": questions,
            }
        )
        flat += [{"song_id": f"song{number}", **row} for row in questions]
    for config, table in (("nested", nested), ("flat", flat)):
        (folder / config).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(table), folder / config / "test-00000-of-00001.parquet")
    return folder


def abc_score(name, title, music):
    return {
        "score_id": str(name),
        "title": title,
        "composer": "Bach",
        "abc": f"X:1\nK:C\n{music}|]\n",
    }


def test_a_test_split_has_as_many_composers_as_possible():
    composers = ["Bach"] * 20 + ["Haydn", "Mozart", "Verdi", "Chopin", "Joplin"]
    scores = [
        abc_score(number, f"Hymn {number}", "C" * (number + 1)) | {"composer": composer}
        for number, composer in enumerate(composers)
    ]
    splits = split_works(scores, seed=1, by_composer=True)
    in_test = [composers[int(name)] for name, split in splits.items() if split == "test"]
    assert len(in_test) == len(set(in_test)) == 5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"answer": " "}, "nested, row 1: answer is empty"),
        ({"pdf": b"<html>"}, "nested, row 2: its pdf is no PDF"),
        ({"levels": (5,)}, "nested, row 1: the level is 5"),
    ],
)
def test_snapshots_that_are_wrong(tmp_path, wrong, message):
    with pytest.raises(DatasetError, match=message):
        build_snapshot(write_snapshot(tmp_path / "snapshot", **wrong))


def test_damaged_scores_of_ones_own_stop_nothing_else(tmp_path):
    from music21 import corpus

    folder = tmp_path / "scores"
    (folder / "more").mkdir(parents=True)
    corpus.parse("bwv66.6").write("musicxml", folder / "more" / "chorale.musicxml")
    (folder / "empty.abc").write_text("")
    (folder / "bomb.xml").write_text(
        '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">]><score-partwise>&a;</score-partwise>'
    )
    (folder / "broken.mxl").write_bytes(b"PK\x03\x04 no archive")
    (folder / "notes.txt").write_text("not a score")
    plan = build_own(folder)
    assert [row["score_id"] for row in rows(plan, "scores")] == ["more/chorale.musicxml"]
    assert set(plan.left_out or {}) == {"empty.abc", "bomb.xml", "broken.mxl"}
    assert sum(what.startswith("left out: bomb.xml") for what in plan.provenance.anomalies) == 1
    (tmp_path / "nothing").mkdir()
    with pytest.raises(DatasetError, match="holds no scores; files are read that end in"):
        build_own(tmp_path / "nothing")


def test_what_pages_lack_is_not_asked(tmp_path):
    from music21 import corpus

    score = corpus.parse("bwv66.6")
    score.metadata.title = "荒城の月"  # no font of the pages has these letters
    score.metadata.composer = "Taki Rentarō"
    score.parts[0].partName = "女声"
    score.write("musicxml", path := tmp_path / "moon.musicxml")
    _, pool = computed._read(Work("moon", str(path)), 1)
    assert not pool["title"]
    assert not pool["instruments"]
    assert pool["composer"]
    texts = " ".join(question.text for questions in pool.values() for question in questions)
    assert "“Alto”" in texts
    assert "“女声”" not in texts


def test_whatever_music21_runs_into_is_a_reason_to_leave_a_score_out(
    monkeypatch,
):
    def fail(_work):
        raise KeyError("no such clef")

    monkeypatch.setattr(Work, "load", fail)
    reason = computed._read(Work("odd.krn", "odd.krn"), 1)
    assert reason == "music21 fails on it (KeyError: 'no such clef')"
