"""What generated stimuli give away without what is asked: the table of `docs/validity.md`.

    python -m tests.leaks_audit                     # all tasks, 300 stimuli each: half an hour
    python -m tests.leaks_audit muse_ten --n 200    # one benchmark
    python -m tests.leaks_audit muse_ten --level 3  # a harder level, from MIDI

The guessers are those of `music-evals build NAME --audit`; here they also hear. *Best* is the best
view in hindsight. *Floor* is what logs show: chance, or what the task declares by `gives_away`.
"""

import io
from dataclasses import replace

import numpy as np
import soundfile
import typer

from music_evals import benchmarks
from music_evals.datasets_builders.lilybench.composed_clips import compose_clips
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse_ten import dataset as muse_ten
from music_evals.datasets_builders.questions.audit import chances, earnings, items_of, shares
from music_evals.datasets_builders.questions.guessers import QUANTILES, joined, note_views
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.listening import PER_KIND, listening_questions
from music_evals.notation.audio.soundfont import default_soundfont
from music_evals.notation.grouping import group_by
from music_evals.notation.midi.files import midi_to_text

SEED = 77
CHORDS = 240  # `major_or_minor` has hardly more variants
CLIPS = "mmau"  # and three others with the same clips
ASKED = {
    "tempo": ("loudness", "spectrum"),
    "instrument": ("loudness", "spectrum", "beginning", "end"),
    "mode": ("spectrum",),
    "voices": ("spectrum", "beginning", "end"),
}
"""Kind of clip → views that have what is asked: how many strokes sound, the timbre, the notes,
their number.
"""
FRAME = 2048  # samples of a spectrum
BANDS = 24  # of equal width on a logarithmic scale, from 40 Hz to the highest frequency
EDGE_SECONDS = 0.3  # length of the beginning and of the end


def sound_views(clips, asked=()):
    """Describe one or two WAV files by their `loudness`, `spectrum`, `beginning` and `end`, except
    by what is `asked`.
    """
    views = joined([_views_of_sound(clip) for clip in clips])
    return {view: values for view, values in views.items() if view not in asked}


def _views_of_sound(clip):
    samples, rate = soundfile.read(io.BytesIO(clip), dtype="float32")
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME), axis=1)) ** 2
    edges = np.geomspace(40, rate / 2, BANDS + 1) * FRAME / rate
    starts = np.unique(edges[:-1].astype(int))
    bands = np.log10(np.add.reduceat(power, starts, axis=1) + 1e-6)
    loudness = np.log10((frames.astype(float) ** 2).mean(axis=1) + 1e-8)
    edge = max(1, round(EDGE_SECONDS * rate / FRAME))
    sounding = np.flatnonzero(loudness > loudness.max() - 4)
    return {
        "loudness": [*np.quantile(loudness, QUANTILES), len(samples) / rate],
        "spectrum": [*bands.mean(axis=0), *bands.std(axis=0)],
        "beginning": [*bands[sounding[0] : sounding[0] + edge].mean(axis=0)],
        "end": [*bands[max(0, sounding[-1] - edge) : sounding[-1] + 1].mean(axis=0)],
    }


def stimuli(modality, n, level):
    """Compose the stimuli of The MUSE Benchmark and of MUSE, as benchmark, task and questions; those
    of MUSE at level 1 alone.
    """
    soundfont = None if modality == "midi" else default_soundfont()
    for name in muse_ten.FORMS:
        count = min(n, CHORDS) if name == "major_or_minor" else n
        rows = [*muse_ten.compose_rows(SEED, name, "leaks", count, soundfont, level)]
        yield "muse_ten", name, questions("muse_ten", name, modality, rows)
    for name, compose in muse.COMPOSERS.items() if level == 1 else ():
        made = [make() for split, make in compose(SEED, n, soundfont) if split == "test"]
        yield "muse", name, questions("muse", name, modality, made)


def questions(benchmark, task, modality, rows):
    items = items_of(benchmark, task, rows)
    if modality == "midi":
        return items
    asked = benchmarks.load(benchmark).tasks[task].asked_views
    sounds = [[row[key]["bytes"] for key in row if key.startswith("audio")] for row in rows]
    return [
        replace(item, views=sound_views(sound, asked))
        for item, sound in zip(items, sounds, strict=True)
    ]


def clips(n):
    """Compose the clips that stand in for published recordings, kind by kind."""
    seeds = range(SEED, SEED + n // PER_KIND)
    drawn = [question for seed in seeds for question in listening_questions(seed)]
    for kind, own in group_by(drawn, lambda question: question.theme).items():
        items = []
        for number, question in enumerate(own):
            views = sound_views([question.parts[0].content], ASKED.get(kind, ()))
            right, name = question.options[question.right], str(number)
            items.append(Item(kind, "", (*question.options,), right, name, name, views=views))
        yield CLIPS, kind, items


def emotions(n):
    """Compose clips of `emotion_recognition`, whose MIDI stands for the notation."""
    items = []
    for number, clip in enumerate(compose_clips(SEED, n // 4)):
        views, name = note_views([midi_to_text(clip.midi)]), str(number)
        items.append(Item("", "", (*"1234",), str(clip.quadrant), name, name, views=views))
    return items


def tables(n, level):
    for modality in ("midi", "audio") if level == 1 else ("midi",):
        for benchmark, task, items in stimuli(modality, n, level):
            yield benchmark, task, modality, items
    if level > 1:
        return
    for benchmark, kind, items in clips(n):
        yield benchmark, kind, "audio", items
    yield "lilybench", "emotion_recognition", "text", emotions(n)


def main(
    only="",
    n=300,
    level=1,
):
    print("| task | modality | n | chance | floor | best | 95% interval | view |")
    print("|---|---|---|---|---|---|---|---|")
    for benchmark, task, modality, items in tables(n, level):
        tried = shares(items, earnings(items, sees=["view"]))
        if only not in ("", benchmark) or not tried:
            continue
        facts, chance = benchmarks.load(benchmark).tasks.get(task), chances(items).mean()
        floor = facts.gives_away.get(modality, chance) if facts else chance
        best = max(tried, key=lambda share: share.value)
        low, high = best.interval()
        figures = " | ".join(f"{100 * figure:.1f}" for figure in (chance, floor, best.value))
        interval = f"{100 * low:.1f}–{100 * high:.1f}"
        print(
            f"| {benchmark} {task} | {modality} | {len(items)} | {figures} | {interval} | "
            f"{best.guesser} |",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
