"""The three deterministic solvers of MUSE: off-beats of a rhythm, transposition of melodies,
quality of a chord.

Each takes the integers of a formulation and returns a :class:`Decision`. With it stand the true
transcription of a MIDI file, and a formulation for each answer.

Source: arXiv 2510.22455, Appendix C.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from music_evals.notation.midi.files import MidiFile
from music_evals.solvers.symbolic.schema import Lists, Schema

KICK, SNARE = 36, 38  # of General MIDI percussion

# Number of off-beat onsets to option letter.
LEVELS: Mapping[int, str] = {
    0: "A",
    2: "B",
    4: "C",
    6: "D",
    8: "E",
}

SAME = "Yes, these are the same melody."
DIFFERENT = "No, these are not the same melody."

QUALITIES: Mapping[str, tuple[str, frozenset[int]]] = {
    "A": ("Major", frozenset({0, 4, 7})),
    "B": ("Minor", frozenset({0, 3, 7})),
    "C": ("Dominant", frozenset({0, 4, 7, 10})),
    "D": ("Diminished", frozenset({0, 3, 6})),
}
"""Option letter to the quality's name and its pitch classes above the root, in semitones."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The option that the integers determine, None if there is none, and the finding that a model
    reads.
    """

    answer: str | None
    result: str


@dataclass(frozen=True, slots=True)
class SymbolicSolver:
    """A deterministic solver, with the name of its calls in the log and the schema that it reads.

    `transcribe` returns the true integers of a clip, and `examples` has integers for each answer.
    """

    name: str
    schema: Schema
    decide: Callable[[Lists], Decision]
    transcribe: Callable[[MidiFile], list[int]]
    examples: Mapping[str, Lists]

    def solve(self, text: str, identifiers: Sequence[str]) -> Decision:
        """Read a formulation with a line for each identifier, and decide; FormulationError if it is
        no valid one.

        Example:
            >>> CHORD_QUALITY.solve("chord(Excerpt1, [57, 60, 64])", ["Excerpt1"]).answer
            'B'
        """
        return self.decide(self.schema.parse(text, identifiers))


def count_off_beats(lists: Lists) -> Decision:
    """Count onsets on the even slots of the 32-slot grid of eighth notes; undecided for a count
    that is no level.

    Slots are 1-based. A slot that is listed twice (kick and snare together) counts twice.

    Example:
        >>> count_off_beats([[1, 4, 5, 8]])
        Decision(answer='B', result='2 kick or snare onsets fall on off-beats.')
    """
    (slots,) = lists
    if not slots:
        return Decision(None, "The list of onsets is empty, so nothing can be counted.")
    count = sum(slot % 2 == 0 for slot in slots)
    result = (
        f"{count} kick or snare "
        f"{'onset falls on an off-beat' if count == 1 else 'onsets fall on off-beats'}."
    )
    if count not in LEVELS:
        return Decision(
            None,
            f"{result} No option has that number; the options are {', '.join(map(str, LEVELS))}.",
        )
    return Decision(LEVELS[count], result)


def compare_intervals(lists: Lists) -> Decision:
    """Decide whether two lists of MIDI pitches are transpositions of each other; undecided if one
    is empty.

    Example:
        >>> compare_intervals([[60, 62, 64], [65, 67, 69]]).answer
        'Yes, these are the same melody.'
    """
    if not all(lists):
        return Decision(None, "A list of pitches is empty, so the melodies cannot be compared.")
    first, second = ([after - before for before, after in pairwise(pitches)] for pitches in lists)
    if first == second:
        return Decision(SAME, "The two melodies ARE transpositions of each other.")
    return Decision(DIFFERENT, "The two melodies ARE NOT transpositions of each other.")


def classify_chord(lists: Lists) -> Decision:
    """Name the quality of a chord, one list of MIDI pitches in any order, over whichever root fits,
    if any.

    Example:
        >>> classify_chord([[60, 64, 67, 70]])
        Decision(answer='C', result='The chord is Dominant.')
    """
    (pitches,) = lists
    classes = {pitch % 12 for pitch in pitches}
    for root in sorted(classes):
        above = frozenset((pitch_class - root) % 12 for pitch_class in classes)
        for letter, (name, intervals) in QUALITIES.items():
            if above == intervals:
                return Decision(letter, f"The chord is {name}.")
    return Decision(
        None,
        "The pitches form none of the chords Major, Minor, Dominant and Diminished over any root.",
    )


def hits_of(clip: MidiFile) -> list[tuple[int, int]]:
    """All kicks and snares: the 1-based slot, of an eighth note each, and the pitch."""
    hits = [note for note in clip.notes if note.is_drum and note.pitch in (KICK, SNARE)]
    return [(1 + round(2 * note.onset / clip.ticks_per_beat), note.pitch) for note in hits]


def slots_of(clip: MidiFile) -> list[int]:
    """The slots of all kicks and snares."""
    return [slot for slot, _ in hits_of(clip)]


def pitches_of(clip: MidiFile) -> list[int]:
    """The pitches of a melody, in the order in which they sound."""
    return [note.pitch for note in clip.notes]


def sounding_pitches(clip: MidiFile) -> list[int]:
    """All pitches that sound, once each, in ascending order."""
    return sorted({note.pitch for note in clip.notes})


SYNCOPATION = SymbolicSolver(
    "off_beat_solver",
    Schema("rhythm", lowest=1, highest=32, longest=64),
    count_off_beats,
    slots_of,
    {letter: [[1, *range(2, 2 * count + 1, 2)]] for count, letter in LEVELS.items()},
)
TRANSPOSITION = SymbolicSolver(
    "transposition_solver",
    Schema("melody", lowest=0, highest=127, longest=128, in_order=True),
    compare_intervals,
    pitches_of,
    {SAME: [[60, 62, 64], [65, 67, 69]], DIFFERENT: [[60, 62, 64], [65, 67, 68]]},
)
CHORD_QUALITY = SymbolicSolver(
    "chord_quality_solver",
    Schema("chord", lowest=0, highest=127, longest=32),
    classify_chord,
    sounding_pitches,
    {
        letter: [[60 + interval for interval in sorted(intervals)]]
        for letter, (_, intervals) in QUALITIES.items()
    },
)
SOLVERS: Mapping[str, SymbolicSolver] = {
    "syncopation": SYNCOPATION,
    "transposition": TRANSPOSITION,
    "chord_quality": CHORD_QUALITY,
}
"""Task → its solver."""
