"""The theory questions: right by the book, evenly spread, and the same whenever they are composed
again.
"""

import tomllib
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from random import Random

import pytest
from music21.pitch import Pitch

from music_evals.datasets_builders.questions.audit import earnings, shares
from music_evals.datasets_builders.questions.theory import (
    chords,
    compose,
    pitches,
    rhythm,
    tonality,
)
from music_evals.datasets_builders.questions.theory.compose import (
    compose_theory,
)

LANGUAGES = ("zh", "en")
N = 9400
FORMS = (*pitches.FORMS, *tonality.FORMS, *chords.FORMS, *rhythm.FORMS)


def name_of(form):
    return f"{form.kind}-{form.name}"


@pytest.fixture(scope="module")
def bank():
    """Enough questions to hold every finite form but the largest, by name."""
    return {question.name: question for question in compose_theory(N, seed=3)}


# Answers that any textbook gives.
KNOWN = tomllib.loads(Path(__file__).with_name("textbook.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", KNOWN)
def test_answers_known_from_the_textbook(name):
    form = max(
        (form for form in FORMS if name.startswith(f"{name_of(form)}-")),
        key=lambda form: len(form.name),
    )
    # A seed leaves out the cases that do not make up a four.
    drawn = (one for seed in range(9) for one in islice(compose._questions(form, seed), 1500))
    question = next(one for one in drawn if one.name == name)
    assert [question.right["zh"], question.right["en"]] == KNOWN[name]


def test_a_form_ends_when_it_only_repeats_itself(monkeypatch):
    drafts = list(islice(FORMS[0].drafts(Random(1)), 5))
    repeating = replace(FORMS[0], drafts=lambda rng: (rng.choice(drafts) for _ in count()))
    monkeypatch.setattr(compose, "_FORMS", [repeating])
    assert len(compose_theory(5, seed=1)) == 5
    for count_, message in (
        (6, "count is 6; there are no more than 5 questions"),
        (-1, "count is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            compose_theory(count_, seed=1)


# Where the right option may be one of the things given, as the root of a chord is one of its notes.
GIVES = tuple(
    f"{form}-"
    for form in ("chords-root", "roman_numerals-bass", "metre-rest-of-bar", "metre-tuplet")
)


def test_texts_and_names_do_not_give_the_answer_away(bank):
    for question in bank.values():
        long = {
            language: question.right[language]
            for language in LANGUAGES
            if len(question.right[language]) > 4
        }
        if not question.name.startswith(GIVES):
            for language, right in long.items():
                assert right not in question.text[language], question


ENDLESS = (
    "enharmonics-line",
    "transposition-line",
    "transposition-sounding",
    "transposition-written",
)
ENDLESS += ("metre-sum",)


@pytest.mark.slow
def test_options_of_endless_forms_do_not_give_the_answer_away():
    learned, fresh = (
        compose.blind_items(
            question
            for form in FORMS
            if name_of(form) in ENDLESS
            for question in islice(compose._questions(form, seed), count)
        )
        for seed, count in ((21, 150), (22, 300))
    )
    tried = shares(fresh, earnings(fresh, learned))
    assert len(tried) > 4
    assert max(share.value for share in tried) < 0.25 + 0.05


def test_transposed_lines_differ_in_sound_and_have_no_double_accidentals(
    bank,
):
    """A second name of the right sound would be right to many."""
    lines = ("transposition-line", "transposition-sounding", "transposition-written")
    questions = [question for question in bank.values() if question.name.startswith(lines)]
    assert len(questions) > 500
    for question in questions:
        options = [text.split(", ") for text in question.options("en", 0)]
        assert (
            len({tuple(Pitch(plain(note)).pitchClass for note in notes) for notes in options}) == 4
        ), question
        assert len(options[0]) > 1, question
        assert "double" not in question.text["en"], question


def plain(note):
    return (
        note.replace(" double ", " ")
        .replace(" sharp", "#" * (1 + ("double" in note)))
        .replace(" flat", "-" * (1 + ("double" in note)))
    )


def test_options_mean_the_same_in_every_language(bank):
    # Told by what languages share: letters A to G in order, and digits.
    for question in bank.values():
        if question.kind in ("transposition", "enharmonics") and "-line-" in question.name:
            for zh, en in zip(question.wrong["zh"], question.wrong["en"], strict=True):
                assert [c for c in zh if c in "ABCDEFG"] == [c for c in en if c in "ABCDEFG"]
