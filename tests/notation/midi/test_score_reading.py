"""MIDI files as scores; expected values are by hand, and of symusic."""

from fractions import Fraction
from typing import Any
from unittest.mock import patch

import mido
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.notation.midi import score_reading
from music_evals.notation.scores.preparing import ScoreError, prepare_score
from music_evals.notation.scores.reading import read_score
from tests.notation.midi.midi_files import read_notes, saved

Line = list[
    tuple[Fraction | float, Fraction | float, int]
]  # onset and end in quarter notes, and pitch


def track(notes, resolution=480, channel=0, first=()):
    """The events of notes, which come after events at the start."""
    events = []
    for onset, end, pitch in notes:
        start, stop = round(onset * resolution), round(end * resolution)
        events.append((start, 1, mido.Message("note_on", channel=channel, note=pitch, velocity=70)))
        events.append((stop, 0, mido.Message("note_off", channel=channel, note=pitch)))
    now, messages = 0, list(first)
    for tick, _, message in sorted(events, key=lambda event: event[:2]):
        messages.append(message.copy(time=tick - now))
        now = tick
    return messages


def metre(numerator, denominator, time=0):
    return mido.MetaMessage(
        "time_signature", numerator=numerator, denominator=denominator, time=time
    )


def line(lengths, pitch=60):
    notes = []
    for length in lengths:
        onset = notes[-1][1] if notes else Fraction(0)
        notes.append((onset, onset + Fraction(length), pitch + len(notes) % 5))
    return notes


def read(folder, *tracks, resolution=480):
    path = folder / "a.mid"
    path.write_bytes(saved(*tracks, resolution=resolution))
    return read_score(path)


def heard(score):
    """Onset, end and pitch of notes, with ties joined."""
    notes = []
    for part in score.parts:
        for element in part.stripTies().flatten().notes:
            onset = Fraction(element.offset)
            notes += [
                (onset, onset + Fraction(element.quarterLength), pitch.midi)
                for pitch in element.pitches
            ]
    return sorted(notes)


def bars(score):
    return [[bar.offset for bar in part.getElementsByClass("Measure")] for part in score.parts]


@pytest.mark.parametrize(
    ("metres", "starts", "first"),
    [
        ([metre(5, 4)], [0, 5, 10], 1),
        ([metre(7, 8)], [0, 3.5, 7, 10.5], 1),
        ([metre(3, 4), metre(5, 8, 2880), metre(5, 8, 1200)], [0, 3, 6, 8.5, 11], 1),
        ([metre(1, 4), metre(4, 4, 480)], [0, 1, 5, 9], 0),  # a pickup
        ([metre(4, 4), metre(2, 4, 960)], [0, 2, 4, 6, 8, 10], 0),  # the first measure is cut short
        ([metre(4, 4, 3840)], [0, 4, 8], 1),
    ],
)
def test_measures_follow_the_metres(tmp_path, metres, starts, first):
    notes = line([1] * 12)
    score = read(tmp_path, metres, track(notes))
    assert bars(score) == [starts]
    prepared = prepare_score(score)
    numbers = [bar.number for bar in prepared.parts[0].getElementsByClass("Measure")]
    assert numbers == list(range(first, first + len(starts)))
    assert heard(prepared) == notes


def test_drums_have_no_pitch_and_last_for_a_step(tmp_path):
    hits = [(place / 2, place / 2 + 0.01, 42) for place in range(8)]
    score = read(tmp_path, track(hits, channel=9), track(line([1] * 4)))
    drums = list(score.parts[0].recurse().notes)
    assert {type(drum).__name__ for drum in drums} == {"Unpitched"}
    assert [(drum.getOffsetInHierarchy(score), drum.quarterLength) for drum in drums] == [
        (place / 2, 0.25) for place in range(8)
    ]


def test_notes_of_one_pitch_that_overlap_are_in_two_voices(tmp_path):
    data = saved(track([(0, 2, 60), (1, 3, 60), (3, 4, 60), (3, 4, 60)]), resolution=480)
    (tmp_path / "a.mid").write_bytes(data)
    score = read_score(tmp_path / "a.mid")
    notes = read_notes(data).notes
    assert heard(score) == [
        (Fraction(n.onset, 480), Fraction(n.onset + n.duration, 480), n.pitch) for n in notes
    ]
    assert len(score.parts[0].recurse().getElementsByClass("Voice")) == 2


def test_tempos_of_any_track_are_in_the_first_part(tmp_path):
    tempos = [
        mido.MetaMessage("set_tempo", tempo=tempo, time=time)
        for tempo, time in ((500_000, 0), (652_174, 960))
    ]
    score = read(tmp_path, track(line([1] * 8)), [*tempos, *track(line([2] * 4))])
    marks = score.recurse().getElementsByClass("MetronomeMark")
    assert [(mark.number, mark.getOffsetInHierarchy(score.parts[0])) for mark in marks] == [
        (120, 0),
        (92, 2),
    ]


PERFORMED = [(place + place**2 % 37 / 100, place + 0.9, 60 + place) for place in range(8)]


@pytest.mark.parametrize(
    ("tracks", "message"),
    [
        ([track(PERFORMED)], "quarter note 2 of part 1 has notes that fit no grid"),
        ([[*track(line([1])), mido.Message("note_on", note=70)]], "1 of its notes do not end"),
        ([[metre(3, 4)], [metre(4, 4), *track(line([1]))]], "different metres at tick 0"),
        (
            [track([(0, 40 + place, 30 + place) for place in range(20)])],
            "notes of different lengths at once",
        ),
    ],
)
def test_files_that_are_no_scores_are_told_apart(tmp_path, tracks, message):
    with pytest.raises(ScoreError, match=message):
        read(tmp_path, *tracks)


@pytest.mark.parametrize(("column", "value"), [(0, 1), (1, 8 * 3360), (2, 50)])
def test_a_score_with_other_notes_than_the_file_is_refused(tmp_path, column, value):
    """As if the sixth note, in measure 2, were written wrongly."""
    write = score_reading._write_notes

    def write_wrongly(notes, *args):
        changed = [list(note) for note in notes]
        changed[5][column] = value
        write(changed, *args)

    with (
        patch.object(score_reading, "_write_notes", write_wrongly),
        pytest.raises(ScoreError, match=r"measure [12] of Piano has other notes"),
    ):
        read(tmp_path, track([(place, place + 1, 60) for place in range(8)]))


lengths = st.sampled_from(
    [Fraction(1, 8), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), 1, 3]
)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(lengths, lengths, st.integers(40, 80)), min_size=1, max_size=12),
        max_size=3,
    )
)
def test_notes_are_those_of_symusic(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Any]
) -> None:
    tracks = [[metre(3, 4), *track(line([1, Fraction(1, 3)]))]]
    for gaps in parts:
        onset, notes = Fraction(0), []
        for gap, length, pitch in gaps:
            notes.append((onset, onset + length, pitch))
            onset += gap
        tracks.append(track(notes))
    data = saved(*tracks, resolution=480)
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    path.write_bytes(data)
    expected = read_notes(data).notes
    starts, length = [], Fraction(0)
    for part in read_score(path).parts:
        for element in part.recurse().notes:
            length += Fraction(element.quarterLength) * len(element.pitches)
            for note in getattr(element, "notes", [element]):
                is_start = note.tie is None or note.tie.type == "start"
                starts += [(element.getOffsetInHierarchy(part) * 480, note.pitch.midi)] * is_start
    assert sorted(starts) == sorted((note.onset, note.pitch) for note in expected)
    assert length * 480 == sum(note.duration for note in expected)
