"""Rows of the ten tasks: balanced, different, reproducible, and with answers that only the music
gives away.
"""

from collections import Counter
from itertools import pairwise

import pytest

from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK, FORMS, build, compose
from music_evals.datasets_builders.muse_ten.recordings import share_guessed
from music_evals.datasets_builders.muse_ten.stimuli import DEGREES, PROGRESSIONS
from music_evals.evals.muse_ten import instrument, oddball

pytestmark = pytest.mark.usefixtures("no_audits")
PAIRS = [name for name, form in FORMS.items() if len(form.clips) == 2]


def rows_of(name, split="test"):
    return load_split("generated", name, split, benchmark=BENCHMARK).to_list()


@pytest.mark.parametrize("name", FORMS)
def test_answers_take_turns_and_stimuli_differ(name):
    targets = FORMS[name].targets
    rows, examples = rows_of(name), rows_of(name, "fewshot")
    assert [row["target"] for row in rows] == [
        targets[number % len(targets)] for number in range(20)
    ]
    assert [row["target"] for row in examples] == targets
    texts = [
        tuple(row[key] for key in row if key.startswith("midi_text")) for row in rows + examples
    ]
    assert len({*texts}) == len(texts)
    assert len({row["id"] for row in rows + examples}) == len(texts)


@pytest.mark.parametrize("name", PAIRS)
def test_same_is_never_the_same_file_twice(name):
    for row in rows_of(name):
        assert row["audio_1"]["bytes"] != row["audio_2"]["bytes"]
        assert row["midi_text_1"] != row["midi_text_2"]


@pytest.mark.parametrize("name", FORMS)
def test_floors_are_chance(name):
    floors = describe_dataset("generated", benchmark=BENCHMARK).provenance.floors[name]["test"][
        "all"
    ]
    chance = pytest.approx(1 / len(FORMS[name].options), abs=1e-4)
    assert [floors[name] for name in ("chance", "majority", "blind")] == [chance] * 3
    assert floors.get("bytes") == (0.5 if name in PAIRS else None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["oddball", "contour", "meter", "progression", "instrument"])
def test_duration_gives_no_answer_away(name):
    """Tenths of a second of a clip or, for pairs, between the clips, as the other sizes are
    tried.
    """
    stimuli = []
    for number, (target, stimulus) in enumerate(
        compose(5, name, "floor", 40 * len(FORMS[name].options))
    ):
        first, *second = (
            round(600 * max(note.onset + note.duration for note in clip.notes) / 480 / clip.tempo)
            for clip, _ in stimulus.clips
        )
        stimuli.append((str(number), target, first - sum(second)))
    assert share_guessed(stimuli) == pytest.approx(
        1 / len(FORMS[name].options), abs=0.01 if name != "instrument" else 0.15
    )


def test_a_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    seeds = {"a": 3, "b": 3, "c": 4}
    first, again, other = (
        build(tmp_path / name, seed=seed, per_task=2).files for name, seed in seeds.items()
    )
    assert first == again
    assert all(first[path] != other[path] for path in first if path.endswith(".parquet"))


def test_one_pitch_is_changed_in_an_oddball():
    for target, stimulus in compose(5, "oddball", "test", 40):
        first, second = (performance.notes for performance, _ in stimulus.clips)
        steps = [
            b.pitch - a.pitch for a, b in zip(first, second, strict=True) if a.pitch != b.pitch
        ]
        assert [a.onset for a in first] == [b.onset for b in second]
        assert len(steps) == target.startswith("No")
        assert all(1 <= abs(step) <= 2 for step in steps)


def test_contours_have_one_turn_or_none():
    turns = {"A": "+-", "B": "-+", "C": "+", "D": "-"}
    for target, stimulus in compose(5, "contour", "test", 80):
        ((performance, _),) = stimulus.clips
        signs = ["+" if b.pitch > a.pitch else "-" for a, b in pairwise(performance.notes)]
        assert (
            "".join(sign for at, sign in enumerate(signs) if at == 0 or sign != signs[at - 1])
            == turns[target]
        )
    textures = Counter(
        (target, stimulus.variant.split()[1])
        for target, stimulus in compose(5, "contour", "test", 80)
    )
    assert {*textures.values()} == {10}


