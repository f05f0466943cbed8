"""Forms on scales and key signatures."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final

from music21 import scale

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    PLAIN,
    Key,
    altered,
    key_of,
    keys,
    moved,
    pitch_class,
    sharps,
)
from music_evals.datasets_builders.questions.theory.form import Case, Draft, dealt, forms, shuffled
from music_evals.datasets_builders.questions.theory.terms import FLAT, MODES, SHARP, Term, article, tokens, words

# Ionian and Aeolian are left out: they are major and natural minor by another name.
_HEPTATONIC: Final = words("scales")
_PENTATONIC: Final = {int(degree): name for degree, name in words("pentatonic_modes").items()}
_FUNCTIONS: Final = tuple(words("scale_degrees").values())
_DISTANCES: Final = tokens("m2 M2 m3 M3 P4 P5 m6 M6 m7 M7")


# Degree of the major scale → how far above its tonic, the gong, it lies.
_FROM_GONG: Final = {1: "", 2: "M2", 3: "M3", 5: "P5", 6: "M6"}
_classes: Any = scale  # music21 has no types for its scales
_Scale = tuple[str, str | int]  # tonic and kind: a music21 class without ``Scale``, or the degree of a pentatonic mode


@cache
def _ascending(kind: str, tonic: str) -> list[str]:
    """The seven notes of a scale of music21's."""
    found = getattr(_classes, f"{kind}Scale")(tonic)
    pitches = found.getPitches(f"{tonic}4", f"{tonic}5", direction=scale.Direction.ASCENDING)
    return [pitch.name for pitch in pitches][:7]


@cache
def _notes_of(scale_: _Scale) -> tuple[str, ...]:
    """The notes of a scale, ascending from its tonic; none where they need double accidentals that are out of use."""
    tonic, kind = scale_
    if isinstance(kind, int):
        gong = moved(tonic, _FROM_GONG[kind], down=True) if kind > 1 else tonic
        if gong not in PLAIN:
            return ()
        names = [_ascending("Major", gong)[degree - 1] for degree in _FROM_GONG]
        at = names.index(tonic)
        names = names[at:] + names[:at]
    else:
        names = _ascending(kind, tonic)
    # Theoretical keys such as F flat major stay out; a raised seventh may need its one double sharp.
    doubles = sum(len(name) > 2 for name in names)
    return tuple(names) if doubles <= (kind in ("HarmonicMinor", "MelodicMinor")) else ()


@cache
def _scales() -> tuple[_Scale, ...]:
    """Every scale that is asked for."""
    kinds: list[str | int] = [*_HEPTATONIC, *_PENTATONIC]
    return tuple(pair for pair in product(PLAIN, kinds) if _notes_of(pair))


def _scale_term(scale_: _Scale) -> Term:
    tonic, kind = scale_
    return terms.joined(terms.note(tonic), _PENTATONIC[kind] if isinstance(kind, int) else _HEPTATONIC[kind])


def _like_scales(rng: Random) -> list[list[_Scale]]:
    """Scales with as many notes on the same tonic."""
    blocks: dict[tuple[str, bool], list[_Scale]] = {}
    for one in _scales():
        blocks.setdefault((one[0], isinstance(one[1], int)), []).append(one)
    return shuffled(blocks.values(), rng)


def _scale_notes(rng: Random) -> Iterator[Draft]:
    blocks = _like_scales(rng)
    return dealt(([Case((_scale_term(one),), terms.notes(_notes_of(one))) for one in block] for block in blocks), rng)


def _scale_name(rng: Random) -> Iterator[Draft]:
    blocks = _like_scales(rng)
    return dealt(([Case((terms.notes(_notes_of(one)),), _scale_term(one)) for one in block] for block in blocks), rng)


def _degrees(tonic: str) -> list[tuple[_Scale, int]]:
    """Heptatonic scales on a tonic and their degrees."""
    return [(one, n) for one in _scales() if one[0] == tonic and not isinstance(one[1], int) for n in range(2, 8)]


def _degree(rng: Random) -> Iterator[Draft]:
    def cases(block: tuple[str, int]) -> Iterator[Case]:
        tonic, lower = block
        for one, degree in _degrees(tonic):
            if degree in (lower, lower + 1):
                note = _notes_of(one)[degree - 1]
                yield Case((_scale_term(one), terms.degree(degree)), terms.note(note), sound=pitch_class(note))

    return dealt(map(cases, shuffled(product(PLAIN, (2, 4, 6)), rng)), rng)


