"""What generated questions give away without what they ask: a table of tasks and modalities.

    python -m tests.leaks_audit                     # all tasks and modalities, up to 400 questions each: half an hour
    python -m tests.leaks_audit muse_ten --n 200    # one benchmark
    python -m tests.leaks_audit --numbers           # floors of small tasks and repeated ids instead: a minute

`music_evals/datasets_builders/questions/leaks.py` says what the classifiers see. *Best* is the best
view, not chosen in hindsight, with its 95% interval. *Floor* is what logs show: chance, or what the
task declares by `gives_away` (100 is a look-up).
"""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Annotated, Any, NamedTuple

import numpy as np
import soundfile
import typer

from music_evals import benchmarks
from music_evals.datasets_builders import musictheorybench
from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.lilybench.composed_clips import compose_clips
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse_ten import dataset as muse_ten
from music_evals.datasets_builders.questions.attack import Share, attack
from music_evals.datasets_builders.questions.floors import items_of
from music_evals.datasets_builders.questions.leaks import (
    QUANTILES,
    Views,
    find_leaks,
    joined,
    note_views,
)
from music_evals.datasets_builders.questions.listening import HIDDEN, PER_KIND, listening_questions
from music_evals.evals.registry import dataset_module
from music_evals.evals.shared.floors import floors_of
from music_evals.notation.midi.files import midi_to_text

SEED = 77
CHORDS = 240  # `major_or_minor` has hardly more variants
TEXTS = ("musictheorybench", "ziqi", "lilybench", "abc_eval")
CLIPS = "mmau"  # and three others with the same clips
SMALL = ("lilybench", "abc_eval")


FRAME = 2048  # samples of a spectrum
BANDS = 24  # of equal width on a logarithmic scale, from 40 Hz to the highest frequency
EDGE = 12  # characters of the beginning and of the end of a text
EDGE_SECONDS = 0.3  # length of the beginning and of the end


class Tried(NamedTuple):
    """A task in one modality: its answers, and what a classifier may see of each question."""

    benchmark: str
    task: str
    modality: str
    answers: Sequence[str]
    views: Sequence[Views]
    options: Sequence[Sequence[str]] | None = None
    floor: float = 0.0  # that a log shows beside chance and what the task declares


def sound_views(clips: Sequence[bytes], hidden: Sequence[str] = ()) -> Views:
    """Describe one or two WAV files by their `loudness`, `spectrum`, `beginning` and `end`, except
    by `hidden`.
    """
    views = joined([_views_of_sound(clip) for clip in clips])
    return {view: values for view, values in views.items() if view not in hidden}


def text_views(text: str, hidden: Sequence[str] = ()) -> Views:
    """Describe notation or a question by its `sizes`, `beginning` and `end`, except by `hidden`."""
    text = text.strip()
    sizes = [
        len(text),
        len(text.split()),
        text.count("\n"),
        text.count("|"),
        sum(map(str.isdecimal, text)),
    ]
    edges = [
        [ord(sign) for sign in edge] for edge in (text[:EDGE].ljust(EDGE), text[-EDGE:].rjust(EDGE))
    ]
    views = {"sizes": sizes, "beginning": edges[0], "end": edges[1]}
    return {view: values for view, values in views.items() if view not in hidden}


def _views_of_sound(clip: bytes) -> Views:
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
        "loudness": [
            *np.quantile(loudness, QUANTILES),
            loudness.mean(),
            loudness.std(),
            len(samples) / rate,
        ],
        "spectrum": [*bands.mean(axis=0), *bands.std(axis=0)],
        "beginning": [*bands[sounding[0] : sounding[0] + edge].mean(axis=0)],
        "end": [*bands[max(0, sounding[-1] - edge) : sounding[-1] + 1].mean(axis=0)],
    }


def stimuli(modality: str, n: int) -> Iterator[Tried]:
    """Compose the stimuli of The MUSE Benchmark and of MUSE."""
    soundfont = None if modality == "midi" else muse.default_soundfont()
    for name, form in muse_ten.FORMS.items():
        count = min(n, CHORDS) if name == "major_or_minor" else n
        rows = muse_ten.compose_rows(SEED, name, "leaks", count, soundfont)
        yield tried("muse_ten", name, modality, rows, form.hidden)
    for name, compose in muse.COMPOSERS.items():
        rows = (make() for split, make in compose(SEED, n, soundfont) if split == "test")
        yield tried("muse", name, modality, rows, muse.HIDDEN.get(name, ()))


def tried(
    benchmark: str,
    task: str,
    modality: str,
    rows: Iterable[Mapping[str, Any]],
    hidden: Sequence[str],
) -> Tried:
    answers, views = [], []
    for row in rows:
        answers.append(row["target"])
        ends = [key.removeprefix("audio") for key in row if key.startswith("audio")]
        if modality == "midi":
            views.append(note_views([row[f"midi_text{end}"] for end in ends], hidden))
        else:
            views.append(sound_views([row[f"audio{end}"]["bytes"] for end in ends], hidden))
    return Tried(benchmark, task, modality, answers, views)


