"""The audit of a dataset: what guessers earn without the music, and the floors that follow from it.

A guesser never learns from the questions that it is tried on. It learns from questions of another
seed, or from four fifths of a dataset's groups (pieces, works) for the last fifth.

The provenance of a dataset has floors by form of question, so that a run on a part of the questions
has its own floors:

- *chance*: guessing among the options, or among the answers to the questions of the form;
- *majority*: the best constant. It is the place, the option or the answer that is right most often
  in the questions of the form on all other groups, at any number of questions. It counts as chance
  where it earns less;
- *blind*: the best guesser that sees the question and its options. It is chosen on the other folds,
  and counts as chance unless it beats chance there by two standard errors;
- *letters* and *bar lines*: guessers that read music, where they answer all questions.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.stats import binomtest

from music_evals import benchmarks
from music_evals.datasets_builders import AnyRow
from music_evals.datasets_builders.dataset_io.provenance import DatasetError, Floors, data_file
from music_evals.datasets_builders.questions.guessers import (
    GUESSERS,
    Guesser,
    Sees,
    looks,
    note_views,
)
from music_evals.datasets_builders.questions.items import (
    COLUMNS,
    Item,
    Views,
    item_of,
    vocabularies,
)
from music_evals.notation.grouping import group_by

SURE = 0.999
"""Confidence of the interval of a guesser that counts as above a floor."""
_MIDI_TEXT = "midi_text"  # what the names of columns with the notes of a stimulus begin with

_FOLDS = 5
_EXAMPLES = ("dev", "fewshot")
_ONE_SET = ("train", "validation", "test")
_ERRORS = 2  # standard errors by which a guesser must beat chance

Array = NDArray[np.float64]
Forms = dict[str, dict[str, float]]
"""Form → ``questions``, their number, and the floors."""


class Share(NamedTuple):
    """The share of questions that a guesser answers."""

    guesser: str
    value: float  # from 0 to 1
    n: int  # number of questions, where two languages of one question count once

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the share."""
        bounds = binomtest(round(self.value * self.n), self.n).proportion_ci(
            confidence, method="wilson"
        )
        return float(bounds.low), float(bounds.high)

    def is_above(self, floor: float) -> bool:
        """Whether the share is above a floor, by its interval at the confidence `SURE`."""
        return self.interval(SURE)[0] > floor


def earnings(
    items: Sequence[Item],
    learned: Sequence[Item] = (),
    sees: Collection[Sees] = ("options", "question", "music", "view"),
) -> dict[str, Array]:
    """Return what each guesser earns per question, from 0 to 1, and NaN for questions that it does
    not answer.

    Args:
        items: the questions to guess.
        learned: questions to learn from; without any, four fifths of the groups for the last fifth.
        sees: which guessers are tried, by the most that they see.
    """
    material = group_by(learned or items, _shape)
    groups = group_by(
        range(len(items)), lambda at: (_shape(items[at]), 0 if learned else _fold(items[at]))
    )
    earned: defaultdict[str, Array] = defaultdict(lambda: np.full(len(items), math.nan))
    for (shape, number), places in groups.items():
        alike = [item for item in material.get(shape, ()) if learned or _fold(item) != number]
        for guesser in GUESSERS:
            own = [at for at in places if guesser.answers(items[at])]
            if own and guesser.sees in sees:
                earned[guesser.name][own] = _earned(guesser, alike, [items[at] for at in own])
    return earned


def _earned(guesser: Guesser, learned: Sequence[Item], items: Sequence[Item]) -> list[float]:
    guess = guesser.learn(learned)
    if guesser.is_open:
        return [guess(item)[0] for item in items]
    return [
        credit(guess(item), [option == item.answer for option in item.options]) for item in items
    ]


def _shape(item: Item) -> tuple[str, int]:
    return item.form, len(item.options)


def credit(scores: Sequence[float], are_right: Sequence[bool]) -> float:
    """Return what the choice with the highest score earns; choices with equal scores share it."""
    highest = max(scores) - 1e-9
    picks = [score >= highest for score in scores]
    return sum(map(all, zip(picks, are_right, strict=True))) / sum(picks)


