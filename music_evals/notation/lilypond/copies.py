"""Near-copies: how much of a piece other pieces already contain.

Conventions: a piece is its LilyPond text, and only its music counts. A word is the name of a note
with its duration (``cis4.``), or a whole chord. Rests are left out, since all music has long ones.
Octave marks are left out, so that relative and absolute octaves compare equal. Comments, headers,
strings, markups and lyrics in braces, layout, articulation and white space make no difference, nor
do the language of note names and whether a repeated duration or chord is written. A share is that
of the distinct runs of `RUN` words, and lies between 0 and 1. Runs are compared by their intervals
and by the ratios of their durations, so key and note values make no difference either; of a chord,
the first note counts.

A copy with its voices in another order bar by bar is not recognised.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, starmap
from math import log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from music_evals.notation.lilypond.syntax.languages import (
    DEFAULT,
    LANGUAGES,
    language_set,
    name_of,
    note_names,
)
from music_evals.notation.lilypond.syntax.lexer import Kind, Token, closing_index, tokenize

RUN = 8  # words in a row that are compared
NEAR_COPY = 0.5
"""Share from which on a piece is called a near-copy.

Among 819 pieces of the Mutopia Project, 19 reach it: 15 are the same music in another version, key
or edition, four are on the same bass or chorale as another. Pieces of different music share 0.25 at
most. By scales, arpeggios and repeated notes, 1.2% of 2,431 excerpts of 40 notes reach 0.5 in a
piece by another composer.
"""
MAX_WORDS = 50_000  # words of a text that are read
LEAST_RUNS = 16  # a text with fewer distinct runs is too short or too uniform to compare
BEGINNING = 64  # words that are compared note by note
SAME_NOTES = 0.65
"""Share of notes from which on two beginnings are one piece with some notes changed.

