\version "2.24.0"
\header {
  title = "March No. 1 of Handel"
  mutopiatitle = "March No. 1 of Handel"
  composer = "George Frideric Handel"
  mutopiacomposer = "HandelGF"
  style = "Baroque"
  instrument = "Piano"
  license = "Public Domain"
}
% by George Frideric Handel
HandelMelody = {
  \clef "treble" \key e \minor \time 6/8
  g'4 e'8 g'8 b'4 | d'4 b'4 d'4 | b'4 c'4 b'4 | g'4 e'8 e'8 g'4 | b'4 a'4 c'4 | d'8 c'8 d'4 b'4 | g'8 a'8 fis'4 a'4 | g'8 b'8 d'4 b'4 | d'4 c'8 d'8 b'4 | g'4 b'8 g'8 b'8 d'8 |
}
\score { \new Staff \HandelMelody \layout { } \midi { } }
