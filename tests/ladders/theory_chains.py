"""Twelve solvers of graded skill on the chains of theory, level by level.

Run it with ``python -m tests.ladders.theory_chains``. A solver reads the question's text; if what it
gets is no option, it guesses.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from random import Random

from scipy.stats import kendalltau

from music_evals.datasets_builders.questions.audit import earnings, shares
from music_evals.datasets_builders.questions.theory.chains import compose_chains
from music_evals.notation.theory_chains import LABELS, LINKS, Link, follow, worded

LEVELS = (2, 3, 4, 5)
ITEMS = 60
Steps = list[tuple[str, str, Link]]  # labels of source and result, and the step, as they are read
Solver = Callable[[Steps, str, Sequence[str], Random], str | None]


@cache
def read_steps(text):
    """The steps of a question in English, in the order of the text."""
    steps = {}
    for link in chain(*LINKS):
        pattern = worded(link, f"(?P<source>[{LABELS}])", f"(?P<out>[{LABELS}])")[1]
        for match in re.finditer(f"^{pattern}$", text, re.MULTILINE):
            source = match.groupdict().get("source") or ""
            steps[match.start()] = source, match["out"], link
    return [steps[place] for place in sorted(steps)]


def chain_of(steps, target):
    """The links that lead to a label, as far back as they are there."""
    by_label = {out: (source, link) for source, out, link in steps}
    links = []
    while target in by_label:
        target, link = by_label.pop(target)
        links.insert(0, link)
    return links


def english(links):
    names = follow(links) if links else None
    return names[1] if names else None


def with_slips(rate):
    """Takes another word of the step, at a rate."""

    def solve(steps, target, _, rng):
        links = []
        for link in chain_of(steps, target):
            (group,) = [group for group in LINKS if link in group]
            links.append(rng.choice(group) if rng.random() < rate else link)
        return english(links)

    return solve


def skipping(rate):
    """Leaves steps out, at a rate."""

    def solve(steps, target, _, rng):
        first, *links = chain_of(steps, target)
        return english([first, *(link for link in links if rng.random() >= rate)])

    return solve


def in_window(lines):
    """Sees only the last lines of the text."""
    return lambda steps, target, _, rng: english(chain_of(steps[-lines:], target))


def in_reading_order(steps, _, options, rng):
    """Begins with the start, and takes the other steps in the order of the text."""
    links = sorted((link for _, _, link in steps), key=lambda link: "start" not in link[1])
    return english(links)


def without_accidentals(steps, target, options, rng):
    letter = (english(chain_of(steps, target)) or "?")[0]
    return rng.choice([option for option in options if option[0] == letter])


def upwards(steps, target, _, rng):
    """Takes every step in the first of its two directions."""
    links = chain_of(steps, target)
    return english([({**step, "times": 1}, word) for step, word in links])


def last_step(steps, target, _, rng):
    """Takes the last step from the start."""
    links = chain_of(steps, target)
    return english([links[0], links[-1]])


def guess(steps, target, options, rng):
    return rng.choice(options)


SOLVERS = {
    "reads all": with_slips(0),
    "slips in 2% of the steps": with_slips(0.02),
    "slips in 5%": with_slips(0.05),
    "slips in 10%": with_slips(0.1),
    "slips in 20%": with_slips(0.2),
    "leaves out 35% of the steps": skipping(0.35),
    "slips in 60%": with_slips(0.6),
    "guesses": guess,
    "letters without accidentals": without_accidentals,
    "only the first direction": upwards,
    "steps in the order of the text": in_reading_order,
    "sees the last three lines": in_window(3),
    "the last step only": last_step,
}
GRADED = 8  # the first solvers, from best to worst


def accuracy(solver, questions, draws=3):
    """The share of right answers, over several draws of what is random."""
    right = 0
    for question in questions:
        steps, target = read_steps(question.text["en"]), _target(question)
        options = [question.right["en"], *question.wrong["en"]]
        for draw in range(draws):
            rng = Random(f"{question.name}/{draw}")
            answer = solver(steps, target, sorted(options), rng)
            right += (answer if answer in options else rng.choice(options)) == options[0]
    return right / len(questions) / draws


def _target(question):
    return max(LABELS, key=question.text["en"].rfind)


def main():
    """Print the scores by level, and how well each level orders the solvers."""
    by_level = {level: compose_chains(ITEMS, "ladders", level) for level in LEVELS}
    scores = {
        name: [accuracy(solver, by_level[level]) for level in LEVELS]
        for name, solver in SOLVERS.items()
    }
    for name, row in scores.items():
        below = next((level for level, share in zip(LEVELS, row, strict=True) if share < 0.5), "-")
        print(f"| {name} | {' | '.join(f'{share:.2f}' for share in row)} | {below} |")
    for at, level in enumerate(LEVELS):
        graded = [row[at] for row in [*scores.values()][:GRADED]]
        tau = kendalltau(range(GRADED), [-share for share in graded]).statistic
        means = [sum(row) for row in scores.values()]
        total = kendalltau(means, [row[at] for row in scores.values()]).statistic
        fresh = compose_chains(200, "attack", level)
        items = [q.blind_item("en", Random(q.name).randrange(4)) for q in fresh]
        best = max(shares(items, earnings(items)), key=lambda share: share.value)
        print(level, f"{tau:.2f} {total:.2f}", best.guesser, f"{best.value:.3f}", best.n)


if __name__ == "__main__":
    main()