With every eighth note changed, 2,454 excerpts of the Mutopia Project keep 0.78 or more. Excerpts by
two composers, of 28 to 300 notes, have 0.60 at most in 72,468 pairs.
"""

_NOT_MUSIC = (
    "\\header",
    "\\paper",
    "\\layout",
    "\\midi",
    "\\with",
    "\\markup",
    "\\markuplist",
    "\\markuplines",
    "\\lyricmode",
    "\\lyrics",
    "\\addlyrics",
    "\\lyricsto",
)
"""Commands whose braces hold no notes."""
_PITCHES_AFTER: Mapping[str, int] = {
    "\\key": 1,
    "\\relative": 1,
    "\\transposition": 1,
    "\\transpose": 2,
}
_OCTAVES = ("'", ",", "=", "!", "?")  # between a note's name and its duration
_CHORD_ENDS = (">", "{", "}", "<<", ">>")
_RESTS = ("r", "R", "s")
_SEMITONES = (0, 2, 4, 5, 7, 9, 11)  # of the steps C to B
_WORD = re.compile(r"([a-z]+)[^>]*?>?(\d+|\\[a-z]+)(\.*)")  # first note, duration, dots
_LONG: Mapping[str, float] = {"\\breve": 1 / 2, "\\longa": 1 / 4, "\\maxima": 1 / 8}
_MODULI = np.array([24, 37])
"""Of intervals, in quarter tones, and of ratios of durations, of which twelve steps are a half; the
usual ratios differ.
"""
_FACTORS = 6364136223846793005 ** np.arange(2 * RUN)  # modulo 2**64; D. E. Knuth, MMIX
_CHORD_AGAIN = "q"
_DURATION = re.compile(
    r"\s*(?:[0-9]{1,4}|\\(?:breve|longa|maxima)\b)(?:\s*\.)*(?:\s*[*/]\s*[0-9]{1,4})*"
)

_Numbers = npt.NDArray[np.int64]


def music_words(text: str) -> Iterator[str]:
    """Yield the notes and chords of a text in the order of writing, with Dutch names, no octaves
    and all durations.
    """
    tokens = tokenize(text)
    names = _dutch_names(DEFAULT)
    duration, chord = "4", ""
    index = passed = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind is Kind.COMMAND:
            for following in tokens[index + 1 : index + 2]:
                if language := language_set(token, following):
                    names = _dutch_names(language)
            passed = _PITCHES_AFTER.get(token.text, 0)
            index = _after_command(tokens, index)
            continue
        word, index = _note_or_chord(tokens, index, names)
        if word == _CHORD_AGAIN:
            word = chord
        elif word.startswith("<"):
            chord = word
        if word and passed:
            passed -= 1
        elif word:
            while index < len(tokens) and tokens[index].text in _OCTAVES:
                index += 1
            if written := _DURATION.match(text, tokens[index - 1].end):
                duration = "".join(written[0].split())
            if word not in _RESTS:
                yield word + duration


def _note_or_chord(
    tokens: Sequence[Token], index: int, names: Mapping[str, str]
) -> tuple[str, int]:
    """The note or chord at an index, empty if there is none, and the index after it."""
    token = tokens[index]
    if token.text != "<":
        return names.get(token.text, "") if token.kind is Kind.WORD else "", index + 1
    end = index + 1
    while end < len(tokens) and tokens[end].text not in _CHORD_ENDS:
        end += 1
    words = (names.get(note.text, "r") for note in tokens[index + 1 : end])
    notes = [name for name in words if name not in _RESTS]
    end += end < len(tokens) and tokens[end].text == ">"
    return f"<{' '.join(notes)}>" if notes else "", end


def _after_command(tokens: Sequence[Token], index: int) -> int:
    """The index of the token after a command and, if they hold no notes, its braces."""
    # ``\lyricsto`` has the name of a voice ahead of its braces.
    opening = index + 1 + (tokens[index].text == "\\lyricsto")
    if tokens[index].text in _NOT_MUSIC and opening < len(tokens) and tokens[opening].text == "{":
        return closing_index(tokens, opening) + 1
    return index + 1


@cache
def _dutch_names(language: str) -> Mapping[str, str]:
    """The words of a language for notes, rests and a repeated chord → their Dutch words."""
    pitches = note_names(language) if language in LANGUAGES else {}
    names = {word: name_of(pitch.step, pitch.alteration) for word, pitch in pitches.items()}
    return {**{word: word for word in (*_RESTS, _CHORD_AGAIN)}, **names}


class Nearest(NamedTuple):
    """The indexed piece that contains most of a text, and the share of the text's distinct runs
    that it contains.
    """

    id: str
    share: float


class CopyIndex:
    """An index of pieces, id → LilyPond text, of which a text may be a copy; the first `MAX_WORDS`
    words count.

    Source: the share is the containment of A. Z. Broder, "On the resemblance and containment of
        documents" (SEQUENCES 1997), on runs of `RUN` words.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._ids = list(texts)
        runs_of = [_runs(text) for text in texts.values()]
        runs = np.concatenate([np.empty(0, np.int64), *runs_of])
        pieces = np.repeat(
            np.arange(len(runs_of), dtype=np.int32), [len(hashes) for hashes in runs_of]
        )
        self._sizes = np.array([len(hashes) for hashes in runs_of], dtype=int)
        order = np.argsort(runs, kind="stable")
        self._runs, self._pieces = runs[order], pieces[order]

    def nearest(self, text: str) -> Nearest | None:
        """Return the first of the pieces that contain most of a text; None if `shares` is empty."""
        return _largest(self.shares(text).items())

    def shares(self, text: str) -> dict[str, float]:
        """Return id → share of a text that the piece contains; empty if it has too few runs, see
        `LEAST_RUNS`.
        """
        runs = _runs(text)
        if len(runs) < LEAST_RUNS:
            return {}
        return dict(zip(self._ids, (self._common(runs) / len(runs)).tolist(), strict=True))

    def most_contained(self, text: str) -> Nearest | None:
        """Return the first of the pieces of which a text contains most; its share is that of the
        piece.

        Music that is added to a copy does not lower it. None if every piece has too few runs.
        """
        common = self._common(_runs(text)).tolist()
        return _largest(
            (name, count / size)
            for name, count, size in zip(self._ids, common, self._sizes.tolist(), strict=True)
            if size >= LEAST_RUNS
        )

    def _common(self, runs: _Numbers) -> npt.NDArray[np.int64]:
        """How many of the runs each piece has."""
        first, last = (np.searchsorted(self._runs, runs, side) for side in ("left", "right"))
        counts = np.zeros(len(self._ids), np.int64)
        for start, end in zip(first, last, strict=True):
            counts[self._pieces[start:end]] += 1
        return counts


