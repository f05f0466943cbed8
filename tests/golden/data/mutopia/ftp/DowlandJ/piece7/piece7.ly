\version "2.24.0"
\header {
  title = "Song No. 7 of Dowland"
  mutopiatitle = "Song No. 7 of Dowland"
  composer = "John Dowland"
  mutopiacomposer = "DowlandJ"
  style = "Renaissance"
  instrument = "Piano"
  license = "Public Domain"
}
% by John Dowland
DowlandMelody = {
  \clef "treble" \key d \minor \time 2/2
  a'4 c'4 a'4 f'8 d'8 | d'8 f'8 a'8 f'8 a'8 f'8 e'4 | d'4 f'8 e'8 d'4 d'8 d'8 | d'4 d'8 d'8 e'8 d'8 d'4 | f'4 a'4 c'4 c'8 bes'8 | a'4 g'8 a'8 c'4 c'8 a'8 | f'4 e'4 d'4 f'8 d'8 | e'8 f'8 a'4 c'8 a'8 bes'4 | g'8 a'8 c'8 c'8 c'8 c'8 c'8 a'8 | c'8 c'8 bes'4 c'8 c'8 a'8 c'8 | c'4 c'4 c'4 c'4 | c'4 bes'8 a'8 g'4 e'4 | d'8 d'8 d'4 e'4 f'4 | d'4 f'8 a'8 f'4 a'8 f'8 | e'4 d'8 d'8 d'8 d'8 d'4 | d'8 d'8 f'8 g'8 a'4 c'8 c'8 |
}
\score { \new Staff \DowlandMelody \layout { } \midi { } }
