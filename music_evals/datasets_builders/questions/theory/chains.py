"""The form of the questions of levels 2 to 5: chains of steps, each of which works on the result
of another.

Two steps of a chain have a second word, such as a minor for a major third, or below for above. The
four options are what the four chains lead to. Each chain is as likely to be the question, so the
options alone give no hint.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from random import Random

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.form import Case, Form, endless
from music_evals.notation.theory_chains import LABELS, LINKS, TABLES, Link, follow

_STEPS = {2: 2, 3: 3, 4: 5, 5: 8}
_LETTERS = {2: 4, 3: 3, 4: 2, 5: 2}  # different first letters of the options, at most


def chain_form(level: int) -> Form:
    """Return the form of a level from 2 to 5, which decides the number of steps and their words."""
    wording = terms.Term(*TABLES["question"])
    return Form("chains", f"level{level}", wording, lambda rng: endless(_fours(rng, level), rng))


def _fours(rng: Random, level: int) -> Iterator[list[Case]]:
    """Draw four chains at a time, which differ in two steps."""
    while True:
        pairs: list[list[Link]] = []
        while len(pairs) <= _STEPS[level]:
            pair = rng.choices(rng.choice(LINKS), k=2)
            if follow([*(first for first, _ in pairs), pair[0]], level):
                pairs.append(pair)
        places = rng.sample(range(1, len(pairs)), len(pairs) - 1)
        for slips in combinations(places, 2):
            chains = product(*(pair if at in slips else pair[:1] for at, pair in enumerate(pairs)))
            answers = {answer: links for links in chains if (answer := follow(links, level))}
            letters = {english[0] for _, english in answers}  # if few, accidentals decide
            is_close = len(letters) <= _LETTERS[level] and len(answers) == 4
            if is_close and all(map(_is_needed, answers.values())):
                yield [_case(links, answer, rng) for answer, links in answers.items()]
                break


def _is_needed(links: Sequence[Link]) -> bool:
    """Whether a chain leads elsewhere without some of its steps in a row."""
    spans = combinations(range(1, len(links) + 1), 2)
    return follow(links) not in [follow([*links[:start], *links[end:]]) for start, end in spans]


def _case(links: Sequence[Link], answer: tuple[str, str], rng: Random) -> Case:
    labels = rng.sample(LABELS, len(links) + 1)
    steps = [link.worded(*pair) for link, pair in zip(links, pairwise(labels), strict=True)]
    rng.shuffle(steps)
    text = map(str.join, ("；", "; "), zip(*steps, strict=True))
    return Case((terms.Term(*text), terms.same(labels[-1])), terms.Term(*answer))
