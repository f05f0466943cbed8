"""Classifiers that see everything but what a question asks: how often do they find its answer?

A stimulus is described by *views*. Views of notes are the program, the velocities, the sizes, the
first event and the last event. `tests/leaks_audit.py` has views of sound and of texts. None of them
has the order of the notes, which most questions are about. Two classifiers learn each view: nearest
neighbours, and a linear model of the values and their squares.

Every stimulus is tried once, in one of five folds, by classifiers that learned from the other
folds. *Best* takes the view and the classifier that are best on the other folds, so it is not
chosen in hindsight.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.questions.attack import ALL, Share
from music_evals.notation.midi.files import parse_midi_text
from music_evals.notation.midi.performance import Note

BEST = "best"
MARGIN = 0.08
"""How far above chance, or above what a task declares, the best classifier may lie."""

_PROGRAM = re.compile(r"program=(\d+)")
_FOLDS = 5
_NEIGHBOURS = 15
_RIDGE = 1.0
_EQUAL = 1e-9  # difference of scores that are a tie
QUANTILES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)

Array = NDArray[np.float64]
Views = Mapping[str, Sequence[float]]
"""View → its values; the same views with as many values for every stimulus of a task."""
Classify = Callable[[Array, NDArray[np.int64], Array, int], Array]
"""Scores classes: known values, their classes, values to classify, number of classes → a row of
scores for each.
"""


def find_leaks(
    answers: Sequence[str], stimuli: Sequence[Views], options: Sequence[Sequence[str]] | None = None
) -> list[Share]:
    """Return the share of answers that the better classifier finds by each view; last that of the
    best view.

    The guesser of a share is the view; the last one is `BEST`.

    Args:
        answers: to the questions on the stimuli.
        stimuli: views of each stimulus.
        options: the answers that each question offers; if not given, all answers.

    Example:
        >>> stimuli = [{"velocities": [90.0 + place]} for place in (0, 1) * 40]
        >>> [(share.guesser, share.value) for share in find_leaks(["soft", "loud"] * 40, stimuli)]
        [('velocities', 1.0), ('best', 1.0)]
    """
    options = options or [sorted({*answers})] * len(answers)
    classes = np.unique(np.concatenate(options))
    labels = np.searchsorted(classes, answers)
    offered = np.array([np.isin(classes, own) for own in options])
    folds = np.random.default_rng(0).permutation(len(labels)) % _FOLDS
    right: dict[str, Array] = {}
    for view in stimuli[0]:
        values = np.array([stimulus[view] for stimulus in stimuli], dtype=float)
        earned = [_earned(classify, values, labels, folds, offered) for classify in _CLASSIFIERS]
        right[view] = max(earned, key=np.mean)
    best = np.zeros(len(labels))
    for number in range(_FOLDS):
        tried = folds == number
        favourite = max(right.values(), key=lambda own: own[~tried].mean())
        best[tried] = favourite[tried]
    right[BEST] = best
    n, chance = len(labels), float(np.mean([1 / len(own) for own in options]))
    return [Share(ALL, view, float(own.mean()), n, chance, n) for view, own in right.items()]


def _earned(
    classify: Classify,
    values: Array,
    labels: NDArray[np.int64],
    folds: NDArray[np.int64],
    offered: NDArray[np.bool_],
) -> Array:
    """What a classifier earns per stimulus; ties share. Each fold is tried by one that learned from
    the others.
    """
    earned = np.zeros(len(labels))
    for number in range(_FOLDS):
        tried = folds == number
        scale = values[~tried].std(axis=0)
        scaled = (values - values[~tried].mean(axis=0)) / np.where(scale > 0, scale, 1)
        scores = classify(scaled[~tried], labels[~tried], scaled[tried], offered.shape[1])
        scores = np.where(offered[tried], scores, -np.inf)
        picks = scores > scores.max(axis=1, keepdims=True) - _EQUAL
        earned[tried] = picks[np.arange(len(picks)), labels[tried]] / picks.sum(axis=1)
    return earned


def refuse_leaks(benchmark: str, task: str, modality: str, shares: Sequence[Share]) -> None:
    """Raise DatasetError if stimuli give away more than the task declares by ``gives_away``, or
    more than chance.

    The lower bound of the best view must lie at most `MARGIN` above that.
    """
    *views, best = shares
    floor = benchmarks.load(benchmark).tasks[task].gives_away.get(modality, best.chance)
    if best.interval()[0] > floor + MARGIN:
        view = max(views, key=lambda share: share.value).guesser
        raise DatasetError(
            f"{benchmark}, {task}, {modality}: without what is asked, a classifier finds "
            f"{best.value:.1%} of the answers to {best.n} stimuli, mostly by the view '{view}'; "
            f"accepted are {floor + MARGIN:.0%}, or what the task declares by gives_away"
        )


def refuse_leaks_of_notes(
    benchmark: str, task: str, rows: Iterable[Mapping[str, Any]], hidden: Sequence[str]
) -> None:
    """Refuse rows with MIDI texts whose views, except for those `hidden`, have leaks; see
    `refuse_leaks`.
    """
    answers, views = [], []
    for row in rows:
        answers.append(row["target"])
        texts = [row[column] for column in row if column.startswith("midi_text")]
        views.append(note_views(texts, hidden))
    refuse_leaks(benchmark, task, "midi", find_leaks(answers, views))


def note_views(clips: Sequence[str], hidden: Sequence[str] = ()) -> Views:
    """Describe one or two MIDI texts, except by the views `hidden`, which have what is asked.

    The views are `program`, `velocities`, `sizes`, `together` (these three), `first event` and
    `last event`.
    """
    views = joined([_views_of_notes(clip) for clip in clips])
    views["together"] = [*views["program"], *views["velocities"], *views["sizes"]]
    return {view: values for view, values in views.items() if view not in hidden}


def joined(described: Sequence[Views]) -> dict[str, list[float]]:
    """Return the values of all clips and, of two clips, their differences."""
    views: dict[str, list[float]] = {}
    for view, first in described[0].items():
        views[view] = [*first]
        if len(described) == 2:
            second = described[1][view]
            views[view] += [*second, *map(sub, second, first)]
    return views


def _views_of_notes(text: str) -> Views:
    clip, program = parse_midi_text(text), _PROGRAM.search(text)
    notes = clip.notes
    velocities = np.array([note.velocity for note in notes])
    first = [note for note in notes if note.onset == notes[0].onset]
    last = [note for note in notes if note.onset == notes[-1].onset]
    end = max(note.onset + note.duration for note in notes)
    return {
        "program": [int(program[1]) if program else 0, notes[0].is_drum],
        "velocities": [
            *np.quantile(velocities, QUANTILES),
            velocities.mean(),
            velocities.std(),
            (velocities > 99).sum(),
        ],
        "sizes": [len(notes), len(text), end, clip.tempo, end / clip.tempo],
        "first event": _event(first),
        "last event": _event(last),
    }


def _event(notes: Sequence[Note]) -> list[float]:
    highest = max(notes, key=lambda note: note.pitch)
    return [notes[0].pitch, highest.pitch, len(notes), highest.velocity, highest.duration]


def _nearest(examples: Array, labels: NDArray[np.int64], tried: Array, n_classes: int) -> Array:
    """Count the votes of the nearest neighbours; a closer one breaks ties."""
    distances = ((tried[:, None, :] - examples[None, :, :]) ** 2).sum(axis=2)
    nearest = distances.argsort(axis=1, kind="stable")[:, :_NEIGHBOURS]
    weights = 1 + 0.01 / (1 + np.arange(nearest.shape[1]))
    return np.stack(
        [((labels[nearest] == place) * weights).sum(axis=1) for place in range(n_classes)], axis=1
    )


def _linear(examples: Array, labels: NDArray[np.int64], tried: Array, n_classes: int) -> Array:
    """Score classes by ridge regression on the values and their squares."""
    inputs, outputs = _with_squares(examples), np.eye(n_classes)[labels]
    weights = np.linalg.solve(
        inputs.T @ inputs + _RIDGE * np.eye(inputs.shape[1]), inputs.T @ outputs
    )
    return _with_squares(tried) @ weights


def _with_squares(values: Array) -> Array:
    return np.hstack([values, values**2, np.ones((len(values), 1))])


_CLASSIFIERS = (_nearest, _linear)
