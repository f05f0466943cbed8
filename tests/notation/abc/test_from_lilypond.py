"""Canonical LilyPond as ABC: by hand, by a second reader of ABC, and where ABC has nothing to say
it with.
"""

from fractions import Fraction

import pytest

from music_evals.notation.abc.from_lilypond import lilypond_to_abc
from music_evals.notation.abc.tunes import read_measure, total_duration


def staff(*lines):
    return "\\new Staff {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


BEGIN = '\\clef "treble" \\key d \\major \\time 3/4'


@pytest.mark.parametrize(
    ("measure", "abc"),
    [
        ("fis'4 c''8. cis''16 c,,2 |", "F2 =c3/2 ^c/ =C,,,4 |"),
        ("<d' fis' a''>4~ <d' fis' a''>1. s8 r16 |", "[DFa]2- [DFa]12 x z/ |"),
        ("\\grace { gis'8 a'8 } b'2 \\grace { c''16 } |", "{^GA} B4 {=c} |"),
        (
            "\\tuplet 3/2 { d'8 e'8 \\grace { a'8 } f'8 } \\tuplet 3/2 { g'4 r8 } |",
            "(3:2:3 D E {A} =F (3:2:2 G2 z |",
        ),
        ("\\tuplet 13/8 { d'8 e'8 } |", "D8/13 E8/13 |"),
        ("\\key bes \\minor des'4 \\time 2/4 ees'4 fes'4 |", "[K:Bbm] D2 [M:2/4] E2 _F2 |"),
        ("zq4 d'4 d'2", "@zq2 D2 D4"),
    ],
)
def test_measures_by_hand(measure, abc):
    assert lilypond_to_abc(staff(f"{BEGIN} d'2. |", measure)).splitlines()[-1] == abc


def test_headers_voices_and_masks():
    voices = '{\n\\clef "bass" \\key c \\major cis4 |\n}\n\\\\\n{\nc,4 |\n}\n>>\n'
    several = f"<<\n{staff(f'{BEGIN} d4 |')}\\new Staff <<\n{voices}>>\n"
    assert lilypond_to_abc(several, ["Q:1/4=90"]).splitlines() == [
        *(
            "X:1",
            "Q:1/4=90",
            "L:1/8",
            "M:3/4",
            "%%score 1 (2 2b)",
            "K:D",
            "V:1 clef=treble",
            "V:2 clef=bass",
            "V:2b",
        ),
        *("V:1", "D,2 |", "V:2", "[K:C] ^C,2 |", "V:2b", "[K:C] C,,2 |"),
    ]
    masked = staff("\\key ? \\time 3/4 fis'2. |", "\\key ? f'2. |")
    assert lilypond_to_abc(masked).splitlines()[1:] == ["L:1/8", "M:3/4", "K:?", "^F6 |", "F6 |"]
    assert "\nM:?\nK:D\n" in lilypond_to_abc(staff("\\key d \\major \\time ? d'1 |"))
    with pytest.raises(ValueError, match="quarter tone"):
        lilypond_to_abc("dih'4 |")
    with pytest.raises(ValueError, match=r"'!!' cannot be written as ABC"):
        lilypond_to_abc("d'4 !! |")


def test_a_second_reader_finds_the_notes():
    line = (
        lilypond_to_abc("fis'4 \\tuplet 3/2 { f'8 g'8 aes'8 } <c c''>2~ |")
        .splitlines()[-1]
        .removesuffix(" |")
    )
    events = read_measure(line, Fraction(1, 8), (4, 4))
    assert [event.pitches for event in events] == [(66,), (65,), (67,), (68,), (48, 72)]
    assert total_duration(events) == 1
    assert events[-1].is_tied
