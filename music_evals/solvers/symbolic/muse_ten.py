"""Deterministic solvers for eight of the ten tasks of The MUSE Benchmark, in the manner of `music`.

The authors asked without solvers, so the forms of the transcriptions are this project's. A key
modulation and an instrument are heard as wholes: a transcription of them would be the answer
itself, and they have no solver.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise, product

from music_evals.notation.midi.files import MidiFile
from music_evals.solvers.symbolic.music import (
    CHORD_QUALITY,
    SNARE,
    SYNCOPATION,
    TRANSPOSITION,
    Decision,
    SymbolicSolver,
    hits_of,
    pitches_of,
)
from music_evals.solvers.symbolic.schema import Lists, Schema

MELODIES = (
    "Yes, these are the same exact melody.",
    "No, these are not the same exact melody.",
)
DRUMS = (
    "Yes, these are the same exact drum set patterns.",
    "No, these are not the same exact drum set patterns.",
)
GROUPS = {3: "A", 4: "B", 5: "C"}  # beats in a group to option letter
SNARE_OFFSET = 100  # what a snare adds to its slot
_SHAPES = {
    (True, False): ("A", "ascends and then descends"),
    (False, True): ("B", "descends and then ascends"),
    (True, True): ("C", "ascends"),
    (False, False): ("D", "descends"),
}
"""Whether the first and the last step rise → option letter and contour."""


def compare_lists(lists: Lists, answers: Sequence[str]) -> Decision:
    """Decide whether two lists are equal; `answers` says yes and no. Undecided if one is empty.

    Example:
        >>> compare_lists([[60, 62], [60, 63]], MELODIES).answer
        'No, these are not the same exact melody.'
    """
    if not all(lists):
        return Decision(None, "A list is empty, so the two cannot be compared.")
    first, second = lists
    if first == second:
        return Decision(answers[0], "The two lists ARE equal.")
    return Decision(answers[1], "The two lists ARE NOT equal.")


def name_contour(lists: Lists) -> Decision:
    """Name the contour of a list of pitches with at most one turning point; repeated notes do not
    matter.

    Example:
        >>> name_contour([[60, 64, 67, 64, 60]])
        Decision(answer='A', result='The melody ascends and then descends.')
    """
    (pitches,) = lists
    rises = [after > before for before, after in pairwise(pitches) if after != before]
    turns = sum(before != after for before, after in pairwise(rises))
    if not rises:
        return Decision(None, "The list has no two pitches that differ.")
    if turns > 1:
        return Decision(None, f"The pitches turn {turns} times.")
    letter, shape = _SHAPES[rises[0], rises[-1]]
    return Decision(letter, f"The melody {shape}.")


def group_beats(lists: Lists) -> Decision:
    """Find the commonest distance between stressed beats; undecided if it is no option, or two are
    equally common.

    Example:
        >>> group_beats([[1, 4, 7, 10, 14]])
        Decision(answer='A', result='Most stressed beats are 3 beats apart.')
    """
    (beats,) = lists
    distances = Counter(after - before for before, after in pairwise(sorted({*beats})))
    commonest = [
        distance for distance, count in distances.items() if count == max(distances.values())
    ]
    if len(commonest) != 1:
        return Decision(None, "No distance between stressed beats is commoner than all others.")
    result = f"Most stressed beats are {commonest[0]} beats apart."
    return Decision(GROUPS.get(commonest[0]), result)


def compare_progressions(lists: Lists) -> Decision:
    """Decide whether two series of chords are the same but for their key: 0 to 11 is C to B major,
    12 to 23 minor.

    Example:
        >>> compare_progressions([[0, 21, 5, 7], [2, 23, 7,
        ...     9]]).answer  # I, vi, IV, V in C and in D
        'A'
    """
    if not all(lists):
        return Decision(None, "A list of chords is empty, so the progressions cannot be compared.")
    first, second = (
        [((chord - chords[0]) % 12, chord >= 12) for chord in chords] for chords in lists
    )
    if first == second:
        return Decision("A", "The two progressions ARE the same but for their key.")
    return Decision("B", "The two progressions ARE NOT the same.")


def classify_triad(lists: Lists) -> Decision:
    """Tell a major from a minor triad, as `music.classify_chord` does; undecided for all other
    chords.
    """
    decision = CHORD_QUALITY.decide(lists)
    if decision.answer in ("A", "B"):
        return decision
    return Decision(None, "The pitches form no major or minor triad.")


def compare_off_beats(lists: Lists) -> Decision:
    """Decide which of two lists of slots has more on even slots, as in `music.count_off_beats`;
    undecided if equal.

    Example:
        >>> compare_off_beats([[1, 3, 5], [1, 4, 6]])
        Decision(answer='B', result='0 hits of the first and 2 of the second are off the beat.')
    """
    first, second = (sum(slot % 2 == 0 for slot in slots) for slots in lists)
    result = f"{first} hits of the first and {second} of the second are off the beat."
    is_undecided = first == second or not all(lists)
    return Decision(None if is_undecided else "AB"[second > first], result)


def _strokes_of(clip: MidiFile) -> list[int]:
    return [slot + SNARE_OFFSET * (pitch == SNARE) for slot, pitch in hits_of(clip)]


def _accents_of(clip: MidiFile) -> list[int]:
    """The 1-based beats of the notes on a beat that are lower than the middle between the lowest
    and the highest note.
    """
    pitches = [note.pitch for note in clip.notes]
    middle = (max(pitches) + min(pitches)) / 2
    halves = [
        round(2 * note.onset / clip.ticks_per_beat) for note in clip.notes if note.pitch < middle
    ]
    return [1 + half // 2 for half in halves if half % 2 == 0]


def _line_of(clip: MidiFile) -> list[int]:
    """The pitches of a melody that turns at most once, or else the highest one of each bar of
    4/4.
    """
    pitches = pitches_of(clip)
    if name_contour([pitches]).answer:
        return pitches
    bars = groupby(clip.notes, key=lambda note: note.onset // (4 * clip.ticks_per_beat))
    return [max(note.pitch for note in bar) for _, bar in bars]


def chords_of(clip: MidiFile) -> list[int]:
    """The triads, numbered as for `compare_progressions`: of notes that end together."""
    chords = []
    for _, notes in groupby(clip.notes, key=lambda note: note.onset + note.duration):
        classes = {note.pitch % 12 for note in notes}
        for root, third in product(classes, (4, 3)):
            if classes == {root, (root + third) % 12, (root + 7) % 12}:
                chords.append(root + 12 * (third == 3))
    return chords


_STROKES = Schema("strokes", lowest=1, highest=199, longest=128)
_ACCENTS = Schema("accents", lowest=1, highest=200, longest=100)
_CHORDS = Schema("chords", lowest=0, highest=23, longest=64, in_order=True)
SOLVERS: Mapping[str, SymbolicSolver] = {
    "oddball": SymbolicSolver(
        "equality_solver",
        TRANSPOSITION.schema,
        partial(compare_lists, answers=MELODIES),
        pitches_of,
        {MELODIES[0]: [[60, 62], [60, 62]], MELODIES[1]: [[60, 62], [60, 63]]},
    ),
    "contour": SymbolicSolver(
        "contour_solver",
        TRANSPOSITION.schema,
        name_contour,
        _line_of,
        {"A": [[60, 62, 60]], "B": [[62, 60, 62]], "C": [[60, 62, 64]], "D": [[64, 62, 60]]},
    ),
    "rhythm_matching": SymbolicSolver(
        "equality_solver",
        _STROKES,
        lambda lists: compare_lists([sorted(strokes) for strokes in lists], DRUMS),
        _strokes_of,
        {DRUMS[0]: [[1, 103], [1, 103]], DRUMS[1]: [[1, 103], [1, 3]]},
    ),
    "meter": SymbolicSolver(
        "grouping_solver",
        _ACCENTS,
        group_beats,
        _accents_of,
        {letter: [[1, 1 + beats, 1 + 2 * beats]] for beats, letter in GROUPS.items()},
    ),
    "progression": SymbolicSolver(
        "progression_solver",
        _CHORDS,
        compare_progressions,
        chords_of,
        {"A": [[0, 21, 5, 7], [2, 23, 7, 9]], "B": [[0, 21, 5, 7], [2, 9, 23, 7]]},
    ),
    "transposition_pairs": TRANSPOSITION,
    "major_or_minor": SymbolicSolver(
        "triad_solver",
        CHORD_QUALITY.schema,
        classify_triad,
        CHORD_QUALITY.transcribe,
        {letter: CHORD_QUALITY.examples[letter] for letter in "AB"},
    ),
    "syncopation_pairs": SymbolicSolver(
        "syncopation_solver",
        SYNCOPATION.schema,
        compare_off_beats,
        SYNCOPATION.transcribe,
        {"A": [[1, 4], [1, 3]], "B": [[1, 3], [1, 4]]},
    ),
}
"""Task → its solver."""
