"""The items of a sample's score: which values count for the main metric, and which items share a
cluster.

A scorer records in a score's metadata: ``counts`` (False for a value outside the main metric),
``stratum`` (if the main metric is a mean over strata) and, for a sample with several questions,
``questions`` with a ``verdict`` each. The metrics in logs and all figures of reports are computed
from items.
"""

from collections.abc import Mapping, Sequence
from math import isnan, nan
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

CLUSTERS = ("question", "score_id", "piece", "cluster")
"""Metadata that name the cluster of a sample; the first that a sample has is used."""

TAGS = "; "
"""What stands between the tags of a sample in its metadata ``tags``; a tag is ``KIND: NAME``."""
_LETTERS = (CORRECT, INCORRECT, PARTIAL, NOANSWER)


Metadata = Mapping[str, Any]


class Item(NamedTuple):
    """A response to one question."""

    id: str
    value: float | None  # from 0 to 1; None where it could not be scored
    counts: bool  # whether it belongs to the main metric
    cluster: str
    stratum: str
    details: Metadata  # metadata of the score, or of the question in it


def items_of(score: Score, sample_id: str | int | None, metadata: Metadata) -> list[Item]:
    """Return the items of a score.

    Args:
        score: the score of a sample.
        sample_id: the sample's id.
        metadata: the sample's metadata.
    """
    details = score.metadata or {}
    named = [metadata[name] for name in CLUSTERS if name in metadata]
    cluster = str(named[0] if named else sample_id)
    if "questions" in details:
        cluster = str(details.get("score_id", cluster))
        return [_question_item(row, cluster) for row in details["questions"]]
    value = nan
    if isinstance(score.value, int | float) or score.value in _LETTERS:
        value = value_to_float()(score.value)
    counts = details.get("counts", True) is not False
    stratum = str(details.get("stratum", ""))
    known = None if isnan(value) else value
    return [Item(str(sample_id), known, counts, cluster, stratum, details)]


def _question_item(row: Metadata, cluster: str) -> Item:
    own, verdict = row.get("cluster", cluster), row["verdict"]
    # Earlier versions logged each question of a chat as a cluster of its own.
    if own != row["id"]:
        cluster = str(own)
    return Item(str(row["id"]), verdict, verdict is not None, cluster, "", row)


def headline(items: Sequence[Item]) -> Estimate | None:
    """Return the main metric of items: the estimate over those that count and have a value; None
    without any.
    """
    counted = [item for item in items if item.counts and item.value is not None]
    values = [float(item.value or 0) for item in counted]
    columns = zip(*((item.id, item.cluster, item.stratum) for item in counted), strict=True)
    return estimate(values, *columns) if counted else None


def all_items(scores: Sequence[SampleScore]) -> list[Item]:
    """Return the items of the scores that Inspect hands to a metric."""
    items: list[Item] = []
    for score in scores:
        items += items_of(score.score, score.sample_id, score.sample_metadata or {})
    return items
