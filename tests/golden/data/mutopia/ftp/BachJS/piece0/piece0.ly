\version "2.24.0"
\header {
  title = "Minuet No. 0 of Bach"
  mutopiatitle = "Minuet No. 0 of Bach"
  composer = "Johann Sebastian Bach"
  mutopiacomposer = "BachJS"
  style = "Baroque"
  instrument = "Piano"
  license = "Public Domain"
}
% by Johann Sebastian Bach
BachMelody = {
  \clef "treble" \key c \major \time 3/4
  a'4 b'8 b'8 b'4 | b'4 b'4 a'4 | b'8 g'8 a'4 g'8 e'8 | f'4 d'8 e'8 d'4 | f'4 g'8 e'8 c'4 | e'4 c'4 d'8 e'8 | c'8 c'8 c'4 c'4 | e'8 f'8 a'8 b'8 g'4 | f'4 g'4 b'8 a'8 |
}
\score { \new Staff \BachMelody \layout { } \midi { } }