def clips(n: int) -> Iterator[Tried]:
    """Compose the clips that stand in for published recordings."""
    questions = [
        question
        for seed in range(SEED, SEED + n // PER_KIND)
        for question in listening_questions(seed)
    ]
    for kind in dict.fromkeys(question.theme for question in questions):
        own = [question for question in questions if question.theme == kind]
        views = [sound_views([question.parts[0].content], HIDDEN.get(kind, ())) for question in own]
        # A kind of which all views have what is asked gives nothing else away.
        views = views if views[0] else [{"nothing": [0.0]} for _ in own]
        yield Tried(
            CLIPS, f"music, {kind}", "audio", [str(question.right) for question in own], views
        )


def emotions(n: int) -> Tried:
    """Compose clips of `emotion_recognition`, whose MIDI stands for the notation."""
    composed = compose_clips(SEED, n // 4)
    views = [note_views([midi_to_text(clip.midi)]) for clip in composed]
    return Tried(
        "lilybench", "emotion_recognition", "text", [str(clip.quadrant) for clip in composed], views
    )


def texts() -> Iterator[Tried]:
    """Take the questions of generated datasets whose music is text, as many as there are."""
    for name in TEXTS:
        spec = dataset_module(name).BENCHMARK
        origin = describe_dataset(GENERATED, benchmark=spec)
        for config, splits in origin.provenance.counts.items():
            split = "strict" if "strict" in splits else "test"
            if split not in splits or config in ("error_detection", "emotion_recognition"):
                continue
            rows = load_split(GENERATED, config, split, benchmark=spec).to_list()
            rows = [
                row for row in rows if row.get("language") != "zh"
            ]  # the same questions as in English
            items = items_of(name, config, rows)
            if not items or not items[0].options:
                continue
            views = [
                text_views(row.get("score") or row.get("abc") or row["question"]) for row in rows
            ]
            options = [item.options for item in items]
            floors = floors_of(origin, config, {split: rows})
            shown = max(floor["value"] for floor in floors.values())
            yield Tried(
                name, config, "text", [item.answer for item in items], views, options, shown
            )


def numbers() -> None:
    """Print the floors of small tasks, and what three seeds of MusicTheoryBench say of a fourth."""
    for name in SMALL:
        spec = dataset_module(name).BENCHMARK
        provenance = describe_dataset(GENERATED, benchmark=spec).provenance
        for config, splits in provenance.floors.items():
            for form, floors in splits.get("strict", {}).items():
                shown = ", ".join(
                    f"{floor} {100 * share:.1f}"
                    for floor, share in floors.items()
                    if floor != "questions"
                )
                print(f"{name} {config} {form}, {floors['questions']} questions: {shown}")
    seeds = [musictheorybench.compose_rows(seed)["knowledge"]["test"] for seed in range(1, 5)]
    ids = [{row["id"] for row in rows} for rows in seeds]
    print(
        "ids of MusicTheoryBench in two seeds:",
        [len(first & second) for first, second in combinations(ids, 2)],
    )
    *learned, fresh = (items_of("musictheorybench", "", rows) for rows in seeds)
    for share in attack(fresh, [item for items in learned for item in items]):
        if share.form == "all":
            low, high = share.interval()
            print(
                f"learned on three seeds, {share.guesser}: {share.value:.1%} ({low:.1%} to "
                f"{high:.1%})"
            )


def main(
    only: Annotated[str, typer.Argument(help="A benchmark.")] = "",
    n: Annotated[int, typer.Option(help="Questions of each task.")] = 400,
    modality: Annotated[str, typer.Option(help="midi, audio or text.")] = "",
    show_numbers: Annotated[bool, typer.Option("--numbers")] = False,
) -> None:
    if show_numbers:
        numbers()
        return
    sources = {
        "midi": lambda: stimuli("midi", n),
        "audio": lambda: chain(clips(n), stimuli("audio", n)),
        "text": lambda: chain([emotions(n)], texts()),
    }
    print(
        "| benchmark | task | modality | n | chance | floor | best | 95% interval | best view in "
        "hindsight |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    kinds: list[Share] = []
    for name, make in sources.items():
        for one in make() if modality in ("", name) else ():
            if only in ("", one.benchmark):
                shares = find_leaks(one.answers, one.views, one.options)
                show(one, shares)
                kinds += shares[-1:] if one.benchmark == CLIPS else []
    if kinds:
        pooled = Share(
            "all",
            "best",
            sum(share.value for share in kinds) / len(kinds),
            sum(share.n for share in kinds),
            sum(share.chance for share in kinds) / len(kinds),
            sum(share.n for share in kinds),
        )
        show(Tried(CLIPS, "music", "audio", [], []), [pooled, pooled])


def show(one: Tried, shares: Sequence[Share]) -> None:
    """Print a row of the table; a kind of clips has chance as its floor, as the task declares that
    of all kinds.
    """
    *views, best = shares
    tasks = benchmarks.load(one.benchmark).tasks
    declared = tasks[one.task].gives_away if one.task in tasks else {}
    floor = max(declared.get(one.modality, best.chance), one.floor)
    low, high = best.interval()
    top = max(views, key=lambda share: share.value)
    figures = [best.chance, floor, best.value]
    cells = [
        one.benchmark,
        one.task,
        one.modality,
        str(best.n),
        *(f"{100 * share:.1f}" for share in figures),
    ]
    print(
        f"| {' | '.join(cells)} | {100 * low:.1f}–{100 * high:.1f} | {top.guesser} "
        f"{100 * top.value:.1f} |",
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
