"""Floors: what is earned on a dataset's questions without the music, computed when it is built.

They stand in its provenance, form by form, so that a run on some of the questions has the floors of just these:

- *chance*: guessing among the options, or among the answers that questions of the form have;
- *majority*: the commonest place of the right option in other questions of the form, or their commonest answer;
- *blind*: the guesser of `attack` that is the best on other questions; it sees the question and its options;
- *letters*, where options go on with music: what a trigram model of the opening's letters finds likeliest.

Others are four fifths of the groups (pieces, works) for the questions of the fifth. Majority and blind count as chance
where they do not beat it by two standard errors on the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io.provenance import Floors, data_file
from music_evals.datasets_builders.questions.attack import READERS, answers_of, chance_of, earnings, fold
from music_evals.datasets_builders.questions.items import COLUMNS, Item, item_of

_EXAMPLES: Final = ("dev", "fewshot")  # splits that nobody is asked
_MAJORITY: Final = ("commonest place", "commonest answer")
_ERRORS: Final = 2  # standard errors by which a guesser must beat chance
_DECIMALS: Final = 4

Array = NDArray[np.float64]


def compute_floors(dataset: str, folder: Path, counts: Mapping[str, Mapping[str, int]]) -> Floors:
    """Compute the floors of a dataset's folder, given its counts of rows by config and split.

    The splits of a config are one pool but for those of another protocol, which hold the same questions.
    """
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for config, splits in counts.items():
        asked = {split: items_of(dataset, config, _rows(folder, config, split)) for split in splits}
        for pool in pools(asked):
            for split, floors in zip(pool, _floors([asked[split] for split in pool]), strict=True):
                if floors:
                    found.setdefault(config, {})[split] = floors
    return found


def items_of(dataset: str, config: str, rows: Iterable[Mapping[str, Any]], form: str = "") -> list[Item]:
    """Return the questions of rows, without those whose answer no guesser can give; their forms begin with `form`."""
    benchmark = dataset.partition("-")[0]
    tasks = benchmarks.load(benchmark).tasks if benchmark in benchmarks.names() else {}
    continues = config in tasks and tasks[config].continues
    found = (item_of(row, form, continues=continues) for row in rows if {"answer", "target"} & {*row})
    return [item for item in found if item]


def pools(splits: Iterable[str]) -> list[list[str]]:
    """Put together the splits that hold different questions of the same kind; without those of worked examples.

    >>> pools(["dev", "test"]), pools(["train", "validation", "test"]), pools(["strict", "paper"])
    ([['test']], [['train', 'validation', 'test']], [['strict'], ['paper']])
    """
    asked = [split for split in splits if split not in _EXAMPLES]
    together = [split for split in asked if split in ("train", "validation", "test")]
    return [*([together] if together else []), *([split] for split in asked if split not in together)]


def _rows(folder: Path, config: str, split: str) -> list[dict[str, Any]]:
    path = folder / data_file(config, split)
    present = pq.read_schema(path).names
    rows: list[dict[str, Any]] = pq.read_table(path, columns=[name for name in COLUMNS if name in present]).to_pylist()
    return rows


def _floors(splits: Sequence[Sequence[Item]]) -> list[dict[str, dict[str, float]]]:
    """The floors of each split's forms, from a pool of splits."""
    items = [item for split in splits for item in split]
    answers = answers_of(items)
    earned = earnings(items)
    chance = np.array([chance_of(item, answers) for item in items])
    columns = {
        "chance": chance,
        "majority": _best(items, {name: earned[name] for name in _MAJORITY if name in earned}, chance),
        "blind": _best(items, {name: right for name, right in earned.items() if name not in READERS}, chance),
        **{name: earned[name] for name in READERS if name in earned},
    }
    ends = [*accumulate(map(len, splits), initial=0)]
    return [_by_form(items, columns, range(*between)) for between in pairwise(ends)]


def _by_form(items: Sequence[Item], columns: Mapping[str, Array], places: Iterable[int]) -> dict[str, dict[str, float]]:
    forms: dict[str, list[int]] = {}
    for at in places:
        forms.setdefault(items[at].form, []).append(at)
    return {
        form: {
            "questions": len({items[at].unit for at in mine}),
            **{name: round(float(column[mine].mean()), _DECIMALS) for name, column in columns.items()},
        }
        for form, mine in forms.items()
    }


def _best(items: Sequence[Item], earned: Mapping[str, Array], chance: Array) -> Array:
    """What the guesser earns on each question that is the best on the other folds', if it is any good there."""
    found = chance.copy()
    folds = np.array([fold(item) for item in items])
    is_open = np.array([not item.options for item in items])
    for kind, number in product((True, False), set(folds)):
        mine, others = (is_open == kind) & (folds == number), (is_open == kind) & (folds != number)
        groups = len({item.group for item, other in zip(items, others, strict=True) if other})
        gains = {
            name: right - chance for name, right in earned.items() if groups > 1 and not np.isnan(right[mine]).any()
        }
        best = max(gains, key=lambda name: gains[name][others].mean(), default="")
        if best and gains[best][others].mean() > _ERRORS * gains[best][others].std() / groups**0.5:
            found[mine] = earned[best][mine]
    return found
