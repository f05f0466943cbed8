"""Questions whose answer is no option: what their samples say of the kind of answer, and the scores
of guesses, as floors.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from music_evals.benchmarks import TaskFacts
from music_evals.benchmarks.prompts import load_answer_wording
from music_evals.datasets_builders.questions.media_questions import OF_TAGS, MediaQuestionRow
from music_evals.evals.shared.floors import Floors
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
    columns: Mapping[str, Any] = row
    if facts.any_of:
        entries["any_of"] = columns[facts.any_of]
    if facts.strata:
        entries["stratum"] = columns[facts.strata]
    return entries


def guesses_of(rows: Rows) -> dict[str, list[str]]:
    """Return the guesses for each kind of question in the form of a reply: the best constant first,
    then answers to other questions.

    The keys are those of `guess_key`.
    """
    guesses: dict[str, list[str]] = {}
    for key, group in _groups(rows).items():
        kind = row_kind(group[0])
        if kind is None:
            continue
        references = [row["answer"] for row in group]
        drawn = Random(key).sample(references, min(len(references), _GUESSES))
        best, _ = _best_constant(kind, references)
        guesses[key] = [kind.write(answer) for answer in (best, *drawn)]
    return guesses


def guess_key(row: Mapping[str, Any]) -> str:
    """Return what is equal for questions with the same guesses: theme and kind of answer."""
    return f"{row.get('theme')} {row.get('answer_kind')}"


def typed_floors(rows: Rows, facts: TaskFacts) -> Floors:
    """Return the scores of guessing: ``chance``, an answer to another question of the kind, and
    ``majority``, the best constant answer.

    Where the best of several answers counts, guesses by chance are drawn for each, and constants
    are the same.
    """
    by_stratum: dict[str, list[_Guessed]] = defaultdict(list)
    for group in _groups(rows).values():
        stratum = str(group[0].get("theme")) if facts.strata else ""
        by_stratum[stratum].append(_guessing(group))
    combine = _best_of if facts.any_of else _mean_of
    means = [combine(entries) for entries in by_stratum.values()]
    majority = round(fmean(mean.majority for mean in means), 4)
    low, high = wilson_interval(majority, len(rows))
    return {
        "chance": {"value": round(fmean(mean.chance for mean in means), 4)},
        "majority": {"value": majority, "low": low, "high": high},
    }


class _Guessed(NamedTuple):
    """What questions earn by guessing."""

    chance: float
    majority: float
    questions: int


def _mean_of(entries: Sequence[_Guessed]) -> _Guessed:
    total = sum(entry.questions for entry in entries)
    chance = sum(entry.chance * entry.questions for entry in entries) / total
    majority = sum(entry.majority * entry.questions for entry in entries) / total
    return _Guessed(chance, majority, total)


def _best_of(entries: Sequence[_Guessed]) -> _Guessed:
    all_wrong = prod(1 - entry.chance for entry in entries)
    majority = max(entry.majority for entry in entries)
    return _Guessed(1 - all_wrong, majority, entries[0].questions)


def _groups(rows: Rows) -> dict[str, list[MediaQuestionRow]]:
    groups: dict[str, list[MediaQuestionRow]] = defaultdict(list)
    for row in rows:
        groups[guess_key(row)].append(row)
    return groups


def _guessing(group: Rows) -> _Guessed:
    """What an answer to another question, and the best constant, earn."""
    kind = row_kind(group[0])
    references = [row["answer"] for row in group]
    if kind is None:
        commonest = max(map(references.count, {*references})) / len(references)
        chance = fmean(1 / len(row["options"]) for row in group)
        return _Guessed(chance, commonest, len(group))
    tried = Random(0).sample(references, min(len(references), _PAIRED))
    pairs = [*product(tried, tried)]
    _, majority = _best_constant(kind, references)
    return _Guessed(_mean_score(kind, pairs), majority, len(group))


def _best_constant(kind: AnswerKind, references: Sequence[str]) -> tuple[str, float]:
    """The constant answer that earns most, and what it earns."""
    tried = Random(0).sample(references, min(len(references), _TRIED))
    scores = {
        guess: _mean_score(kind, [(guess, reference) for reference in tried])
        for guess in kind.guesses(references)
    }
    best = max(scores, key=lambda guess: scores[guess])
    return best, scores[best]


def _mean_score(kind: AnswerKind, pairs: Sequence[tuple[str, str]]) -> float:
    """The score of answers in the form of a kind against references."""
    read = {guess: _as_read(kind, guess) for guess, _ in pairs}
    answers = [(read[guess], reference) for guess, reference in pairs]
    weights = [kind.weight(*pair) for pair in answers]
    worth = sum(weight * kind.score(*pair) for weight, pair in zip(weights, answers, strict=True))
    return worth / max(sum(weights), 1e-12)


def _as_read(kind: AnswerKind, guess: str) -> str:
    """A guess as its reader returns it: a pitch in Hz is a frequency there."""
    answers = kind.read(kind.write(guess))
    return answers[0] if len(answers) == 1 else ""
