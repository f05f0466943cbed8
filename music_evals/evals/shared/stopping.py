"""Runs that stop early: when their interval is narrow enough, or when a comparison is decided."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from inspect_ai import Task, task_with
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSpec, read_eval_log
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop
from pydantic import JsonValue

from music_evals.notation.grouping import group_by
from music_evals.scorers.items import (
    LARGEST,
    PLANNED,
    Item,
    cluster_of,
    counted_items,
    items_of,
    sequence_of,
)

Rule = int | float | str
"""The widest interval in points, or the log that the run is compared with."""
_SEED = 1  # of the order of the questions
_TIES = 4  # questions to one that only one of two models answers


def stopping_task(task: Task, rule: Rule) -> Task:
    """Return a task that asks its questions in a random order, cluster by cluster, until its rule
    stops it.

    Raises:
        ValueError: the rule is neither a width from 0 to 100 nor a log with scores of the task's
            questions.
    """
    metadata = task.metadata or {}
    others = {}
    scorer = metadata["main_metric"].partition("/")[0]
    if isinstance(rule, str):
        others = _scores_of(rule, scorer)
    elif not 0 < rule < 100:
        raise ValueError(f"stopping={rule} is not valid; a width in points, 0 to 100, is needed")
    clusters = group_by(task.dataset, lambda sample: cluster_of(sample.metadata or {}, sample.id))
    facts = {PLANNED: len(clusters), LARGEST: max(map(len, clusters.values()))}
    samples = []
    for cluster in Random(_SEED).sample(sorted(clusters), len(clusters)):
        samples += clusters[cluster]
    for sample in samples:
        sample.metadata = {**(sample.metadata or {}), **facts}
    if isinstance(rule, str) and others.keys().isdisjoint(str(sample.id) for sample in samples):
        raise ValueError(f"stopping={rule}: the log has no score of {scorer} on these questions")
    return task_with(
        task,
        dataset=MemoryDataset(samples, name=task.dataset.name, shuffled=True),
        metadata={**metadata, "condition": {**metadata["condition"], "stopping": rule}},
        early_stopping=Stopping(rule, scorer, others),
    )


def _scores_of(log: str, scorer: str) -> dict[str, float]:
    """The values of a log's items; of several epochs the last."""
    path = Path(log).expanduser()
    if not path.is_file():
        raise ValueError(f"stopping={log}: there is no such log; a width in points is accepted too")
    values: dict[str, float] = {}
    for sample in read_eval_log(str(path)).samples or ():
        if score := (sample.scores or {}).get(scorer):
            items = counted_items(items_of(score, sample.id, sample.metadata))
            values |= {item.id: item.value or 0.0 for item in items}
    return values


class Stopping:
    """Inspect's early stopping by a confidence sequence.

    Samples may end in any order. They count in the order of asking, up to the first that is
    missing, since easy ones end first.

    Args:
        rule: see `Rule`.
        scorer: name of the scorer of the main metric.
        others: item → value in the log that the run is compared with.
    """

    def __init__(self, rule: Rule, scorer: str, others: Mapping[str, float]) -> None:
        self._rule = rule
        self._scorer = scorer
        self._others = others
        self._scored: dict[str, list[Item]] = {}
        self._interval = (0.0, 1.0)

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Take note of the order."""
        self._epochs = epochs
        self._facts = samples[0].metadata or {}
        self._order = [str(sample.id) for sample in samples]
        return "confidence sequence"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002
        """Pass over a sample if the rule is met."""
        if self._is_met():
            return EarlyStop(id=id, epoch=epoch, reason=f"stopping={self._rule}")
        return None

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002
        epoch: int,
        scores: dict[str, SampleScore],
    ) -> None:
        """Count a sample."""
        score = scores[self._scorer]
        items = items_of(score.score, score.sample_id, score.sample_metadata or {})
        self._scored.setdefault(str(id), []).extend(items)
        counted = []
        for sample in self._order:
            items = self._scored.get(sample, [])
            if len(items) < self._epochs:
                break
            counted += counted_items(items)
        facts = dict(self._facts)
        if self._others:
            counted = self._differing(counted)
            facts[PLANNED] = max(1, facts[PLANNED] // _TIES)
        self._interval = sequence_of(counted, facts) or (0.0, 1.0)

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return what the log says of the rule."""
        low, high = self._interval
        name = "share_of_questions_won" if self._others else "score"
        return {"rule": self._rule, "met": self._is_met(), name: [low, high]}

    def _is_met(self) -> bool:
        low, high = self._interval
        if isinstance(self._rule, str):
            return not low <= 0.5 <= high
        return high - low <= self._rule / 100

    def _differing(self, items: Sequence[Item]) -> list[Item]:
        """Items on which the log's value is another: 1 where this run is better, 0 where it is
        worse.
        """
        differing = []
        for item in items:
            other = self._others.get(item.id, item.value)
            if item.value is not None and other is not None and item.value != other:
                differing.append(item._replace(value=(item.value - other + 1) / 2))
        return differing
