"""The descriptors: values worked out by hand, MusPy's own on any notes, and MIDI of which nothing
can be told.
"""

import io
import math
from fractions import Fraction

import mido
import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.midi.descriptors import DESCRIPTORS, STEPS, DescriptorError, describe
from tests.notation.midi.midi_files import saved

muspy = pytest.importorskip("muspy", reason="MusPy is not installed: pip install -e '.[lilypond]'")

QUARTER = 384  # ticks, as LilyPond writes them
METRE_4_4 = (0, 4, 4)


def piece(
    notes,
    *metres,
    channel=0,
    resolution=QUARTER,
):
    """Write onset, duration and pitch of notes, and tick, numerator and denominator of metres, as
    MIDI.
    """
    events = [
        (tick, 0, mido.MetaMessage("time_signature", numerator=numerator, denominator=denominator))
        for tick, numerator, denominator in metres
    ]
    for onset, duration, pitch in notes:
        events.append((onset, 2, mido.Message("note_on", channel=channel, note=pitch)))
        events.append(
            (
                onset + duration,
                1 if duration else 3,
                mido.Message("note_off", channel=channel, note=pitch),
            )
        )
    events.sort(key=lambda event: event[:2])
    ticks = [0, *(tick for tick, _, _ in events)]
    track = [
        message.copy(time=tick - now)
        for now, (tick, _, message) in zip(ticks, events, strict=False)
    ]
    return saved(track, resolution=resolution)


def quarters(*notes):
    return [
        (round(onset * QUARTER), round(duration * QUARTER), pitch)
        for onset, duration, pitch in notes
    ]


# Two measures of 4/4: C, E, G and then C, a half note each; B and F sharp together, a whole note.
TWO_MEASURES = quarters((0, 2, 60), (0, 2, 64), (0, 2, 67), (2, 2, 60), (4, 4, 71), (4, 4, 66))


def test_values_by_hand():
    midi = piece(TWO_MEASURES, METRE_4_4)
    strict, paper = describe(midi, "strict"), describe(midi, "paper")
    # Three pitches sound for two of eight quarters. All six notes are in G major.
    for described in (strict, paper):
        assert described.values["polyphony_rate"] == 1 / 4
        assert described.values["scale_consistency"] == 1
        assert not described.reasons
    # Measures start notes at {0, 48} and {0}, and the third, which begins at the end, at none: one
    # difference each.
    assert strict.values["groove_consistency"] == 1 - 2 / (2 * 96)
    # Of nine quarters, the first, third and fifth begin with notes: five changes between
    # neighbours.
    assert paper.values["groove_consistency"] == 1 - 5 / (8 * 384)


def test_what_is_undefined_says_why():
    nothing = describe(piece([], METRE_4_4))
    assert nothing.values == dict.fromkeys(DESCRIPTORS)
    assert nothing.reasons == dict.fromkeys(DESCRIPTORS, "the MIDI file has no notes")
    drums = describe(piece(TWO_MEASURES, METRE_4_4, channel=9))
    assert drums.values == {
        "polyphony_rate": 0,
        "groove_consistency": 1 - 2 / (2 * 96),
        "scale_consistency": None,
    }
    assert drums.reasons == {"scale_consistency": "all notes are percussion"}
    # A long piece takes no more time: the longest event has 29 hours of LilyPond's ticks.
    longest = piece([(0, 2**28 - 1, pitch) for pitch in (60, 64, 67)], METRE_4_4)
    assert describe(longest).values["polyphony_rate"] == 1
    short = describe(piece([(0, 384, 60)], METRE_4_4))
    assert short.values == {"polyphony_rate": 0, "groove_consistency": None, "scale_consistency": 1}
    assert short.reasons == {
        "groove_consistency": "there are no two measures of one metre to compare"
    }


def test_no_midi_and_no_protocol_are_refused():
    with pytest.raises(DescriptorError, match="MIDI file"):
        describe(b"")
    with pytest.raises(ValueError, match="'loose' is unknown; accepted are strict, paper"):
        describe(piece(TWO_MEASURES), "loose")  # type: ignore[arg-type]


def check_against_muspy(midi):
    """Compare both protocols with MusPy's functions, the strict one on notes that are moved
    here.
    """

    def expected(measure):
        values = (
            muspy.polyphony_rate(music),
            muspy.groove_consistency(music, measure),
            muspy.scale_consistency(music),
        )
        return {
            name: None if math.isnan(value) else value
            for name, value in zip(DESCRIPTORS, values, strict=True)
        }

    music = muspy.from_mido(mido.MidiFile(file=io.BytesIO(midi)))
    assert describe(midi, "paper").values == expected(music.resolution)
    for track in music.tracks:
        for note in track.notes:
            end = on_grid(note.end, music.resolution)
            note.time = on_grid(note.time, music.resolution)
            note.duration = max(1, end - note.time)
    strict = dict(describe(midi, "strict").values)
    measures = {4 * STEPS * sign.numerator // sign.denominator for sign in music.time_signatures}
    moved = expected(min(measures, default=1))
    if len(measures) != 1:  # of one metre alone MusPy knows
        del strict["groove_consistency"], moved["groove_consistency"]
    assert strict == moved


def on_grid(ticks, resolution):
    return math.floor(Fraction(ticks * STEPS, resolution) + Fraction(1, 2))


NOTES = st.tuples(
    st.one_of(st.integers(0, 8).map(lambda n: 48 * n), st.integers(0, 4000)),
    st.one_of(st.sampled_from([0, 96, 384]), st.integers(0, 2000)),
    st.one_of(st.sampled_from([60, 64]), st.integers(0, 127)),
)


@given(
    st.lists(NOTES, min_size=1, max_size=40),
    st.sampled_from([METRE_4_4, (0, 3, 4), (0, 6, 8), (0, 7, 16), (0, 2, 2)]),
    st.sampled_from([0, 9]),
    st.sampled_from([1, 24, 100, 384, 480]),
)
def test_any_notes_have_muspys_values(
    notes: list[tuple[int, int, int]], metre: tuple[int, int, int], channel: int, resolution: int
) -> None:
    check_against_muspy(piece(notes, metre, channel=channel, resolution=resolution))
