"""Tasks by which a judge of answers is calibrated: a person marks what it marked, or it marks
answers of which it is known whether they are right.

The questions are MSU-Bench's, whose judges `music_evals.scorers.judge` asks.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean
from string import Template
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, ProvenanceData, edit_score, recompute_metrics
from inspect_ai.model import ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Score, ScoreEdit

from music_evals.datasets_builders.dataset_io import GENERATED, load_split
from music_evals.datasets_builders.msu.dataset import BENCHMARK
from music_evals.datasets_builders.msu.rows import SPLITS, QuestionRow
from music_evals.evals.shared.declared_tasks import question_metadata
from music_evals.notation.grouping import group_by
from music_evals.scorers.judge import NOT_JUDGED, RULES, judge_prompt
from music_evals.scorers.metrics.estimates import Estimate, share, with_ends
from music_evals.scorers.metrics.paired import compare
from music_evals.scorers.readers import try_read
from music_evals.scorers.readers.checking import check
from music_evals.scorers.readers.votes import read_vote
from music_evals.solvers.door import install
from music_evals.solvers.replies import reply

RIGHT, WRONG = "right", "wrong"
"""What a person says of an answer."""
_MARK = Template("""$question

Right is: $key

The answer to mark: $prediction""")
_SPELLED = str.maketrans({"♯": " sharp ", "♭": " flat "})
_FRAMES = ("{}", "{}.", "The answer is {}.", "It is **{}**.")  # ways to write an answer

_Place = tuple[str | int, int]  # id of a sample, and epoch
_Entry = Mapping[str, Any]  # what a log has of an answer


def labelling_task(log: EvalLog, count: int) -> Task:
    """Make a task that asks a person about a random sample of the answers that judges decided on.

    Args:
        log: of MSU-Bench with judges, with its samples.
        count: number of answers to mark.

    Raises:
        ValueError: the log has no such answers.
    """
    asks = question_metadata("msu", "judge", answer_type="choice", answers=[RIGHT, WRONG])
    samples = []
    for place, entry in _drawn(log, count):
        if entry["reading"] not in NOT_JUDGED:
            samples.append(
                Sample(
                    id=_name(place, entry),
                    input=[ChatMessageUser(content=_MARK.substitute(entry), metadata=asks)],
                    target="",
                )
            )
    if not samples:
        raise ValueError(
            f"{log.location} has no answers that judges marked; it needs `-T judges=MODEL` of msu"
        )
    return Task(
        name="labels",
        dataset=samples,
        solver=reply(),
        metadata={"benchmark": "judge", "config": log.eval.task_id},
    )


def enter_labels(log: EvalLog, count: int, replies: Mapping[str, str], person: str) -> None:
    """Enter in a log what a person says of answers; the log then tells who changed what.

    Refused and missing answers of the random sample are wrong without a person.

    Args:
        log: as `labelling_task` had it, with the same `count`.
        count: number of answers to mark.
        replies: `RIGHT` or `WRONG` by the id of a sample of that task.
        person: who says so.
    """
    labels: dict[_Place, dict[str, int]] = {}
    for place, entry in _drawn(log, count):
        name = _name(place, entry)
        if entry["reading"] not in NOT_JUDGED and name not in replies:
            break  # what comes after it is no random sample
        labels.setdefault(place, {})[entry["id"]] = int(replies.get(name) == RIGHT)
    for (sample, epoch), name, score in list(_judged(log)):
        if own := labels.get((sample, epoch)):
            facts = score.metadata or {}
            questions = [
                {**entry, "human": own.get(entry["id"], entry["human"])}
                for entry in facts["questions"]
            ]
            edit = ScoreEdit(
                metadata={**facts, "questions": questions},
                provenance=ProvenanceData(author=person),
            )
            edit_score(log, sample, name, edit, recompute_metrics=False, epoch=epoch)
    recompute_metrics(log)


def _judged(log: EvalLog) -> Iterator[tuple[_Place, str, Score]]:
    """The scores that judges gave, with their names."""
    for sample in log.samples or ():
        for name, score in (sample.scores or {}).items():
            if (score.metadata or {}).get("judges", [RULES]) != [RULES]:
                yield (sample.id, sample.epoch), name, score


def _drawn(log: EvalLog, count: int) -> Sequence[tuple[_Place, _Entry]]:
    """Answers that have a verdict, with their questions, in a random order, up to so many that a
    person must mark.
    """
    asked = {}
    for sample in log.samples or ():
        questions = sample.metadata.get("questions", ())
        asked[sample.id, sample.epoch] = {question["id"]: question for question in questions}
    entries: list[tuple[_Place, _Entry]] = []
    for place, _, score in _judged(log):
        entries.extend(
            (place, {**asked[place][entry["id"]], **entry})
            for entry in (score.metadata or {})["questions"]
            if entry["verdict"] is not None
        )
    random.Random(0).shuffle(entries)
    to_mark = [at for at, (_, entry) in enumerate(entries) if entry["reading"] not in NOT_JUDGED]
    return entries[: to_mark[count]] if count < len(to_mark) else entries


def _name(place: _Place, entry: _Entry) -> str:
    return f"{place[0]} {place[1]} {entry['id']}"


def pairs_task(count: int) -> Task:
    """Make a task that asks a judge about pairs of a right and a wrong answer to a question.

    The right answer is the question's own, in other words or spelling; the wrong one is that to
    another question of the same kind. A rule calls each of the two what it is.

    Args:
        count: number of pairs, at most.
    """
    install()
    rows: list[QuestionRow] = []
    for split in SPLITS:
        rows += load_split(GENERATED, "questions", split, benchmark=BENCHMARK)
    draw = random.Random(0)
    draw.shuffle(rows)
    samples = []
    for row, *answers in islice(_pairs(rows, draw), count):
        for answer, target in zip(answers, "10", strict=True):
            samples.append(
                Sample(
                    id=f"{row['id']} {target}",
                    input=judge_prompt(row["answer"], answer),
                    target=target,
                    metadata={"score_id": row["score_id"]},
                )
            )
    return Task(
        name="judge_pairs",
        dataset=samples,
        solver=reply(),
        config=GenerateConfig(temperature=0, max_tokens=16),
    )


def _pairs(rows: list[QuestionRow], draw: random.Random) -> Iterator[tuple[QuestionRow, str, str]]:
    """Questions, each with a right and a wrong answer."""
    kinds = group_by(rows, lambda row: (row["kind"], row["answer_type"]))
    for row in rows:
        key = row["answer"]
        kind = row["answer_type"]
        if kind in (None, "text"):
            continue
        right = draw.choice(_FRAMES).format(key.translate(_SPELLED))
        if not check(right, key, kind).is_right:
            continue
        others = [one["answer"] for one in kinds[row["kind"], kind]]
        draw.shuffle(others)
        for other in others:
            wrong = draw.choice(_FRAMES).format(other.translate(_SPELLED))
            if check(wrong, key, kind).is_right is False:
                yield row, right, wrong
                break


def judged_pairs(log: EvalLog) -> tuple[Estimate, Estimate, Estimate, int]:
    """Return how a judge tells right answers from wrong ones in a log of `pairs_task`, in percent.

    Returns:
        The shares of right and of wrong answers that it calls right; Youden's J, which is the
        difference, with its interval over scores; and the number of replies without a mark, which
        count against the judge.
    """
    marks: dict[str, list[float]] = {"1": [], "0": []}
    clusters: list[str] = []
    silent = 0
    for sample in log.samples or ():
        mark, _ = try_read(read_vote, sample.output.completion)
        silent += mark is None
        target = str(sample.target)
        marks[target].append(1 - int(target) if mark is None else mark)
        clusters.append(sample.metadata["score_id"])
    # The two of a pair follow one another.
    difference = compare(marks["0"], marks["1"], clusters[::2])
    j = with_ends(difference.difference, difference.low, difference.high, difference.pairs)
    right, wrong = (share(fmean(own), len(own)).percent() for own in marks.values())
    return right, wrong, j.percent(), silent
