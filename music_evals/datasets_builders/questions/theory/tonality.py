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
    near_lines,
    near_notes,
    near_numbers,
    sharps,
)
from music_evals.datasets_builders.questions.theory.form import Draft, draft, forms, shuffled
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


def _siblings(scale_: _Scale) -> list[_Scale]:
    """Other kinds of scales with as many notes on the same tonic."""
    group: tuple[str | int, ...] = tuple(_PENTATONIC) if isinstance(scale_[1], int) else tuple(_HEPTATONIC)
    return [(scale_[0], kind) for kind in group if kind != scale_[1]]


def _scale_notes(rng: Random) -> Iterator[Draft]:
    for one in shuffled(_scales(), rng):
        right = _notes_of(one)
        near = [notes for other in _siblings(one) if (notes := _notes_of(other))]
        # The tonic stays: a scale that does not begin on it is no temptation.
        wrong = [*rng.sample(near, min(2, len(near))), *((one[0], *rest) for rest in near_lines(right[1:], rng))]
        yield draft(terms.notes, right, wrong, _scale_term(one))


def _scale_name(rng: Random) -> Iterator[Draft]:
    for one in shuffled(_scales(), rng):
        yield draft(_scale_term, one, _siblings(one), terms.notes(_notes_of(one)))


def _degrees() -> list[tuple[_Scale, int]]:
    """Heptatonic scales and their degrees."""
    return [(one, degree) for one in _scales() if not isinstance(one[1], int) for degree in range(2, 8)]


def _degree(rng: Random) -> Iterator[Draft]:
    for one, degree in shuffled(_degrees(), rng):
        right = _notes_of(one)[degree - 1]
        yield draft(terms.note, right, near_notes(right), _scale_term(one), terms.degree(degree))


def _which_degree(rng: Random) -> Iterator[Draft]:
    for one, degree in shuffled(_degrees(), rng):
        note = _notes_of(one)[degree - 1]
        yield draft(terms.degree, degree, range(1, 8), _scale_term(one), terms.note(note))


def _function(rng: Random) -> Iterator[Draft]:
    for one, degree in shuffled([each for each in _degrees() if each[0][1] in ("Major", "HarmonicMinor")], rng):
        notes = _notes_of(one)
        right = notes[degree - 1]
        wrong = [*near_notes(right), notes[degree - 2], notes[degree % 7]]
        yield draft(terms.note, right, wrong, _scale_term(one), _FUNCTIONS[degree - 1])


# --- key signatures ---


def _signature_of(key: Key, *asked: Term) -> Draft:
    """A draft that asks for the key signature of a key."""
    number = sharps(key)
    near = [other for other in {-number, *range(number - 2, number + 3)} if -7 <= other <= 7]
    return draft(terms.signature, number, near, *asked)


def _signature(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        yield _signature_of(key, terms.key(key))


def _near(key: Key) -> list[Key]:
    """Other keys of the same mode with nearly the same signature, or with its counterpart."""
    signature = sharps(key)
    return [k for k in keys() if k[1] == key[1] and min(abs(sharps(k) - n) for n in (signature, -signature)) < 3]


def _key_of_signature(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        yield draft(terms.key, key, _near(key), terms.signature(sharps(key)), MODES[key[1]])


def _other_mode(key: Key) -> str:
    return "minor" if key[1] == "major" else "major"


def _relative(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        mode = _other_mode(key)
        right = key_of(sharps(key), mode)
        yield draft(terms.key, right, [*_near(right), (key[0], mode)], terms.key(key), MODES[mode])


def _parallel(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        right = key[0], _other_mode(key)
        if right in keys():
            yield _signature_of(right, terms.key(key), MODES[right[1]])


def _last_accidental(rng: Random) -> Iterator[Draft]:
    for key in shuffled([key for key in keys() if sharps(key)], rng):
        sign = SHARP if sharps(key) > 0 else FLAT
        # The letters alone: which accidental it is has been said.
        yield draft(terms.same, altered(key)[-1][0], "CDEFGAB", terms.key(key), sign)


def _common(rng: Random) -> Iterator[Draft]:
    for pair in shuffled([(a, b) for a, b in product(keys(), keys()) if sharps(a) < sharps(b)], rng):
        first, second = ({*"CDEFGAB"} - {n[0] for n in signed} | {*signed} for signed in map(altered, pair))
        number = len(first & second)
        near = [other for other in near_numbers(number) if other <= 7]
        yield draft(terms.same, number, near, *map(terms.key, shuffled(pair, rng)))


def _distant(rng: Random) -> Iterator[Draft]:
    for key, name, mode in shuffled(product(keys(), _DISTANCES, MODES), rng):
        tonic = moved(key[0], name)
        if tonic and (right := (tonic, mode)) in keys():
            yield _signature_of(right, terms.key(key), article(terms.interval(name)), MODES[mode])


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
