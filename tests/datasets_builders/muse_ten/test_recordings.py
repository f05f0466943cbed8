"""Rows of the recordings, from copies with a short tone in the place of each file, and the checks
of their sound.
"""

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from music_evals.benchmarks import load
from music_evals.commands.main import app
from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    build_dataset,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.muse.listening import (
    CONTOURS,
    check_chord,
    check_contour,
    check_equal,
    check_loops,
)
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK
from music_evals.datasets_builders.muse_ten.recordings import recorded_rows
from music_evals.evals import muse_ten

EXAMPLES = {"contour": 4, "instrument": 4, "meter": 3}  # of the authors' runners; 2 elsewhere


def tone(frequency: float) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, 0.3 * np.sin(np.arange(800) * frequency / 8000), 8000, format="WAV")
    return file.getvalue()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    (folder / "LICENSE_DATA.md").write_text("for research")
    for number, path in enumerate(
        dict.fromkeys(path for row in recorded_rows() for path in row.paths)
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(tone(100 + number))
    return folder


def test_trials_answers_examples_and_floors(clone: Path, tmp_path: Path) -> None:
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


def test_a_partial_copy_is_built_on_demand_only(clone: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for path in clone.rglob("*.wav"):
        if "Intermediate" not in path.parts:
            target = copy / path.relative_to(clone)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    with pytest.raises(
        DatasetError, match=r"73 of 167 files are missing .*\(--allow-partial builds the rest\)"
    ):
        build_dataset(BENCHMARK, tmp_path / "d", str(copy))
    shown = CliRunner().invoke(
        app,
        [
            "build",
            "muse_ten",
            "--source",
            str(copy),
            "--out",
            str(tmp_path / "d"),
            "--allow-partial",
        ],
    )
    assert "  meter: stimuli/Intermediate/Circles_3.wav" in shown.output
    assert "major_or_minor: 20 rows in test" in shown.output
    origin = describe_dataset(str(tmp_path / "d"), benchmark=BENCHMARK)
    assert origin.label == "recordings-partial"
    assert "meter" not in origin.provenance.counts


def test_generated_stimuli_sound_as_keyed_and_not_otherwise() -> None:
    def rows_of(name: str) -> list[dict[str, Any]]:
        return load_split("generated", name, "test", benchmark=BENCHMARK).to_list()

    found = []
    for row in rows_of("contour"):
        wavs, right = [row["audio"]["bytes"]], CONTOURS["ABCD".index(row["target"])]
        wrong = CONTOURS["BADC".index(row["target"])]
        found.append(
            (
                check_contour(right, wavs),
                check_contour(wrong, wavs),
                f"keyed {wrong}, sounds {right}",
            )
        )
    # Recordings are lower than some of these clips, of which one is misheard.
    assert sum(own is not None for own, _, _ in found) <= 1
    assert sum(other not in (None, expected) for _, other, expected in found) <= 1
    assert sum(other == expected for _, other, expected in found) >= 15
    for row in rows_of("syncopation_pairs"):
        wavs = [row["audio_1"]["bytes"], row["audio_2"]["bytes"]]
        assert check_loops(row["target"] == "A", wavs) is None
        assert str(check_loops(row["target"] == "B", wavs)).startswith(
            "keyed more off-beats in the "
        )
    for row in rows_of("oddball"):
        first, second = row["audio_1"]["bytes"], row["audio_2"]["bytes"]
        assert check_equal(True, [first, first]) is None
        assert check_equal(False, [first, first]) == "keyed different, sounds the same"
        assert row["target"].startswith("Yes") or check_equal(False, [first, second]) is None
    for row in rows_of("major_or_minor"):
        root, quality = row["why"].removeprefix("its notes are those of ").removesuffix(".").split()
        assert check_chord(root, quality, [row["audio"]["bytes"]]) is None


@pytest.mark.parametrize("count", [1, 2, 6])
def test_floors_of_very_few_trials(count: int, clone: Path, tmp_path: Path) -> None:
    kept = [row for row in recorded_rows() if row.config == "oddball" and row.split == "test"][
        :count
    ]
    for path in {path for row in kept for path in row.paths}:
        target = tmp_path / "copy" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((clone / path).read_bytes())
    (tmp_path / "copy" / "LICENSE_DATA.md").write_text("for research")
    provenance = build_dataset(
        BENCHMARK, tmp_path / "d", str(tmp_path / "copy"), allow_partial=True
    )
    assert provenance.counts["oddball"]["test"] >= count
    assert ("bytes" in provenance.floors["oddball"]["test"]["all"]) == (
        provenance.counts["oddball"]["test"] > 1
    )