def _largest(shares: Iterable[tuple[str, float]]) -> Nearest | None:
    return max(starmap(Nearest, shares), key=lambda nearest: nearest.share, default=None)


class Melody:
    """The words of a piece, see `music_words`, ready to be compared with those of others.

    Example:
        >>> in_c, in_d = Melody(["c4", "e4", "g2"]), Melody(["d8", "fis8", "a4"])
        >>> in_c.is_like(in_d), in_c.is_like(Melody(["c4", "e4", "a2"]))
        (True, False)
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._notes = _notes(words)
        self._runs = frozenset(_hashes(self._notes).tolist())

    def is_like(self, other: "Melody") -> bool:
        """Whether one of two pieces has most of the other's runs or, note by note, of its notes.

        Pieces with fewer than `LEAST_RUNS` runs are alike if all their intervals and ratios of
        durations are equal.
        """
        smaller = min(len(self._runs), len(other._runs))
        if smaller < LEAST_RUNS:
            first, second = ((notes - notes[:1]) % _MODULI for notes in (self._notes, other._notes))
            return np.array_equal(first, second)
        shared = len(self._runs & other._runs)
        return shared >= NEAR_COPY * smaller or self._aligned(other) >= SAME_NOTES

    def _aligned(self, other: "Melody") -> float:
        """The share of the shorter beginning whose notes the other has too, all at one distance in
        place and pitch and with one ratio of durations.
        """
        first, second = self._notes[:BEGINNING, None], other._notes[None, :BEGINNING]
        # Of all pairs of two notes, shape (notes, notes of the other).
        distances = (second - first) % _MODULI @ (_MODULI[1], 1)
        places = np.arange(second.shape[1]) - np.arange(len(first))[:, None] + len(first)
        counts = np.bincount((places * _MODULI.prod() + distances).ravel())
        return float(counts.max() / min(places.shape))


def _runs(text: str) -> _Numbers:
    """The hashes of the distinct runs of a text."""
    return np.unique(_hashes(_notes(islice(music_words(text), MAX_WORDS))))


def _hashes(notes: _Numbers) -> _Numbers:
    """A hash of each run of notes."""
    if len(notes) < RUN:
        return np.empty(0, np.int64)
    runs = np.lib.stride_tricks.sliding_window_view(notes, RUN, axis=0).swapaxes(1, 2)
    relative = (runs - runs[:, :1]) % _MODULI
    hashes: _Numbers = relative.reshape(len(runs), -1) @ _FACTORS
    return hashes


def _notes(words: Iterable[str]) -> _Numbers:
    """Pitch class and logarithm of the duration of each word, shape (words, 2)."""
    return np.array([*map(_note, words)], np.int64).reshape(-1, 2)


@cache
def _note(word: str) -> tuple[int, int]:
    name, base, dots = _WORD.findall(word)[0]
    pitch = note_names()[name]
    quarters = int(2 * _SEMITONES[pitch.step] + 2 * pitch.alteration)
    length = (2 - 0.5 ** len(dots)) / (_LONG.get(base) or max(int(base), 1))
    return quarters, round(12 * log2(length))
