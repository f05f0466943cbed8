"""The audit of questions: guessers find planted leaks, and nothing in questions without a leak."""

from dataclasses import replace
from random import Random

import pytest

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse_ten import dataset as muse_ten
from music_evals.datasets_builders.questions import audit
from music_evals.datasets_builders.questions.audit import (
    earnings,
    items_of,
    refuse_guessable,
    shares,
)
from music_evals.datasets_builders.questions.items import Item
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Note, Performance

WORDS = ("do", "re", "mi", "fa", "sol", "la", "si")
NOTE = Note(0, 60, 400, 80)


def exchangeable(count, seed, form="plain"):
    """Questions with four different runs of syllables, of which any may be right."""
    rng = Random(seed)
    items = []
    for number in range(count):
        options = set()
        while len(options) < 4:
            options.add(" ".join(rng.choices(WORDS, k=rng.randint(1, 5))))
        drawn = tuple(rng.sample(sorted(options), 4))
        items.append(
            Item(form, "Which?", drawn, rng.choice(drawn), f"{number // 3}", f"{form}{number}")
        )
    return items


def longest(items):
    return [replace(item, answer=max(item.options, key=len)) for item in items]


def changed_ones(count, seed):
    """Questions whose wrong options have one word of the right option changed."""
    rng = Random(seed)
    items = []
    for number in range(count):
        right = rng.choices(WORDS, k=5)
        wrong = {
            " ".join([*right[:at], rng.choice("xyz"), *right[at + 1 :]])
            for at in rng.sample(range(5), 3)
        }
        options = tuple(rng.sample([" ".join(right), *sorted(wrong)], 4))
        items.append(Item("changed", "", options, " ".join(right), str(number), str(number)))
    return items


def by_guesser(items, learned=None):
    tried = shares(items, earnings(items, learned or ()))
    return {share.guesser: share.value for share in tried}


def test_planted_leaks_are_found():
    # Less than 1, because two options may be equally long.
    assert by_guesser(longest(exchangeable(300, 1)))["longest"] > 0.85
    assert by_guesser(exchangeable(900, 2))["longest"] < 0.3
    assert by_guesser(changed_ones(300, 3))["most like the others"] == 1


def test_a_bank_with_a_leak_is_refused_and_an_exchangeable_one_is_not():
    learned, fresh = exchangeable(600, 4), exchangeable(2000, 5)
    refuse_guessable("syllables", learned, fresh)
    # One question in ten has the longest option as its answer: 32% for the guesser that takes it.
    leaky = [longest([item])[0] if number % 10 == 0 else item for number, item in enumerate(fresh)]
    with pytest.raises(
        DatasetError,
        match=r"syllables, form 'plain', can be guessed: the guesser 'longest' .* 25.0%",
    ):
        refuse_guessable("syllables", learned, leaky)
    forms = [replace(item, form=str(number % 8)) for number, item in enumerate([*learned, *fresh])]
    bad = [longest([item])[0] if item.form == "7" else item for item in forms]
    refuse_guessable("syllables", forms[:600], forms[600:])
    with pytest.raises(DatasetError, match="form '7'"):
        refuse_guessable("syllables", bad[:600], bad[600:])


def scale(velocity, length=8, program=0):
    notes = tuple(
        replace(NOTE, onset=480 * at, pitch=60 + at, velocity=velocity + at % 3)
        for at in range(length)
    )
    return Performance(notes, 120, (4, 4), None, program=program)


def rows_of(targets, stimulus):
    return [
        {
            "id": str(number),
            "options": [*"wxyz"],
            "target": target,
            "midi_text": midi_to_text(write_midi(stimulus(target))),
        }
        for number, target in enumerate(targets)
    ]


def views(rows):
    items = items_of("muse_ten", "contour", rows)
    return {share.guesser: share.value for share in shares(items, earnings(items, sees=["view"]))}


def test_views_with_what_is_asked_are_not_seen():
    rows = rows_of("AB", lambda target: scale(60))
    assert {*items_of("muse", "chord_quality", rows)[0].views} == {"program", "velocities"}


@pytest.mark.parametrize("module", [muse, muse_ten], ids=["muse", "muse_ten"])
def test_each_task_is_tried_ahead_of_a_build(module, monkeypatch):
    tried = []
    monkeypatch.setattr(audit, "refuse_leaks", lambda _, task, *__: tried.append(task))
    module._refuse_leaks.__wrapped__()
    assert tried == [*benchmarks.load(module.NAME).tasks]
