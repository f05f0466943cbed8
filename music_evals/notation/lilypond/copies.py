"""Near-copies: how much of a piece other pieces already contain.

Conventions: a piece is its LilyPond text, and only its music counts. A word is the name of a note with its duration
(``cis4.``), or a whole chord. Rests are left out, since all music has long ones. Octave marks are left out, so that
relative and absolute octaves compare equal. Comments, headers, strings, markups, lyrics, layout, articulation and white
space make no difference, nor do the language of note names and whether a repeated duration is written. A share is that
of the distinct runs of `RUN` words, and lies between 0 and 1.

A copy in another key, in other note values, or with its voices in another order bar by bar is not recognised.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, starmap
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from music_evals.notation.lilypond.syntax.header import is_name
from music_evals.notation.lilypond.syntax.languages import DEFAULT, LANGUAGES, language_set, name_of, note_names
from music_evals.notation.lilypond.syntax.lexer import LONG, Kind, Token, code_tokens
from music_evals.notation.lilypond.syntax.markups import arguments_end

RUN: Final = 8  # words in a row that are compared
NEAR_COPY: Final = 0.5
"""Share from which on a piece is called a near-copy.

Among 807 pieces of the Mutopia Project, 17 reach it: 16 are the same music in another version or edition, one is a
canon on the same bass. Pieces of different music share 0.15 at most. By scales and repeated notes, 2 of 2,401 excerpts
of 40 notes reach 0.5 by accident, and 4 of 2,280 excerpts of 24 notes."""
MAX_WORDS: Final = 50_000  # words of a text that are read
LEAST_RUNS: Final = 16  # a text with fewer distinct runs is too short or too uniform to compare

_PITCHES_AFTER: Final[Mapping[str, int]] = {"\\key": 1, "\\relative": 1, "\\transposition": 1, "\\transpose": 2}
_PASSED_OVER: Final = frozenset("',=!?")  # between a note's name and its duration
_CHORD_ENDS: Final = frozenset({">", "{", "}", "<<", ">>"})
_RESTS: Final = frozenset({"r", "R", "s"})
_CHORD_AGAIN: Final = "q"
_DIGITS: Final = 4
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

_Hashes = npt.NDArray[np.uint64]


def music_words(text: str) -> Iterator[str]:
    """Yield the notes and chords of a text in the order of writing, with Dutch names, no octaves and all durations."""
    tokens = code_tokens(text)
    language, duration = DEFAULT, "4"
    index = passed = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind is Kind.COMMAND:
            name = language_set(token, tokens[index + 1]) if index + 1 < len(tokens) else None
            language = name if name and name in LANGUAGES else language
            index, passed = arguments_end(text, tokens, index), _PITCHES_AFTER.get(token.text, 0)
            continue
        if token.text == "<":
            word, index = _chord(tokens, index, language)
        elif token.kind is Kind.WORD and not is_name(tokens, index):
            word, index = _note(tokens, index, language)
        else:
            word, index = "", index + 1
        if word and passed:
            passed -= 1
        elif word:
            written, index = _duration(tokens, index)
            duration = written or duration
            if word not in _RESTS:
                yield word + duration


def _note(tokens: Sequence[Token], index: int, language: str) -> tuple[str, int]:
    """The name of a note or rest, empty if there is none, and the index of the token after it."""
    word = _in_dutch(language).get(tokens[index].text, "")
    index += 1
    if not word:
        return "", index
    while index < len(tokens) and tokens[index].text in _PASSED_OVER:
        index += 1
    return word, index


def _chord(tokens: Sequence[Token], index: int, language: str) -> tuple[str, int]:
    """A chord without its duration, empty if it has no note, and the index of the token after it."""
    notes = []
    index += 1
    while index < len(tokens) and tokens[index].text not in _CHORD_ENDS:
        word = ""
        if tokens[index].kind is Kind.WORD:
            word, index = _note(tokens, index, language)
        else:
            index += 1
        if word and word not in _RESTS:
            notes.append(word)
    if index < len(tokens) and tokens[index].text == ">":
        index += 1
    return f"<{' '.join(notes)}>" if notes else "", index


def _duration(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """A duration with dots and factors, empty if there is none, and the index of the token after it."""
    if index == len(tokens) or not (tokens[index].text in LONG or _is_number(tokens[index])):
        return "", index
    parts = [tokens[index].text]
    index += 1
    while index < len(tokens) and tokens[index].text == ".":
        parts.append(".")
        index += 1
    while index + 1 < len(tokens) and tokens[index].text in ("*", "/") and _is_number(tokens[index + 1]):
        parts += [tokens[index].text, tokens[index + 1].text]
        index += 2
    return "".join(parts), index


def _is_number(token: Token) -> bool:
    return token.kind is Kind.NUMBER and len(token.text) <= _DIGITS


@cache
def _in_dutch(language: str) -> Mapping[str, str]:
    """The words of a language for notes, rests and a repeated chord → their Dutch words."""
    names = {word: name_of(pitch.step, pitch.alteration) for word, pitch in note_names(language).items()}
    return {**{word: word for word in (*_RESTS, _CHORD_AGAIN)}, **names}


class Nearest(NamedTuple):
    """The indexed piece that contains most of a text, and the share of the text's distinct runs that it contains."""

    id: str
    share: float


class CopyIndex:
    """An index of pieces, id → LilyPond text, of which a text may be a copy; the first `MAX_WORDS` words count.

    Source: the share is the containment of A. Z. Broder, "On the resemblance and containment of documents" (SEQUENCES
        1997), on runs of `RUN` words.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._ids = list(texts)
        runs_of = [_runs(text) for text in texts.values()]
        runs = np.concatenate([np.empty(0, np.uint64), *runs_of])
        pieces = np.repeat(np.arange(len(runs_of), dtype=np.int32), [len(hashes) for hashes in runs_of])
        order = np.argsort(runs, kind="stable")
        self._runs, self._pieces = runs[order], pieces[order]

    def nearest(self, text: str) -> Nearest | None:
        """Return the first of the pieces that contain most of a text; None if `shares` is empty."""
        return max(starmap(Nearest, self.shares(text).items()), key=lambda nearest: nearest.share, default=None)

    def shares(self, text: str) -> dict[str, float]:
        """Return id → share of a text that the piece contains; empty if it has too few runs, see `LEAST_RUNS`."""
        runs = _runs(text)
        if len(runs) < LEAST_RUNS:
            return {}
        first, last = (np.searchsorted(self._runs, runs, side) for side in ("left", "right"))
        counts = np.zeros(len(self._ids), int)
        for start, end in zip(first, last, strict=True):
            counts[self._pieces[start:end]] += 1
        return dict(zip(self._ids, (counts / len(runs)).tolist(), strict=True))


def _runs(text: str) -> _Hashes:
    words = list(islice(music_words(text), MAX_WORDS))
    if len(words) < RUN:
        return np.empty(0, np.uint64)
    # Unlike `hash`, these numbers are the same in every process.
    numbers = {word: int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) for word in set(words)}
    rows = np.lib.stride_tricks.sliding_window_view(np.array([numbers[word] for word in words], np.uint64), RUN)
    hashes = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        hashes = (hashes ^ column) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    return np.unique(hashes)
