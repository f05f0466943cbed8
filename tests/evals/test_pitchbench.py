"""PitchBench and NSynth: published files of their layout become rows, replies get the scores that
the papers give them, and the default data gives nothing away.
"""

import io
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile

from music_evals.benchmarks import load
from music_evals.datasets_builders.dataset_io import load_split
from music_evals.datasets_builders.questions.listening import (
    tempo_questions,
)
from music_evals.evals import nsynth, pitchbench
from music_evals.evals.shared.parameters import ParameterError
from tests.harness import metrics, run, samples

PROMPTS = {
    "prompt_midi": "Reply with ONLY the integer.",
    "prompt_abc": "Reply with ONLY the note name.",
    "prompt_solfege": "Reply with ONLY the syllable.",
    "prompt_freq": "Reply with ONLY a number.",
}
CLIP = {"source": "flute", "duration_ms": 1000}
STIMULI = {
    "a1_single_pitch_id": [{"gt_midi": 61, **PROMPTS}, {"gt_midi": 69, **PROMPTS}],
    "b4_timestamp_specific_pitch": [
        {"gt_target_onset_ms": 2000, "gt_target_offset_ms": 3000, "midi": 60, "prompt": "When?"}
    ],
    "b5_timestamp_multiple_pitches": [{"gt_onsets_ms": [500, 2500], "prompt": "When?"}],
    "c3_chord_quality": [{"gt_quality": "min7", "prompt": "Which quality?"}],
    "c4_chord_pitches": [{"gt_midi_notes": [60, 64], **PROMPTS}],
    "d2_dyad_lower_higher_difference": [{"gt_answer": "second", "prompt": "Which?"}],
    "d3_contour_discrete": [{"gt_pattern": ["up", "down"], "prompt": "Contour?"}],
    "d5_sequence_ranking_by_pitch": [{"gt_answer": "3 1 2", "prompt": "Rank them."}],
    "d6_sequence_dyad_interval": [{"gt_signed_st": -3, "prompt": "How many semitones?"}],
    "d7b_pitch_with_reference_split": [{"gt_midi": 60, **PROMPTS}],
    "d8_sequence_pitches": [{"gt_midi_sequence": [60, 64, 67], **PROMPTS}],
    "y1_single_pitch_id_mcq": [{"gt_midi": 60, "prompt": "Which option?"}],
}
"""Rows in the layout of vaclis/PitchBench: folder, then columns; two are not in the paper's Table 1."""


def tone(seconds=0.5, hz=440.0, rate=16_000):
    times = np.arange(round(seconds * rate)) / rate
    buffer = io.BytesIO()
    soundfile.write(buffer, 0.3 * np.sin(2 * np.pi * hz * times), rate, format="WAV")
    return buffer.getvalue()


def write_stimuli(folder, stimuli):
    for name, rows in stimuli.items():
        file = folder / f"pitchbench_{name}" / "test-00000-of-00001.parquet"
        file.parent.mkdir(parents=True)
        sounds = [{"bytes": tone(), "path": f"{number}.wav"} for number in range(len(rows))]
        table = [{"audio": sound, **CLIP, **row} for sound, row in zip(sounds, rows, strict=True)]
        pq.write_table(pa.Table.from_pylist(table), file)
    return folder


def rows_of(folder, spec, task):
    return load_split(str(folder), task, "test", benchmark=spec).to_list()


# --- PitchBench ---


def test_published_stimuli_become_a_row_per_format(tmp_path):
    rows = rows_of(write_stimuli(tmp_path / "hub", STIMULI), pitchbench.BENCHMARK, "pitch")
    counts = Counter(row["theme"] for row in rows)
    single = dict.fromkeys(("B4", "B5", "C3", "D2", "D3", "D5", "D6"), 1)
    assert counts == {"A1": 6, "C4": 3, "D8": 3, **single}
    answers = {(row["theme"], row["answer_kind"]): row["answer"] for row in rows}
    assert answers["B4", "all_times:0.25"] == "2 3"
    assert answers["B5", "all_times:0.25"] == "0.5 1.5 2.5 3.5"
    assert answers["C3", "label"] == "G"
    assert answers["C4", "set:hz"] == "60 64"
    assert answers["D2", "label"] == "B"
    assert answers["D3", "list"] == "up; down"
    assert answers["D5", "list"] == "3; 1; 2"
    assert answers["D6", "number"] == "-3"
    assert answers["D8", "sequence:name"] == "60 64 67"
    assert len({row["id"] for row in rows}) == len(rows)
    assert {row["piece"] for row in rows if row["theme"] == "A1"} == {
        row["id"].rpartition("-")[0] for row in rows if row["theme"] == "A1"
    }
    assert "syllable" not in "".join(row["question"] for row in rows)
    assert {row["subtheme"] for row in rows} == {"flute"}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("a1_single_pitch_id", {"gt_midi": None, **PROMPTS}),
        ("c3_chord_quality", {"gt_quality": "power chord", "prompt": "Which quality?"}),
        ("d6_sequence_dyad_interval", {"gt_signed_st": 1, "question": "no prompt"}),
        ("b5_timestamp_multiple_pitches", {"onsets": [500], "prompt": "When?"}),
    ],
)
def test_a_malformed_stimulus_is_refused(name, row, tmp_path):
    folder = write_stimuli(tmp_path / "hub", {name: [row]})
    with pytest.raises(ParameterError, match="is not as expected"):
        pitchbench.pitch(dataset=str(folder))


# --- NSynth ---


def nsynth_files(labels):
    examples = {}
    files = {}
    for number, (family, source, pitch) in enumerate(labels):
        name = f"{family}_{source}_{number:03}-{pitch:03}-100"
        examples[name] = {
            "note_str": name,
            "instrument_str": f"{family}_{source}_{number:03}",
            "instrument_family_str": family,
            "instrument_source_str": source,
            "pitch": pitch,
        }
        files[f"nsynth-test/audio/{name}.wav"] = tone(hz=200.0 + 50 * number)
    return {"nsynth-test/examples.json": json.dumps(examples).encode(), **files}


def test_an_unknown_family_is_refused(tmp_path):
    for name, data in nsynth_files([("kazoo", "acoustic", 60)]).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ParameterError, match="is not as expected"):
        nsynth.instrument(dataset=str(tmp_path))


# --- the default data ---


def clip_of(question):
    return question.parts[0].content  # type: ignore[union-attr, return-value]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    first, again, other = (list(tempo_questions(seed, 3)) for seed in (1, 1, 2))
    assert first == again
    assert [clip_of(question) for question in first] != [clip_of(question) for question in other]


def test_the_default_tasks_run(tmp_path):
    tasks = [pitchbench.pitch(), nsynth.instrument(), nsynth.source(), nsynth.pitch()]
    logs = run(tasks, tmp_path, "baseline/majority")
    assert [log.eval.dataset.samples for log in logs] == [180, 44, 30, 30]
    for log in logs:
        assert metrics(log)["typed_answer"]["answered"] == 1
        assert metrics(log)["typed_answer"]["score"] < 0.4
    assert {sample.metadata["theme"] for sample in samples(logs[0])} == {
        *load("pitchbench").table["stand_in"]
    }
