"""Forms on chords: their spelling and inversion, and their Roman numerals in a key."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

from music21.chord import Chord
from music21.key import Key as MusicKey
from music21.roman import RomanNumeral

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    PLAIN,
    Key,
    fifths,
    keys,
    keys_of,
    moved,
    pitch_class,
    sounds,
)
from music_evals.datasets_builders.questions.theory.form import (
    Case,
    Cases,
    Drafts,
    all_cases,
    by_block,
    forms,
)
from music_evals.datasets_builders.questions.theory.terms import Term, article, tokens, words
from music_evals.notation.grouping import group_by

# Intervals above the root → name of the chord.
_QUALITIES = {tokens(intervals): name for intervals, name in words("chords").items()}
_MEMBERS = tuple(words("chord_members").values())
_FIGURES = {
    "major": tokens(
        "I I6 I64 ii ii6 ii7 ii65 ii43 ii42 iii iii6 iii7 IV IV6 IV64 IV7 V V6 V64 V7 V65 V43 V42 "
        "vi vi6 vi7 viio viio6 viiø7 viiø65 viiø43 viiø42 V/ii V7/ii V65/ii V7/iii V7/IV V42/IV "
        "V/V V6/V V7/V V65/V V43/V V/vi V7/vi V65/vi viio7/ii viio7/V viio65/V viio7/vi"
    ),
    "minor": tokens(
        "i i6 i64 iio iio6 iiø7 iiø65 iiø43 iiø42 III III6 iv iv6 iv64 iv7 V V6 V64 V7 V65 V43 V42 "
        "VI VI6 VI7 VII VII6 viio viio6 viio7 viio65 viio43 viio42 V7/III V7/iv V65/iv V/V V6/V "
        "V7/V V65/V V7/VI viio7/iv viio7/V viio65/V"
    ),
}
_DEGREES = words("degree_chords")

_Chord = tuple[str, tuple[str, ...], int]  # root, quality and inversion


@cache
def _built(chord: _Chord) -> tuple[str, ...]:
    """The notes of a chord from the lowest; none if they need more than one double accidental."""
    root, quality, inversion = chord
    names = [root, *(moved(root, interval) for interval in quality)]
    spelled = [name for name in names if name]
    if len(spelled) < len(names) or sum(len(name) > 2 for name in spelled) > 1:
        return ()
    built = Chord(spelled)
    built.inversion(inversion)
    # music21 must read the same root and position in the inverted chord.
    assert (built.root().name, built.inversion()) == (root, inversion), chord
    return tuple(pitch.name for pitch in built.pitches)


@cache
def _chords() -> tuple[_Chord, ...]:
    """All chords of the questions."""
    return tuple(
        (root, quality, inversion)
        for root, quality in product(PLAIN, _QUALITIES)
        for inversion in range(len(quality) + 1)
        if _built((root, quality, inversion))
    )


def _like_chords() -> Iterable[list[_Chord]]:
    """Chords with the same root and number of notes."""
    return group_by(_chords(), lambda chord: (chord[0], len(chord[1]))).values()


@by_block(_like_chords)
def _spelling(block: list[_Chord]) -> Cases:
    for root, quality, inversion in block:
        notes = _built((root, quality, inversion))
        blanks = terms.note(root), article(_QUALITIES[quality]), terms.position(inversion)
        yield Case(blanks, terms.notes(notes), sound=sounds(notes))


@by_block(_like_chords)
def _chord_name(block: list[_Chord]) -> Cases:
    for chord in block:
        notes, quality, position = _built(chord), _QUALITIES[chord[1]], terms.position(chord[2])
        name = Term(f"{quality.zh}，{position.zh}", f"{quality.en}, {position.en}")
        yield Case((terms.notes(notes),), name, sound=sounds(notes))


@all_cases
def _root() -> Cases:
    # As options, the notes of one chord would give its root away. Roots a few fifths apart are
    # notes of each other's chords.
    for chord in _chords():
        root, _, inversion = chord
        if inversion:
            yield Case(
                (terms.notes(_built(chord)),),
                terms.note(root),
                near=fifths(root),
                sound=pitch_class(root),
            )


@by_block(lambda: PLAIN)
def _member(root: str) -> Cases:
    for _, quality, _ in (chord for chord in _chords() if chord[0] == root and not chord[2]):
        for member, note in zip(_MEMBERS, _built((root, quality, 0))[1:], strict=False):
            blanks = terms.note(root), article(_QUALITIES[quality]), member
            yield Case(blanks, terms.note(note), sound=pitch_class(note))


# --- Roman numerals ---


def _numeral(figure: str) -> Term:
    return terms.same(figure.replace("o", "°"))


_music_key = cache(MusicKey)


@cache
def _resolved(figure: str, key: Key) -> tuple[str, ...]:
    """The notes of a numeral in a key, from the lowest."""
    return tuple(pitch.name for pitch in RomanNumeral(figure, _music_key(*key)).pitches)


def _is_spelled(names: Sequence[str]) -> bool:
    """Whether there is no triple accidental, which has no name here."""
    return all(len(name) <= 3 for name in names)


def _notes_and_numeral(asks_notes: bool) -> Drafts:
    """Ask for the notes of a numeral, or for the numeral of notes."""

    @by_block(lambda: product(keys(), (3, 4)))  # numbers of notes
    def drafts(block: tuple[Key, int]) -> Cases:
        key, size = block
        for place, figure in enumerate(_FIGURES[key[1]]):
            notes = _resolved(figure, key)
            if len(notes) != size or not _is_spelled(notes):
                continue
            names = _numeral(figure), terms.notes(notes)
            shown, answer = names if asks_notes else reversed(names)
            # Numerals with the same notes, such as I and V/IV, are both right: `sound` keeps them
            # apart.
            yield Case((terms.key(key), shown), answer, near=place, sound=sounds(notes))

    return drafts


@by_block(lambda: [(key, figures) for key in keys() for figures in _inversions(key[1])])
def _numeral_bass(block: tuple[Key, tuple[str, ...]]) -> Cases:
    key, figures = block
    for place, figure in enumerate(figures):
        if _is_spelled(notes := _resolved(figure, key)):
            bass = notes[0]
            yield Case(
                (terms.key(key), _numeral(figure)),
                terms.note(bass),
                near=place,
                sound=pitch_class(bass),
            )


def _inversions(mode: str) -> list[tuple[str, ...]]:
    """The inverted triads of a mode, and its seventh chords with all their positions."""
    figures = [figure.partition("/") for figure in _FIGURES[mode]]
    triads = tuple("".join(parts) for parts in figures if parts[0].endswith(("6", "64")))
    sevenths = [
        tuple(f"{head[:-2]}{n}{bar}{of}" for n in ("7", "65", "43", "42"))
        for head, bar, of in figures
        if head.endswith("65")
    ]
    return [triads, *sevenths]


def _degree_blocks() -> list[tuple[Sequence[Key], Sequence[str]]]:
    """The triads of a key, and the seventh chords of all keys of a mode."""
    triads = [figure for figure in _DEGREES if figure[-1] != "7"]
    sevenths = [figure for figure in _DEGREES if figure[-1] == "7"]
    return [
        *(([key], triads) for key in keys()),
        *((keys_of(mode), sevenths) for mode in terms.MODES),
    ]


@by_block(_degree_blocks)
def _degree_chord(block: tuple[Sequence[Key], Sequence[str]]) -> Cases:
    for key, figure in product(*block):
        is_minor = key[1] == "minor"
        notes = _resolved(figure.lower() if is_minor and figure in ("I", "IV") else figure, key)
        if _is_spelled(notes):
            mode = Term("和声小调", "harmonic minor") if is_minor else terms.MODES["major"]
            blanks = terms.joined(terms.note(key[0]), mode), _DEGREES[figure]
            yield Case(blanks, terms.notes(notes), near=fifths(key[0]), sound=sounds(notes))


FORMS = (
    *forms("chords", spelling=_spelling, name=_chord_name, root=_root, member=_member),
    *forms(
        "roman_numerals",
        notes=_notes_and_numeral(asks_notes=True),
        numeral=_notes_and_numeral(asks_notes=False),
        bass=_numeral_bass,
        function=_degree_chord,
    ),
)
