"""Classifiers that see everything but what a question asks: how often do they find its answer?

A stimulus is described by *views*. Views of notes are the program, the velocities, the sizes, the first event and the
last event. Views of sound are its loudness, its spectrum, and the spectra of its beginning and its end. None of them
has the order of the notes, which most questions are about. Two classifiers learn each view: nearest neighbours, and a
linear model of the values and their squares.

Every stimulus is tried once, in one of five folds, by classifiers that learned from the other folds. *Best* takes the
view and the classifier that are best on the other folds, so it is not chosen in hindsight.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Note, Performance
from music_evals.scorers.metrics.proportion import wilson_interval

BEST: Final = "best"
MARGIN: Final = 0.08
"""How far above the floor the upper bound of the best classifier may lie."""
ENOUGH: Final = 400
"""Number of stimuli at which the bound of a task without leaks lies below the margin."""

_FOLDS: Final = 5
_NEIGHBOURS: Final = 15
_RIDGE: Final = 1.0
_QUANTILES: Final = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
_FRAME: Final = 2048  # samples of a spectrum
_BANDS: Final = 24  # of equal width on a logarithmic scale, from 40 Hz to the highest frequency
_EDGE_SECONDS: Final = 0.3  # length of the beginning and of the end

Array = NDArray[np.float64]
Views = Mapping[str, Sequence[float]]
"""View → its values; the same views with as many values for every stimulus of a task."""


class Leak(NamedTuple):
    """The share of stimuli whose answer a view gives away to the better classifier, from 0 to 1."""

    view: str
    value: float
    n: int
    chance: float

    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the share."""
        return wilson_interval(self.value, self.n)


def find_leaks(answers: Sequence[str], stimuli: Sequence[Views]) -> dict[str, Leak]:
    """Return the leak of each view, and of the best view under `BEST`.

    Args:
        answers: to the questions on the stimuli.
        stimuli: views of each stimulus; an option's place decides a tie, so stimuli may be in any order.

    Example:
        >>> loud = [{"velocities": [90.0 + place], "sizes": [12.0]} for place in (0, 1) * 40]
        >>> leaks = find_leaks(["soft", "loud"] * 40, loud)
        >>> leaks["velocities"].value, leaks["best"].value
        (1.0, 1.0)
    """
    classes, labels = np.unique(np.asarray(answers), return_inverse=True)
    folds = np.random.default_rng(0).permutation(len(labels)) % _FOLDS
    right: dict[tuple[str, str], Array] = {}
    for view in stimuli[0]:
        values = np.array([stimulus[view] for stimulus in stimuli], dtype=float)
        for name, classify in _CLASSIFIERS.items():
            right[view, name] = np.zeros(len(labels))
            for number in range(_FOLDS):
                tried = folds == number
                scale = values[~tried].std(axis=0)
                scaled = (values - values[~tried].mean(axis=0)) / np.where(scale > 0, scale, 1)
                scores = classify(scaled[~tried], labels[~tried], scaled[tried], len(classes))
                right[view, name][tried] = scores.argmax(axis=1) == labels[tried]
    best = np.zeros(len(labels))
    for number in range(_FOLDS):
        tried = folds == number
        favourite = max(right, key=lambda key: right[key][~tried].mean())
        best[tried] = right[favourite][tried]
    shares = {view: max(right[view, name].mean() for name in _CLASSIFIERS) for view in stimuli[0]}
    shares[BEST] = best.mean()
    return {view: Leak(view, float(share), len(labels), 1 / len(classes)) for view, share in shares.items()}


def refuse_leaks(name: str, leaks: Mapping[str, Leak], floor: float) -> None:
    """Raise DatasetError, which calls the stimuli `name`, if the best view is right more often than `floor` allows."""
    best = leaks[BEST]
    high = best.interval()[1]
    if high > floor + MARGIN:
        view = max((leak for leak in leaks.values() if leak is not best), key=lambda leak: leak.value).view
        raise DatasetError(
            f"{name}: a classifier finds {best.value:.1%} of the answers of {best.n} stimuli (at most {high:.1%}) "
            f"without what is asked, mostly by the view '{view}'; accepted are {floor + MARGIN:.0%}"
        )


