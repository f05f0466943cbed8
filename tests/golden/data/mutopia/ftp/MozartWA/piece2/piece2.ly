\version "2.24.0"
\header {
  title = "Prelude No. 2 of Mozart"
  mutopiatitle = "Prelude No. 2 of Mozart"
  composer = "Wolfgang Amadeus Mozart"
  mutopiacomposer = "MozartWA"
  style = "Classical"
  instrument = "Piano"
  license = "Public Domain"
}
% by Wolfgang Amadeus Mozart
MozartMelody = {
  \clef "treble" \key d \major \time 2/4
  e'8 fis'8 e'4 | fis'8 e'8 d'4 | d'4 fis'4 | g'4 b'4 | g'4 a'4 | b'4 cis'4 | b'4 a'8 g'8 | a'8 b'8 a'4 | cis'4 cis'4 | cis'8 cis'8 b'4 | cis'4 cis'4 |
}
\score { \new Staff \MozartMelody \layout { } \midi { } }
