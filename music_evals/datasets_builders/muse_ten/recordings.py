"""Rows of The MUSE Benchmark from a copy of the authors' recordings.

The copy (``--source``) has the layout of the authors' repository. ``names/muse_ten_recordings.csv``
lists the trials, worked examples (of group A) and answers of the authors' runners. If a recording
sounds different (`listening`), the provenance has an anomaly. Instruments, metres, modulations and
progressions are not checked against the sound.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from music_evals import datasets_builders
from music_evals.datasets_builders.muse import listening
from music_evals.datasets_builders.muse.dataset import Plan
from music_evals.datasets_builders.muse.recordings import Recorded, plan_recordings, recorded_pair
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
    missing = {path for paths in plan.provenance.missing.values() for path in paths}
    present = [row for row in recorded if not {*row.paths} & missing]
    anomalies = dict(plan.provenance.anomalies)
    for (name, paths), count in Counter((row.config, row.paths) for row in present).items():
        splits = {row.split for row in present if (row.config, row.paths) == (name, paths)}
        if count > 1:
            anomalies[
                f"{name}: {' + '.join(paths)} comes {count} times, in "
                f"{' and '.join(sorted(splits))}"
            ] = 1
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
        number = f"{'' if split == 'test' else 'example-'}{numbers[name, split]:03d}"
        paths = tuple(path for path in (row["first"], row["second"]) if path)
        make = partial(_row, name, number, row["role"], row["answer"], paths)
        yield Recorded(name, split, paths, make, _check(name, row["answer"], paths))


def _row(
    name: str, number: str, role: str, answer: str, paths: Sequence[str], wavs: Sequence[bytes]
) -> Mapping[str, Any]:
    form = FORMS[name]
    row: dict[str, Any] = {
        "id": f"{name.partition('_')[0]}-{number}",
        "variant": role,
        "source": " + ".join(paths),
    }
    for suffix, wav in zip(form.clips, wavs, strict=True):
        row |= {
            f"audio{suffix}": {"bytes": wav, "path": None},
            f"midi{suffix}": None,
            f"midi_text{suffix}": None,
        }
    target = form.targets["ABCD".index(answer)]
    return {
        **row,
        "why": "this is the authors' answer.",
        "target": target,
        "options": list(form.options),
    }


def _check(name: str, answer: str, paths: Sequence[str]) -> Callable[[Sequence[bytes]], str | None]:
    """Return the check of a row's sound."""
    first, *second = (PurePosixPath(path).stem for path in paths)
    match name:
        case "oddball" | "rhythm_matching":
            return partial(listening.check_equal, answer == "A")
        case "contour":
            return partial(listening.check_contour, listening.CONTOURS["ABCD".index(answer)])
        case "transposition_pairs":
            return recorded_pair("test", (first, second[0])).check
        case "major_or_minor":
            quality = "major" if answer == "A" else "minor"
            return partial(listening.check_chord, first.partition(quality)[0], quality)
        case "syncopation_pairs":
            return partial(listening.check_loops, answer == "A")
    return lambda _: None