def _which_degree(rng: Random) -> Iterator[Draft]:
    def cases(one: _Scale) -> Iterator[Case]:
        for degree, note in enumerate(_notes_of(one)[1:], start=2):
            yield Case((_scale_term(one), terms.note(note)), terms.degree(degree))

    return dealt(map(cases, shuffled([one for one in _scales() if not isinstance(one[1], int)], rng)), rng)


def _function(rng: Random) -> Iterator[Draft]:
    def cases(tonic: str) -> Iterator[Case]:
        for one, degree in _degrees(tonic):
            if one[1] in ("Major", "HarmonicMinor"):
                note = _notes_of(one)[degree - 1]
                asked = _scale_term(one), _FUNCTIONS[degree - 1]
                yield Case(asked, terms.note(note), sound=pitch_class(note))

    return dealt(map(cases, shuffled(PLAIN, rng)), rng)


# --- key signatures ---


def _of_mode(mode: str) -> list[Key]:
    return [key for key in keys() if key[1] == mode]


def _signature_of(key: Key, *asked: Term) -> Case:
    """Ask for the key signature of a key; others have nearly as many sharps or flats."""
    return Case(asked, terms.signature(sharps(key)), near=abs(sharps(key)))


def _key_with(key: Key, *asked: Term) -> Case:
    """Ask for a key; others have nearly as many sharps or flats."""
    return Case(asked, terms.key(key), near=abs(sharps(key)), sound=pitch_class(key[0]))


def _signature(rng: Random) -> Iterator[Draft]:
    return dealt(([_signature_of(key, terms.key(key)) for key in _of_mode(mode)] for mode in MODES), rng)


def _key_of_signature(rng: Random) -> Iterator[Draft]:
    blocks = (
        [_key_with(key, terms.signature(sharps(key)), term) for key in _of_mode(mode)] for mode, term in MODES.items()
    )
    return dealt(blocks, rng)


def _other_mode(key: Key) -> str:
    return "minor" if key[1] == "major" else "major"


def _relative(rng: Random) -> Iterator[Draft]:
    def cases(mode: str) -> Iterator[Case]:
        for right in _of_mode(mode):
            key = key_of(sharps(right), _other_mode(right))
            yield _key_with(right, terms.key(key), MODES[mode])

    return dealt(map(cases, MODES), rng)


def _parallel(rng: Random) -> Iterator[Draft]:
    def cases(mode: str) -> Iterator[Case]:
        for right in _of_mode(mode):
            if (key := (right[0], _other_mode(right))) in keys():
                yield _signature_of(right, terms.key(key), MODES[mode])

    return dealt(map(cases, MODES), rng)


def _last_accidental(rng: Random) -> Iterator[Draft]:
    def cases(sign: int) -> Iterator[Case]:
        for key in keys():
            if sharps(key) * sign > 0:
                # The letters alone: which accidental it is has been said.
                yield Case((terms.key(key), SHARP if sign > 0 else FLAT), terms.same(altered(key)[-1][0]))

    return dealt(map(cases, (1, -1)), rng)


def _common(rng: Random) -> Iterator[Draft]:
    cases = []
    for pair in ((a, b) for a, b in product(keys(), keys()) if sharps(a) < sharps(b)):
        first, second = ({*"CDEFGAB"} - {n[0] for n in signed} | {*signed} for signed in map(altered, pair))
        number = len(first & second)
        cases.append(Case(tuple(map(terms.key, shuffled(pair, rng))), terms.same(number), near=number))
    return dealt([cases], rng)


def _distant(rng: Random) -> Iterator[Draft]:
    def cases(block: tuple[str, str]) -> Iterator[Case]:
        name, mode = block
        for key in keys():
            tonic = moved(key[0], name)
            if tonic and (right := (tonic, mode)) in keys():
                yield _signature_of(right, terms.key(key), article(terms.interval(name)), MODES[mode])

    return dealt(map(cases, shuffled(product(_DISTANCES, MODES), rng)), rng)


FORMS: Final = (
    *forms(
        "scales", notes=_scale_notes, name=_scale_name, degree=_degree, which_degree=_which_degree, function=_function
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
