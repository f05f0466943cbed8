"""Rows of The MUSE Benchmark from a copy of the authors' recordings.

The copy (``--source``) has the layout of the authors' repository. ``names/muse_ten_recordings.csv``
lists the trials, worked examples (of group A) and answers of the authors' runners, which are not
compared with the sound.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from music_evals import datasets_builders
from music_evals.datasets_builders import group_by
from music_evals.datasets_builders.muse.recordings import Recorded, plan_recordings
from music_evals.datasets_builders.muse.rows import Plan, cells
from music_evals.datasets_builders.muse.surface import share_guessed
from music_evals.datasets_builders.muse_ten.stimuli import FORMS, NAME, VERSION


def build_recordings(
    source: Path, *, allow_partial: bool = False, revision: str | None = None
) -> Plan:
    """Plan the rows; see `plan_recordings`.

    The provenance also lists trials that come twice, and worked examples that are trials. It has
    the floors ``commonest``, the share of the commonest answer, and ``bytes``, of answers that
    equality of the files gives away.
    """
    recorded = list(recorded_rows())
    plan = plan_recordings(
        source, recorded, NAME, VERSION, allow_partial=allow_partial, revision=revision
    )
    missing = set[str]().union(*plan.provenance.missing.values())
    present = [row for row in recorded if missing.isdisjoint(row.paths)]
    anomalies = dict(plan.provenance.anomalies)
    for (name, paths), same in group_by(present, lambda row: (row.config, row.paths)).items():
        if len(same) > 1:
            where = " and ".join(sorted({row.split for row in same}))
            anomalies[f"{name}: {' + '.join(paths)} comes {len(same)} times, in {where}"] = 1
    floors = {}
    for name, makers in plan.makers.items():
        rows = [make() for make in makers["test"]]
        answers = Counter(row["target"] for row in rows)
        measured = {"commonest": max(answers.values(), default=0) / max(len(rows), 1)}
        if len(rows) > 1 and len(FORMS[name].clips) == 2:
            equal = [
                (row["id"], row["target"], int(row["audio_1"] == row["audio_2"])) for row in rows
            ]
            measured["bytes"] = share_guessed(equal)
        floors[name] = {"test": {"all": measured}}
    return replace(plan, provenance=replace(plan.provenance, anomalies=anomalies, floors=floors))


def recorded_rows() -> Iterator[Recorded]:
    """All rows of the full set, in the order of the dataset."""
    table = files(datasets_builders).joinpath("names/muse_ten_recordings.csv").read_text("utf-8")
    numbers: Counter[tuple[str, str]] = Counter()
    for row in csv.DictReader(table.splitlines()):
        name, split = row["task"], "fewshot" if row["role"] == "example" else "test"
        numbers[name, split] += 1
        paths = tuple(path for path in (row["first"], row["second"]) if path)
        form = FORMS[name]
        target = form.targets["ABCD".index(row["answer"])]
        question = form.row(name, split, numbers[name, split], target)
        question |= {"variant": row["role"], "why": "this is the authors' answer."}
        make = partial(_row, {**question, "source": " + ".join(paths)}, form.clips)
        yield Recorded(name, split, paths, make)


def _row(
    question: Mapping[str, Any], suffixes: Sequence[str], wavs: Sequence[bytes]
) -> Mapping[str, Any]:
    row = dict(question)
    for suffix, wav in zip(suffixes, wavs, strict=True):
        row |= cells(suffix, wav)
    return row
