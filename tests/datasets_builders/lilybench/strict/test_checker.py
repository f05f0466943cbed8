"""Errors of scores and their spans, on texts of our own; and corruptions, which are their only errors."""

import json
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from itertools import chain
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.reasons import reasons
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, Corruption, task_row
from music_evals.datasets_builders.lilybench.strict.checker import find_errors, find_spans, is_foreign
from music_evals.datasets_builders.lilybench.strict.corruptions import Corrupted, corrupt
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.structure import Key, Structure, read_structures
from music_evals.notation.lilypond.syntax.languages import name_of

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CLEAN: dict[str, str] = CASES["clean"]
WRONG = [(CLEAN[name].replace(before, after), json.loads(errors)) for name, before, after, errors in CASES["wrong"]]
ORACLE = json.loads((Path(__file__).parents[3] / "oracles" / "data" / "lilypond_errors.json").read_text("utf-8"))
PAIRS = [
    (ORACLE["scores"][number][:start] + new + ORACLE["scores"][number][end:], measures)
    for number, start, end, new, measures in ORACLE["cases"]
]


@pytest.fixture(scope="module")
def readings() -> Mapping[str, Structure]:
    """LilyPond's readings of all texts, made together."""
    texts = [*CLEAN.values(), *(text for text, _ in WRONG), *CASES["errors"], *CASES["shared"], *(t for t, _ in PAIRS)]
    read = dict(zip(texts, read_structures(texts, cache=lilypond_cache(), together=True), strict=True))
    return {text: structure for text, structure in read.items() if isinstance(structure, Structure)}


def test_errors_are_found_in_their_measures_and_nothing_else(readings: Mapping[str, Structure]) -> None:
    for text in CLEAN.values():
        assert find_errors(text, readings[text]) == {}
    for text, errors in [*WRONG, *((text, json.loads(errors)) for text, errors in CASES["errors"].items())]:
        assert find_errors(text, readings[text]) == errors, text


def test_errors_are_those_of_a_reader_without_lilypond(readings: Mapping[str, Structure]) -> None:
    for text, measures in PAIRS:
        assert sorted(set(chain(*find_errors(text, readings[text]).values()))) == measures, text


@pytest.mark.parametrize(
    ("altered", "own"),
    [
        # By hand: the key's seven notes; what its neighbours on the circle add (for C major those of F and G); the
        # leading notes of the three relative minors.
        ({}, "c d e f g a b  bes fis  gis dis cis"),
        ({3: 1}, "c d e fis g a b  f cis  dis ais gis"),
        ({6: -1, 2: -1, 5: -1}, "c d ees f g aes bes  des a  b fis e"),
    ],
)
def test_foreign_notes_move_with_the_signature(altered: dict[int, int], own: str) -> None:
    key = Key(Fraction(0), 1, 1, 0, Fraction(0), tuple(Fraction(altered.get(step, 0)) for step in range(7)), 0)
    every = [(step, alteration) for step in range(7) for alteration in (-1, 0, 1)]
    assert {name_of(*note) for note in every if not is_foreign(key, *note)} == set(own.split())


def test_spans_are_by_voice_and_shared_where_they_sound_twice(readings: Mapping[str, Structure]) -> None:
    text = CLEAN["relative"]
    spans = find_spans(text, readings[text])
    texts = [" ".join(text[span.start : span.end].split()) for span in spans]
    assert texts[1:4] == ["g,8 a b c d4", "d g,4. g8", "e'4 c8 d e fis"]
    assert texts[5] == "\\key d \\major fis'4 e d"
    assert [span.measure for span in spans] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [span.length for span in spans] == [Fraction(1, 4), *[Fraction(3, 4)] * 7, None]
    assert [span.closed for span in spans] == [False, *[True] * 7, False]
    assert not any(span.shared for span in spans)
    voices = find_spans(CLEAN["two voices"], readings[CLEAN["two voices"]])
    assert [(span.voice, span.measure) for span in voices] == [(voice, bar) for voice in (1, 2) for bar in range(1, 6)]
    assert all(span.shared for text in CASES["shared"] for span in find_spans(text, readings[text]))


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_corruption_changes_one_note_and_at_most_writes_out_the_next(
    kind: Corruption, readings: Mapping[str, Structure]
) -> None:
    scores = [(text, readings[text]) for text in CLEAN.values()]
    made = corrupt(scores, kind, seed=5)
    # Only one of the scores has a key or clef in a complete measure that begins one.
    assert any(made) if kind == "invalid_metadata" else all(made)
    for (text, clean), corrupted in zip(scores, made, strict=True):
        if isinstance(corrupted, Corrupted):
            changed = [old != new for old, new in zip(text.split(), corrupted.text.split(), strict=True)]
            assert sum(changed) in (1, 2)
            assert 1 <= corrupted.measure <= clean.measures
    if kind == "melodic_leap":
        assert corrupt(scores, kind, seed=5) == made
        assert corrupt(scores[:1], kind, seed=6) != made[:1]


def test_a_reader_of_a_log_sees_the_change() -> None:
    text = "\\version \"2.24.3\"\n\\header { title = \"A tune\" }\n{ c'4 d' |\n  g'8 a' b'4 | }\n"
    clean = anonymise(text)
    scores = {
        "melodic_leap": (clean.replace("g'8", "g,8"), "a melodic leap in measure 2: `g'8` became `g,8`."),
        "invalid_content": (clean.replace("b'4 |", "b'4 zq |"), "text that is no music in measure 2: `zq` was put in."),
        "accidental_outside_key": ("{ c'1 }" * 50, "an accidental that is foreign to the key in measure 2."),
        "clean": (clean, "nothing in this score was changed."),
    }
    rows = [
        task_row("error_detection", "strict", "airs/tune", "2", score=score, kind=kind)
        for kind, (score, _) in scores.items()
    ]
    explained = reasons("error_detection", "strict", rows, {"airs/tune": text})
    assert list(explained.values()) == [words for _, words in scores.values()]
    assert reasons("error_detection", "strict", rows[:1], {}) == {rows[0]["id"]: "a melodic leap in measure 2."}
