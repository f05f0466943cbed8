"""Overlap of training rows with test rows, by runs of words and by runs of notes.

Text: runs of 13 words, as GPT-3 was checked (arXiv 2005.14165, appendix C). Case and punctuation do not count, and a
Chinese character is a word. A shorter text is one run.

Music: runs of 8 notes, as pitch intervals and ratios of the times between onsets (S. Doraisamy and S. Rüger, "A
polyphonic music retrieval system using n-grams", ISMIR 2004), so that another key or tempo makes no difference. Of
several notes with the same onset the highest counts; for percussion, all do. Shorter music is one run. Stimuli whose
pattern is the answer, such as a chord or a scale, are compared as a whole and at their own pitch.

Two texts or pieces of music overlap by the share of their common runs in the runs of the shorter one. From 80% on, as
Llama 2 calls a test item dirty (arXiv 2307.09288, appendix A.6), a training row is dropped. Text is compared only if a
question has no music, since questions on different music may have the same words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from music_evals.datasets_builders.dataset_io import DatasetSpec, Decontamination, describe_dataset, load_split
from music_evals.notation.abc.plain import split_voices
from music_evals.notation.abc.tunes import parse_key, parse_meter, parse_unit, read_measure, split_measures
from music_evals.notation.lilypond.compiler import compile_texts, lilypond_cache
from music_evals.notation.midi.note_arrays import read_note_arrays
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Performance

WORDS: Final = 13
NOTES: Final = 8
SHARE: Final = 0.8
PATTERNS: Final = ("chord_quality", "contour", "meter")
"""Configs of stimuli whose pattern is the answer."""

_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+[#♯♭°ø]*|[#♯♭°ø]+")
_ABC: Final = re.compile(r"^(?:X: ?\d|M:|L:|K:)", re.MULTILINE)  # the beginning of music in a question
_GRID: Final = 24  # steps of the first time between onsets of a run
_COLUMNS: Final = ("question", "abc", "options", "midi", "midi_1", "midi_2", "text")
_MUSIC: Final = {"msu": ("scores",), "lilybench": ("corpus",)}
"""Benchmark whose questions are on pieces → the configs of the pieces, which alone are compared."""

Runs = frozenset[Hashable]
Notes = Iterable[tuple[int, int]]  # onset in ticks, MIDI pitch


def word_runs(text: str) -> Runs:
    """Return the runs of words of a text; none if it has no words.

    >>> word_runs("Which note is A#?") == word_runs("which note, is A#")
    True
    """
    words = _WORD.findall(text.casefold())
    return frozenset(" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1)) if words)


def note_runs(notes: Notes, *, is_percussion: bool = False, is_pattern: bool = False) -> Runs:
    """Return the runs of notes, as pitches and onsets relative to the first note; none if there are no notes.

    With `is_pattern` the only run is all music at its own pitch.

    >>> scale = [(480 * step, 60 + step) for step in range(12)]
    >>> note_runs(scale) == note_runs([(onset // 2, pitch + 5) for onset, pitch in scale])
    True
    """
    pitches: defaultdict[int, set[int]] = defaultdict(set)
    for onset, pitch in notes:
        pitches[onset].add(pitch)
    chords = [(onset, tuple(sorted(pitches[onset]))) for onset in sorted(pitches)]
    length = len(chords) if is_pattern else min(NOTES, len(chords))
    runs = [chords[at : at + length] for at in range(len(chords) - length + 1)]
    return frozenset(_relative(run, at_pitch=is_percussion or is_pattern) for run in runs if run)


def _relative(run: Sequence[tuple[int, tuple[int, ...]]], at_pitch: bool) -> Hashable:
    start, first = run[0]
    unit = run[1][0] - start if len(run) > 1 else 1
    return tuple(
        (chord if at_pitch else chord[-1] - first[-1], round(_GRID * (onset - start) / unit)) for onset, chord in run
    )


def performance_runs(performance: Performance, config: str) -> Runs:
    """Return the runs of a composed clip of a config."""
    notes = ((note.onset, note.pitch) for note in performance.notes)
    return note_runs(notes, is_percussion=performance.percussion, is_pattern=config in PATTERNS)


def abc_runs(abc: str) -> Runs:
    """Return the runs of all voices of a tune in ABC together, as written; none if it cannot be read."""
    try:
        return note_runs(_abc_notes(abc))
    except (ValueError, IndexError):
        return frozenset()


def _abc_notes(abc: str) -> Iterator[tuple[int, int]]:
    header, voices = split_voices(abc)
    for lines in voices.values():
        fields = {line[0]: line[2:].strip() for line in header if line[1:2] == ":"}
        time, tied = Fraction(0), frozenset[int]()
        for measure in split_measures("\n".join(lines)):
            fields |= measure.fields
            meter = parse_meter(fields.get("M", "4/4"))
            sharps = parse_key(fields.get("K", "C").partition(" clef")[0]).sharps
            for event in read_measure(measure.text, parse_unit(fields.get("L"), meter), meter, sharps):
                yield from ((round(4 * TICKS_PER_BEAT * time), pitch) for pitch in event.pitches if pitch not in tied)
                tied = frozenset(event.pitches if event.is_tied else ())
                time += event.duration


def midi_runs(midi: bytes, config: str = "") -> list[Runs]:
    """Return the runs of the pitched notes of a MIDI file, and those of its percussion."""
    notes = read_note_arrays(midi)
    runs: list[Runs] = []
    for is_drum in (False, True):
        own = notes.drum == is_drum
        pairs = zip(notes.onset[own].tolist(), notes.pitch[own].tolist(), strict=True)
        runs.append(note_runs(pairs, is_percussion=is_drum, is_pattern=config in PATTERNS))
    return [own for own in runs if own]


def lilypond_runs(texts: Sequence[str]) -> Iterator[list[Runs]]:
    """Yield the runs of pieces in LilyPond, which are compiled or taken from the cache; none if one fails."""
    for run in compile_texts(texts, cache=lilypond_cache(), together=True):
        yield [runs for midi in run.midi[:1] for runs in midi_runs(midi)]


def row_runs(row: Mapping[str, Any], config: str = "") -> list[Runs]:
    """Return the runs of each clip or tune of a row and, if it has no music, those of its question."""
    music = [runs for name in row if name.startswith("midi") and row[name] for runs in midi_runs(row[name], config)]
    abc = row.get("abc") or []
    music += map(abc_runs, [abc] if isinstance(abc, str) else abc)
    question = row.get("question") or ""
    if tune := _ABC.search(question):
        header = "\n".join(line for line in question[tune.start() :].splitlines() if line[1:2] == ":")
        music += map(abc_runs, [question[tune.start() :], *(f"{header}\n{option}" for option in row["options"])])
    return [runs for runs in music if runs] or [runs for runs in [word_runs(question)] if runs]


class TestRows:
    """Rows of test sets, which training rows must differ from; `record` counts what was checked and dropped."""

    __test__ = False  # for pytest

    def __init__(self) -> None:
        self.record = Decontamination(WORDS, NOTES, SHARE)
        self._places: defaultdict[Hashable, list[int]] = defaultdict(list)  # run → numbers of test contents
        self._contents: list[tuple[str, int]] = []  # test set, number of runs

    def add(self, name: str, rows: Iterable[Sequence[Runs]]) -> None:
        """Add the rows of a test set, each as the runs of its contents."""
        counts = self.record.tests.setdefault(name, {"rows": 0, "dropped": 0})
        for contents in rows:
            counts["rows"] += 1
            for runs in contents:
                for run in runs:
                    self._places[run].append(len(self._contents))
                self._contents.append((name, len(runs)))

    def add_dataset(self, dataset: str, benchmark: DatasetSpec) -> None:
        """Add all splits of a dataset but that for training; `dataset` is as for `load_split`."""
        origin = describe_dataset(dataset, benchmark=benchmark)
        for config, splits in origin.provenance.counts.items():
            columns = [name for name in _COLUMNS if name in benchmark.features[config]]
            for split in splits if config in _MUSIC.get(benchmark.name, (config,)) else ():
                if split != "train":
                    rows = load_split(dataset, config, split, benchmark=benchmark, columns=columns)
                    runs = lilypond_runs(rows["text"]) if "text" in columns else (row_runs(row, config) for row in rows)
                    self.add(f"{benchmark.name} {origin.label}, {config}/{split}", runs)

    def accepts(self, *contents: Runs, is_composed: bool = True) -> bool:
        """Return whether no content of a training row overlaps with one of a test row.

        Composed content is also refused, without being counted, if its hash reserves it for tests: half of all content,
        so that a test of any seed has questions that no training set has.
        """
        key = repr([sorted(map(repr, runs)) for runs in contents])
        if is_composed and sha256(key.encode()).digest()[0] % 2:
            return False
        self.record.checked += 1
        overlapping: set[str] = set()
        for runs in contents:
            common = Counter(place for run in runs for place in self._places.get(run, ()))
            for place, count in common.items():
                name, size = self._contents[place]
                if count >= SHARE * min(size, len(runs)):
                    overlapping.add(name)
        for name in overlapping:
            self.record.tests[name]["dropped"] += 1
        self.record.dropped += bool(overlapping)
        return not overlapping
