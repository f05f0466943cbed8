"""Whether composed questions can be guessed from their options alone."""

from collections.abc import Iterable, Sequence
from random import Random

from music_evals.datasets_builders.questions.attack import ALL, OPTIONS_ALONE, Share, attack, best
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.question_rows import LANGUAGES, LETTERS, Question

MARGIN = 0.03  # how far above chance the upper bound of the best guesser may lie
GLARING = 0.999_999  # confidence that a single form can be guessed, at which it counts as a leak


def blind_items(questions: Iterable[Question], form_of: dict[str, str] | None = None) -> list[Item]:
    """Return the options of questions in random order; every second question is in Chinese.

    `form_of` has the forms of questions by the beginnings of their names.
    """
    items = []
    for number, question in enumerate(questions):
        language = LANGUAGES[number % 2]
        options = question.options(language, Random(question.name).randrange(len(LETTERS)))
        forms = [form for start, form in (form_of or {}).items() if question.name.startswith(start)]
        form = max(forms, key=len, default=question.kind)
        items.append(Item(form, "", tuple(options), question.right[language], question.name, question.name))
    return items


def guessed(learned: Sequence[Item], fresh: Sequence[Item]) -> list[Share]:
    """Return the shares of guessers that see the options alone and answer too many of the fresh questions.

    The guesser of each form is chosen and taught on `learned`, questions of one seed, so that luck does not count
    against `fresh`, questions of another seed. On all of `fresh` its upper bound (Wilson's, 95%) must lie at most
    `MARGIN` above chance. Sound questions are refused in one of 70,000 sets of 8,000, and in one of seven sets of
    2,000. A single form has too few questions for that bound: its lower bound counts, at the confidence `GLARING`.
    """
    chosen = best(attack(learned, guessers=OPTIONS_ALONE))
    leaks = []
    for share in attack(fresh, learned, OPTIONS_ALONE):
        if share.form not in chosen or share.guesser != chosen[share.form].guesser:
            continue
        bound = share.interval()[1] if share.form == ALL or len(chosen) == 1 else share.interval(GLARING)[0]
        if bound > share.chance + MARGIN:
            leaks.append(share)
    return leaks
