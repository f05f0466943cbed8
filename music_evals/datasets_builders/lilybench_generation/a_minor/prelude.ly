\version "2.24.3"
\language "nederlands"

\header {
  title = "Little Prelude"
  composer = "Anonymous"
  instrument = "Piano"
}

global = { \key a \minor \time 4/4 }

right = {
  \clef treble
  \tempo "Andante" 4 = 76
  e'8 a' c'' a' e' a' c'' a' |
  f'8 a' d'' a' f' a' d'' a' |
  e'8 gis' d'' gis' e' gis' d'' gis' |
  e'8 a' c'' a' e' a' c'' a' |
  f'8 a' c'' a' f' a' c'' a' |
  d'8 f' a' f' d' f' a' f' |
  f'8 b' d'' b' f' b' d'' b' |
  e'8 g' c'' g' e' g' c'' g' |
  d'8 a' d'' a' d' a' d'' a' |
  e'8 gis' d'' gis' e' gis' d'' gis' |
  e'8 a' c'' a' e' gis' b' gis' |
  <c' e' a'>1 |
  \bar "|."
}

left = {
  \clef bass
  a,2 a |
  a,2 a |
  a,2 a |
  a,2 a |
  a,2 a |
  f,2 f |
  g,2 g |
  c2 c' |
  f,2 f |
  e,2 e |
  e,2 e |
  <a,, a,>1 |
}

\score {
  \new PianoStaff \with { midiInstrument = "acoustic grand" } <<
    \new Staff << \global \right >>
    \new Staff << \global \left >>
  >>
  \layout { }
  \midi { }
}
