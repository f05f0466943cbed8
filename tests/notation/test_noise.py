"""Random music in the place of a stimulus: of its form and length, read by other libraries, without
its content.
"""

import re

import pytest
from music21 import converter, meter

from music_evals.notation import noise
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import Note, Performance
from music_evals.notation.noise import noise_pages, noise_text

TUNE = "X:6\nT:Air\nM:6/8\nL:1/8\nK:Em\n" + "|".join(["EFG ABc", "d2e f2g"] * 12) + "|]"
SCORE = 'X:1\nT:Air\nC:Bach\nM:3/4\nL:1/4\nK:G\nV:1 treble nm="Flute"\nV:2 bass\n' + "".join(
    f"V:{voice}\n" + "".join(f"G A B | %{number}\n" for number in range(1, 30)) for voice in (1, 2)
)
PIECE = '\\version "2.24.3"\n\\score { << \\new Staff { c\'4 %s } \\new Staff { c4 } >> }\n' % (
    "d' e' f' " * 60
)
LISTED = "0: f'4 g' a' |\n1: e''4 f'' g'' |\n2: c'4 d' e' |\n3:\n    b'4 c''\n    d'' |"
NOTATIONS = ("abc", "abc", "lilypond", "lilypond", "musicxml")


def midi_text(percussion=False):
    pitches = (36, 38, 42) if percussion else (60, 64, 67)
    notes = tuple(Note(480 * place, pitches[place % 3], 240, 80) for place in range(24))
    return midi_to_text(
        write_midi(
            Performance(notes, 100, (4, 4), None if percussion else "G", percussion=percussion)
        )
    )


@pytest.mark.parametrize(
    ("text", "notation"),
    [*zip((TUNE, SCORE, PIECE, LISTED, "<note/>" * 2000), NOTATIONS, strict=True)],
)
def test_it_is_as_long_and_the_same_for_the_same_text(text, notation):
    drawn = noise_text(text, notation)
    assert drawn == noise_text(text, notation)
    assert drawn != noise_text(f"{text} ", notation)
    assert 0.75 * len(text) < len(drawn) < 1.25 * len(text) + 40
    assert not {"Air", "Bach", "Flute"} & set(re.findall(r"\w+", drawn))


@pytest.mark.parametrize(
    ("text", "notation"),
    [(TUNE, "abc"), (SCORE, "abc"), ("<x/>" * 3000, "musicxml")],
)
def test_music21_reads_full_measures_of_one_voice(text, notation):
    drawn = noise_text(text, notation)
    score = converter.parseData(drawn, format=notation)
    metre = score[meter.TimeSignature].first().barDuration.quarterLength
    parts = [[measure for measure in part["Measure"] if measure.notes] for part in score.parts]
    parts = [measures for measures in parts if measures]
    (measures,) = parts
    assert len(measures) > 8
    assert {measure.duration.quarterLength for measure in measures[:-1]} == {metre}


def test_listed_measures_keep_their_numbers():
    drawn = noise_text(LISTED, "lilypond")
    assert re.findall(r"^(\d):", drawn, re.MULTILINE) == ["0", "1", "2", "3"]
    assert len(drawn.splitlines()[0]) > 5
    assert drawn.splitlines()[3] == "3:"
    assert drawn.splitlines()[4].startswith("    ")


@pytest.mark.parametrize("percussion", [False, True])
def test_midi_text_has_as_many_notes_in_the_same_time(percussion):
    text = midi_text(percussion)
    drawn = noise_text(text, "midi")
    for pattern in (r" note_on .*velocity=[1-9]", r" note_off "):
        assert len(re.findall(pattern, drawn)) == 24
    pitches = set(map(int, re.findall(r"note_on .*note=(\d+)", drawn)))
    assert (pitches <= {36, 38, 42}) if percussion else (len(pitches) > 12)
    ends = [int(re.findall(r"tick=(\d+)", music)[-1]) for music in (text, drawn)]
    assert abs(ends[0] - ends[1]) <= 120


def test_pages_are_as_many_as_asked_for(monkeypatch):
    (page,) = noise_pages(1)
    assert page.startswith(b"\x89PNG")
    monkeypatch.setattr(noise, "engrave_pages", lambda text: [*range(len(text) // 200_000)])
    noise._pages.cache_clear()
    assert (noise_pages(3), noise_pages(4), noise_pages(1)) == ([0, 1, 2], [0, 1, 2, 3], [0])
    noise._pages.cache_clear()


def test_other_notations_are_refused():
    with pytest.raises(
        ValueError, match="no noise in the notation 'mei'; there is in abc, lilypond"
    ):
        noise_text("", "mei")
