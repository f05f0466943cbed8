"""A key, weighted as by MIREX: a fifth 0.5, the relative key 0.3, the parallel key 0.2.

Source: mir_eval.key; C. Raffel and others, "mir_eval: a transparent implementation of common MIR
metrics", ISMIR 2014.
"""

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.runs import without_asides
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.pitches import SEMITONES, read_keys
from music_evals.scorers.readers.words import folded

_NAMES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")


def make(name: str, *_: object) -> AnswerKind:
    """Make ``key``."""
    return AnswerKind(name=name, read=read, score=score)


def read(statement: str) -> list[str]:
    """Return the keys of a statement, each with the name that mir_eval accepts.

    >>> read("D♭ major"), read("a minor or C major")
    (['C# major'], ['A minor', 'C major'])
    """
    text = affirmed(folded(statement))
    keys = read_keys(without_asides(text)).values or read_keys(text).values
    named = [f"{_NAMES[(SEMITONES[letter] + shift) % 12]} {mode}" for letter, shift, mode in keys]
    return [*dict.fromkeys(named)]


def score(answer: str, reference: str) -> float:
    """Return what a key is worth, from 0 to 1.

    >>> score("G major", "C major"), score("", "C major")
    (0.5, 0.0)
    """
    from mir_eval.key import weighted_score

    (expected,) = read(reference)
    return float(weighted_score(expected, answer)) if answer else 0.0
