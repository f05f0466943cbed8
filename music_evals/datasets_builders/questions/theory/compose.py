"""Composes theory questions, from all kinds in turn."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from random import Random
from zlib import crc32

from music_evals.datasets_builders.questions.audit import refuse_guessable
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.question_rows import (
    LANGUAGES,
    LETTERS,
    Kinds,
    Question,
)
from music_evals.datasets_builders.questions.theory import chords, pitches, rhythm, tonality
from music_evals.datasets_builders.questions.theory.form import Form, in_turn
from music_evals.datasets_builders.questions.theory.terms import Term, words

KINDS: Kinds = {kind: {"zh": name.zh, "en": name.en} for kind, name in words("kinds").items()}

ZIQI, MUSICTHEORYBENCH = 0, 1
"""The half of the questions that each benchmark asks, so that no question counts twice in a mean
over both.
"""

_FORMS = (*pitches.FORMS, *tonality.FORMS, *chords.FORMS, *rhythm.FORMS)
_LANGUAGES = tuple(enumerate(LANGUAGES))  # in the order of the names in a term
_PATIENCE = 300  # after so many repeated drafts in a row, an endless form ends
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def compose_theory(count: int, seed: int, half: int | None = None) -> list[Question]:
    """Compose music theory questions whose answers music21 computes; no text occurs twice.

    The kinds take turns, and so do the forms of a kind; exhausted forms drop out. The forms on
    melodies and sums of note values have hundreds of thousands of questions.

    Args:
        count: number of questions; a larger number begins with the questions of a smaller one.
        seed: any integer.
        half: 0 or 1, of two halves without a question in common; all questions if not given. `ZIQI`
            and `MUSICTHEORYBENCH` are those of the benchmarks.

    Raises:
        ValueError: count is negative, or there are not so many questions.
    """
    if count < 0:
        raise ValueError(f"count is {count}; it must be 0 or more")
    questions = list(islice(theory_questions(seed, half), count))
    if len(questions) < count:
        raise ValueError(f"count is {count}; there are no more than {len(questions)} questions")
    return questions


def theory_questions(
    seed: int, half: int | None, kinds: Iterable[str] = KINDS
) -> Iterator[Question]:
    """Yield the questions of `compose_theory`, of some kinds or of all."""
    turns = [
        in_turn([_questions(form, seed) for form in _FORMS if form.kind == kind]) for kind in kinds
    ]
    for question in in_turn(turns):
        if half is None or crc32(question.name.encode()) % 2 == half:
            yield question


@cache
def refuse_guessable_theory() -> None:
    """Raise DatasetError if the questions can be guessed from their options; checked once per
    process (seconds).

    Guessers learn from 2,000 questions and are tested on 8,000 questions of another seed, every
    second one in Chinese. The seeds are fixed: only this code and music21 decide the questions.
    """
    learned = blind_items(compose_theory(2_000, 1_801))
    refuse_guessable("music theory questions", learned, blind_items(compose_theory(8_000, 1_802)))


def blind_items(questions: Iterable[Question]) -> list[Item]:
    """Return the options of questions in random order; every second question is in Chinese."""
    return [
        question.blind_item(LANGUAGES[number % 2], Random(question.name).randrange(len(LETTERS)))
        for number, question in enumerate(questions)
    ]


def _questions(form: Form, seed: int) -> Iterator[Question]:
    rng = Random(f"{seed}/{form.kind}/{form.name}")
    seen = set()
    repeated = 0
    for draft in form.drafts(rng):
        blanks = draft.blanks  # they distinguish the questions of a form
        if blanks in seen:
            repeated += 1
            if repeated == _PATIENCE:
                return
            continue
        seen.add(blanks)
        repeated = 0
        name = "-".join([form.kind, form.name, *map(_slug, blanks)])
        text = {language: form.text[i].format(*_spoken(blanks, i)) for i, language in _LANGUAGES}
        right = {language: draft.right[i] for i, language in _LANGUAGES}
        wrong = {language: _spoken(draft.wrong, i) for i, language in _LANGUAGES}
        yield Question(name, form.kind, text, right, wrong, form.name)


def _slug(term: Term) -> str:
    text = term.en.lower().replace("°", "-dim").replace("ø", "-half-dim")
    return _NO_SLUG.sub("-", text).strip("-")


def _spoken(terms: Iterable[Term], language: int) -> tuple[str, ...]:
    return tuple(term[language] for term in terms)
