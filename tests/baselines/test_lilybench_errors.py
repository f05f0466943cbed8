"""The reader's eye for errors: one error of each kind, put into a clean score by hand, is found where it was put."""

import pytest

from music_evals.baselines.lilybench.errors import wrong_measures

CLEAN = r"""
\version "2.24.3"
upper = \relative c'' {
  \clef "treble" \key e \minor \time 3/4 \partial 4
  b4 | % 1
  e4 dis e | fis2 g4( | a8 g fis4) e | % 4
  dis2. | \clef "alto" b4 c cis | d8 c b4 a |
  << { b4 g2 } \\ { g4 e8 d c4 } >> | b2. ~ | b4 r r \bar "|."
}
lower = \relative c {
  \clef bass \key e \minor \time 3/4 \partial 4
  r4 | e2. | dis2 e4 | c4 a b | b2. | R2.*2 | \tuplet 3/2 { e8 fis g } a4 b | e,2. | e,4 r r
}
\score { \new PianoStaff << \new Staff \upper \new Staff \lower >> \layout { } }
"""

ABSOLUTE = r"{ \key g \major g'4 a' b' c'' | d''4 c'' b' a' | g'4 fis' g' a' | b'1 }"

ERRORS = [
    # invalid_metadata
    (r"\key e \minor \time 3/4 \partial 4" "\n  b4", r"\key xx \nonsense \time 3/4 \partial 4" "\n  b4", [0]),
    (r"\key e \minor \time 3/4 \partial 4" "\n  b4", r"\key e \minur \time 3/4 \partial 4" "\n  b4", [0]),
    (r'\clef "alto"', r'\clef "trebel"', [5]),
    (r'\clef "alto"', r"\clef sopran", [5]),
    (r'\clef "alto"', r"\time 3/5", [5]),
    # invalid_content
    ("fis4) e | % 4", "fis4) zq | % 4", [3]),
    ("dis2. | \\clef", "xj2. | \\clef", [4]),
    ("fis2 g4( |", "fis2 g4( h7 |", [2]),
    ("c4 a b | b2.", "c4 a \\zqx b | b2.", [3]),
    # invalid_bar_duration
    ("b4 | % 1", "b8 | % 1", [0]),
    ("fis2 g4(", "fis4 g4(", [2]),
    ("e4 dis e |", "e4 dis8 e4 |", [1]),
    ("d8 c b4 a |", "d2 c8 b4 a |", [6]),
    ("\\tuplet 3/2 { e8 fis g } a4", "{ e8 fis g } a4", [7]),
    ("e,2. |", "e,1 |", [8]),
    # melodic_leap
    ("e4 dis e | fis2", "e4 dis'' e,, | fis2", [1]),
    ("d8 c b4 a |", "d8 c,, b''4 a |", [6]),
    ("c4 a b | b2.", "c4 a b'' | b,,2.", [3]),
    # accidental_outside_key
    ("fis2 g4(", "fis2 aes4(", [2]),
    ("c4 a b |", "ces4 a b |", [3]),
    ("{ g4 e8 d c4 }", "{ g4 e8 d fes4 }", [7]),
]


def test_a_clean_score_has_no_error() -> None:
    assert wrong_measures(CLEAN) == []
    assert wrong_measures(ABSOLUTE) == []
    assert wrong_measures("{ c'1 }") == []


@pytest.mark.parametrize(("right", "wrong", "measures"), ERRORS, ids=lambda value: str(value)[:40])
def test_an_error_is_found_in_its_measure(right: str, wrong: str, measures: list[int]) -> None:
    assert CLEAN.count(right) == 1
    assert wrong_measures(CLEAN.replace(right, wrong)) == measures


@pytest.mark.parametrize(
    ("right", "wrong", "measures"),
    [
        ("b' c'' | d", "b''' c'' | d", [1]),
        ("g'4 fis' g' a'", "g'4 fis' g,, a'", [3]),
        ("d''4 c''", "d''4 ces''", [2]),
        ("d''4 c''", "d''2 c''4", [2]),
        ("d''4 c''", "d''4 zqc''", [2]),
    ],
)
def test_an_error_in_absolute_music(right: str, wrong: str, measures: list[int]) -> None:
    assert wrong_measures(ABSOLUTE.replace(right, wrong)) == measures


def test_a_voice_without_bar_checks_that_ends_apart() -> None:
    text = r"<< \new Staff { %s } \new Staff { c'1 d' e' } >>"
    assert wrong_measures(text % "c'4 d' e' f' g'2 a' b'1") == []
    assert wrong_measures(text % "c'4 d' e' f' g'2. a'2 b'1") == [2]


def test_an_error_that_is_played_twice_is_named_twice() -> None:
    assert wrong_measures(r"{ \repeat unfold 2 { c'1 | d'2 zq4 e' | } }") == [2, 4]


def test_a_dialect_is_no_error() -> None:
    assert wrong_measures("{ c'4 ut re mi | fa sol la si }") == []


def test_an_unnamed_context_is_the_staff_around_it() -> None:
    text = r"\new Staff { \key es \major << \context Staff { es'4 as' bes' es'' } >> | %s d'2 }"
    assert wrong_measures(text % "d'2") == []
    assert wrong_measures(text % "dis'2") == [2]
