"""The reader of LilyBench's scores through LilyPond's MIDI: against counts by hand, and LilyPond's
own structure.
"""

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")


from music_evals.baselines.lilybench import perform


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
