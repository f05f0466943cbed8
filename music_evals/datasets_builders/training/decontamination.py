"""Overlap of training rows with test rows, by runs of words and by runs of notes.

Text: runs of 13 words, as GPT-3 was checked (arXiv 2005.14165, appendix C). Case and punctuation do
not count, and a Chinese character is a word. A shorter text is one run. Music: runs of 8 notes, as
pitch intervals and ratios of times between onsets (S. Doraisamy and S. Rüger, "A polyphonic music
retrieval system using n-grams", ISMIR 2004), so another key or tempo makes no difference. Of notes
with the same onset the highest counts; for percussion, all do. Stimuli whose pattern is the answer,
such as a chord or a scale, are compared as a whole and at their own pitch.

Two texts or pieces of music overlap by the share of their common runs in the runs of the shorter
one. From 80% on, as Llama 2 calls a test item dirty (arXiv 2307.09288, appendix A.6), a training
row is dropped. Text is compared only if a question has no music, since questions on different music
may have the same words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import chain, groupby, product
from operator import itemgetter

from music_evals.datasets_builders import AnyRow
from music_evals.datasets_builders.dataset_io import (
    DatasetSpec,
    Decontamination,
    describe_dataset,
    load_split,
)
from music_evals.notation.abc.plain import split_voices
from music_evals.notation.abc.tunes import (
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    split_measures,
)
from music_evals.notation.lilypond.compiler import compile_texts, lilypond_cache
from music_evals.notation.midi.note_arrays import read_note_arrays
from music_evals.notation.midi.performance import TICKS_PER_BEAT

WORDS = 13
NOTES = 8
SHARE = 0.8
# Configs whose pattern is the answer.
_PATTERNS = (
    "chord_quality",
    "contour",
    "major_or_minor",
    "meter",
)
# Dataset → configs with the music of its questions.
_PIECES = {
    "msu": ("scores",),
    "lilybench": ("corpus",),
}
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+[#♯♭°ø]*|[#♯♭°ø]+")
_ABC = re.compile(r"^(?:X: ?\d|M:|L:|K:)", re.MULTILINE)  # the beginning of music in a question
_COLUMNS = ("question", "abc", "options", "midi", "midi_1", "midi_2", "text")

Runs = frozenset[Hashable]


def word_runs(text: str) -> Runs:
    """Return the runs of words of a text; none if it has no words.

    >>> word_runs("Which note is A#?") == word_runs("which note, is A#")
    True
    """
    words = _WORD.findall(text.casefold())
    starts = range(max(1, len(words) - WORDS + 1)) if words else ()
    return frozenset(" ".join(words[at : at + WORDS]) for at in starts)


def note_runs(
    notes: Iterable[tuple[int, int]], *, is_percussion: bool = False, is_pattern: bool = False
) -> Runs:
    """Return the runs of notes, given as onsets and MIDI pitches; none if there are no notes.

    >>> scale = [(480 * step, 60 + step) for step in range(12)]
    >>> note_runs(scale) == note_runs([(onset // 2, pitch + 5) for onset, pitch in scale])
    True
    """
    by_onset = groupby(sorted(set(notes)), key=itemgetter(0))
    chords = [(onset, tuple(pitch for _, pitch in chord)) for onset, chord in by_onset]
    length = len(chords) if is_pattern else min(NOTES, len(chords))
    runs: set[Hashable] = set()
    for at in range(len(chords) - length + 1 if chords else 0):
        run = chords[at : at + length]
        start, first = run[0]
        unit = run[1][0] - start if length > 1 else 1
        times = [round(24 * (onset - start) / unit) for onset, _ in run]
        pitches: list[Hashable] = [chord for _, chord in run]
        if not (is_percussion or is_pattern):
            pitches = [chord[-1] - first[-1] for _, chord in run]
        runs.add(tuple(zip(pitches, times, strict=True)))
    return frozenset(runs)


def _abc_notes(abc: str) -> Iterator[tuple[int, int]]:
    """Yield the notes of all voices of a tune as written; ValueError or IndexError if it cannot be
    read.
    """
    header, voices = split_voices(abc)
    for lines in voices.values():
        fields = {line[0]: line[2:].strip() for line in header if line[1:2] == ":"}
        time, tied = Fraction(0), frozenset[int]()
        for measure in split_measures("\n".join(lines)):
            fields |= measure.fields
            meter = parse_meter(fields.get("M", "4/4"))
            sharps = parse_key(fields.get("K", "C").partition(" clef")[0]).sharps
            unit = parse_unit(fields.get("L"), meter)
            for event in read_measure(measure.text, unit, meter, sharps):
                onset = round(4 * TICKS_PER_BEAT * time)
                yield from ((onset, pitch) for pitch in event.pitches if pitch not in tied)
                tied = frozenset(event.pitches if event.is_tied else ())
                time += event.duration


def row_runs(row: AnyRow, config: str = "") -> list[Runs]:
    """Return the runs of each clip or tune of a row and, if it has no music, those of its
    question.
    """
    music: list[Runs] = []
    clips = [row[name] for name in ("midi", "midi_1", "midi_2") if row.get(name)]
    for notes, is_drum in product(map(read_note_arrays, clips), (False, True)):
        own = notes.drum == is_drum
        pairs = zip(notes.onset[own].tolist(), notes.pitch[own].tolist(), strict=True)
        music.append(note_runs(pairs, is_percussion=is_drum, is_pattern=config in _PATTERNS))
    for tune in _tunes(row):
        try:
            music.append(note_runs(_abc_notes(tune)))
        except (ValueError, IndexError):
            music.append(word_runs(tune))
    music = [runs for runs in music if runs]
    return music or [word_runs(row.get("question") or "")]


def _tunes(row: AnyRow) -> list[str]:
    """The tunes in ABC of a row, in its question and its options."""
    abc = row.get("abc") or []
    tunes = [abc] if isinstance(abc, str) else [*abc]
    question = row.get("question") or ""
    if start := _ABC.search(question):
        tune = question[start.start() :]
        header = "\n".join(line for line in tune.splitlines() if line[1:2] == ":")
        tunes += [tune, *(f"{header}\n{option}" for option in row["options"])]
    return tunes


def is_reserved(row: object) -> bool:
    """Return whether a composed question, by its id, or a stimulus, by its runs, is of the half
    reserved for tests.
    """
    key = row.removesuffix("-en").removesuffix("-zh") if isinstance(row, str) else row
    return bool(sha256(repr(key).encode()).digest()[0] % 2)


class TestRows:
    """Rows of test sets, which training rows must differ from; `record` counts what was checked and
    dropped.
    """

    __test__ = False  # for pytest

    def __init__(self) -> None:
        self.record = Decontamination(WORDS, NOTES, SHARE)
        # Run → numbers of contents.
        self._places: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._contents: list[tuple[str, int]] = []  # test set, number of runs

    def add(self, name: str, rows: Iterable[AnyRow], config: str = "") -> None:
        """Add the rows of a test set."""
        counts = self.record.tests.setdefault(name, {"rows": 0, "dropped": 0})
        for row in rows:
            counts["rows"] += 1
            for runs in row_runs(row, config):
                for run in runs:
                    self._places[run].append(len(self._contents))
                self._contents.append((name, len(runs)))

    def add_dataset(self, dataset: str, benchmark: DatasetSpec) -> None:
        """Add a dataset, as for `load_split`: all splits, as tasks on scores ask all by default."""
        origin = describe_dataset(dataset, benchmark=benchmark)
        for config in _PIECES.get(benchmark.name, origin.provenance.counts):
            columns = [name for name in _COLUMNS if name in benchmark.features[config]]
            for split in origin.provenance.counts[config]:
                rows = load_split(dataset, config, split, benchmark=benchmark, columns=columns)
                music = lilypond_music(rows["text"]) if "text" in columns else rows
                self.add(f"{benchmark.name} {origin.label}, {config}/{split}", music, config)

    def accepts(self, row: AnyRow, config: str = "", *, is_composed: bool = True) -> bool:
        """Return whether no text or music of a training row overlaps with a test row.

        Half of all composed questions and stimuli are reserved for tests, by a hash, so that tests
        of any seed have some that no training set has. Such a row is refused without being counted.
        """
        contents = row_runs(row, config)
        key = row["id"] if "question" in row else sorted(map(repr, contents[0]))
        if is_composed and is_reserved(key):
            return False
        self.record.checked += 1
        overlapping = set()
        for runs in contents:
            places = Counter(chain.from_iterable(self._places.get(run, ()) for run in runs))
            for place, common in places.items():
                name, size = self._contents[place]
                if common >= SHARE * min(size, len(runs)):
                    overlapping.add(name)
        for name in overlapping:
            self.record.tests[name]["dropped"] += 1
        self.record.dropped += bool(overlapping)
        return not overlapping


def lilypond_music(texts: Iterable[str]) -> Iterator[dict[str, bytes]]:
    """Yield pieces in LilyPond as rows with MIDI, compiled or from the cache; an empty row if
    LilyPond fails.
    """
    for run in compile_texts(texts, cache=lilypond_cache(), together=True):
        yield {"midi": run.midi[0]} if run.midi else {}
