"""Rows of the recordings, from copies with a short tone in the place of each file."""

import io
from collections import Counter

import numpy as np
import pytest
import soundfile

from music_evals.benchmarks import load
from music_evals.datasets_builders.dataset_io import (
    build_dataset,
    load_split,
)
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK
from music_evals.datasets_builders.muse_ten.recordings import recorded_rows
from music_evals.evals import muse_ten

EXAMPLES = {"contour": 4, "instrument": 4, "meter": 3}  # of the authors' runners; 2 elsewhere


def tone(frequency):
    file = io.BytesIO()
    soundfile.write(file, 0.3 * np.sin(np.arange(800) * frequency / 8000), 8000, format="WAV")
    return file.getvalue()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone")
    (folder / "LICENSE_DATA.md").write_text("for research")
    for number, path in enumerate(
        dict.fromkeys(path for row in recorded_rows() for path in row.paths)
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(tone(100 + number))
    return folder


def test_trials_answers_examples_and_floors(clone, tmp_path):
    provenance = build_dataset(BENCHMARK, tmp_path / "d", str(clone))
    dataset = str(tmp_path / "d")
    assert provenance.counts == {
        name: {"test": 20, "fewshot": EXAMPLES.get(name, 2)} for name in load("muse_ten").tasks
    }
    rows = load_split(dataset, "meter", "test", benchmark=BENCHMARK).to_list()
    assert Counter(row["target"] for row in rows) == {"A": 8, "B": 8, "C": 4}
    assert len({row["source"] for row in rows}) == 19
    assert Counter(row["variant"] for row in rows) == {"group A": 10, "group B": 10}
    floors = {name: floors["test"]["all"] for name, floors in provenance.floors.items()}
    assert {
        name: floor["commonest"]
        for name, floor in floors.items()
        if floor["commonest"] > floor["chance"]
    } == {"meter": 0.4}
    assert {name: floor["bytes"] for name, floor in floors.items() if "bytes" in floor} == {
        "oddball": 1.0, "rhythm_matching": 1.0, "progression": 0.5, "transposition_pairs": 0.5,
        "syncopation_pairs": 0.5,
    }  # fmt: skip
    anomalies = "\n".join(provenance.anomalies)
    assert (
        "meter: stimuli/Intermediate/I-vi-VI-V_Fmaj_piano_172_3_4.wav comes 2 times, in test"
        in anomalies
    )
    assert (
        "contour: stimuli/Gbmin_Arp_Desc_Piano.wav comes 2 times, in fewshot and test" in anomalies
    )
    assert (tmp_path / "d" / "LICENSE_DATA.md").read_text() == "for research"
    assert len(muse_ten.oddball(dataset=dataset, modality="audio", shots="few").dataset) == 20
    with pytest.raises(ValueError, match=r"has no MIDI .*valid for it is modality=audio"):
        muse_ten.oddball(dataset=dataset)
