"""Clean scores for the tests: one in relative octaves with a pickup, one in absolute octaves, one of two voices."""

from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.structure import Structure, read_structure

RELATIVE = r"""\version "2.24.0"
voiceA = \relative c'' {
  \clef "treble" \key g \major \time 3/4 \partial 4
  d4 | g,8 a b c d4 | d g,4. g8 | e'4 c8 d e fis | g4 g,2 |
  \key d \major
  fis'4 e d | a'8 g fis4 e | d2 cis4 | d2. |
}
\score { \new Staff \voiceA \layout { } }
"""

ABSOLUTE = r"""\version "2.24.0"
\score {
  { \clef "bass" \key a \minor \time 4/4
    a4 b c'8 d'8 e'4 | e'4 d'8 c' b4 gis | a2 c'4. a8 | f4 fis gis e | a1 | }
  \layout { }
}
"""

TWO_VOICES = r"""\version "2.24.0"
\language "english"
\score {
  <<
    \new Staff { \key bf \major \time 2/4 bf'4 c''8 d'' | ef''4 d''8 c'' | bf'4 a'8 g' | f'4 f' | bf'2 | }
    \new Staff { \clef bass \key bf \major bf4 bf | c'8 bf a4 | g4 ef8 c | f2 | bf,2 | }
  >>
  \layout { }
}
"""

CLEAN = {"relative": RELATIVE, "absolute": ABSOLUTE, "two voices": TWO_VOICES}


def read(text: str) -> Structure:
    """LilyPond's reading, made once for all tests."""
    return read_structure(text, cache=lilypond_cache())
