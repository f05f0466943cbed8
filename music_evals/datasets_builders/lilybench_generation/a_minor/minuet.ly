\version "2.24.3"
\language "nederlands"

\header {
  title = "Minuet"
  composer = "Anonymous"
  instrument = "Harpsichord"
}

global = { \key a \minor \time 3/4 }

upper = {
  \clef treble
  \tempo "Moderato" 4 = 112
  \repeat volta 2 {
    e''4 a''8 g'' f'' e'' |
    f''4 d'' d'' |
    d''4 g''8 f'' e'' d'' |
    e''4 c'' c'' |
    c''4 f''8 e'' d'' c'' |
    d''8 e'' f'' e'' d'' c'' |
    c''8 d'' e''4 d'' |
    c''2. |
  }
  \repeat volta 2 {
    g''4 e''8 f'' g'' e'' |
    a''4 e''8 f'' g'' e'' |
    f''4 d''8 e'' f'' d'' |
    e''8 d'' b' c'' d'' b' |
    c''4 a'8 b' c'' d'' |
    f''8 e'' d'' c'' b'4 |
    c''8 b' a'4 gis' |
    a'2. |
  }
}

lower = {
  \clef bass
  a2 c'4 |
  d'4 f d |
  g2 b4 |
  c'4 e c |
  f2 a4 |
  f4 d f |
  g2 g,4 |
  c4 g, c, |
  c'4 e' c' |
  cis'2 a4 |
  d'4 a f |
  e2 gis4 |
  a4 e c |
  d4 f d |
  e4 e e, |
  a,2. |
}

\score {
  \new PianoStaff \with { midiInstrument = "harpsichord" } <<
    \new Staff << \global \upper >>
    \new Staff << \global \lower >>
  >>
  \layout { }
  \midi { }
}
