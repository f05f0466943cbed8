\version "2.24.0"
\header {
  title = "Song No. 3 of Haydn"
  mutopiatitle = "Song No. 3 of Haydn"
  composer = "Joseph Haydn"
  mutopiacomposer = "HaydnFJ"
  style = "Classical"
  instrument = "Piano"
  license = "Public Domain"
}
% by Joseph Haydn
HaydnMelody = {
  \clef "treble" \key a \minor \time 4/8
  c'4 b'8 d'8 | b'4 d'8 c'8 | b'4 d'4 | f'8 e'8 d'4 | f'4 d'8 b'8 | c'4 d'4 | f'4 g'8 g'8 | f'4 d'8 f'8 | e'8 g'8 g'4 | g'4 g'4 | g'4 e'4 | d'4 e'4 |
}
\score { \new Staff \HaydnMelody \layout { } \midi { } }
