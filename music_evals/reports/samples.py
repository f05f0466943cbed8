"""What comparisons need of a log's samples: scores, tokens and times, in arrays.

A log of ten thousand samples is read one summary after the other; a summary, with its prompt, is forgotten as soon as
its numbers are taken, and whole samples are not read at all.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from io import TextIOWrapper
from sys import intern
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, value_to_float

GROUPS: Final = ("question", "score_id", "piece")
"""Metadata that say what samples have in common, so that they are not independent of one another."""

_SUMMARIES: Final = "summaries.json"
_CHARACTERS: Final = 1 << 18
_LETTERS: Final = (CORRECT, INCORRECT, PARTIAL, NOANSWER)

Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The samples of a log; arrays have a place for each, in the order of `keys`, or for each response."""

    keys: Keys  # what tells samples apart in any log, of id and right answer; sorted
    ids: tuple[str, ...]
    epochs: npt.NDArray[np.int64]  # the first epoch that each was asked in
    scores: Floats  # mean score over the epochs, NaN where none was scored
    clusters: Keys  # what each belongs to (see `GROUPS`), else itself
    tokens: Floats  # output tokens of the model of each response, NaN where the log has none
    seconds: Floats  # working time of each response, likewise


def read_samples(log: EvalLog, scorer: str, advance: Callable[[int], None] = lambda _: None) -> Samples:
    """Read the samples of a log, with the values of one scorer; `advance` is called with the number of those just read.

    Raises:
        ValueError: the log holds no samples, or its list of them is cut off.
        OSError: the file cannot be read.
    """
    places: dict[tuple[str, int], int] = {}
    ids: list[str] = []
    rows: list[tuple[int, int, int, float, float, float]] = []
    for summary in _summaries(log.location.removeprefix("file://")):
        name = intern(str(summary.id))
        cluster = next((str(summary.metadata[group]) for group in GROUPS if group in summary.metadata), name)
        usage = summary.model_usage.get(log.eval.model)
        row = (
            _key(name, summary.target),
            _key(cluster),
            summary.epoch,
            _score(summary, scorer),
            float("nan") if usage is None else float(usage.output_tokens),
            float("nan") if summary.working_time is None else summary.working_time,
        )
        # A sample that was asked again after an error may stand there twice; the later one counts.
        place = places.setdefault((name, summary.epoch), len(rows))
        if place < len(rows):
            rows[place] = row
        else:
            rows.append(row)
            ids.append(name)
        advance(1)
    if not rows:
        raise ValueError("it holds no samples")
    return _arranged(rows, ids)


def _arranged(rows: list[tuple[int, int, int, float, float, float]], ids: list[str]) -> Samples:
    columns = list(zip(*rows, strict=True))
    scores = np.array(columns[3], dtype=float)
    keys, first, place = np.unique(np.array(columns[0], dtype=np.uint64), return_index=True, return_inverse=True)
    scored = ~np.isnan(scores)
    sums = np.bincount(place[scored], scores[scored], len(keys))
    counts = np.bincount(place[scored], minlength=len(keys))
    return Samples(
        keys=keys,
        ids=tuple(ids[index] for index in first),
        epochs=np.array(columns[2], dtype=np.int64)[first],
        scores=np.divide(sums, counts, out=np.full(len(keys), np.nan), where=counts > 0),
        clusters=np.array(columns[1], dtype=np.uint64)[first],
        tokens=np.array(columns[4], dtype=float),
        seconds=np.array(columns[5], dtype=float),
    )


def _summaries(path: str) -> Iterator[EvalSampleSummary]:
    # Other formats and places have no part that could be read piece by piece.
    if path.endswith(".eval") and "://" not in path:
        # Importing Inspect has taught zipfile the compression of its logs.
        with zipfile.ZipFile(path) as archive:
            if _SUMMARIES in archive.namelist():
                with archive.open(_SUMMARIES) as file:
                    for item in _items(TextIOWrapper(file, encoding="utf-8")):
                        yield EvalSampleSummary.model_validate(item)
                return
    yield from read_eval_log_sample_summaries(path)


def _items(text: TextIO) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSON list, one at a time.

    >>> from io import StringIO
    >>> list(_items(StringIO('[ {"value": NaN}, {"value": [1]} ]')))
    [{'value': nan}, {'value': [1]}]
    """
    decode = json.JSONDecoder().raw_decode
    buffer = ""
    while chunk := text.read(_CHARACTERS):
        buffer, at = buffer + chunk, 0
        while True:
            while at < len(buffer) and buffer[at] in "[, \t\r\n":
                at += 1
            try:
                item, at = decode(buffer, at)
            except json.JSONDecodeError:
                break  # the rest of it, or the end of the list, is still to come
            yield item
        buffer = buffer[at:]
    if buffer.strip() != "]":
        raise ValueError("its list of samples is cut off")


def _score(summary: EvalSampleSummary, scorer: str) -> float:
    score = (summary.scores or {}).get(scorer)
    value = None if score is None else score.value
    if isinstance(value, int | float) or value in _LETTERS:
        return value_to_float()(value)
    return float("nan")  # lists, dictionaries and other text are no score, and no 0 either


def _key(name: str, target: str | list[str] = "") -> int:
    return int.from_bytes(blake2b(f"{name}\0{target}".encode(), digest_size=8).digest(), "big")
