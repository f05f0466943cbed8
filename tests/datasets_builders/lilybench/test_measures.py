"""Where a text writes its measures."""

from fractions import Fraction

from music_evals.datasets_builders.lilybench.strict.spans import find_spans
from tests.datasets_builders.lilybench.scores import RELATIVE, TWO_VOICES, read


def test_the_stretches_of_a_voice() -> None:
    spans = find_spans(RELATIVE, read(RELATIVE))
    texts = [" ".join(RELATIVE[span.start : span.end].split()) for span in spans]
    assert texts[1:4] == ["g,8 a b c d4", "d g,4. g8", "e'4 c8 d e fis"]
    assert texts[5] == "\\key d \\major fis'4 e d"
    assert [span.measure for span in spans] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [span.length for span in spans] == [Fraction(1, 4), *[Fraction(3, 4)] * 7, None]
    assert [span.closed for span in spans] == [False, *[True] * 7, False]
    assert not any(span.shared for span in spans)


def test_each_voice_has_its_own() -> None:
    spans = find_spans(TWO_VOICES, read(TWO_VOICES))
    assert [(span.voice, span.measure) for span in spans] == [(voice, bar) for voice in (1, 2) for bar in range(1, 6)]


def test_what_is_played_twice_or_by_two_voices_is_shared() -> None:
    twice = "tune = { c'4 d' e' f' | g'1 | } { \\tune \\tune }"
    assert all(span.shared for span in find_spans(twice, read(twice)))
    both = "<< { c''4 d'' e'' f'' } \\\\ { c'1 } >>"
    assert all(span.shared for span in find_spans(both, read(both)))
