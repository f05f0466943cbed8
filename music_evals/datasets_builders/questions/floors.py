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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

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
    credit,
    earnings,
    fold,
)
from music_evals.datasets_builders.questions.items import COLUMNS, Item, item_of
from music_evals.notation.grouping import group_by

_EXAMPLES = ("dev", "fewshot")
_ONE_SET = ("train", "validation", "test")
_ERRORS = 2  # standard errors by which a guesser must beat chance

Array = NDArray[np.float64]
Forms = dict[str, dict[str, float]]
"""Form → ``questions``, their number, and the floors."""


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
    computed: dict[str, dict[str, Forms]] = {}
    for config, splits in counts.items():
        for pool in pools(splits):
            items: list[Item] = []
            places: dict[str, range] = {}
            for split in pool:
                start = len(items)
                items += items_of(dataset, config, _read(folder / data_file(config, split)))
                places[split] = range(start, len(items))
            if not items:  # kinds of answers without options have their floors in their tasks
                continue
            floors = _floors(items)
            if option_floors and all(item.options for item in items):
                floors |= _option_floors(items, floors["chance"])
            for split, own in places.items():
                if not own:
                    continue
                forms = computed.setdefault(config, {})[split] = _by_form(items, floors, own)
                for form, shares in (further or {}).get(config, {}).get(split, {}).items():
                    forms[form] |= shares
    return computed


def _read(path: Path) -> list[dict[str, Any]]:
    columns = [name for name in COLUMNS if name in pq.read_schema(path).names]
    rows: list[dict[str, Any]] = pq.read_table(path, columns=columns).to_pylist()
    return rows


def items_of(
    dataset: str, config: str, rows: Iterable[Mapping[str, Any]], form: str = ""
) -> list[Item]:
    """Return the questions of rows, except those whose answer no guesser can give; forms begin with
    `form`.
    """
    benchmark = dataset.partition("-")[0]
    tasks = benchmarks.load(benchmark).tasks if benchmark in benchmarks.names() else {}
    continues = config in tasks and tasks[config].continues
    answered = [row for row in rows if "answer" in row or "target" in row]
    items = (item_of(row, form, continues=continues) for row in answered)
    return [item for item in items if item]


def pools(splits: Iterable[str]) -> list[list[str]]:
    """Group the splits whose questions together make one set; splits of worked examples are left
    out.

    Splits with other names, such as protocols, share their questions, so each is a group of its
    own.

    >>> pools(["dev", "test"]), pools(["train", "validation", "test"]), pools(["strict", "paper"])
    ([['test']], [['train', 'validation', 'test']], [['strict'], ['paper']])
    """
    together, alone = [], []
    for split in splits:
        if split in _ONE_SET:
            together.append(split)
        elif split not in _EXAMPLES:
            alone.append([split])
    return [together, *alone] if together else alone


def _floors(items: Sequence[Item]) -> dict[str, Array]:
    """Return the floors by name, with a value per question."""
    answers = answers_of(items)
    chance = np.array([chance_of(item, answers) for item in items])
    blind = earnings(items)
    readers = {name: blind.pop(name) for name in READERS if name in blind}
    floors = {
        "chance": chance,
        "majority": _majority(items, chance),
        "blind": _best(items, blind, chance),
    }
    return floors | {name: right for name, right in readers.items() if not np.isnan(right).any()}


def _option_floors(items: Sequence[Item], chance: Array) -> dict[str, Array]:
    earned = earnings(items, guessers=OPTIONS_ALONE)
    floors = {rule: earned[rule] for rule in ("shortest", "longest") if rule in earned}
    return floors | {"options alone": _best(items, earned, chance)}


def _majority(items: Sequence[Item], chance: Array) -> Array:
    """Return what the best constant earns: chance, a place, or an answer."""
    places = [range(len(item.options)) for item in items]
    texts = [dict.fromkeys(item.options) for item in items]
    rights = [item.options.index(item.answer) if item.options else item.answer for item in items]
    constants = [
        chance,
        _constant(items, chance, places, rights),
        _constant(items, chance, texts, [item.answer for item in items]),
    ]
    return max(constants, key=lambda right: float(right.sum()))


def _constant(
    items: Sequence[Item],
    chance: Array,
    choices: Sequence[Iterable[Hashable]],
    rights: Sequence[Hashable],
) -> Array:
    """What the choice earns that is right most often on other groups; ties share, and nothing
    learned is chance.
    """
    shapes = [(item.form, len(item.options)) for item in items]
    counts: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for item, shape, right in zip(items, shapes, rights, strict=True):
        counts[shape][right] += 1
        counts[shape, item.group][right] += 1
    values = chance.copy()
    for at, (item, shape) in enumerate(zip(items, shapes, strict=True)):
        rights_of_form, own_group = counts[shape], counts[shape, item.group]
        options = [*(choices[at] if item.options else rights_of_form)]
        elsewhere = [rights_of_form[choice] - own_group[choice] for choice in options]
        if max(elsewhere) > 0:
            values[at] = credit(elsewhere, [choice == rights[at] for choice in options])
    return values


def _best(items: Sequence[Item], earned: Mapping[str, Array], chance: Array) -> Array:
    """For each fold, take the guesser that is the best on the other folds, or chance if no guesser
    is good enough.
    """
    values = chance.copy()
    folds = np.array([fold(item) for item in items])
    is_open = np.array([not item.options for item in items])
    groups = np.array([item.group for item in items])
    for kind, number in product((True, False), set(folds)):
        of_kind, in_fold = is_open == kind, folds == number
        tried, other_folds = of_kind & in_fold, of_kind & ~in_fold
        n_groups = len({*groups[other_folds]})
        if n_groups < 2:
            continue
        gains = {
            name: (right - chance)[other_folds]
            for name, right in earned.items()
            if not np.isnan(right[tried]).any()
        }
        best = max(gains, key=lambda name: gains[name].mean(), default="")
        if best and gains[best].mean() > _ERRORS * gains[best].std() / n_groups**0.5:
            values[tried] = earned[best][tried]
    return values


def _by_form(items: Sequence[Item], floors: Mapping[str, Array], places: range) -> Forms:
    """Average floors over the questions of each form, and count these questions."""
    forms: Forms = {}
    for form, own in group_by(places, lambda at: items[at].form).items():
        shares = {name: round(float(values[own].mean()), 4) for name, values in floors.items()}
        forms[form] = {"questions": len({items[at].unit for at in own}), **shares}
    return forms
