"""Forms on chords: their spelling and inversion, and their Roman numerals in a key."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music21.chord import Chord
from music21.key import Key as MusicKey
from music21.roman import RomanNumeral

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import PLAIN, Key, keys, moved, near_lines, near_notes
from music_evals.datasets_builders.questions.theory.form import Draft, draft, forms, shuffled
from music_evals.datasets_builders.questions.theory.terms import Term, article, tokens, words

# Intervals of the other chord members above the root → name of the chord.
_QUALITIES: Final = {tokens(intervals): name for intervals, name in words("chords").items()}
_MEMBERS: Final = tuple(words("chord_members").values())
_MAJOR_FIGURES: Final = tokens(
    "I I6 I64 ii ii6 ii7 ii65 ii43 ii42 iii iii6 iii7 IV IV6 IV64 IV7 V V6 V64 V7 V65 V43 V42 vi vi6 vi7 viio viio6 "
    "viiø7 viiø65 viiø43 viiø42 V/ii V7/ii V65/ii V7/iii V7/IV V42/IV V/V V6/V V7/V V65/V V43/V V/vi V7/vi V65/vi "
    "viio7/ii viio7/V viio65/V viio7/vi"
)
_MINOR_FIGURES: Final = tokens(
    "i i6 i64 iio iio6 iiø7 iiø65 iiø43 iiø42 III III6 iv iv6 iv64 iv7 V V6 V64 V7 V65 V43 V42 VI VI6 VI7 VII VII6 "
    "viio viio6 viio7 viio65 viio43 viio42 V7/III V7/iv V65/iv V/V V6/V V7/V V65/V V7/VI viio7/iv viio7/V viio65/V"
)
_DEGREES: Final = words("degree_chords")

_Chord = tuple[str, tuple[str, ...], int]  # root, quality and inversion


@cache
def _built(chord: _Chord) -> tuple[str, ...]:
    """The notes of a chord from the lowest up; none where they need more than a double accidental, or two of those."""
    root, quality, inversion = chord
    names = [root, *(moved(root, interval) for interval in quality)]
    spelled = [name for name in names if name]
    if len(spelled) < len(names) or sum(len(name) > 2 for name in spelled) > 1:
        return ()
    built = Chord(spelled)
    built.inversion(inversion)
    # Taken back from the chord that music21 inverted: it has to find the same root and position.
    assert (built.root().name, built.inversion()) == (root, inversion), chord
    return tuple(pitch.name for pitch in built.pitches)


@cache
def _chords() -> tuple[_Chord, ...]:
    """Every chord that is asked for."""
    return tuple(
        (root, quality, inversion)
        for root, quality in product(PLAIN, _QUALITIES)
        for inversion in range(len(quality) + 1)
        if _built((root, quality, inversion))
    )


def _like(chord: _Chord) -> list[_Chord]:
    """Other chords on the same root with as many notes, of another quality or in another position."""
    root, quality, inversion = chord
    return [
        other
        for other in _chords()
        if other[0] == root and len(other[1]) == len(quality) and (other[1] == quality) != (other[2] == inversion)
    ]


def _in_position(chord: _Chord) -> Term:
    quality, where = _QUALITIES[chord[1]], terms.position(chord[2])
    return Term(f"{quality.zh}，{where.zh}", f"{quality.en}, {where.en}")


def _spelling(rng: Random) -> Iterator[Draft]:
    for chord in shuffled(_chords(), rng):
        root, quality, inversion = chord
        right = _built(chord)
        wrong = [*map(_built, _like(chord)), *near_lines(right, rng)[:3]]
        yield draft(
            terms.notes, right, wrong, terms.note(root), article(_QUALITIES[quality]), terms.position(inversion)
        )


def _chord_name(rng: Random) -> Iterator[Draft]:
    for chord in shuffled(_chords(), rng):
        yield draft(_in_position, chord, _like(chord), terms.notes(_built(chord)))


def _root(rng: Random) -> Iterator[Draft]:
    for chord in shuffled([chord for chord in _chords() if chord[2]], rng):
        names = _built(chord)
        others = [*names, *(rng.sample(near_notes(chord[0]), 1) if len(names) == 3 else [])]
        yield draft(terms.note, chord[0], others, terms.notes(names))


def _member(rng: Random) -> Iterator[Draft]:
    cases = [(root, quality, i) for root, quality, inversion in _chords() if not inversion for i in range(len(quality))]
    for root, quality, i in shuffled(cases, rng):
        right = _built((root, quality, 0))[i + 1]
        yield draft(terms.note, right, near_notes(right), terms.note(root), article(_QUALITIES[quality]), _MEMBERS[i])


# --- Roman numerals ---


def _figures(mode: str) -> tuple[str, ...]:
    return _MAJOR_FIGURES if mode == "major" else _MINOR_FIGURES


def _numeral(figure: str) -> Term:
    return terms.same(figure.replace("o", "°"))


_music_key = cache(MusicKey)


@cache
def _resolved(figure: str, key: Key) -> tuple[str, ...]:
    """The notes of a numeral in a key, from the lowest up."""
    return tuple(pitch.name for pitch in RomanNumeral(figure, _music_key(*key)).pitches)


def _numerals(rng: Random) -> Iterator[tuple[Key, str, tuple[str, ...]]]:
    """Keys, numerals and their notes, shuffled; a triple accidental has no name here, and is rare in music."""
    for key, figure in shuffled([(one, figure) for one in keys() for figure in _figures(one[1])], rng):
        if _is_spelled(notes := _resolved(figure, key)):
            yield key, figure, notes


def _is_spelled(names: Sequence[str]) -> bool:
    return all(len(name) <= 3 for name in names)


def _numeral_notes(rng: Random) -> Iterator[Draft]:
    for key, figure, right in _numerals(rng):
        others = [_resolved(other, key) for other in rng.sample(_figures(key[1]), 8)]
        near = [names for names in others if len(names) == len(right) and _is_spelled(names)][:2]
        wrong = [*near, (*right[1:], right[0]), *near_lines(right, rng)[:3]]
        yield draft(terms.notes, right, wrong, terms.key(key), _numeral(figure))


def _numeral_name(rng: Random) -> Iterator[Draft]:
    for key, figure, right in _numerals(rng):
        # Figures for the same notes, as I for V/IV, would be right too.
        others = [o for o in _figures(key[1]) if _resolved(o, key) != right]
        wrong = [o for o in others if len(_resolved(o, key)) == len(right)]
        near = [o for o in wrong if {*_resolved(o, key)} == {*right} or o[:2].lower() == figure[:2].lower()]
        yield draft(_numeral, figure, near + rng.sample(wrong, 3), terms.key(key), terms.notes(right))


def _numeral_bass(rng: Random) -> Iterator[Draft]:
    cases = [(one, figure) for one in keys() for figure in _figures(one[1]) if not figure.isalpha()]
    for key, figure in shuffled(cases, rng):
        if _is_spelled(notes := _resolved(figure, key)):
            wrong = [*notes[1:], *near_notes(notes[0])[:3]]
            yield draft(terms.note, notes[0], wrong, terms.key(key), _numeral(figure))


def _degree_chord(rng: Random) -> Iterator[Draft]:
    for key, figure in shuffled(product(keys(), _DEGREES), rng):
        is_minor = key[1] == "minor"
        right = _resolved(figure.lower() if is_minor and figure in ("I", "IV") else figure, key)
        if _is_spelled(right):
            mode = Term("和声小调", "harmonic minor") if is_minor else terms.MODES["major"]
            asked = (terms.joined(terms.note(key[0]), mode), _DEGREES[figure])
            yield draft(terms.notes, right, near_lines(right, rng), *asked)


FORMS: Final = (
    *forms("chords", spelling=_spelling, name=_chord_name, root=_root, member=_member),
    *forms("roman_numerals", notes=_numeral_notes, numeral=_numeral_name, bass=_numeral_bass, function=_degree_chord),
)
