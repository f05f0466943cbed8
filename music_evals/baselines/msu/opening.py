"""Answers to questions on what stands at the beginning of a score."""

import re
from fractions import Fraction
from typing import Final

from music_evals.baselines.msu.asked import PART, Rule, one, part, rule, yes
from music_evals.baselines.msu.music import Event
from music_evals.baselines.msu.score import Measure, Score

_TEMPO_WORDS: Final = re.compile(
    r"\b(?:adagi|all?egr|andant|grave|langsam|larg|lento?|moderat|modéré|mäßig|nicht|prest|schnell|vivac|tempo|lebhaft"
    r"|geschwind|vif)",
    re.IGNORECASE,
)
# Where the tonics of major keys lie on the circle of fifths, from seven flats to seven sharps.
_CIRCLE: Final = ("C♭", "G♭", "D♭", "A♭", "E♭", "B♭", "F", "C", "G", "D", "A", "E", "B", "F♯", "C♯", "G♯", "D♯", "A♯")


def _composer(score: Score, _: re.Match[str]) -> str:
    return one({score.composer} - {""})


def _title(score: Score, _: re.Match[str]) -> str:
    return one({score.title} - {""})


def _firsts(score: Score) -> list[Measure]:
    found = [each.measures[0] for each in score.parts]
    if not found:
        raise ValueError("there is no music")
    return found


def _key(score: Score, _: re.Match[str]) -> str:
    """The key of the signature, major or minor, on whose tonic the bass ends, or begins where it ends on neither."""
    sharps = _firsts(score)[0].sharps
    modes = {_CIRCLE[sharps + 7]: "major", _CIRCLE[sharps + 10]: "minor"}
    edges = [measures for measures in (_last_with_notes(score), _first_with_notes(score)) if measures]
    if any(each.has_new_key for one_part in score.parts for each in one_part.measures):
        edges = edges[1:]
    for events in edges:
        bass = min((pitch for event in events for pitch in event.pitches), key=lambda pitch: pitch.height)
        if bass.name in modes:
            return f"{bass.name} {modes[bass.name]}"
    raise ValueError("the bass does not say the key")


def _last_with_notes(score: Score) -> list[Event]:
    """What sounds at the last moment at which a note begins."""
    for columns in zip(*(reversed(each.measures) for each in score.parts), strict=False):
        notes = [event for each in columns for event in each.notes]
        if notes:
            return _sounding(notes, max(event.start for event in notes))
    return []


def _first_with_notes(score: Score) -> list[Event]:
    for columns in zip(*(each.measures for each in score.parts), strict=False):
        notes = [event for each in columns for event in each.notes]
        if notes:
            return _sounding(notes, min(event.start for event in notes))
    return []


def _sounding(notes: list[Event], moment: Fraction) -> list[Event]:
    return [event for event in notes if event.start <= moment < event.end]


def _signs(score: Score, _: re.Match[str]) -> str:
    return str(abs(int(one({str(each.sharps) for each in _firsts(score)}))))


def _metre(score: Score, _: re.Match[str]) -> str:
    return one({each.metre for each in _firsts(score)} - {""})


def _clef(score: Score, match: re.Match[str]) -> str:
    return one({part(score, match).measures[0].clef} - {""})


def _only_clef(score: Score, _: re.Match[str]) -> str:
    return one({each.clef for each in _firsts(score)} - {""})


def _tempo_words(score: Score, _: re.Match[str]) -> str:
    found = {score.tempo_words} - {""}
    for each in _firsts(score):
        for start, sign in each.signs:
            words = sign.strip('"').lstrip("^_<>@")
            if start == 0 and sign.startswith('"') and _TEMPO_WORDS.search(words):
                found.add(words)
    return one(found)


def _beats(score: Score, _: re.Match[str]) -> str:
    if score.beats is None:
        raise ValueError("there is no metronome mark")
    return str(score.beats)


def _anacrusis(score: Score, _: re.Match[str]) -> str:
    full = _firsts(score)[0].full
    length = max(each.length for each in _firsts(score))
    if full is None or not length:
        raise ValueError("there is no metre, or no music")
    return yes(length < full)


def _instruments(score: Score, _: re.Match[str]) -> str:
    names = [each.name for each in score.parts]
    if not names or not all(names):
        raise ValueError("there are parts without names")
    return ", ".join(dict.fromkeys(names))


def _staves(score: Score, _: re.Match[str]) -> str:
    return str(len(score.parts) or one(set()))


def _last_number(score: Score, _: re.Match[str]) -> str:
    return one({str(each.measures[-1].number) for each in score.parts})


def _dynamic(score: Score, _: re.Match[str]) -> str:
    return one({mark for each in _firsts(score) for start, mark in each.dynamics if start == 0})


RULES: Final[tuple[Rule, ...]] = (
    rule(r"Who composed", _composer),
    rule(r"What is the title", _title),
    rule(r"In which key, major or minor, does the piece begin", _key),
    rule(r"How many signs \(sharps, or else flats\) does the key signature at the beginning", _signs),
    rule(r"What is the time signature at the beginning", _metre),
    rule(rf"Which clef stands at the beginning of {PART}", _clef),
    rule(r"Which clef does it begin with", _only_clef),
    rule(r"Which tempo indication, in words, stands at the beginning", _tempo_words),
    rule(r"Which number of beats per minute does the metronome mark at the beginning", _beats),
    rule(r"Does the piece begin with an anacrusis", _anacrusis),
    rule(r"For which instruments or voices is the piece written", _instruments),
    rule(r"How many staves does a complete system", _staves),
    rule(r"What is the number of the last measure", _last_number),
    rule(r"Which dynamic marking stands at the very beginning", _dynamic),
)
"""What answers questions of level 1."""
