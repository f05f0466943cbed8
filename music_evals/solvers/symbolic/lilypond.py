"""Texts about a score that LilyPond has read: its length, signatures, measures, problems and header.

The length of every text is bounded, whatever the score contains.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from music_evals.notation.lilypond.structure import Event, Structure

MAX_LINES: Final = 200
MAX_LINE: Final = 200
"""Lines of a text, and characters of a line."""


def tell_count(score: Structure) -> str:
    """Say how many measures there are, and why their number is in doubt, if it is."""
    text = f"{score.measures} measure{'' if score.measures == 1 else 's'}"
    text += ", and a pickup ahead of measure 1" if score.pickup else ""
    return f"{text}. But {'; '.join(score.problems)}." if score.problems else text


def tell_signatures(score: Structure) -> str:
    """List the changes of the time signature, then those of the key signature; equal keys of several staves once."""
    metres = [f"measure {metre.measure}: time signature {metre.name}" for metre in score.metres]
    keys = [f"measure {key.measure}: key signature {key.name or 'of no common name'}" for key in score.keys]
    return _lines([*(metres or ["no time signature"]), *(keys or ["no key signature"])])


def tell_measure(score: Structure, number: int) -> str:
    """List the time signature of a measure, 0 for a pickup, and its notes and rests by staff, voice and time.

    ValueError if there is no such measure.

    Example:
        >>> from fractions import Fraction
        >>> note = Event("note", Fraction(0), False, 1, Fraction(0), 1, 1, 0, Fraction(1), 0, Fraction(1, 4), 2)
        >>> print(tell_measure(Structure(1, False, (), (), (note,), 1, (), ""), 1))
        staff 1, voice 1, at 0: cis' lasting 1/4
    """
    first = 0 if score.pickup else 1
    if not first <= number <= score.measures:
        raise ValueError(f"there is no measure {number}; the measures are {first} to {score.measures}")
    events = [event for event in score.events if event.measure == number and event.kind != "skip"]
    lines = [f"time signature {score.metre_at(events[0].moment).name}"] if events and score.metres else []
    events.sort(key=lambda event: (event.staff, event.voice, event.moment, not event.grace))
    return _lines([*lines, *map(_tell_event, events)] or ["nothing begins in this measure"])


def tell_problems(score: Structure) -> str:
    """List LilyPond's own messages, with lines and columns of the text, or say that there are none."""
    lines = [line for line in score.messages.splitlines() if line.strip()]
    return _lines([*score.problems, *lines] or ["LilyPond has nothing to say against the text"])


def tell_header(header: Mapping[str, str]) -> str:
    r"""List the fields of a header, or say that there are none.

    Example:
        >>> tell_header({"title": "Menuet", "opus": "Anh.\n114"})
        'title: Menuet\nopus: Anh. 114'
    """
    return _lines([f"{name}: {text}" for name, text in header.items()] or ["the text has no header"])


def _tell_event(event: Event) -> str:
    name = "rest" if event.kind == "rest" else f"{'grace note ' if event.grace else ''}{event.name}"
    return f"staff {event.staff}, voice {event.voice}, at {event.position}: {name} lasting {event.duration}"


def _lines(lines: Iterable[str]) -> str:
    unique = list(dict.fromkeys(" ".join(line.split())[:MAX_LINE] for line in lines))
    if len(unique) > MAX_LINES:
        unique = [*unique[:MAX_LINES], f"and {len(unique) - MAX_LINES} more lines"]
    return "\n".join(unique)
