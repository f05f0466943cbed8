"""Forms on chords: their spelling and inversion, and their Roman numerals in a key."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    PLAIN,
    Key,
    keys,
    moved,
    near_lines,
    near_notes,
)
from music_evals.datasets_builders.questions.theory.form import Draft, Form, shuffled
from music_evals.datasets_builders.questions.theory.terms import Term, article, tokens, words

# The intervals of the other chord members above the root, as they are stacked.
_QUALITIES: Final = dict(
    zip(
        (
            *(("M3", "P5"), ("m3", "P5"), ("m3", "d5"), ("M3", "A5")),
            *(("M3", "P5", "M7"), ("M3", "P5", "m7"), ("m3", "P5", "m7"), ("m3", "P5", "M7")),
            *(("m3", "d5", "m7"), ("m3", "d5", "d7")),
        ),
        words(
            "大三和弦|小三和弦|减三和弦|增三和弦|大大七和弦|大小七和弦|小小七和弦|小大七和弦|半减七和弦|减七和弦",
            "major triad|minor triad|diminished triad|augmented triad|major seventh chord|dominant seventh chord|"
            "minor seventh chord|minor-major seventh chord|half-diminished seventh chord|diminished seventh chord",
        ),
        strict=True,
    )
)
_MEMBERS: Final = words("三音|五音|七音", "third|fifth|seventh")

_MAJOR_FIGURES: Final = tokens(
    "I I6 I64 ii ii6 ii7 ii65 ii43 ii42 iii iii6 iii7 IV IV6 IV64 IV7 V V6 V64 V7 V65 V43 V42 vi vi6 vi7 viio viio6 "
    "viiø7 viiø65 viiø43 viiø42 V/ii V7/ii V65/ii V7/iii V7/IV V42/IV V/V V6/V V7/V V65/V V43/V V/vi V7/vi V65/vi "
    "viio7/ii viio7/V viio65/V viio7/vi"
)
_MINOR_FIGURES: Final = tokens(
    "i i6 i64 iio iio6 iiø7 iiø65 iiø43 iiø42 III III6 iv iv6 iv64 iv7 V V6 V64 V7 V65 V43 V42 VI VI6 VI7 VII VII6 "
    "viio viio6 viio7 viio65 viio43 viio42 V7/III V7/iv V65/iv V/V V6/V V7/V V65/V V7/VI viio7/iv viio7/V viio65/V"
)
_DEGREES: Final = dict(
    zip(
        ("I", "IV", "V", "V7", "viio"),
        words(
            "主三和弦|下属三和弦|属三和弦|属七和弦|导三和弦",
            "tonic triad|subdominant triad|dominant triad|dominant seventh chord|leading-note triad",
        ),
        strict=True,
    )
)


@cache
def _built(root: str, quality: tuple[str, ...], inversion: int) -> tuple[str, ...] | None:
    """The notes of a chord from the lowest up, None where they need more than a double accidental."""
    from music21.chord import Chord

    names = [root, *(moved(root, interval) for interval in quality)]
    spelled = [name for name in names if name]
    if len(spelled) < len(names) or sum(len(name) > 2 for name in spelled) > 1:
        return None
    chord = Chord(spelled)
    chord.inversion(inversion)
    # Taken back from the chord that music21 inverted: it has to find the same root and position.
    found = tuple(pitch.name for pitch in chord.pitches)
    assert (chord.root().name, chord.inversion()) == (root, inversion), (root, quality, inversion)
    return found


@cache
def _chords() -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Root, quality and inversion of every chord that is asked for."""
    return tuple(
        (root, quality, inversion)
        for root, quality in product(PLAIN, _QUALITIES)
        for inversion in range(len(quality) + 1)
        if _built(root, quality, inversion)
    )


def _like(chord: tuple[str, tuple[str, ...], int]) -> list[tuple[str, tuple[str, ...], int]]:
    """Other chords on the same root with as many notes, of another quality or in another position."""
    root, quality, inversion = chord
    return [
        other
        for other in _chords()
        if other[0] == root and len(other[1]) == len(quality) and (other[1] == quality) != (other[2] == inversion)
    ]


def _spelling(rng: Random) -> Iterator[Draft]:
    for chord in shuffled(_chords(), rng):
        root, quality, inversion = chord
        right = _built(*chord) or ()
        wrong = [_built(*other) or () for other in _like(chord)]
        asked = (terms.note(root), article(_QUALITIES[quality]), terms.position(inversion))
        yield Draft(
            asked, terms.notes(right), [*map(terms.notes, wrong), *map(terms.notes, near_lines(right, rng)[:3])]
        )


def _chord_name(rng: Random) -> Iterator[Draft]:
    for chord in shuffled(_chords(), rng):
        wrong = [terms.in_position(_QUALITIES[quality], inversion) for _, quality, inversion in _like(chord)]
        right = terms.in_position(_QUALITIES[chord[1]], chord[2])
        yield Draft((terms.notes(_built(*chord) or ()),), right, wrong)


def _root(rng: Random) -> Iterator[Draft]:
    for chord in shuffled([chord for chord in _chords() if chord[2]], rng):
        names = _built(*chord) or ()
        others = [*names, *(rng.sample(near_notes(chord[0]), 1) if len(names) == 3 else [])]
        yield Draft((terms.notes(names),), terms.note(chord[0]), [*map(terms.note, others)])


