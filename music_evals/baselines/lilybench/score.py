"""What a LilyPond text says, read without LilyPond: its notes in their measures, its length, key and metre.

Independent of the ground truth of LilyBench, which is made by running LilyPond. Measures are numbered as there: the
first complete one is 1, a pickup ahead of it 0, repeats count as written.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from music_evals.baselines.lilybench.music import Key, Pitch
from music_evals.baselines.lilybench.ordering import next_measure, order_measures
from music_evals.baselines.lilybench.parser import Written, parse
from music_evals.baselines.lilybench.timeline import Timeline, play
from music_evals.baselines.lilybench.tokens import UnreadableScoreError

__all__ = [
    "Event",
    "Score",
    "UnreadableScoreError",
    "Voice",
    "count_measures",
    "metadata",
    "next_measure",
    "order_measures",
    "read_score",
    "timeline_of",
]

_STEPS: Final = "CDEFGAB"


@dataclass(frozen=True, slots=True)
class Event:
    """A note, chord or rest.

    Args:
        measure: number of the measure that it begins in; 0 for a pickup.
        position: whole notes from the measure's beginning; negative in a pickup.
        pitches: none for a rest.
        duration: in whole notes; none for a grace note.
        offset: where it begins in the text.
    """

    measure: int
    position: Fraction
    pitches: tuple[Pitch, ...]
    duration: Fraction
    offset: int


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice: number of its staff at the beginning, and its events in order."""

    staff: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A score.

    Args:
        voices: those with music.
        keys: number of the measure, position in it, and key, by time.
        metres: number of the measure, position in it, and metre such as ``3/4``, by time.
        measures: how many.
    """

    voices: tuple[Voice, ...]
    keys: tuple[tuple[int, Fraction, Key], ...]
    metres: tuple[tuple[int, Fraction, str], ...]
    measures: int


def read_score(text: str) -> Score:
    r"""Read the first written score of a text.

    Args:
        text: LilyPond.

    Raises:
        UnreadableScoreError: there is no music in it, or too much.

    Example:
        >>> score = read_score("\\relative c' { \\time 2/4 \\partial 8 g8 | c4 e8( d) | c2 }")
        >>> [(event.measure, str(event.position), event.pitches[0].degree) for event in score.voices[0].events]
        [(0, '-1/8', -3), (1, '0', 0), (1, '1/4', 2), (1, '3/8', 1), (2, '0', 0)]
    """
    played = timeline_of(text)
    voices = []
    for items in played.voices.values():
        events = [
            Event(*played.place(item.time), item.pitches, item.length, item.what.offset)
            for item in items
            if item.pitches or item.length
        ]
        if events:
            voices.append(Voice(items[0].staff, tuple(events)))
    keys = sorted(played.keys, key=lambda key: key[0])
    return Score(
        voices=tuple(voices),
        keys=tuple((*played.place(time), key) for time, _, key in keys),
        metres=tuple((*played.place(time), f"{above}/{below}") for time, (above, below) in played.metres),
        measures=played.measures,
    )


def count_measures(text: str) -> int:
    r"""Count the measures of the first written score.

    Args:
        text: LilyPond.

    Raises:
        UnreadableScoreError: there is no music in it, or too much.

    Example:
        >>> count_measures("{ \\partial 4 g'4 \\repeat volta 2 { c''1 } \\alternative { d''1 e''1 } c''2 }")
        4
    """
    return timeline_of(text).measures


def metadata(text: str) -> dict[str, str]:
    r"""Tell the key, metre and note length (the metre's denominator) that a score begins with.

    Args:
        text: LilyPond.

    Returns:
        ``key``, where there is none C major; ``metre``, where there is none 4/4; ``note_length``.

    Raises:
        UnreadableScoreError: there is no music in it, or too much.

    Example:
        >>> metadata("{ \\key bes \\minor \\time 6/8 c'4. }")
        {'key': 'B-flat minor', 'metre': '6/8', 'note_length': '8'}
    """
    played = timeline_of(text)
    keys = sorted(played.keys, key=lambda key: key[0])
    key = keys[0][2] if keys else Key(Pitch(0, Fraction(0), 0), "major")
    metre = next((metre for time, metre in played.metres if time == 0), (4, 4))
    sign = ("-flat" if key.tonic.alteration < 0 else "-sharp") * int(abs(key.tonic.alteration))
    tonic = _STEPS[key.tonic.step] + sign
    return {"key": f"{tonic} {key.mode}", "metre": f"{metre[0]}/{metre[1]}", "note_length": str(metre[1])}


def timeline_of(text: str) -> Timeline:
    """Play the first written score of a text: one that does not ask for MIDI alone, where there is one.

    Args:
        text: LilyPond.

    Raises:
        UnreadableScoreError: there is no music in it, or too much.
    """
    scores = parse(text)
    if not scores:
        raise UnreadableScoreError("there is no music in the text")
    return play(next(filter(_is_written, scores), scores[0]).music)


def _is_written(score: Written) -> bool:
    return score.outputs != {"midi"}
