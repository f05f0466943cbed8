"""Forms on scales and key signatures."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from random import Random
from typing import Any

from music21 import scale

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    PLAIN,
    Key,
    altered,
    key_moved,
    key_of,
    keys,
    keys_of,
    moved,
    pitch_class,
    sharps,
)
from music_evals.datasets_builders.questions.theory.form import (
    Case,
    Cases,
    Draft,
    by_block,
    dealt,
    forms,
    shuffled,
)
from music_evals.datasets_builders.questions.theory.terms import (
    FLAT,
    MODES,
    SHARP,
    Term,
    article,
    tokens,
    words,
)
from music_evals.notation.grouping import group_by

# Without Ionian and Aeolian, which are other names of major and natural minor.
_HEPTATONIC = words("scales")
_PENTATONIC = words("pentatonic_modes")
_FUNCTIONS = tuple(words("scale_degrees").values())
_DISTANCES = tokens("m2 M2 m3 M3 P4 P5 m6 M6 m7 M7")
# Degree of the major scale → interval above its tonic, the gong.
_FROM_GONG = {"1": "", "2": "M2", "3": "M3", "5": "P5", "6": "M6"}
_classes: Any = scale  # music21 has no types for its scales
# Tonic and kind: a music21 class without ``Scale``, or the degree of a pentatonic mode.
_Scale = tuple[str, str]


@cache
def _ascending(kind: str, tonic: str) -> list[str]:
    """The seven notes of a music21 scale."""
    built = getattr(_classes, f"{kind}Scale")(tonic)
    pitches = built.getPitches(f"{tonic}4", f"{tonic}5", direction=scale.Direction.ASCENDING)
    return [pitch.name for pitch in pitches][:7]


@cache
def _notes_of(scale_: _Scale) -> tuple[str, ...]:
    """The notes of a scale, ascending from its tonic; none if they need uncommon double
    accidentals.
    """
    tonic, kind = scale_
    if kind in _PENTATONIC:
        gong = tonic if kind == "1" else moved(tonic, _FROM_GONG[kind], down=True)
        if gong not in PLAIN:
            return ()
        names = [_ascending("Major", gong)[int(degree) - 1] for degree in _FROM_GONG]
        at = names.index(tonic)
        names = names[at:] + names[:at]
    else:
        names = _ascending(kind, tonic)
    # This excludes theoretical keys such as F flat major, but not the double sharp of a raised
    # seventh.
    doubles = sum(len(name) > 2 for name in names)
    return tuple(names) if doubles <= (kind in ("HarmonicMinor", "MelodicMinor")) else ()


@cache
def _scales() -> tuple[_Scale, ...]:
    """All scales of the questions."""
    return tuple(filter(_notes_of, product(PLAIN, (*_HEPTATONIC, *_PENTATONIC))))


def _scale_term(scale_: _Scale) -> Term:
    tonic, kind = scale_
    return terms.joined(terms.note(tonic), {**_HEPTATONIC, **_PENTATONIC}[kind])


def _like_scales() -> Iterable[list[_Scale]]:
    """Scales with the same tonic and number of notes."""
    return group_by(_scales(), lambda scale_: (scale_[0], scale_[1] in _PENTATONIC)).values()


@by_block(_like_scales)
def _scale_notes(block: list[_Scale]) -> Cases:
    for scale_ in block:
        yield Case((_scale_term(scale_),), terms.notes(_notes_of(scale_)))


@by_block(_like_scales)
def _scale_name(block: list[_Scale]) -> Cases:
    for scale_ in block:
        yield Case((terms.notes(_notes_of(scale_)),), _scale_term(scale_))


def _degrees(tonic: str) -> list[tuple[_Scale, int]]:
    """Heptatonic scales on a tonic, with their degrees."""
    scales = [(tonic, kind) for kind in _HEPTATONIC if _notes_of((tonic, kind))]
    return list(product(scales, range(2, 8)))


@by_block(lambda: product(PLAIN, (2, 4, 6)))
def _degree(block: tuple[str, int]) -> Cases:
    tonic, lower = block
    for scale_, degree in _degrees(tonic):
        if degree in (lower, lower + 1):
            note = _notes_of(scale_)[degree - 1]
            yield Case(
                (_scale_term(scale_), terms.degree(degree)),
                terms.note(note),
                sound=pitch_class(note),
            )


@by_block(lambda: filter(_notes_of, product(PLAIN, _HEPTATONIC)))
def _which_degree(scale_: _Scale) -> Cases:
    for degree, note in enumerate(_notes_of(scale_)[1:], start=2):
        yield Case((_scale_term(scale_), terms.note(note)), terms.degree(degree))


@by_block(lambda: PLAIN)
def _function(tonic: str) -> Cases:
    for scale_, degree in _degrees(tonic):
        if scale_[1] in ("Major", "HarmonicMinor"):
            note = _notes_of(scale_)[degree - 1]
            yield Case(
                (_scale_term(scale_), _FUNCTIONS[degree - 1]),
                terms.note(note),
                sound=pitch_class(note),
            )


# --- key signatures ---


def _signature_of(key: Key, *blanks: Term) -> Case:
    """Ask for the key signature of a key; wrong options have nearly as many sharps or flats."""
    return Case(blanks, terms.signature(sharps(key)), near=abs(sharps(key)))


def _key_with(key: Key, *blanks: Term) -> Case:
    """Ask for a key; wrong options have nearly as many sharps or flats."""
    return Case(blanks, terms.key(key), near=abs(sharps(key)), sound=pitch_class(key[0]))


_OTHER_MODE = {"major": "minor", "minor": "major"}


@by_block(lambda: MODES, shuffle=False)
def _signature(mode: str) -> Cases:
    for key in keys_of(mode):
        yield _signature_of(key, terms.key(key))


@by_block(lambda: MODES, shuffle=False)
def _key_of_signature(mode: str) -> Cases:
    for key in keys_of(mode):
        yield _key_with(key, terms.signature(sharps(key)), MODES[mode])


@by_block(lambda: MODES, shuffle=False)
def _relative(mode: str) -> Cases:
    for right in keys_of(mode):
        yield _key_with(right, terms.key(key_of(sharps(right), _OTHER_MODE[mode])), MODES[mode])


@by_block(lambda: MODES, shuffle=False)
def _parallel(mode: str) -> Cases:
    for right in keys_of(mode):
        if (key := (right[0], _OTHER_MODE[mode])) in keys():
            yield _signature_of(right, terms.key(key), MODES[mode])


@by_block(lambda: (1, -1), shuffle=False)
def _last_accidental(sign: int) -> Cases:
    for key in keys():
        if sharps(key) * sign > 0:
            # Only the letter: the question says which accidental it is.
            yield Case(
                (terms.key(key), SHARP if sign > 0 else FLAT), terms.same(altered(key)[-1][0])
            )


def _common(rng: Random) -> Iterator[Draft]:
    cases = []
    for pair in product(keys(), keys()):
        if sharps(pair[0]) < sharps(pair[1]):
            first, second = (
                {*"CDEFGAB"} - {n[0] for n in signed} | {*signed} for signed in map(altered, pair)
            )
            number = len(first & second)
            blanks = tuple(map(terms.key, shuffled(pair, rng)))
            cases.append(Case(blanks, terms.same(number), near=number))
    return dealt([cases], rng)


@by_block(lambda: product(_DISTANCES, MODES))
def _distant(block: tuple[str, str]) -> Cases:
    name, mode = block
    for key in keys():
        if right := key_moved((key[0], mode), name):
            yield _signature_of(right, terms.key(key), article(terms.interval(name)), MODES[mode])


FORMS = (
    *forms(
        "scales",
        notes=_scale_notes,
        name=_scale_name,
        degree=_degree,
        which_degree=_which_degree,
        function=_function,
    ),
    *forms(
        "key_signatures",
        count=_signature,
        key=_key_of_signature,
        relative=_relative,
        parallel=_parallel,
        last=_last_accidental,
        common=_common,
        distant=_distant,
    ),
)
