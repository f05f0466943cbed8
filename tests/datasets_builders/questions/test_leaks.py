"""The leak test: it finds planted leaks by their view, finds nothing in noise, and agrees with
scikit-learn.
"""

from dataclasses import replace
from random import Random
from types import ModuleType

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse_ten import dataset as muse_ten
from music_evals.datasets_builders.muse_ten.dataset import FORMS, compose_rows
from music_evals.datasets_builders.questions import leaks
from music_evals.datasets_builders.questions.leaks import (
    BEST,
    find_leaks,
    note_views,
    refuse_leaks,
)
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Note, Performance
from tests.leaks_audit import sound_views, text_views

NOTE = Note(0, 60, 400, 80)


def scale(velocity: int, length: int = 8) -> Performance:
    notes = tuple(
        replace(NOTE, onset=480 * at, pitch=60 + at, velocity=velocity + at % 3)
        for at in range(length)
    )
    return Performance(notes, 120, (4, 4), None)


def values(answers: list[str], stimuli: list[Performance]) -> dict[str, float]:
    views = [note_views([midi_to_text(write_midi(stimulus))]) for stimulus in stimuli]
    return {share.guesser: share.value for share in find_leaks(answers, views)}


def test_planted_leaks_are_found_by_their_view() -> None:
    answers = ["A", "B"] * 50
    by_loudness = values(answers, [scale(60 if answer == "A" else 61) for answer in answers])
    assert (by_loudness["velocities"], by_loudness[BEST]) == (1, 1)
    assert by_loudness["program"] <= 0.5
    by_length = values(answers, [scale(60, 8 if answer == "A" else 9) for answer in answers])
    assert by_length["sizes"] == 1
    programs = [replace(scale(60), program=24 * (answer == "A")) for answer in answers]
    assert values(answers, programs)["program"] == 1


def test_noise_gives_nothing_away() -> None:
    rng = Random(1)
    answers = [rng.choice("ABCD") for _ in range(600)]
    shares = values(answers, [scale(rng.randint(40, 100), rng.randint(4, 12)) for _ in answers])
    assert all(0.18 < share < 0.32 for share in shares.values())  # four standard errors


def test_a_classifier_chooses_among_the_options_of_a_question() -> None:
    texts = ["c d e | f", "c d e"] * 30
    options = [["bars", "none"], ["none", "few"]] * 30
    sizes, *_ = find_leaks(["bars", "none"] * 30, [text_views(text) for text in texts], options)
    assert (sizes.guesser, sizes.value, sizes.chance) == ("sizes", 1, 0.5)


def test_sound_is_described_by_loudness_and_spectrum() -> None:
    low, high = (
        render_wav(write_midi(replace(scale(80), notes=(replace(NOTE, pitch=pitch),))))
        for pitch in (40, 90)
    )
    first, second = sound_views([low]), sound_views([high])
    assert {*first} == {"loudness", "spectrum", "beginning", "end"}
    assert np.argmax(first["beginning"]) < np.argmax(second["beginning"])
    assert {*sound_views([low], ("spectrum", "end"))} == {"loudness", "beginning"}


def test_stimuli_with_a_leak_are_refused_unless_it_is_declared() -> None:
    answers = ["A", "B"] * 50
    views = [{"velocities": [float(answer == "A")]} for answer in answers]
    with pytest.raises(DatasetError, match=r"contour, midi: .* 100.0% .* 'velocities'"):
        refuse_leaks("muse_ten", "contour", "midi", find_leaks(answers, views))
    refuse_leaks("muse_ten", "instrument", "midi", find_leaks(answers, views))  # a look-up


@pytest.mark.parametrize("module", [muse, muse_ten], ids=["muse", "muse_ten"])
def test_each_task_is_tried_ahead_of_a_build(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(leaks, "find_leaks", lambda answers, _: answers)
    monkeypatch.setattr(leaks, "refuse_leaks", lambda _, task, *__: tried.append(task))
    monkeypatch.setattr(module, "_TRIED", 10)
    module._refuse_leaks.__wrapped__()
    assert tried == [*benchmarks.load(module.NAME).tasks]


@pytest.mark.slow
def test_a_random_forest_finds_no_answer_by_velocities() -> None:
    name = "meter"
    rows = [*compose_rows(6, name, "forest", 150, None)]
    answers = [row["target"] for row in rows]
    views = np.array([note_views([row["midi_text"]])["velocities"] for row in rows])
    forest = RandomForestClassifier(50, random_state=0)
    share = cross_val_score(forest, views, answers, cv=5).mean()
    assert share < 1 / len(FORMS[name].options) + 0.13  # about three standard errors
