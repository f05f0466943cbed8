"""The reader of LilyBench's scores through LilyPond's MIDI: against counts by hand, and LilyPond's
own structure.
"""

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")


from music_evals.baselines.lilybench import count_measures, perform
from music_evals.notation.lilypond.structure import StructureError, read_structures

# Numbered by hand: what LilyPond's structure must count, and with a plus, what its MIDI tells as
# well.
COUNTS = [
    (r"{ c'1 d'2 }", 2, True),
    (r"{ \partial 4 c'4 d'1 e'2. }", 2, True),
    (r"{ \time 6/8 \partial 8*3 c'4. d'2. e'4. }", 2, True),
    (r"{ \repeat volta 2 { c'1 d' } \alternative { { e'1 } { f'1 } } g'1 }", 5, True),
    (r"{ \repeat unfold 3 { c'1 } \alternative { { d'1 } { e'1 } } }", 6, True),
    (r"{ \repeat percent 4 { c'4 d' e' f' } \repeat tremolo 8 { c'16 d'16 } }", 5, True),
    (r"{ \time 6/8 R2.*3 \time 2/4 c'2 d' s4 }", 6, True),
    (r"{ \tuplet 3/2 { c'4 d' e' } \times 2/3 { f'2 g' a' } c'2 c'1*3/4 d'4 e'\breve }", 5, True),
    (r"<< { c'1 d' } { e'1 f' g' a' } >>", 4, True),
    (r"m = { \tag #'a { c'1 } \tag #'b { d'1 e' } } { \keepWithTag #'b \m }", 2, True),
    (r"\drums { hh8 hh bd4 sn2 | bd1 }", 2, True),
    # Of these MIDI says less.
    (r"{ c'1 \partial 2 d'2 e'1 }", 3, False),
    (r"{ \cadenzaOn c'4 d' e' f' g' \cadenzaOff c'1 d' }", 2, False),
    (r"\score { { c'1 } \midi { } } \score { { c'1 d' } \layout { } }", 2, False),
]


def test_measures_counted_by_hand():
    texts = [text for text, *_ in COUNTS]
    read_texts = zip(COUNTS, read_structures(texts), strict=True)
    for number, ((text, measures, by_midi), read) in enumerate(read_texts):
        assert not isinstance(read, StructureError)
        assert read.measures == measures, text
        if by_midi and number % 2 == 0:  # each is a run of LilyPond
            assert count_measures(text, perform(text)) == measures, text


@pytest.mark.parametrize(
    ("text", "key", "metre"),
    [
        (r"{ c'1 }", "C major", (4, 4)),
        (r"{ \key fis \minor \time 3/8 c'4. }", "F-sharp minor", (3, 8)),
        (r"\score { { r1 \time 3/4 \key bes \major c'2. } \layout { } }", "B-flat major", (4, 4)),
    ],
)
def test_key_and_metre(text, key, metre):
    assert perform(text)[1:] == (key, metre)


@pytest.mark.parametrize(
    "text", ["Dear reader, there is no music here.", "", "{ c'1", '\\header { title = "Air" }']
)
def test_what_has_no_music_is_an_error(text):
    with pytest.raises(ValueError, match="LilyPond makes no MIDI of the score"):
        perform(text)


PIECES = (
    "BachJS/BWV773/bach-invention-02/bach-invention-02.ly",
    "SorF/O45/sorf-op45n02/sorf-op45n02.ly",
)
