"""The questions on scores: right by known facts and by hand, and evenly spread."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from music21 import clef, converter, key, note, pitch, stream

from music_evals.datasets_builders.msu.questions import compose
from music_evals.datasets_builders.msu.questions.answerability import contains
from music_evals.datasets_builders.msu.questions.compose import (
    KINDS,
    Composer,
    UnsuitableScoreError,
    candidates,
)
from music_evals.datasets_builders.msu.questions.reading import read
from music_evals.datasets_builders.msu.questions.tonality import certain_key, numeral, plain_chord
from music_evals.datasets_builders.msu.works import default_works
from music_evals.notation.scores.preparing import prepare_score
from music_evals.notation.scores.reading import read_score

STUDY = Path(__file__).parents[2] / "notation" / "abc" / "study.musicxml"
BY_HAND = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
EVERY = {work.name: work for work in default_works()}
KIND = {kind.name: kind for kind in KINDS}
LISTING = {kind.name for kind in KINDS if kind.lists_answers}


@pytest.fixture(scope="module")
def scores():
    return {name: work.load() for name, work in WORKS.items()}


@pytest.fixture(scope="module")
def readings(scores):
    return {name: read(score) for name, score in scores.items()}


@pytest.fixture(scope="module")
def questions(scores, readings):
    by_score = {id(scores[name]): reading for name, reading in readings.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "read", lambda score: by_score[id(score)])  # each is read once
        pools = {name: candidates(score, seed=0, name=name) for name, score in scores.items()}
    composer = Composer(pools.values(), 0)
    return {name: composer.compose(name, pool) for name, pool in pools.items()}


def compose_score_questions(score, *, seed, name):
    pool = candidates(score, seed=seed, name=name)
    return Composer([pool], seed).compose(name, pool)


def draw(reading, kind, tries=30):
    for seed in range(tries):
        question = next(KIND[kind].questions(reading, Random(seed), {}), None)
        if question:
            yield question


MODAL = ("bach-248-5", "bach-64-2", "bach-145-5", "bach-33-6")  # modal, or with misleading keys
# Works with known facts, and other short ones.
WORKS = {
    name: work
    for place, (name, work) in enumerate(EVERY.items())
    if name in BY_HAND["known"] or name in MODAL or (name.startswith("bach-") and place % 4 == 0)
}


def test_known_facts(readings):
    for name, facts in BY_HAND["known"].items():
        for kind, answer in facts.items():
            assert {question.answer for question in draw(readings[name], kind)} == {answer}, (
                name,
                kind,
            )
    # Modal keys and misleading ones are left out.
    assert [certain_key(readings[name]) for name in MODAL] == [None] * len(MODAL)


LINE = "tinynotation: 4/4 c'4 r8 d'8 e'2~ e'4 r2. c'1 d'4 c'4 b4 a4 c'4 e' g' c''"


def test_answers_by_hand(readings):
    study, line = (
        read(prepare_score(score)) for score in (read_score(STUDY), converter.parse(LINE))
    )
    pieces = {"study": (study, 60), "line": (line, 60), "bach-66-6": (readings["bach-66-6"], 1500)}
    for name, (reading, tries) in pieces.items():
        for kind, place, answer in BY_HAND[name]:
            answers = {
                question.answer for question in draw(reading, kind, tries) if place in question.text
            }
            assert answers == {answer}, (name, kind, place)


def test_chords_outside_the_key_have_no_numeral():
    major = plain_chord([pitch.Pitch(name) for name in ("D3", "F#3", "A3")])
    assert major
    assert (numeral(major, key.Key("C")), numeral(major, key.Key("g"))) == (None, "V")


def test_twelve_questions_three_a_level_of_different_kinds(
    questions,
):
    for name, twelve in questions.items():
        assert [question.level for question in twelve] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], name
        assert len({question.kind for question in twelve}) == 12, name
        assert all(
            question.answer and question.answer == question.answer.strip() for question in twelve
        )
        # None gives its answer away, or the key, which others ask for.
        keys = [question.answer for question in twelve if question.answer_type == "key"]
        for question in twelve:
            if question.answer_type != "yes_no" and question.kind not in LISTING:
                assert not any(
                    contains(question.text, answer) for answer in (question.answer, *keys)
                ), question


def test_kinds_and_answers_are_balanced(questions):
    flat = [question for row in questions.values() for question in row]
    for level in (1, 2, 3, 4):
        kinds = Counter(question.kind for question in flat if question.level == level)
        assert len(kinds) >= 11, kinds
        assert max(kinds.values()) <= 0.27 * kinds.total(), kinds
    answers = Counter(question.answer for question in flat if question.answer_type == "yes_no")
    assert set(answers) == {"Yes", "No"}
    assert 0.4 < answers["Yes"] / answers.total() < 0.6, answers
    assert answers.total() < 0.33 * len(flat)


@pytest.mark.parametrize(("texture", "parts"), BY_HAND["texture"])
def test_texture_is_named_only_where_it_is_beyond_doubt(texture, parts):
    score = stream.Score([converter.parse(f"tinynotation: 4/4 {part}") for part in parts])
    assert {question.answer for question in draw(read(score), "texture")} == (
        {texture} if texture else set()
    )


def test_seeds_and_names_give_other_questions(scores):
    score = scores["bach-66-6"]
    a, b = (compose_score_questions(score, seed=seed, name="a") for seed in (1, 2))
    assert a != b
    assert a == compose_score_questions(score, seed=1, name="a")
    assert a != compose_score_questions(score, seed=1, name="b")


def test_scores_without_enough_to_ask_are_refused():
    with pytest.raises(UnsuitableScoreError, match=r"level \d has \d of 3|level 3 has"):
        compose_score_questions(converter.parse("tinynotation: 4/4 c1 c1 c1"), seed=0, name="dull")
    with pytest.raises(UnsuitableScoreError, match="no measures"):
        compose_score_questions(stream.Score(), seed=0, name="empty")
    uneven = stream.Score(
        [stream.Part(converter.parse(f"tinynotation: 4/4 {text}")) for text in ("c1 d1", "c1")]
    )
    with pytest.raises(UnsuitableScoreError):
        compose_score_questions(uneven, seed=0, name="uneven")


def test_unpitched_parts_and_quarter_tones_are_not_asked_about():
    drums = stream.Score(
        [stream.Part([stream.Measure([note.Unpitched(), note.Unpitched()], number=1)])]
    )
    with pytest.raises(UnsuitableScoreError):
        compose_score_questions(drums, seed=0, name="drums")
    tune = converter.parse("tinynotation: 2/4 c4 d")
    tune.recurse().notes[0].pitch.accidental = pitch.Accidental("half-sharp")
    assert not list(draw(read(tune), "highest pitch"))


def test_a_clef_in_the_name_of_its_part_is_not_asked_for():
    parts = [
        stream.Part([stream.Measure([sign, note.Note("C4")])])
        for sign in (clef.BassClef(), clef.AltoClef())
    ]
    parts[0].partName = parts[1].partName = "Bass"
    assert {question.answer for question in draw(read(stream.Score(parts)), "clef")} == {
        "Alto clef"
    }


def test_notes_are_not_counted_where_two_voices_share_one():
    for lower, answers in {"g1": {"5"}, "c'1": set()}.items():
        tunes = [
            converter.parse(f"tinynotation: 4/4 {text}").recurse().notes
            for text in ("c'4 d' e' f'", lower)
        ]
        score = stream.Score(
            [stream.Part([stream.Measure(list(map(stream.Voice, tunes)), number=1)])]
        )
        assert {question.answer for question in draw(read(score), "number of notes")} == answers


def test_works_are_listed_once_and_without_their_keys():
    assert len(EVERY) == len({work.path for work in EVERY.values()}) >= 66
    assert len({work.composer for work in EVERY.values()}) >= 10
    assert not any(
        re.search(r"\b(major|minor|dur|moll)\b", work.title, re.IGNORECASE)
        for work in EVERY.values()
    )
    assert not any(
        "essenFolksong" in work.path or work.path.startswith("josquin") for work in EVERY.values()
    )