def _fold(item: Item) -> int:
    """Return the fifth of its dataset, 0 to 4, that a question is tried in."""
    return crc32(item.group.encode()) % _FOLDS


def shares(items: Sequence[Item], earned: Mapping[str, Array]) -> list[Share]:
    """Return the share of questions that each guesser answers, of those that it tries."""
    answered = {name: np.flatnonzero(~np.isnan(right)).tolist() for name, right in earned.items()}
    return [
        Share(name, float(earned[name][own].mean()), len({items[at].unit for at in own}))
        for name, own in answered.items()
        if own
    ]


def chances(items: Sequence[Item]) -> Array:
    """Return what a random guess earns per question: among the options, or among the answers to the
    kind, over all levels and splits (see `vocabularies`).
    """
    answers = vocabularies(
        (_kind(item), item.answer_type, item.answer) for item in items if not item.options
    )
    shares_of_right = []
    for item in items:
        choices = item.options or answers[_kind(item)]
        shares_of_right.append(max(choices.count(item.answer), 1) / len(choices))
    return np.array(shares_of_right)


def _kind(item: Item) -> str:
    return item.kind or item.answer_type or item.form


def refuse_guessable(name: str, learned: Sequence[Item], fresh: Sequence[Item]) -> None:
    """Raise DatasetError, which calls the questions `name`, if a guesser that sees their options
    alone stands above chance on all questions or on a form.

    It learns from `learned`, questions of another seed or on other pieces than `fresh`.
    """
    earned, chance = earnings(fresh, learned, ["options"]), chances(fresh)
    forms = group_by(range(len(fresh)), lambda at: fresh[at].form)
    for form, places in {**forms, "all": [*range(len(fresh))]}.items():
        own = {guesser: right[places] for guesser, right in earned.items()}
        tried = shares([fresh[at] for at in places], own)
        _refuse(f"{name}, form '{form}'", tried, chance[places].mean())


def refuse_leaks(benchmark: str, task: str, modality: str, rows: Iterable[AnyRow]) -> None:
    """Raise DatasetError if views of stimuli give away more than the task declares by
    ``gives_away``, or more than chance, without what is asked.
    """
    items = items_of(benchmark, task, rows)
    declared = benchmarks.load(benchmark).tasks[task].gives_away
    floor = declared.get(modality, float(chances(items).sum()) / max(len(items), 1))
    _refuse(
        f"{benchmark}, {task}, {modality}", shares(items, earnings(items, sees=["view"])), floor
    )


def _refuse(name: str, tried: Iterable[Share], floor: float) -> None:
    for share in tried:
        if share.is_above(floor):
            raise DatasetError(
                f"{name}, can be guessed: the guesser '{share.guesser}' gets {share.value:.1%} of "
                f"{share.n} right, where the floor is {floor:.1%}"
            )


