"""Near-copies: how much of a piece other pieces already contain.

Conventions: a piece is its LilyPond text, and only its music counts. A word is the name of a note
with its duration (``cis4.``), or a whole chord. Rests are left out, since all music has long ones.
Octave marks are left out, so that relative and absolute octaves compare equal. Comments, headers,
strings, markups and lyrics in braces, layout, articulation and white space make no difference, nor
do the language of note names and whether a repeated duration is written. A share is that of the
distinct runs of `RUN` words, and lies between 0 and 1.

A copy in another key, in other note values, or with its voices in another order bar by bar is not
recognised.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, starmap
from typing import NamedTuple
from zlib import crc32

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

Among 807 pieces of the Mutopia Project, 17 reach it: 16 are the same music in another version or
edition, one is a canon on the same bass. Pieces of different music share 0.15 at most. By scales
and repeated notes, 2 of 2,401 excerpts of 40 notes reach 0.5 by accident, and 4 of 2,280 excerpts
of 24 notes.
"""
MAX_WORDS = 50_000  # words of a text that are read
LEAST_RUNS = 16  # a text with fewer distinct runs is too short or too uniform to compare
SKETCH = 256  # hashes of a text that stand for it in a log

_NOT_MUSIC = frozenset(
    (
        *("\\header", "\\paper", "\\layout", "\\midi", "\\with"),
        *("\\markup", "\\markuplist", "\\markuplines"),
        *("\\lyricmode", "\\lyrics", "\\addlyrics", "\\lyricsto"),
    )
)
"""Commands whose braces hold no notes."""
_PITCHES_AFTER: Mapping[str, int] = {
    "\\key": 1,
    "\\relative": 1,
    "\\transposition": 1,
    "\\transpose": 2,
}
_OCTAVES = frozenset("',=!?")  # between a note's name and its duration
_CHORD_ENDS = frozenset({">", "{", "}", "<<", ">>"})
_RESTS = frozenset({"r", "R", "s"})
_CHORD_AGAIN = "q"
_DURATION = re.compile(
    r"\s*(?:[0-9]{1,4}|\\(?:breve|longa|maxima)\b)(?:\s*\.)*(?:\s*[*/]\s*[0-9]{1,4})*"
)

_Hashes = npt.NDArray[np.int64]


def music_words(text: str) -> Iterator[str]:
    """Yield the notes and chords of a text in the order of writing, with Dutch names, no octaves
    and all durations.
    """
    tokens = tokenize(text)
    names = _dutch_names(DEFAULT)
    duration = "4"
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

    def _common(self, runs: _Hashes) -> npt.NDArray[np.int64]:
        """How many of the runs each piece has."""
        first, last = (np.searchsorted(self._runs, runs, side) for side in ("left", "right"))
        counts = np.zeros(len(self._ids), np.int64)
        for start, end in zip(first, last, strict=True):
            counts[self._pieces[start:end]] += 1
        return counts


def _largest(shares: Iterable[tuple[str, float]]) -> Nearest | None:
    return max(starmap(Nearest, shares), key=lambda nearest: nearest.share, default=None)


def sketch(text: str) -> list[int]:
    """Return the smallest hashes of a text's runs, in order; of a text with too few runs the hash
    of all its music.

    Example:
        >>> sketch("{ c'4 d' }") == sketch("{ c''4 d''4 } % again")
        True
    """
    runs = _runs(text)
    if len(runs) < LEAST_RUNS:
        return [crc32(" ".join(islice(music_words(text), MAX_WORDS)).encode())]
    return sorted(runs.tolist())[:SKETCH]


def contained(text: Sequence[int], other: Sequence[int]) -> float:
    """Return the share of a text that another contains, estimated from the sketches of both.

    The hashes of the one that lie within the range of the other's sketch are a random sample of it.

    Source: A. Z. Broder, "On the resemblance and containment of documents" (SEQUENCES 1997),
    section 3.

    Example:
        >>> contained([2, 5, 7], [2, 3, 7]), contained([2, 5], [])
        (0.6666666666666666, 0.0)
    """
    is_whole = len(other) < SKETCH
    compared = [run for run in text if is_whole or run <= other[-1]]
    return len({*compared} & {*other}) / max(len(compared), 1)


def _runs(text: str) -> _Hashes:
    """The hashes of the distinct runs of a text."""
    words = list(islice(music_words(text), MAX_WORDS))
    runs = {
        crc32(" ".join(words[start : start + RUN]).encode())
        for start in range(len(words) - RUN + 1)
    }
    return np.fromiter(runs, np.int64, len(runs))
