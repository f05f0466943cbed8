"""Notes of NSynth, and rendered notes in their place.

An entry of ``examples.json`` is a note: its key is the name of its sound, and
`instrument_family_str`, `instrument_source_str` and `pitch` are answers. Facts of the benchmark,
``[programs]``, have the labels.
"""

from collections.abc import Iterator, Sequence

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.listening import instrument_questions
from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Record
from music_evals.datasets_builders.questions.rendered_pitches import pitch_questions

_QUESTIONS = {
    "family": "Of which family is the instrument that plays?",
    "source": "Is the sound acoustic, electronic or synthetic?",
}
_NOTES = {"family": 44, "source": 30}


def read_label(record: Record, name: str) -> MediaQuestion:
    """Ask for the ``family`` of a note's instrument, or for its ``source``."""
    labels = [*load("nsynth").table["programs"][name]]
    place = labels.index(record[f"instrument_{name}_str"])
    return _question(record, _QUESTIONS[name], labels, place, "label")


def read_pitch(record: Record) -> MediaQuestion:
    """Ask for the pitch of a note."""
    return _question(record, "Which pitch sounds?", [], str(int(record["pitch"])), "pitch:midi")


def compose_labels(seed: int, name: str) -> Iterator[MediaQuestion]:
    """Ask for the label of rendered notes."""
    programs = load("nsynth").table["programs"][name]
    return instrument_questions(seed, programs, _NOTES[name], _QUESTIONS[name])


def compose_pitches(seed: int) -> Iterator[MediaQuestion]:
    """Ask for the pitch of rendered notes."""
    return pitch_questions(seed, ["A1"], 30, ["midi"])


def _question(
    record: Record, text: str, labels: Sequence[str], right: int | str, kind: str
) -> MediaQuestion:
    name, piece = record["id"], record["instrument_str"]
    return MediaQuestion(
        name, [Part("audio", name), text], labels, right, piece=piece, answer_kind=kind
    )
