"""Finds the one error that a score may hold: in a command, a word, the length of a measure, a leap or an accidental.

A score holds one error or none. So of each kind of suspicion, taken in order of how sure it is, only one that stands
alone in the text counts; many of the same kind tell more of the score's dialect than of an error.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Final

from music_evals.baselines.lilybench.music import Check, Key, Mark, Pitch, Sound
from music_evals.baselines.lilybench.score import timeline_of
from music_evals.baselines.lilybench.timeline import Item, Timeline

MAX_LEAP: Final = 10
"""Steps of the staff; a larger leap is an error (LilyBench, section 3.2)."""

_LINE_OF_FIFTHS: Final = (0, 2, 4, -1, 1, 3, 5)  # places of C, D, E, F, G, A, B
_TONICS: Final[Mapping[str, int]] = {
    "lydian": -1,
    "major": 0,
    "ionian": 0,
    "mixolydian": 1,
    "dorian": 2,
    "minor": 3,
    "aeolian": 3,
    "phrygian": 4,
    "locrian": 5,
}
"""Where on the line of fifths the tonic of a mode stands without sharps and flats."""

_Found = list[tuple[int, int]]  # offset and measure


def wrong_measures(text: str) -> list[int]:
    r"""Name the measure with an error.

    Args:
        text: LilyPond.

    Returns:
        Numbers, ascending; none where no error was found, and more than one only where an error is repeated.

    Raises:
        UnreadableScoreError: there is no music in it, or too much.

    Example:
        >>> wrong_measures("{ \\key g \\major g'4 a' b' c'' | d''4 c''8 b' a'4 | g'1 }")
        [2]
        >>> wrong_measures("{ \\key g \\major g'4 a' b' c'' | d''4 c'' b' a' | g'4 aes' g'2 }")
        [3]
        >>> wrong_measures("{ \\key g \\major g'4 a' b' c'' | d''4 c'' b' a' | g'1 }")
        []
    """
    played = timeline_of(text)
    words = _problems(played, "word")
    for suspicions in (
        _problems(played, "metadata"),
        words,
        _problems(played, "command"),
        # Where many words could not be read, no more can be said of lengths.
        [] if words else _first(_wrong_lengths(played)),
        _leaps(played),
        _foreign(played),
        _problems(played, "sign"),
        _apart(played),
    ):
        if len({offset for offset, _ in suspicions}) == 1:
            return sorted({measure for _, measure in suspicions})
    return []


def _problems(played: Timeline, kind: str) -> _Found:
    found: _Found = []
    for items in played.voices.values():
        for index, item in enumerate(items):
            if isinstance(item.what, Mark) and item.what.name == kind:
                measure, position = played.place(item.time)
                # What stands between the last note of a measure and its bar check is in that measure.
                if position == 0 and _ends_a_measure(items, index):
                    measure -= 1
                found.append((item.what.offset, measure))
    return found


def _ends_a_measure(items: list[Item], index: int) -> bool:
    before = next((item for item in reversed(items[:index]) if not isinstance(item.what, Mark)), None)
    after = next((item for item in items[index + 1 :] if not isinstance(item.what, Mark)), None)
    return before is not None and before.length > 0 and after is not None and isinstance(after.what, Check)


def _first(found: list[tuple[Fraction, int, int]]) -> _Found:
    return [(offset, measure) for _, offset, measure in sorted(found)[:1]]


def _wrong_lengths(played: Timeline) -> list[tuple[Fraction, int, int]]:
    """When and where stretches begin that do not fill their measures, by bar checks, and their measures."""
    found = []
    for items in played.voices.values():
        checks = [index for index, item in enumerate(items) if isinstance(item.what, Check)]
        for first, last in pairwise([-1, *checks]):
            inside = items[first + 1 : last]
            start = items[first].time if first >= 0 else items[0].time
            length = items[last].time - start
            # Two bar checks at one place, or a voice that has been silent meanwhile, say nothing.
            if not any(item.length for item in inside) or not played.is_timed(start):
                continue
            full = played.measure_length(start)
            measure, position = played.place(start)
            if position < 0:
                full = -position if length <= full else full
            if first < 0 and position:
                length += position
            if length % full:
                wrong = measure if length < 2 * full else _within(played, inside, measure)
                found.append((start, items[last].what.offset, wrong))
    return found


def _within(played: Timeline, items: list[Item], measure: int) -> int:
    """The measure that is wrong in a stretch: the first out of which a note reaches without a tie, else the last."""
    for item in items:
        place = played.place(item.time)
        full = played.measure_length(item.time)
        if place.position + item.length > full and not (isinstance(item.what, Sound) and item.what.tied):
            return place.measure
        measure = place.measure if item.length else measure
    return measure


def _leaps(played: Timeline) -> _Found:
    pairs: list[tuple[list[Item], int]] = []
    for items in _melodies(played):
        pairs += [
            (items, index)
            for index, (earlier, later) in enumerate(pairwise(items))
            if earlier.end == later.time and _steps(earlier, later) > MAX_LEAP
        ]
    if len(pairs) == 2 and pairs[0][0] is pairs[1][0] and pairs[1][1] == pairs[0][1] + 1:
        moved = pairs[1][0][pairs[1][1]]
    elif len(pairs) == 1:
        items, index = pairs[0]
        # Whichever of the two stands apart from the notes around both was moved.
        around = [*items[max(0, index - 2) : index], *items[index + 2 : index + 4]]
        earlier, later = items[index], items[index + 1]
        apart = [sum(_steps(note, other) for other in around) for note in (earlier, later)]
        moved = earlier if apart[0] > apart[1] else later
    else:
        return [(items[index].what.offset, played.place(items[index].time).measure) for items, index in pairs]
    return [(moved.what.offset, played.place(moved.time).measure)]


def _melodies(played: Timeline) -> Iterator[list[Item]]:
    """Notes and rests of each voice, without grace notes."""
    for items in played.voices.values():
        yield [item for item in items if isinstance(item.what, Sound) and not item.grace]


def _steps(earlier: Item, later: Item) -> int:
    """How many steps of the staff lie between two notes; of chords, between the notes written first."""
    if not earlier.pitches or not later.pitches:
        return 0
    return abs(earlier.pitches[0].degree - later.pitches[0].degree)


def _foreign(played: Timeline) -> _Found:
    return [
        (item.what.offset, played.place(item.time).measure)
        for items in played.voices.values()
        for item in items
        if not all(_belongs(pitch, played.key_at(item.time, item.staff)) for pitch in item.pitches)
    ]


def _belongs(pitch: Pitch, key: Key | None) -> bool:
    """Whether a key or a closely related one has a pitch.

    Closely related keys have at most one sharp or flat more or less. On the line of fifths the notes of all of them go
    from a fifth below the key's own seven to a fifth above; the raised sixth and seventh degrees of their minor keys
    reach three fifths further. No key is C major.
    """
    if key is not None and key.mode not in _TONICS:
        return True
    signature = _fifths(key.tonic) - _TONICS[key.mode] if key is not None else 0
    return -2 <= _fifths(pitch) - signature <= 9


def _fifths(pitch: Pitch) -> int | Fraction:
    return _LINE_OF_FIFTHS[pitch.step] + 7 * pitch.alteration


def _apart(played: Timeline) -> _Found:
    """Voices without bar checks that end beside a bar line, where the others beside them end at one."""
    found: _Found = []
    for strands in played.strands:
        if strands.start or all(played.place(end).position for _, end in strands.ends):
            continue
        for voice, end in strands.ends:
            items = [item for item in played.voices.get(voice, []) if item.time < end]
            checked = any(isinstance(item.what, Check) for item in items)
            if played.place(end).position and len(items) > 1 and not checked:
                found.append((items[0].what.offset, _within(played, items, played.place(items[0].time).measure)))
    return found
