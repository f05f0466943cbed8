"""Composes theory questions, from all kinds in turn."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Final
from zlib import crc32

from music_evals.datasets_builders.questions.attack import refuse_guessable
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.question_rows import LANGUAGES, LETTERS, Language, Question
from music_evals.datasets_builders.questions.theory import chords, pitches, rhythm, tonality
from music_evals.datasets_builders.questions.theory.form import Draft, Form
from music_evals.datasets_builders.questions.theory.terms import Term, words

KINDS: Final[Mapping[str, Mapping[Language, str]]] = {
    kind: {"zh": name.zh, "en": name.en} for kind, name in words("kinds").items()
}
"""Kind → its name by language."""

ZIQI, MUSICTHEORYBENCH = 0, 1
"""The half of the questions that each benchmark asks, so that no question counts twice in a mean over both."""

_FORMS: Final = (*pitches.FORMS, *tonality.FORMS, *chords.FORMS, *rhythm.FORMS)
_LANGUAGES: Final = tuple(enumerate(LANGUAGES))  # in the order of the names in a term
_PATIENCE: Final = 300  # after so many repeated drafts in a row, an endless form ends
_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")


def compose_theory(count: int, seed: int, half: int | None = None) -> list[Question]:
    """Compose music theory questions whose answers music21 computes; no text occurs twice.

    The kinds take turns, and so do the forms of a kind; exhausted forms drop out. The forms on melodies and sums of
    note values have hundreds of thousands of questions.

    Args:
        count: number of questions; a larger number begins with the questions of a smaller one.
        seed: any integer.
        half: 0 or 1, of two halves without a question in common; all questions if not given. `ZIQI` and
            `MUSICTHEORYBENCH` are those of the benchmarks.

    Raises:
        ValueError: count is negative, or there are not so many questions.
    """
    if count < 0:
        raise ValueError(f"count is {count}; it must be 0 or more")
    questions: list[Question] = []
    kinds = [_in_turn([_questions(form, seed) for form in _FORMS if form.kind == kind]) for kind in KINDS]
    for question in _in_turn(kinds):
        if len(questions) == count:
            break
        if half is None or crc32(question.name.encode()) % 2 == half:
            questions.append(question)
    if len(questions) < count:
        raise ValueError(f"count is {count}; there are no more than {len(questions)} questions")
    return questions


@cache
def refuse_guessable_theory() -> None:
    """Raise DatasetError if the questions can be guessed from their options; checked once per process (seconds).

    Only this code and music21 decide the questions, so any seeds will do: guessers learn from 2,000 questions and are
    tested on 8,000 questions of another seed, every second one in Chinese.
    """
    learned, fresh = (
        [blind_item(question, number) for number, question in enumerate(compose_theory(count, seed))]
        for count, seed in ((2_000, 1_801), (8_000, 1_802))
    )
    refuse_guessable("music theory questions", learned, fresh)


def blind_item(question: Question, number: int) -> Item:
    """Return the options of a question in random order, without its text; the number decides the language."""
    language = LANGUAGES[number % 2]
    options = question.options(language, Random(question.name).randrange(len(LETTERS)))
    form = f"{question.kind}-{question.form}"
    return Item(form, "", tuple(options), question.right[language], question.name, question.name)


def _in_turn(sources: list[Iterator[Question]]) -> Iterator[Question]:
    """Take an item of every source in turn, until all are exhausted."""
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)


def _questions(form: Form, seed: int) -> Iterator[Question]:
    rng = Random(f"{seed}/{form.kind}/{form.name}")
    seen: set[tuple[Term, ...]] = set()
    repeated = 0
    for draft in form.drafts(rng):
        # The texts in the blanks distinguish the questions of a form.
        if draft.blanks not in seen:
            seen.add(draft.blanks)
            repeated = 0
            yield _question(form, draft)
        elif (repeated := repeated + 1) == _PATIENCE:
            return


def _question(form: Form, draft: Draft) -> Question:
    slugs = (_NO_SLUG.sub("-", term.en.lower().replace("°", "-dim").replace("ø", "-half-dim")) for term in draft.blanks)
    return Question(
        name="-".join([form.kind, form.name, *(slug.strip("-") for slug in slugs)]),
        kind=form.kind,
        text={language: form.text[i].format(*(term[i] for term in draft.blanks)) for i, language in _LANGUAGES},
        right={language: draft.right[i] for i, language in _LANGUAGES},
        wrong={language: tuple(term[i] for term in draft.wrong) for i, language in _LANGUAGES},
        form=form.name,
    )
