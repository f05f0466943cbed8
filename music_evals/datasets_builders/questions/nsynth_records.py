"""Notes of NSynth, and rendered notes in their place.

An entry of ``examples.json`` is a note: its key is the name of its sound, `instrument_family_str`
and `instrument_source_str` are labels, `pitch` is a MIDI number.
"""

from collections.abc import Iterator, Sequence

from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Record
from music_evals.datasets_builders.questions.rendered_clips import (
    instrument_questions,
    note_questions,
)

FAMILIES = {
    "bass": (32, 33),
    "brass": (56, 57, 60),
    "flute": (73, 74),
    "guitar": (24, 27),
    "keyboard": (0, 4),
    "mallet": (11, 12),
    "organ": (16, 19),
    "reed": (65, 68, 71),
    "string": (40, 42),
    "synth_lead": (80, 81),
    "vocal": (52, 53),
}
"""Label → General MIDI programs, counted from 0; NSynth's labels in its order."""
SOURCES = {
    "acoustic": (0, 24, 32, 40, 56, 71, 73),
    "electronic": (4, 5, 16, 27, 33),
    "synthetic": (38, 54, 62, 80, 81),
}
_INSTRUMENT = "Of which family is the instrument that plays?"
_SOURCE = "Is the sound acoustic, electronic or synthetic?"
_PITCH = "Which pitch sounds?"
_PER_FAMILY = 4
_NOTES = 30


def read_instrument(record: Record) -> MediaQuestion:
    """Ask for the family of a note's instrument."""
    place = [*FAMILIES].index(record["instrument_family_str"])
    return _question(record, _INSTRUMENT, [*FAMILIES], place, "label")


def read_source(record: Record) -> MediaQuestion:
    """Ask for the source of a note."""
    place = [*SOURCES].index(record["instrument_source_str"])
    return _question(record, _SOURCE, [*SOURCES], place, "label")


def read_pitch(record: Record) -> MediaQuestion:
    """Ask for the pitch of a note."""
    return _question(record, _PITCH, [], str(int(record["pitch"])), "pitch:midi")


def compose_instruments(seed: int) -> Iterator[MediaQuestion]:
    """Ask for the families of rendered notes."""
    return instrument_questions(seed, FAMILIES, _PER_FAMILY * len(FAMILIES), _INSTRUMENT)


def compose_sources(seed: int) -> Iterator[MediaQuestion]:
    """Ask for the sources of rendered notes."""
    return instrument_questions(seed, SOURCES, _NOTES, _SOURCE)


def compose_pitches(seed: int) -> Iterator[MediaQuestion]:
    """Ask for the pitches of rendered notes."""
    return note_questions(seed, SOURCES["acoustic"], _NOTES)


def _question(
    record: Record, text: str, options: Sequence[str], right: int | str, kind: str
) -> MediaQuestion:
    return MediaQuestion(
        record["id"],
        [Part("audio", record["id"]), text],
        options,
        right,
        piece=record["instrument_str"],
        tags=[f"{name}: {record[f'instrument_{name}_str']}" for name in ("family", "source")],
        answer_kind=kind,
    )
