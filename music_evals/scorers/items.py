"""The items of a sample's score: which values count for the main metric, and which items share a
cluster.

A scorer records in a score's metadata: ``counts`` (False for a value outside the main metric),
``stratum`` (if the main metric is a mean over strata) and, for a sample with several questions,
``questions`` with a ``verdict`` each. The metrics in logs and all figures of reports are computed
from items.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Final, NamedTuple

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

CLUSTERS: Final = ("question", "score_id", "piece", "cluster")
"""Metadata that name the cluster of a sample; the first that a sample has is used."""

TAGS: Final = "; "
"""What stands between the tags of a sample in its metadata ``tags``; a tag is ``KIND: NAME``."""
_LETTERS: Final = (CORRECT, INCORRECT, PARTIAL, NOANSWER)


class Item(NamedTuple):
    """A response to one question."""

    id: str
    value: float | None  # from 0 to 1; None where it could not be scored
    counts: bool  # whether it belongs to the main metric
    cluster: str
    stratum: str
    details: Mapping[str, Any]  # metadata of the score, or of the question in it


def items_of(score: Score, sample_id: str | int | None, metadata: Mapping[str, Any]) -> list[Item]:
    """Return the items of a score.

    Args:
        score: the score of a sample.
        sample_id: the sample's id.
        metadata: the sample's metadata.
    """
    details = score.metadata or {}
    cluster = next((str(metadata[name]) for name in CLUSTERS if name in metadata), str(sample_id))
    if "questions" in details:
        cluster = str(details.get("score_id", cluster))
        return [
            Item(
                str(row["id"]),
                row["verdict"],
                row["verdict"] is not None,
                _cluster(row, cluster),
                "",
                row,
            )
            for row in details["questions"]
        ]
    value = None
    if isinstance(score.value, int | float) or score.value in _LETTERS:
        number = value_to_float()(score.value)
        value = None if isnan(number) else number
    counts = details.get("counts", True) is not False
    return [Item(str(sample_id), value, counts, cluster, str(details.get("stratum", "")), details)]


def _cluster(row: Mapping[str, Any], cluster: str) -> str:
    """The cluster of a question in a score; earlier versions logged each question of a chat as a
    cluster of its own.
    """
    own = row.get("cluster", cluster)
    return cluster if own == row["id"] else str(own)


def headline(items: Sequence[Item]) -> Estimate | None:
    """Return the main metric of items: the estimate over those that count and have a value; None
    without any.
    """
    counted = [item for item in items if item.counts and item.value is not None]
    return estimate(
        [item.value for item in counted if item.value is not None],
        [item.id for item in counted],
        [item.cluster for item in counted],
        [item.stratum for item in counted],
    )


def all_items(scores: Sequence[SampleScore]) -> list[Item]:
    """Return the items of the scores that Inspect hands to a metric."""
    return [
        item
        for one in scores
        for item in items_of(one.score, one.sample_id, one.sample_metadata or {})
    ]
