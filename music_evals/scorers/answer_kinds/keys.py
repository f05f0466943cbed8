"""A key, weighted as by MIREX: a fifth above 0.5, the relative key 0.3, the parallel key 0.2.

Source: mir_eval.key; C. Raffel and others, "mir_eval: a transparent implementation of common MIR
metrics", ISMIR 2014.
"""

import re

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.runs import without_asides
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.pitches import SEMITONES, read_keys
from music_evals.scorers.readers.words import folded

_MODE = "(?:major|minor)"
_KEY = rf"(?:[A-Ga-g](?:#|b)?[ -]{_MODE})"
_COMPARED = re.compile(  # keys that another one is compared with, and chords
    r"(?i)(?:relative|parallel\w*|dominant|subdominant|enharmonic\w*)[^.;\n]{0,40}?"
    rf"(?:\b(?:of|is|to|with|von|de|di)\b|:)[^.;\n]{{0,15}}?{_KEY}"
    r"|(?:borrow|modulat|tonici|starts?|begins?|opens?|shift|moves?|turns?|passing)[^.;\n]{0,30}?"
    rf"\b(?:from|to|in|into|of)\b[^.;\n]{{0,15}}?{_KEY}"
    rf"|{_KEY}[ -](?:chords?|triads?|scale)"
)
_NAMES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")


def make(*_: object) -> AnswerKind:
    """Make ``key``."""
    return AnswerKind(read=read, score=score, column=r"\bkey\b|tonal")


def read(statement: str) -> list[str]:
    """Return the keys of a statement, each with the name that mir_eval accepts.

    >>> read("D♭ major"), read("a minor or C major")
    (['C# major'], ['A minor', 'C major'])
    """
    text = read_keys(affirmed(folded(statement.replace("|", " ")))).text
    text = _COMPARED.sub(" ", text)
    keys = read_keys(without_asides(text)).values or read_keys(text).values
    named = [f"{_NAMES[(SEMITONES[letter] + shift) % 12]} {mode}" for letter, shift, mode in keys]
    return list(dict.fromkeys(named))


def score(answer: str, reference: str) -> float:
    """Return what a key is worth, from 0 to 1.

    >>> score("G major", "C major"), score("", "C major")
    (0.5, 0.0)
    """
    from mir_eval.key import weighted_score

    (expected,) = read(reference)
    return float(weighted_score(expected, answer)) if answer else 0.0