def note_views(clips: Sequence[Performance]) -> Views:
    """Describe one or two clips of notes by their `program`, `velocities`, `sizes`, `first event` and `last event`."""
    described = [_views_of_notes(clip) for clip in clips]
    views = _joined(described)
    known = ("program", "velocities", "sizes")
    return {**views, "together": [value for view in known for value in views[view]]}


def sound_views(clips: Sequence[bytes]) -> Views:
    """Describe one or two WAV files by their `loudness`, `spectrum`, `beginning` and `end`."""
    return _joined([_views_of_sound(clip) for clip in clips])


def _joined(described: Sequence[Views]) -> dict[str, list[float]]:
    """The values of all clips and, of two clips, their differences."""
    joined = {view: [value for clip in described for value in clip[view]] for view in described[0]}
    if len(described) == 2:
        for view, values in joined.items():
            values += [b - a for a, b in zip(described[0][view], described[1][view], strict=True)]
    return joined


def _views_of_notes(clip: Performance) -> Views:
    notes = sorted(clip.notes)
    velocities = np.array([note.velocity for note in notes])
    first = [note for note in notes if note.onset == notes[0].onset]
    last = [note for note in notes if note.onset == notes[-1].onset]
    end = max(note.onset + note.duration for note in notes)
    return {
        "program": [clip.program, clip.percussion],
        "velocities": [
            *np.quantile(velocities, _QUANTILES),
            velocities.mean(),
            velocities.std(),
            (velocities > 99).sum(),
        ],
        "sizes": [len(notes), len(midi_to_text(write_midi(clip))), end, clip.tempo, end / clip.tempo],
        "first event": _event(first),
        "last event": _event(last),
    }


def _event(notes: Sequence[Note]) -> list[float]:
    highest = max(notes, key=lambda note: note.pitch)
    return [notes[0].pitch, highest.pitch, len(notes), highest.velocity, highest.duration]


def _views_of_sound(clip: bytes) -> Views:
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(clip), dtype="float32")
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    power = np.abs(np.fft.rfft(frames * np.hanning(_FRAME), axis=1)) ** 2
    edges = np.geomspace(40, rate / 2, _BANDS + 1) * _FRAME / rate
    starts = np.unique(edges[:-1].astype(int))
    bands = np.log10(np.add.reduceat(power, starts, axis=1) + 1e-6)
    loudness = np.log10((frames.astype(float) ** 2).mean(axis=1) + 1e-8)
    edge = max(1, round(_EDGE_SECONDS * rate / _FRAME))
    sounding = np.flatnonzero(loudness > loudness.max() - 4)
    return {
        "loudness": [*np.quantile(loudness, _QUANTILES), loudness.mean(), loudness.std(), len(samples) / rate],
        "spectrum": [*bands.mean(axis=0), *bands.std(axis=0)],
        "beginning": [*bands[sounding[0] : sounding[0] + edge].mean(axis=0)],
        "end": [*bands[max(0, sounding[-1] - edge) : sounding[-1] + 1].mean(axis=0)],
    }


def _nearest(known: Array, labels: NDArray[np.int64], tried: Array, n_classes: int) -> Array:
    """Count the votes of the nearest neighbours; a closer one breaks ties."""
    distances = ((tried[:, None, :] - known[None, :, :]) ** 2).sum(axis=2)
    nearest = distances.argsort(axis=1, kind="stable")[:, :_NEIGHBOURS]
    weights = 1 + 0.01 / (1 + np.arange(nearest.shape[1]))
    return np.stack([((labels[nearest] == place) * weights).sum(axis=1) for place in range(n_classes)], axis=1)


def _linear(known: Array, labels: NDArray[np.int64], tried: Array, n_classes: int) -> Array:
    """Score classes by ridge regression on the values and their squares."""
    inputs, outputs = _with_squares(known), np.eye(n_classes)[labels]
    weights = np.linalg.solve(inputs.T @ inputs + _RIDGE * np.eye(inputs.shape[1]), inputs.T @ outputs)
    return _with_squares(tried) @ weights


def _with_squares(values: Array) -> Array:
    return np.hstack([values, values**2, np.ones((len(values), 1))])


_CLASSIFIERS: Final = {"nearest": _nearest, "linear": _linear}