def test_drum_patterns_have_equally_many_strokes():
    variants = Counter()
    for target, stimulus in compose(5, "rhythm_matching", "test", 60):
        first, second = (
            {(note.onset // 240, note.pitch) for note in performance.notes}
            for performance, _ in stimulus.clips
        )
        assert len(first) == len(second)
        assert (first == second) == target.startswith("Yes")
        variants[stimulus.variant] += 1
    assert variants == {"same": 30, "other pattern": 10, "moved stroke": 10, "swapped drum": 10}


def test_keys_and_progressions_are_as_explained():
    """Chords of C major by their notes, as in any textbook."""
    notes = {"I": "CEG", "ii": "DFA", "IV": "FAC", "V": "GBD", "vi": "ACE"}
    for name, letters in notes.items():
        root, third = DEGREES[name]
        assert [(root + tone) % 12 for tone in (0, third, 7)] == [
            "C.D.EF.G.A.B".index(letter) for letter in letters
        ]
    for target, stimulus in compose(5, "progression", "test", 60):
        first, second = (
            stimulus.why.removeprefix("the first is ").removesuffix(".").split(", the second ")
        )
        assert (first == second) == (target == "A")
        assert {first, second} <= {*PROGRESSIONS}
        assert {first, second} != {
            "I-V-vi-IV",
            "vi-IV-I-V",
        }  # each is the other, begun in the middle
    tonics = []
    for target, stimulus in compose(5, "key_modulation", "test", 60):
        ((performance, _),) = stimulus.clips
        halves = [
            [note for note in performance.notes if (note.onset >= 4800) == late]
            for late in (False, True)
        ]
        first, second = (
            max(half, key=lambda note: (note.onset // 960, -note.pitch)).pitch % 12
            for half in halves
        )
        assert (first != second) == (target == "A")
        tonics.append(first)
    assert len({*tonics}) == 12


def test_transpositions_chords_and_off_beats_are_as_keyed():
    for target, stimulus in compose(5, "transposition_pairs", "test", 60):
        first, second = ([note.pitch for note in clip.notes] for clip, _ in stimulus.clips)
        distances = {b - a for a, b in zip(first, second, strict=True)}
        assert (len(distances) == 1) == target.startswith("Yes")
        assert len(distances) > 1 or distances.isdisjoint({0, 12, -12})
    for target, stimulus in compose(5, "major_or_minor", "test", 60):
        ((clip, _),) = stimulus.clips
        pitches = {note.pitch for note in clip.notes}
        assert {(pitch - min(pitches)) % 12 for pitch in pitches} == {
            0,
            4 if target == "A" else 3,
            7,
        }
    for target, stimulus in compose(5, "syncopation_pairs", "test", 20):
        strokes = [
            [note.onset for note in clip.notes if note.pitch in (36, 38)]
            for clip, _ in stimulus.clips
        ]
        first, second = (sum(onset // 240 % 2 for onset in onsets) for onsets in strokes)
        assert (first > second) == (target == "A")
        assert [len(onsets) for onsets in strokes] == [16, 16]
        assert all(onset % 240 < 10 for onsets in strokes for onset in onsets)  # 10 ms late at most


def test_the_low_notes_of_a_metre_come_every_group_and_their_loudness_says_nothing():
    for target, stimulus in compose(5, "meter", "test", 60):
        ((clip, _),) = stimulus.clips
        pitches = [note.pitch for note in sorted(clip.notes)]
        middle = (min(pitches) + max(pitches)) / 2
        low = [beat for beat, pitch in enumerate(pitches) if pitch < middle]
        assert low == [*range(0, len(pitches) - 1, {"A": 3, "B": 4, "C": 5}[target])]


def test_what_stimuli_give_away_is_a_floor_by_modality():
    floors = {
        modality: (instrument(modality=modality).metadata or {})["floors"][""]
        for modality in ("midi", "audio")
    }
    assert floors["midi"]["surface"] == {"value": 1.0}  # the MIDI text names the program
    assert 0.25 < floors["audio"]["surface"]["value"] < 1
    assert "surface" not in (oddball(modality="midi").metadata or {})["floors"][""]
