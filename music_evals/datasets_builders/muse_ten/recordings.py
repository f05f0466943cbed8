"""Rows of The MUSE Benchmark from a copy of the authors' recordings.

The copy (``--source``) has the layout of the authors' repository. ``names/muse_ten_recordings.csv``
lists the trials, worked examples (of group A) and answers of the authors' runners, which are not
compared with the sound.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from music_evals import datasets_builders
from music_evals.datasets_builders import group_by
from music_evals.datasets_builders.muse.recordings import Recorded, plan_recordings
from music_evals.datasets_builders.muse.rows import Clip, Plan, Row, cells
from music_evals.datasets_builders.muse_ten.stimuli import FORMS, NAME, VERSION
from music_evals.datasets_builders.questions.audit import credit

_NEAREST = 9  # stimuli that vote; stimuli at the same distance as the last of them vote too


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
            measured["bytes"] = share_guessed(
                [(row["id"], row["target"], int(row["audio_1"] == row["audio_2"])) for row in rows]
            )
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
        question["source"] = " + ".join(paths)
        yield Recorded(name, split, paths, partial(_row, question))


def _row(question: Row, wavs: Sequence[bytes]) -> Row:
    return {**question, **cells([Clip(wav) for wav in wavs])}


def share_guessed(stimuli: Sequence[tuple[str, str, int]]) -> float:
    """Return the share of stimuli (group, answer, size) whose answer others of about the same size
    give away, 0 to 1.

    There are at least two groups. A share within three standard errors of chance counts as chance.
    """
    chance = 1 / len({answer for _, answer, _ in stimuli})
    right = 0.0
    for group, answer, size in stimuli:
        neighbours = sorted(
            (abs(other - size), label) for name, label, other in stimuli if name != group
        )
        farthest = neighbours[:_NEAREST][-1][0]
        votes = Counter(label for distance, label in neighbours if distance <= farthest)
        right += credit([*votes.values()], [label == answer for label in votes])
    share = right / len(stimuli)
    error = (chance * (1 - chance) / len(stimuli)) ** 0.5
    return round(share if share > chance + 3 * error else chance, 4)
