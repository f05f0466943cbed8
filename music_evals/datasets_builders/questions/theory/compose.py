"""Composes the bank: draws from all kinds in turn until there are as many questions as are wanted."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Final

from music_evals.datasets_builders.questions.attack import refuse_guessable
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.question_rows import LANGUAGES, LETTERS, Language, Question
from music_evals.datasets_builders.questions.theory import chords, pitches, rhythm, tonality
from music_evals.datasets_builders.questions.theory.form import Draft, Form
from music_evals.datasets_builders.questions.theory.terms import Term, words

KINDS: Final[Mapping[str, Mapping[Language, str]]] = {
    kind: {"zh": name.zh, "en": name.en} for kind, name in words("kinds").items()
}
"""Kind → its name in every language."""

_FORMS: Final = (*pitches.FORMS, *tonality.FORMS, *chords.FORMS, *rhythm.FORMS)
_LANGUAGES: Final = tuple(enumerate(LANGUAGES))  # in the order of a term's names
# After so many drafts in a row that have been asked already, a form that draws endlessly has nothing more to ask.
_PATIENCE: Final = 300
_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")


def compose_theory(count: int, seed: int) -> list[Question]:
    """Compose music theory questions whose answers music21 computes; no text occurs twice.

    The kinds take turns, and within a kind its forms; those that have no question left drop out. Melodies to transpose
    and note values to add are there by the hundred thousand. With the same seed, more questions begin with fewer.

    Raises:
        ValueError: count is negative, or larger than the number of questions that there are.
    """
    if count < 0:
        raise ValueError(f"count is {count}; it must be 0 or more")
    questions: list[Question] = []
    kinds = [_in_turn([_questions(form, seed) for form in _FORMS if form.kind == kind]) for kind in KINDS]
    for question in _in_turn(kinds):
        if len(questions) == count:
            break
        questions.append(question)
    if len(questions) < count:
        raise ValueError(f"count is {count}; there are no more than {len(questions)} questions")
    return questions


@cache
def refuse_guessable_theory() -> None:
    """Raise DatasetError where the questions can be guessed from their options; once a process, as it takes seconds.

    What is composed depends on this code and music21 alone, so the seeds need not be those of a build: guessers learn
    from 2,000 questions and are tried on 8,000 of another seed, every other one in Chinese.
    """
    learned, fresh = (
        [blind_item(question, number) for number, question in enumerate(compose_theory(count, seed))]
        for count, seed in ((2_000, 1_801), (8_000, 1_802))
    )
    refuse_guessable("music theory questions", learned, fresh)


def blind_item(question: Question, number: int) -> Item:
    """Take what a guesser may see of a question of theory: its options, in a language by its number and in some order.

    The question itself is no matter for it: it has the notes that the answer is computed from.
    """
    language = LANGUAGES[number % 2]
    options = question.options(language, Random(question.name).randrange(len(LETTERS)))
    form = f"{question.kind}-{question.form}"
    return Item(form, "", tuple(options), question.right[language], question.name, question.name)


def _in_turn(sources: list[Iterator[Question]]) -> Iterator[Question]:
    """One item of each source after the other, until all are exhausted."""
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
        # What fills the blanks tells the questions of one form apart, and the wording those of different forms.
        if draft.asked not in seen:
            seen.add(draft.asked)
            repeated = 0
            yield _question(form, draft)
        elif (repeated := repeated + 1) == _PATIENCE:
            return


def _question(form: Form, draft: Draft) -> Question:
    return Question(
        name="-".join([form.kind, form.name, *(_slug(term.en) for term in draft.asked)]),
        kind=form.kind,
        text={language: form.text[i].format(*(term[i] for term in draft.asked)) for i, language in _LANGUAGES},
        right={language: draft.right[i] for i, language in _LANGUAGES},
        wrong={language: tuple(term[i] for term in draft.wrong) for i, language in _LANGUAGES},
        form=form.name,
    )


def _slug(text: str) -> str:
    return _NO_SLUG.sub("-", text.lower().replace("°", "-dim").replace("ø", "-half-dim")).strip("-")
