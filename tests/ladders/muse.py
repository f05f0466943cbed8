"""Twelve graded solvers on the levels of MUSE and The MUSE Benchmark: scores, order, and leaks.

    python -m tests.ladders.muse [TASK ...]           # the tables: some minutes
    python -m tests.ladders.muse --leaks [TASK ...]   # what stimuli give away without what is asked

A solver reads the notes that a prompt shows, worse than the reader does: notes are misread, or only
some are attended to. What then fits no option is guessed.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from statistics import fmean
from unittest import mock

from scipy.stats import kendalltau

from music_evals.baselines import muse as reader
from music_evals.baselines.asking import Request
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse_ten import dataset as muse_ten
from music_evals.datasets_builders.questions.audit import chances, earnings, items_of, shares
from music_evals.notation.midi.files import FileNote, parse_midi_text

TASKS = (*muse.COMPOSERS, *muse_ten.LEVELED)
LEVELS = (1, 2, 3, 4, 5)
Notes = Sequence[FileNote]
Solver = Callable[[Notes, int, Random], Notes]


def misread(notes, _, rng, share=0):
    """Take a share of the notes for another pitch or, of drums, for another eighth."""
    return [replace(note, **_slip(note, rng)) if rng.random() < share else note for note in notes]


def _slip(note, rng):
    if note.is_drum:
        return {"onset": max(0, note.onset + rng.choice((-240, 240)))}
    return {"pitch": note.pitch + rng.choice((-12, -2, -1, 1, 2, 12))}


def first(notes, _, rng, count=0):
    """Attend to the first notes."""
    return notes[:count]


def last(notes, _, rng, count=0):
    """Attend to the last notes."""
    return notes[-count:]


def naturals(notes, _, rng):
    """Read no accidentals; of drums, take all beats as one."""
    return [
        note
        if note.is_drum
        else replace(note, pitch=note.pitch - (note.pitch % 12 in (1, 3, 6, 8, 10)))
        for note in notes
    ]


def top_voice(notes, _, rng):
    """Attend to the highest of the notes that begin together; of drums, to the kick."""
    if notes and notes[0].is_drum:
        return [note for note in notes if note.pitch != 38]
    onsets = {note.onset: note for note in notes}
    return [*onsets.values()]


def blind(notes, _, rng):
    """Read nothing."""
    return []


SOLVERS = {
    "exact": misread,
    "misreads 0.2%": partial(misread, share=0.002),
    "misreads 0.6%": partial(misread, share=0.006),
    "misreads 2%": partial(misread, share=0.02),
    "misreads 6%": partial(misread, share=0.06),
    "misreads 20%": partial(misread, share=0.2),
    "first 120 notes": partial(first, count=120),
    "first 40 notes": partial(first, count=40),
    "last 20 notes": partial(last, count=20),
    "no accidentals": naturals,
    "one voice": top_voice,
    "guesses": blind,
}


def rows(task, level, count, seed=1):
    """The test rows of a task, without sound."""
    if task in muse.COMPOSERS:
        composed = muse.COMPOSERS[task](seed, count, None, level)
        return [dict(make()) for split, make in composed if split == "test"]
    return [dict(row) for row in muse_ten.compose_rows(seed, task, "test", count, None, level)]


def texts_of(row):
    """The MIDI texts that a prompt shows."""
    return [row[key] for key in sorted(row) if key.startswith("midi_text")]


def answers_of(row):
    """The answers that a prompt accepts."""
    is_lettered = len(row["target"]) == 1
    return list("ABCDE"[: len(row["options"])]) if is_lettered else row["options"]


def answer(task, clips, answers, rng):
    """What the reader answers from clips; a guess if they fit no option."""
    keys = {"task": task, "answer_type": "choice", "answers": answers}
    request = Request(keys, tuple(clips), "", rng)  # type: ignore[arg-type]
    try:
        with mock.patch.object(reader, "parse_midi_text", lambda clip: clip):
            reply = reader.read(request)
    except (ValueError, IndexError):
        return rng.choice(answers)
    return reply if reply in answers else rng.choice(answers)


def scores(task, level, count, seed=1):
    """The share of right answers of each solver."""
    right = {name: [] for name in SOLVERS}
    for row in rows(task, level, count, seed):
        clips = [parse_midi_text(text) for text in texts_of(row)]
        for name, solver in SOLVERS.items():
            rng = Random(f"{name}/{task}/{level}/{row['id']}")
            read = [replace(clip, notes=tuple(solver(clip.notes, level, rng))) for clip in clips]
            right[name].append(answer(task, read, answers_of(row), rng) == row["target"])
    return {name: fmean(own) for name, own in right.items()}


def tables():
    """A table of scores for each task, with Kendall's tau of each level to a longer test."""
    for task in sys.argv[1:] or TASKS:
        by_level = {level: scores(task, level, 40) for level in LEVELS}
        longer = [scores(task, level, 40, seed=9) for level in LEVELS]
        order = [fmean(level[name] for level in longer) for name in SOLVERS]
        yield f"\n{task} | " + " | ".join(map(str, LEVELS)) + " | below 50% from"
        for name in SOLVERS:
            own = [by_level[level][name] for level in LEVELS]
            falls = next((level for level in LEVELS if by_level[level][name] < 0.5), "-")
            yield f"{name} | " + " | ".join(f"{100 * value:.0f}" for value in own) + f" | {falls}"
        taus = [kendalltau(order, [*by_level[level].values()]).statistic for level in LEVELS]
        yield "tau | " + " | ".join(f"{tau:.2f}" for tau in taus) + " | "


def leaks():
    """The best view of each task and level, on 120 stimuli."""
    for task in sys.argv[2:] or TASKS:
        benchmark = "muse" if task in muse.COMPOSERS else "muse_ten"
        for level in LEVELS[1:]:
            items = items_of(benchmark, task, rows(task, level, 120, seed=5))
            best = max(shares(items, earnings(items, sees=["view"])), key=lambda share: share.value)
            low, high = best.interval()
            chance = chances(items).mean()
            yield (
                f"{task} | {level} | chance {chance:.2f} | best {best.value:.2f} "
                f"({low:.2f}-{high:.2f}) | {best.guesser}"
            )


if __name__ == "__main__":
    for line in leaks() if "--leaks" in sys.argv else tables():
        print(line, flush=True)