def _member(rng: Random) -> Iterator[Draft]:
    cases = [(root, quality, i) for root, quality, inversion in _chords() if not inversion for i in range(len(quality))]
    for root, quality, i in shuffled(cases, rng):
        right = (_built(root, quality, 0) or ())[i + 1]
        asked = (terms.note(root), article(_QUALITIES[quality]), _MEMBERS[i])
        yield Draft(asked, terms.note(right), [*map(terms.note, near_notes(right))])


def _figures(mode: str) -> tuple[str, ...]:
    return _MAJOR_FIGURES if mode == "major" else _MINOR_FIGURES


def _numeral(figure: str) -> Term:
    return terms.same(figure.replace("o", "°"))


@cache
def _resolved(figure: str, key: Key) -> tuple[str, ...]:
    """The notes of a numeral in a key, from the lowest up."""
    from music21.key import Key as MusicKey
    from music21.roman import RomanNumeral

    return tuple(pitch.name for pitch in RomanNumeral(figure, MusicKey(*key)).pitches)


def _numerals() -> list[tuple[Key, str]]:
    # A triple accidental has no name here, and keys that need one are rare in music.
    return [(key, figure) for key in keys() for figure in _figures(key[1])]


def _spelled(names: Sequence[str]) -> bool:
    return all(len(name) <= 3 for name in names)


def _numeral_notes(rng: Random) -> Iterator[Draft]:
    for key, figure in shuffled(_numerals(), rng):
        if _spelled(right := _resolved(figure, key)):
            others = [_resolved(other, key) for other in rng.sample(_figures(key[1]), 8)]
            near = [names for names in others if len(names) == len(right) and _spelled(names)][:2]
            rotated = [*right[1:], right[0]]
            wrong = [*near, rotated, *near_lines(right, rng)[:3]]
            yield Draft((terms.key(*key), _numeral(figure)), terms.notes(right), [*map(terms.notes, wrong)])


def _numeral_name(rng: Random) -> Iterator[Draft]:
    for key, figure in shuffled(_numerals(), rng):
        if _spelled(right := _resolved(figure, key)):
            # Figures for the same notes, as I for V/IV, would be right too.
            others = [o for o in _figures(key[1]) if _resolved(o, key) != right]
            wrong = [o for o in others if len(_resolved(o, key)) == len(right)]
            near = [o for o in wrong if {*_resolved(o, key)} == {*right} or o[:2].lower() == figure[:2].lower()]
            chosen = near + rng.sample(wrong, 3)
            yield Draft((terms.key(*key), terms.notes(right)), _numeral(figure), [*map(_numeral, chosen)])


def _numeral_bass(rng: Random) -> Iterator[Draft]:
    for key, figure in shuffled([(k, f) for k, f in _numerals() if not f.isalpha()], rng):
        if _spelled(notes := _resolved(figure, key)):
            others = [terms.note(note) for note in (*notes[1:], *near_notes(notes[0])[:3])]
            yield Draft((terms.key(*key), _numeral(figure)), terms.note(notes[0]), others)


def _degree_chord(rng: Random) -> Iterator[Draft]:
    for key, figure in shuffled(list(product(keys(), _DEGREES)), rng):
        minor = key[1] == "minor" and figure in ("I", "IV")
        right = _resolved(figure.lower() if minor else figure, key)
        if _spelled(right):
            mode = Term("和声小调", "harmonic minor") if key[1] == "minor" else terms.MODES["major"]
            asked = (terms.joined(terms.note(key[0]), mode), _DEGREES[figure])
            yield Draft(asked, terms.notes(right), [terms.notes(near) for near in near_lines(right, rng)])


FORMS: Final = (
    Form(
        "chords",
        "spelling",
        Term(
            "以{0}为根音的{1}，处于{2}时，从低到高由哪些音构成？",
            "Which notes, from the lowest up, form {1} on the root {0} in {2}?",
        ),
        _spelling,
    ),
    Form(
        "chords",
        "name",
        Term(
            "密集排列、从低到高由{0}构成的和弦，是什么和弦的什么位置？",
            "In close position, the notes {0} sound from the lowest up. Which chord is it, and in which position?",
        ),
        _chord_name,
    ),
    Form(
        "chords",
        "root",
        Term("从低到高由{0}构成的三度叠置和弦，根音是哪个音？", "Which note is the root of the tertian chord {0}?"),
        _root,
    ),
    Form(
        "chords",
        "member",
        Term("以{0}为根音的{1}，其{2}是哪个音？", "Which note is the {2} of {1} on the root {0}?"),
        _member,
    ),
    Form(
        "roman_numerals",
        "notes",
        Term("在{0}中，{1}从低到高由哪些音构成？", "In {0}, which notes, from the lowest up, form {1}?"),
        _numeral_notes,
    ),
    Form(
        "roman_numerals",
        "numeral",
        Term(
            "在{0}中，从低到高由{1}构成的和弦，用哪个罗马数字标记？",
            "In {0}, which Roman numeral describes the chord that is, from the lowest up, {1}?",
        ),
        _numeral_name,
    ),
    Form(
        "roman_numerals",
        "bass",
        Term("在{0}中，{1}的低音是哪个音？", "In {0}, which note is in the bass of {1}?"),
        _numeral_bass,
    ),
    Form(
        "roman_numerals",
        "function",
        Term(
            "{0}的{1}，原位，从低到高由哪些音构成？",
            "Which notes, from the lowest up, form the {1} of {0} in root position?",
        ),
        _degree_chord,
    ),
)