def compute_floors(
    dataset: str,
    folder: Path,
    counts: Mapping[str, Mapping[str, int]],
    further: Floors,
    *,
    option_floors: bool,
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
            keys: list[tuple[str, str]] = []
            for split in pool:
                path = folder / data_file(config, split)
                columns = [name for name in COLUMNS if name in pq.read_schema(path).names]
                asked = items_of(dataset, config, pq.read_table(path, columns=columns).to_pylist())
                items += asked
                keys += [(split, item.form) for item in asked]
            if not items:  # kinds of answers without options have their floors in their tasks
                continue
            floors = _floors(items, option_floors=option_floors)
            for (split, form), own in group_by(range(len(items)), keys.__getitem__).items():
                stated = further.get(config, {}).get(split, {}).get(form, {})
                means = {name: round(float(right[own].mean()), 4) for name, right in floors.items()}
                n = len({items[at].unit for at in own})
                of_split = computed.setdefault(config, {}).setdefault(split, {})
                of_split[form] = {"questions": n, **means, **stated}
    return computed


def is_read(column: str) -> bool:
    """Whether guessers use a column of a dataset."""
    return column in COLUMNS or column.startswith(_MIDI_TEXT)


def items_of(dataset: str, config: str, rows: Iterable[AnyRow]) -> list[Item]:
    """Return the questions of rows, except those whose answer no guesser can give.

    They have views of MIDI texts or of a score, but none of the views that have what is asked.
    """
    benchmark = dataset.partition("-")[0]
    tasks = benchmarks.load(benchmark).tasks if benchmark in benchmarks.names() else {}
    facts = tasks.get(config)
    items = []
    for row in rows:
        if "answer" in row or "target" in row:
            item = item_of(row, continues=facts is not None and facts.continues)
            if item:
                asked_views = facts.asked_views if facts else ()
                items.append(replace(item, views=_views(row, asked_views)))
    return items


def _views(row: AnyRow, asked: Collection[str]) -> Views:
    texts = [row[name] for name in row if name.startswith(_MIDI_TEXT)]
    views = dict(note_views(texts)) if texts and all(texts) else {}
    if row.get("score"):
        views["looks"] = looks(row["score"])
    return {name: view for name, view in views.items() if name not in asked}


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


def _floors(items: Sequence[Item], *, option_floors: bool) -> dict[str, Array]:
    """Return the floors by name, with a value per question."""
    chance = chances(items)
    floors = {
        "chance": chance,
        "majority": max(
            chance,
            _constant(items, chance, by_place=True),
            _constant(items, chance, by_place=False),
            key=np.sum,
        ),
        "blind": _best(items, earnings(items, sees=["options", "question"]), chance),
    }
    readers = earnings(items, sees=["music"]).items()
    floors |= {name: right for name, right in readers if not np.isnan(right).any()}
    if option_floors and all(item.options for item in items):
        earned = earnings(items, sees=["options"])
        floors |= {
            "shortest": earned["shortest"],
            "longest": earned["longest"],
            "options alone": _best(items, earned, chance),
        }
    return floors


def _constant(items: Sequence[Item], chance: Array, *, by_place: bool) -> Array:
    """What the choice earns that is right most often on other groups; ties share, and nothing
    learned is chance.
    """
    counts: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    rights: list[Hashable] = []
    for item in items:
        has_place = by_place and item.options
        rights.append(item.options.index(item.answer) if has_place else item.answer)
        counts[_shape(item)][rights[-1]] += 1
        counts[_shape(item), item.group][rights[-1]] += 1
    values = chance.copy()
    for at, item in enumerate(items):
        of_form, of_group = counts[_shape(item)], counts[_shape(item), item.group]
        choices: Iterable[Hashable] = of_form
        if item.options:
            choices = range(len(item.options)) if by_place else dict.fromkeys(item.options)
        elsewhere = {choice: of_form[choice] - of_group[choice] for choice in choices}
        if max(elsewhere.values()) > 0:
            are_right = [choice == rights[at] for choice in elsewhere]
            values[at] = credit([*elsewhere.values()], are_right)
    return values


def _best(items: Sequence[Item], earned: Mapping[str, Array], chance: Array) -> Array:
    """For each fold, take the guesser that is the best on the other folds, or chance if no guesser
    is good enough.
    """
    values = chance.copy()
    folds = np.array([_fold(item) for item in items])
    is_open = np.array([not item.options for item in items])
    groups = np.array([item.group for item in items])
    for kind, number in product((True, False), set(folds)):
        tried = (is_open == kind) & (folds == number)
        others = (is_open == kind) & (folds != number)
        n_groups = len({*groups[others]})
        if n_groups < 2:
            continue
        gains = {
            name: (right - chance)[others]
            for name, right in earned.items()
            if not np.isnan(right[tried]).any()
        }
        best = max(gains, key=lambda name: gains[name].mean(), default="")
        if best and gains[best].mean() > _ERRORS * gains[best].std() / n_groups**0.5:
            values[tried] = earned[best][tried]
    return values
