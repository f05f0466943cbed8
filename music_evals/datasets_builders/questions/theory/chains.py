"""Composes the questions of levels 2 to 5: chains of steps, each of which works on the result of
another.

Two steps of a chain have a second word, such as a minor for a major third, or below for above. The
four options are what the four chains lead to. Each chain is as likely to be the question, so the
options alone give no hint.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from random import Random

from music_evals.datasets_builders.questions.question_rows import LANGUAGES, Question
from music_evals.notation.theory_chains import LABELS, LINKS, TABLES, Link, follow, worded


def compose_chains(count: int, key: str, level: int) -> list[Question]:
    """Compose questions of a level from 2 to 5; the key decides which."""
    rng = Random(f"{key}/level{level}")
    return [_question(f"level{level}-{number:03}", level, rng) for number in range(1, count + 1)]


def _question(name: str, level: int, rng: Random) -> Question:
    four = _four(level, rng)
    answers = rng.sample([*four], 4)
    chain = four[answers[0]]
    labels = rng.sample(LABELS, len(chain) + 1)
    steps = list(map(worded, chain, labels, labels[1:]))
    rng.shuffle(steps)
    text, right, wrong = {}, {}, {}
    for at, language in enumerate(LANGUAGES):
        lines = "\n".join(step[at] for step in steps)
        text[language] = TABLES["question"][at].format(lines, labels[-1])
        right[language], *others = (answer[at] for answer in answers)
        wrong[language] = tuple(others)
    return Question(name, "chains", text, right, wrong)


def _four(level: int, rng: Random) -> Mapping[tuple[str, str], Sequence[Link]]:
    """Draw four chains that differ in two steps, by what they lead to."""
    steps, letters = TABLES["levels"][level]
    while True:
        pairs: list[list[Link]] = []
        while len(pairs) <= steps:
            pair = rng.choices(rng.choice(LINKS), k=2)
            if follow([first for first, _ in (*pairs, pair)], level):
                pairs.append(pair)
        for slips in combinations(rng.sample(range(1, steps + 1), steps), 2):
            chains = product(*(pair[: 1 + (at in slips)] for at, pair in enumerate(pairs)))
            four = {names: chain for chain in chains if (names := follow(chain, level))}
            is_close = len({english[0] for _, english in four}) <= letters
            if len(four) == 4 and is_close and all(map(_is_needed, four.values())):
                return four


def _is_needed(links: Sequence[Link]) -> bool:
    """Whether a chain leads elsewhere without some of its steps in a row."""
    spans = combinations(range(1, len(links) + 1), 2)
    return follow(links) not in [follow([*links[:start], *links[end:]]) for start, end in spans]
