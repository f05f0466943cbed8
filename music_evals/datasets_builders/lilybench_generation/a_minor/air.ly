\version "2.24.3"
\language "nederlands"

\header {
  title = "Air"
  composer = "Anonymous"
  instrument = "Violin and Cello"
}

global = { \key a \minor \time 4/4 }

violin = {
  \clef treble
  \tempo "Largo" 4 = 54
  e''4. c''8 b'4 e'' |
  c''4. d''8 c'' b' a'4 |
  d''4 f''8 e'' d'' c'' b'4 |
  c''8 b' a'4 r8 e'' f'' g'' |
  a''4. g''8 f''4 d'' |
  e''4 g'' f''8 e'' d''4 |
  c''4 e''8 d'' d''4. c''8 |
  c''2. e''4 |
  a''4 f''8 e'' f''4 d'' |
  gis'4 b'8 d'' c''4. a'8 |
  f''8 e'' d''4 c'' b'8 gis' |
  a'1 |
  \bar "|."
}

cello = {
  \clef bass
  a2 gis |
  a2 f |
  d2 e |
  a2 a, |
  f2 g |
  e2 f |
  g2 g, |
  c4 g, c2 |
  f2 d |
  e2 f |
  d4 f e e, |
  a,1 |
}

\score {
  <<
    \new Staff \with { instrumentName = "Violin" midiInstrument = "violin" } << \global \violin >>
    \new Staff \with { instrumentName = "Cello" midiInstrument = "cello" } << \global \cello >>
  >>
  \layout { }
  \midi { }
}
