"""Annotations of mirdata as questions: expected answers are worked out by hand from the files in
tests/mirdata_sets.py.
"""

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError, build_dataset
from music_evals.datasets_builders.dataset_io.loading import load_split
from music_evals.datasets_builders.questions.mirdata.dataset import mirdata_set
from music_evals.datasets_builders.questions.mirdata.facts import read_facts
from music_evals.evals.registry import dataset_module
from music_evals.notation.audio.clips import check_clip
from tests import mirdata_sets

pytest.importorskip("mirdata", reason="needs the extra 'mir'")


def rows_of(spec, source, task, out):
    build_dataset(spec, out, str(source), allow_partial=True)
    return load_split(str(out), task, "test", benchmark=spec).to_list()


def test_times_are_cut_with_the_clip_and_what_is_missing_is_named(tmp_path):
    source = mirdata_sets.ballroom(tmp_path / "source")
    spec = dataset_module("ballroom").BENCHMARK
    with pytest.raises(DatasetError, match=f"2 files of {source} are missing or damaged: "):
        build_dataset(spec, tmp_path / "refused", str(source))
    provenance = build_dataset(spec, tmp_path / "out", str(source), allow_partial=True)
    sound = "B_1.0/audio/Waltz/Media-2.wav (missing)"
    beats = "B_1.0/annotations/beats/Media-3.beats (missing)"
    assert provenance.missing == {"beats": (sound, beats), "tempo": (sound,)}
    beat_rows = load_split(str(tmp_path / "out"), "beats", "test", benchmark=spec).to_list()
    assert [row["answer"] for row in beat_rows] == ["5.500 15.500 25.500"] * 2
    clip = beat_rows[0]["audio"][0]["bytes"]
    check_clip(clip)
    assert len(clip) == pytest.approx(30 * mirdata_sets.RATE * 2, abs=100)
    assert beat_rows[1]["audio"][0]["bytes"] == b"-"
    tempo_rows = load_split(str(tmp_path / "out"), "tempo", "test", benchmark=spec).to_list()
    assert [(row["id"], row["answer"]) for row in tempo_rows] == [
        ("Media-1", "84"),
        ("Media-2", "84"),
        ("Media-3", "84"),
    ]


@pytest.mark.parametrize(
    ("name", "task", "make", "expected"),
    [
        ("giantsteps_key", "key", mirdata_sets.giantsteps_key, {"1": "D major", "2": "Bb minor"}),
        # The third track is not in the fault-filtered test split.
        ("gtzan_genre", "genre", mirdata_sets.gtzan, {"hiphop.00000": "E", "rock.00010": "J"}),
        (
            "vocadito",
            "notes",
            mirdata_sets.vocadito,
            {"1": "0.500 0.750 69.00; 9.500 10.000 57.00"},
        ),
        (
            "vocadito",
            "melody",
            mirdata_sets.vocadito,
            {"1": "0.0 0.0; 0.1 220.0; 0.2 220.0; 0.3 220.0"},
        ),
        (
            "openmic2018",
            "instrument",
            mirdata_sets.openmic,
            {"000046_3840-flute": "B", "000046_3840-mallet_percussion": "A"},
        ),
    ],
)
def test_an_annotation_becomes_the_answer_of_its_kind(name, task, make, expected, tmp_path):
    rows = rows_of(
        dataset_module(name).BENCHMARK, make(tmp_path / "source"), task, tmp_path / "out"
    )
    assert {row["id"]: row["answer"] for row in rows} == expected


FACTS = {
    "loader": "vocadito",
    "version": "1.0",
    "tasks": {"words": {"annotation": "lyrics", "kind": "text", "question": "Which words?"}},
}


def test_text_is_all_words_of_all_lines(tmp_path):
    source = mirdata_sets.vocadito(tmp_path / "source")
    rows = rows_of(mirdata_set("vocadito", read_facts(FACTS)), source, "words", tmp_path / "out")
    assert [row["answer"] for row in rows] == ["la la lu"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loader": "no_such"}, "mirdata: Invalid dataset no_such"),
        ({"version": "0"}, "mirdata: Invalid version 0"),
        ({"where": {"singer_id": "nobody"}}, "has none of the tracks that are asked about"),
        ({"where": {"colour": "red"}}, "has no attribute 'colour'"),
        ({"split": "test"}, "does not have an official split"),
    ],
)
def test_what_mirdata_lacks_is_one_error(changes, message, tmp_path):
    spec = mirdata_set("vocadito", read_facts({**FACTS, **changes}))
    source = mirdata_sets.vocadito(tmp_path / "source")
    with pytest.raises(DatasetError, match=message):
        build_dataset(spec, tmp_path / "out", str(source))


def test_an_index_cannot_lead_out_of_its_folder(tmp_path):
    source = mirdata_sets.gtzan(tmp_path / "source")
    index = source / "gtzan_genre_index_1.0.json"
    index.write_text(index.read_text().replace("gtzan_genre/genres/hiphop", "../outside"))
    with pytest.raises(DatasetError, match=r"outside/hiphop.00000\.wav is not in "):
        build_dataset(dataset_module("gtzan_genre").BENCHMARK, tmp_path / "out", str(source))
