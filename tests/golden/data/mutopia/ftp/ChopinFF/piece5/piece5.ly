\version "2.24.0"
\header {
  title = "March No. 5 of Chopin"
  mutopiatitle = "March No. 5 of Chopin"
  composer = "Frédéric Chopin"
  mutopiacomposer = "ChopinFF"
  style = "Romantic"
  instrument = "Piano"
  license = "Public Domain"
}
% by Frédéric Chopin
ChopinMelody = {
  \clef "treble" \key bes \major \time 4/4
  f'4 d'4 c'4 bes'8 d'8 | c'8 bes'8 bes'8 bes'8 d'8 f'8 ees'4 | c'8 ees'8 d'8 bes'8 bes'4 bes'4 | c'8 bes'8 bes'8 bes'8 d'8 ees'8 g'8 f'8 | g'8 a'8 f'4 g'8 a'8 a'4 | a'8 a'8 g'8 ees'8 f'4 d'4 | f'8 d'8 f'8 ees'8 d'8 c'8 ees'8 f'8 | g'4 ees'4 f'4 d'4 | bes'8 c'8 bes'8 bes'8 c'4 d'8 bes'8 | bes'4 c'4 bes'4 bes'4 | d'8 ees'8 f'4 a'8 f'8 a'8 g'8 | f'4 ees'4 g'8 a'8 a'8 a'8 | a'8 g'8 a'4 a'4 a'4 | g'8 f'8 a'4 g'8 a'8 a'8 a'8 |
}
\score { \new Staff \ChopinMelody \layout { } \midi { } }
