\version "2.24.0"
\header {
  title = "Prelude No. 6 of Joplin"
  mutopiatitle = "Prelude No. 6 of Joplin"
  composer = "Scott Joplin"
  mutopiacomposer = "JoplinS"
  style = "Jazz"
  instrument = "Piano"
  license = "Public Domain"
}
% by Scott Joplin
JoplinMelody = {
  \clef "treble" \key g \major \time 3/2
  a'4 b'8 a'8 c'4 d'8 b'8 c'4 b'4 | d'4 b'8 c'8 a'4 b'4 c'4 d'4 | b'4 c'8 a'8 g'4 a'4 g'4 g'4 | g'4 a'8 g'8 g'4 g'8 a'8 b'4 d'4 | c'4 a'8 g'8 g'4 a'8 c'8 d'8 fis'8 d'8 fis'8 | d'4 c'4 a'4 c'4 e'4 fis'4 | fis'4 e'4 fis'4 e'8 c'8 d'4 e'8 fis'8 | fis'4 fis'4 fis'4 fis'4 fis'4 fis'4 | fis'8 e'8 fis'4 fis'8 fis'8 fis'4 e'4 fis'4 | fis'4 e'8 c'8 d'8 fis'8 d'4 c'4 a'4 | c'8 b'8 g'8 g'8 g'4 g'8 g'8 g'8 b'8 d'4 | b'4 a'4 g'8 a'8 c'4 a'4 g'4 | g'4 b'4 d'4 e'4 c'4 d'4 | e'8 c'8 a'4 b'8 d'8 fis'4 fis'8 d'8 c'4 | b'4 g'4 a'8 g'8 g'4 a'4 g'4 |
}
\score { \new Staff \JoplinMelody \layout { } \midi { } }
