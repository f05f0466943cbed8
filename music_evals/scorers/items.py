"""The items of a sample's score: which values count for the main metric, and which items share a
cluster.

A scorer records in a score's metadata: ``counts`` (False for a value outside the main metric),
``stratum`` (if the main metric is a mean over strata), ``weight`` (if it is a ratio, such as
micro F1), ``any_of`` with ``epoch`` (if the best of several answers counts), ``key`` or
``right_answer`` and, for a sample with several questions, ``questions`` with a ``verdict``, the
``prediction`` and the ``key`` each. The metrics in logs and all figures of
reports are computed from items.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, NamedTuple

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    PARTIAL,
    SampleScore,
    Score,
    value_to_float,
)

from music_evals.scorers.metrics.estimates import Estimate, estimate
from music_evals.scorers.metrics.sequences import sequence_interval

CLUSTERS = ("question", "score_id", "piece", "cluster")
"""Metadata that name the cluster of a sample; the first that a sample has is used."""

PLANNED, LARGEST = "planned_clusters", "largest_cluster"
"""Metadata of the samples of a run that may stop early: the number of clusters, and that of the
samples of the largest.
"""
TAGS = "; "
"""What stands between the tags of a sample in its metadata ``tags``; a tag is ``KIND: NAME``."""
_VALUES = {letter: value_to_float()(letter) for letter in (CORRECT, INCORRECT, PARTIAL, NOANSWER)}


Metadata = Mapping[str, Any]


class Item(NamedTuple):
    """A response to one question."""

    id: str
    value: float | None  # from 0 to 1; None where it could not be scored
    counts: bool  # whether it belongs to the main metric
    cluster: str
    stratum: str
    details: Metadata  # metadata of the score, or of the question in it
    answer: str | None = None  # as it was read; a letter is that of the option as it was shown
    key: str | None = None  # the right answer in the same form; None if the score does not say

    @property
    def weight(self) -> float:
        """What it counts in the main metric."""
        return float(self.details.get("weight", 1))


def cluster_of(metadata: Metadata, sample_id: str | int | None) -> str:
    """Return the cluster that the metadata of a sample name, or else its id."""
    return str(next((metadata[name] for name in CLUSTERS if name in metadata), sample_id))


def items_of(score: Score, sample_id: str | int | None, metadata: Metadata) -> list[Item]:
    """Return the items of a score.

    Args:
        score: the score of a sample.
        sample_id: the sample's id.
        metadata: the sample's metadata.
    """
    details = score.metadata or {}
    cluster = cluster_of(metadata, sample_id)
    if "questions" in details:
        cluster = str(details.get("score_id", cluster))
        return [_question_item(row, cluster) for row in details["questions"]]
    value = nan
    if isinstance(score.value, int | float):
        value = float(score.value)
    elif isinstance(score.value, str):
        value = _VALUES.get(score.value, nan)
    counts = details.get("counts", True) is not False
    stratum = str(details.get("stratum", ""))
    known = None if isnan(value) else value
    key = details.get("key", details.get("right_answer"))
    order = metadata.get("option_order", ()) if "key" in details else ()
    texts = (_plain_form(text, order) for text in (score.answer, key))
    return [Item(str(sample_id), known, counts, cluster, stratum, details, *texts)]


def _plain_form(text: str | None, order: Sequence[int] = ()) -> str | None:
    """A text without case, spaces and a full stop; a letter as that of the shown option."""
    if text is None or len(text) > 1:
        return text and " ".join(text.casefold().split()).rstrip(".")
    letters = ascii_uppercase[: len(order)]
    return ascii_uppercase[order.index(letters.index(text))] if text and text in letters else text


def _question_item(row: Metadata, cluster: str) -> Item:
    verdict = row["verdict"]
    cluster = str(row.get("cluster", cluster))
    texts = map(_plain_form, (row.get("prediction"), row.get("key")))
    return Item(str(row["id"]), verdict, verdict is not None, cluster, "", row, *texts)


def counted_items(items: Sequence[Item]) -> list[Item]:
    """Return the items that count and have a value."""
    return [item for item in items if item.counts and item.value is not None]


def headline(items: Sequence[Item], metadata: Metadata = MappingProxyType({})) -> Estimate | None:
    """Return the main metric of items: the estimate over those that count and have a value; None
    without any.

    The metadata are those of a sample; a run that may stop early has the interval of a sequence.
    """
    counted = counted_items(items)
    if not counted:
        return None
    values = [float(item.value or 0) for item in counted]
    facts = ((item.id, item.cluster, item.stratum, item.weight) for item in counted)
    score = estimate(values, *zip(*facts, strict=True))
    if score and (ends := sequence_of(counted, metadata)):
        score = replace(score, low=ends[0], high=ends[1])
    return score


def sequence_of(items: Sequence[Item], metadata: Metadata) -> tuple[float, float] | None:
    """Return the interval of items in a run that may stop early; None in other runs, and for a
    score that is no plain mean.
    """
    is_plain = all(not item.stratum and item.weight == 1 for item in items)
    if PLANNED not in metadata or not items or not is_plain:
        return None
    names, clusters = zip(*((item.id, item.cluster) for item in items), strict=True)
    values = [float(item.value or 0) for item in items]
    return sequence_interval(
        values, names, clusters, int(metadata[PLANNED]), int(metadata[LARGEST])
    )


_latest: list[tuple[Sequence[SampleScore], list[Item]]] = []


def all_items(scores: Sequence[SampleScore]) -> list[Item]:
    """Return the items of the scores that Inspect hands to a metric.

    Inspect hands the same list to all metrics of a scorer, one after the other, and does so about
    once a second.
    """
    if not _latest or _latest[0][0] is not scores:
        _latest[:] = [(scores, _best_marked(scores))]
    return _latest[0][1]


def _best_marked(scores: Sequence[SampleScore]) -> list[Item]:
    """The items of scores; of answers of which the best counts, only that counts."""
    items = []
    for score in scores:
        items += items_of(score.score, score.sample_id, score.sample_metadata or {})
    keys = [best_of_key(item.details) for item in items]
    best = places_of_best(keys, [item.value for item in items])
    for place, (item, key) in enumerate(zip(items, keys, strict=True)):
        if key is not None:
            items[place] = item._replace(id=key[0], counts=item.counts and place in best)
    return items


def best_of_key(details: Metadata) -> tuple[str, int] | None:
    """What is equal for answers of which the best counts: their item and epoch; None for others."""
    if not isinstance(details.get("any_of"), str):
        return None
    return details["any_of"], int(details.get("epoch", 1))


def places_of_best(keys: Sequence[Hashable], values: Sequence[float | None]) -> set[int]:
    """Return the place of the best value of each key, the first of equal ones.

    >>> sorted(places_of_best(["a", "a", "b"], [0.0, 1.0, 0.5]))
    [1, 2]
    """
    best: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        first = best.setdefault(key, place)
        if (values[place] or 0.0) > (values[first] or 0.0):
            best[key] = place
    return set(best.values())
