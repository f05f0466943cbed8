"""Questions whose answer is no option: what their samples say of the kind of answer, and the scores
of guesses, as floors.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from math import prod
from operator import attrgetter
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from music_evals.benchmarks import TaskFacts
from music_evals.benchmarks.prompts import load_answer_wording
from music_evals.datasets_builders.questions.media_questions import OF_TAGS, MediaQuestionRow
from music_evals.evals.shared.floors import Floors
from music_evals.notation.grouping import group_by
from music_evals.scorers.answer_kinds import LABEL, AnswerKind, kind_of
from music_evals.scorers.metrics.proportion import wilson_interval

_TRIED = 400  # questions of a kind that guesses are scored on
_PAIRED = 40  # questions of a kind whose answers are tried on each other
_GUESSES = 20  # answers by chance that a question has

Rows = Sequence[MediaQuestionRow]


def is_typed(row: Mapping[str, Any]) -> bool:
    """Whether the answer of a row is of a kind of its own."""
    return row.get("answer_kind") is not None


def row_kind(row: Mapping[str, Any]) -> AnswerKind | None:
    """Return the kind of a row's answer; None for options."""
    name = row.get("answer_kind")
    if name is None or name == LABEL:
        return None
    return kind_of(name, row["options"] if name in OF_TAGS else ())


def answer_form(row: Mapping[str, Any]) -> str:
    """Return what a prompt says of the form of an answer, by the kind of a row."""
    forms: Mapping[str, str] = load_answer_wording()["kinds"]
    name = row.get("answer_kind") or ""
    return forms.get(name) or forms.get(name.partition(":")[0], "the answer")


def scoring_facts(row: MediaQuestionRow, facts: TaskFacts) -> dict[str, Any]:
    """Return what a sample's metadata say of its scoring."""
    entries: dict[str, Any] = {"answer_kind": row["answer_kind"]}
    if row["answer_kind"] in OF_TAGS:
        entries["vocabulary"] = row["options"]
        if facts.aliases:
            entries["aliases"] = facts.aliases
    columns: Mapping[str, Any] = row
    if facts.any_of:
        entries["any_of"] = columns[facts.any_of]
    if facts.strata:
        entries["stratum"] = columns[facts.strata]
    return entries


class Guessing(NamedTuple):
    """What questions with the same theme and kind of answer earn by guessing.

    Args:
        replies: guesses in the form of a reply: the best constant, then answers to other questions.
        chance: what an answer to another question earns.
        majority: what the best constant earns.
        questions: how many there are.
        stratum: what they belong to if the score is a mean of means.
    """

    replies: list[str]
    chance: float
    majority: float
    questions: int
    stratum: str


def guess_key(row: Mapping[str, Any]) -> str:
    """Return what is equal for questions with the same guesses: theme and kind of answer."""
    return f"{row.get('theme')} {row.get('answer_kind')}"


def guessing_of(rows: Rows, facts: TaskFacts) -> dict[str, Guessing]:
    """Return what questions earn by guessing, under their `guess_key`."""
    guessing = {}
    for key, group in group_by(rows, guess_key).items():
        stratum = str(group[0].get("theme")) if facts.strata else ""
        guessing[key] = _guessing(group)._replace(stratum=stratum)
    return guessing


def typed_floors(guessing: Mapping[str, Guessing], facts: TaskFacts) -> Floors:
    """Return the floors ``chance``, an answer to another question of the kind, and ``majority``,
    the best constant answer.

    Where the best of several answers counts, guesses by chance are drawn for each, and constants
    are the same.
    """
    strata = group_by(guessing.values(), attrgetter("stratum"))
    chances = []
    majorities = []
    for entries in strata.values():
        if facts.any_of:
            chances.append(1 - prod(1 - entry.chance for entry in entries))
            majorities.append(max(entry.majority for entry in entries))
            continue
        sizes = [entry.questions for entry in entries]
        chances.append(fmean([entry.chance for entry in entries], sizes))
        majorities.append(fmean([entry.majority for entry in entries], sizes))
    chance = fmean(chances)
    majority = fmean(majorities)
    questions = sum(entry.questions for entry in guessing.values())
    low, high = wilson_interval(majority, questions)
    return {
        "chance": {"value": round(chance, 4)},
        "majority": {"value": round(majority, 4), "low": low, "high": high},
    }


def _guessing(group: Rows) -> Guessing:
    kind = row_kind(group[0])
    references = [row["answer"] for row in group]
    if kind is None:
        commonest = max(map(references.count, {*references})) / len(references)
        chance = fmean(1 / len(row["options"]) for row in group)
        return Guessing([], chance, commonest, len(group), "")
    tried = Random(0).sample(references, min(len(references), _TRIED))
    scores = {
        guess: _mean_score(kind, product([guess], tried))
        for guess in dict.fromkeys(kind.guesses(references))
    }
    best = max(scores, key=lambda guess: scores[guess])
    pairs = permutations(tried[:_PAIRED], 2)
    chance = _mean_score(kind, pairs)
    return Guessing(
        [kind.write(answer) for answer in (best, *tried[:_GUESSES])],
        chance,
        scores[best],
        len(group),
        "",
    )


def _mean_score(kind: AnswerKind, pairs: Iterable[tuple[str, str]]) -> float:
    """The score of guesses as answers to questions, as the reader returns them."""
    read = cache(lambda guess: (kind.read(kind.write(guess)) or [""])[0])
    worth = total = 0.0
    for guess, reference in pairs:
        answer = read(guess)
        weight = kind.weight(answer, reference)
        worth += weight * kind.score(answer, reference)
        total += weight
    return worth / max(total, 1e-12)
