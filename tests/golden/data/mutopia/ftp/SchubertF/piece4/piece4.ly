\version "2.24.0"
\header {
  title = "Minuet No. 4 of Schubert"
  mutopiatitle = "Minuet No. 4 of Schubert"
  composer = "Franz Schubert"
  mutopiacomposer = "SchubertF"
  style = "Romantic"
  instrument = "Piano"
  license = "Public Domain"
}
% by Franz Schubert
SchubertMelody = {
  \clef "treble" \key f \major \time 3/8
  a'8 bes'8 d'8 | e'8 d'8 bes'8 | d'8 e'4 | c'8 bes'4 | c'8 d'4 | bes'8 c'8 a'8 | bes'8 c'8 d'8 | e'8 e'8 e'8 | e'8 d'8 e'8 | e'8 c'4 | d'8 bes'4 | c'8 bes'4 | c'8 e'4 |
}
\score { \new Staff \SchubertMelody \layout { } \midi { } }
