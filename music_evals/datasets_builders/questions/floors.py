"""Floors: the score that a guesser without the music gets, computed when a dataset is built.

The provenance of a dataset has floors by form of question, so that a run on a part of the questions
has its own floors:

- *chance*: guessing among the options, or among the answers to the questions of the form;
- *majority*: the best constant. It is the place, the option or the answer that is right most often
  in the questions of the form on all other groups, at any number of questions. It counts as chance
  where it earns less;
- *blind*: the best guesser of `attack` on other questions; it sees the question and its options;
- *letters*, where options continue a piece: the option that a trigram model of the opening's
  letters finds likeliest;
- *bar lines*, where a number is asked of a score: how many of the sign ``|`` the score has.

For *blind* the other questions are those of four fifths of the groups (pieces, works); the last
fifth is tested. It counts as chance unless it beats chance on the other questions by two standard
errors.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io.provenance import Floors, data_file
from music_evals.datasets_builders.questions.attack import (
    OPTIONS_ALONE,
    READERS,
    answers_of,
    chance_of,
    earnings,
    fold,
)
from music_evals.datasets_builders.questions.items import COLUMNS, Item, item_of

_EXAMPLES: Final = ("dev", "fewshot")
_ERRORS: Final = 2  # standard errors by which a guesser must beat chance

Array = NDArray[np.float64]


def compute_floors(
    dataset: str,
    folder: Path,
    counts: Mapping[str, Mapping[str, int]],
    further: Floors | None = None,
    *,
    option_floors: bool = False,
) -> Floors:
    """Compute the floors of a dataset's folder, given its counts of rows by config and split;
    `further` are added.

    With `option_floors`, for questions with options, these are added: *shortest* and *longest*
    option, and *options alone*, the best guesser of those that see nothing but the options.
    """
    computed: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for config, splits in counts.items():
        for pool in pools(splits):
            items: list[Item] = []
            places: dict[str, range] = {}
            for split in pool:
                path = folder / data_file(config, split)
                columns = [name for name in COLUMNS if name in pq.read_schema(path).names]
                start = len(items)
                items += items_of(dataset, config, pq.read_table(path, columns=columns).to_pylist())
                places[split] = range(start, len(items))
            floors = _floors(items)
            if option_floors and all(item.options for item in items):
                earned = earnings(items, guessers=OPTIONS_ALONE)
                floors |= {rule: earned[rule] for rule in ("shortest", "longest") if rule in earned}
                floors["options alone"] = _best(items, earned, floors["chance"])
            for split in [split for split in pool if places[split]]:
                forms = _by_form(items, floors, places[split])
                for form, known in (further or {}).get(config, {}).get(split, {}).items():
                    forms[form] |= known
                computed.setdefault(config, {})[split] = forms
    return computed


def items_of(
    dataset: str, config: str, rows: Iterable[Mapping[str, Any]], form: str = ""
) -> list[Item]:
    """Return the questions of rows, except those whose answer no guesser can give; forms begin with
    `form`.
    """
    benchmark = dataset.partition("-")[0]
    tasks = benchmarks.load(benchmark).tasks if benchmark in benchmarks.names() else {}
    continues = config in tasks and tasks[config].continues
    items = (
        item_of(row, form, continues=continues) for row in rows if {"answer", "target"} & {*row}
    )
    return [item for item in items if item]


def pools(splits: Iterable[str]) -> list[list[str]]:
    """Group the splits whose questions together make one set; splits of worked examples are left
    out.

    Splits with other names, such as protocols, share their questions, so each is a group of its
    own.

    >>> pools(["dev", "test"]), pools(["train", "validation", "test"]), pools(["strict", "paper"])
    ([['test']], [['train', 'validation', 'test']], [['strict'], ['paper']])
    """
    asked = [split for split in splits if split not in _EXAMPLES]
    together = [split for split in asked if split in ("train", "validation", "test")]
    return [
        *([together] if together else []),
        *([split] for split in asked if split not in together),
    ]


def _floors(items: Sequence[Item]) -> dict[str, Array]:
    """Return the floors by name, with a value per question."""
    answers = answers_of(items)
    earned = earnings(items)
    chance = np.array([chance_of(item, answers) for item in items])
    blind = {name: right for name, right in earned.items() if name not in READERS}
    readers = {
        name: right
        for name, right in earned.items()
        if name in READERS and not np.isnan(right).any()
    }
    constants = [chance, *(_constant(items, chance, choices) for choices in (_place_of, _text_of))]
    majority = max(constants, key=lambda right: float(right.sum()))
    return {"chance": chance, "majority": majority, "blind": _best(items, blind, chance), **readers}


def _place_of(item: Item) -> list[Hashable]:
    return [*range(len(item.options))]


def _text_of(item: Item) -> list[Hashable]:
    return [*item.options]


def _constant(
    items: Sequence[Item], chance: Array, choices: Callable[[Item], list[Hashable]]
) -> Array:
    """What the choice earns that is right most often on other groups; ties share, and nothing
    learned is chance.
    """
    counts: defaultdict[tuple[str, int], Counter[Hashable]] = defaultdict(Counter)
    by_group: defaultdict[tuple[str, int, str], Counter[Hashable]] = defaultdict(Counter)
    rights: list[Hashable] = []
    for item in items:
        own = choices(item)
        rights.append(own[item.options.index(item.answer)] if own else item.answer)
        counts[item.form, len(own)][rights[-1]] += 1
        by_group[item.form, len(own), item.group][rights[-1]] += 1
    values = chance.copy()
    for at, item in enumerate(items):
        known = counts[item.form, len(item.options)]
        own_group = by_group[item.form, len(item.options), item.group]
        others = {choice: known[choice] - own_group[choice] for choice in choices(item) or known}
        most = max(others.values())
        if most > 0:
            picks = [choice for choice, count in others.items() if count == most]
            values[at] = (rights[at] in picks) / len(picks)
    return values


def _best(items: Sequence[Item], earned: Mapping[str, Array], chance: Array) -> Array:
    """For each fold, take the guesser that is the best on the other folds, or chance if no guesser
    is good enough.
    """
    values = chance.copy()
    folds = np.array([fold(item) for item in items])
    is_open = np.array([not item.options for item in items])
    for kind, number in product((True, False), set(folds)):
        tried, others = (is_open == kind) & (folds == number), (is_open == kind) & (folds != number)
        groups = len({item.group for item, other in zip(items, others, strict=True) if other})
        if groups < 2:
            continue
        gains = {
            name: (right - chance)[others]
            for name, right in earned.items()
            if not np.isnan(right[tried]).any()
        }
        best = max(gains, key=lambda name: gains[name].mean(), default="")
        if best and gains[best].mean() > _ERRORS * gains[best].std() / groups**0.5:
            values[tried] = earned[best][tried]
    return values


def _by_form(
    items: Sequence[Item], floors: Mapping[str, Array], places: range
) -> dict[str, dict[str, float]]:
    """Average floors over the questions of each form, and count these questions."""
    forms: dict[str, list[int]] = {}
    for at in places:
        forms.setdefault(items[at].form, []).append(at)
    return {
        form: {
            "questions": len({items[at].unit for at in own}),
            **{name: round(float(values[own].mean()), 4) for name, values in floors.items()},
        }
        for form, own in forms.items()
    }
