"""Forms on scales and key signatures."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    PLAIN,
    Key,
    key_of,
    keys,
    moved,
    near_lines,
    near_notes,
    near_numbers,
    sharps,
    signature_notes,
)
from music_evals.datasets_builders.questions.theory.form import Draft, Form, shuffled
from music_evals.datasets_builders.questions.theory.terms import FLAT, MODES, SHARP, Term, article, tokens, words

# Ionian and Aeolian are left out: they are major and natural minor by another name.
_HEPTATONIC: Final = dict(
    zip(
        tokens("Major Minor HarmonicMinor MelodicMinor Dorian Phrygian Lydian Mixolydian Locrian"),
        words(
            "自然大调|自然小调|和声小调|旋律小调（上行）|多利亚调式|弗里几亚调式|利底亚调式|混合利底亚调式|洛克里亚调式",
            "major|natural minor|harmonic minor|melodic minor (ascending)|Dorian|Phrygian|Lydian|Mixolydian|Locrian",
        ),
        strict=True,
    )
)
# The degrees of the major scale on which the Chinese pentatonic modes begin.
_PENTATONIC: Final = dict(
    zip(
        (1, 2, 3, 5, 6),
        words(
            "五声宫调式|五声商调式|五声角调式|五声徵调式|五声羽调式",
            "pentatonic gong mode|pentatonic shang mode|pentatonic jue mode|pentatonic zhi mode|pentatonic yu mode",
        ),
        strict=True,
    )
)
_FUNCTIONS: Final = words(
    "主音|上主音|中音|下属音|属音|下中音|导音", "tonic|supertonic|mediant|subdominant|dominant|submediant|leading note"
)
_DISTANCES: Final = tokens("m2 M2 m3 M3 P4 P5 m6 M6 m7 M7")


@cache
def _scale(tonic: str, kind: str | int) -> tuple[str, ...] | None:
    """The notes of a scale, ascending from its tonic, None where they need double accidentals that are out of use."""
    from music21 import scale

    classes: Any = scale

    if isinstance(kind, int):
        # The gong lies below the tonic by what lies between the first degree and the mode's own.
        degrees = [classes.MajorScale("C").pitchFromDegree(degree).name for degree in (1, 2, 3, 5, 6)]
        from_gong = {1: None, 2: "M2", 3: "M3", 5: "P5", 6: "M6"}[kind]
        gong = moved(tonic, from_gong, down=True) if from_gong else tonic
        if gong not in PLAIN:
            return None
        names = [classes.MajorScale(gong).pitchFromDegree("CDEFGAB".index(name) + 1).name for name in degrees]
        at = names.index(tonic)
        names = names[at:] + names[:at]
    else:
        found = getattr(classes, f"{kind}Scale")(tonic)
        names = [
            pitch.name for pitch in found.getPitches(f"{tonic}4", f"{tonic}5", direction=scale.Direction.ASCENDING)
        ][:7]
    # Theoretical keys such as F flat major stay out; a raised seventh may need its one double sharp.
    doubles = sum(len(name) > 2 for name in names)
    return tuple(names) if doubles <= (kind in ("HarmonicMinor", "MelodicMinor")) else None


@cache
def _scales() -> tuple[tuple[str, str | int], ...]:
    """Tonic and kind of every scale that is asked for."""
    kinds: list[str | int] = [*_HEPTATONIC, *_PENTATONIC]
    pairs = product(PLAIN, kinds)
    return tuple((tonic, kind) for tonic, kind in pairs if _scale(tonic, kind))


def _scale_term(tonic: str, kind: str | int) -> Term:
    return terms.joined(terms.note(tonic), _PENTATONIC[kind] if isinstance(kind, int) else _HEPTATONIC[kind])


def _siblings(kind: str | int) -> list[str | int]:
    """Other kinds of scales with as many notes."""
    group: list[str | int] = [*(_PENTATONIC if isinstance(kind, int) else _HEPTATONIC)]
    return [other for other in group if other != kind]


def _scale_notes(rng: Random) -> Iterator[Draft]:
    for tonic, kind in shuffled(_scales(), rng):
        right = _scale(tonic, kind) or ()
        near = [notes for other in _siblings(kind) if (notes := _scale(tonic, other))]
        wrong = [*rng.sample(near, min(2, len(near))), *((tonic, *rest) for rest in near_lines(right[1:], rng))]
        # The tonic stays: a scale that does not begin on it is no temptation.
        yield Draft((_scale_term(tonic, kind),), terms.notes(right), [*map(terms.notes, wrong)])


def _scale_name(rng: Random) -> Iterator[Draft]:
    for tonic, kind in shuffled(_scales(), rng):
        right = _scale(tonic, kind) or ()
        wrong = [_scale_term(tonic, other) for other in _siblings(kind)]
        yield Draft((terms.notes(right),), _scale_term(tonic, kind), wrong)


def _heptatonic() -> list[tuple[str, str | int, int]]:
    return [(t, k, degree) for t, k in _scales() if not isinstance(k, int) for degree in range(2, 8)]


def _degree(rng: Random) -> Iterator[Draft]:
    for tonic, kind, degree in shuffled(_heptatonic(), rng):
        right = (_scale(tonic, kind) or ())[degree - 1]
        yield Draft(
            (_scale_term(tonic, kind), terms.degree(degree)), terms.note(right), [*map(terms.note, near_notes(right))]
        )


def _which_degree(rng: Random) -> Iterator[Draft]:
    for tonic, kind, degree in shuffled(_heptatonic(), rng):
        note = (_scale(tonic, kind) or ())[degree - 1]
        wrong = [terms.degree(other) for other in range(1, 8)]
        yield Draft((_scale_term(tonic, kind), terms.note(note)), terms.degree(degree), wrong)


def _function(rng: Random) -> Iterator[Draft]:
    asked = [(t, k, degree) for t, k, degree in _heptatonic() if k in ("Major", "HarmonicMinor")]
    for tonic, kind, degree in shuffled(asked, rng):
        notes = _scale(tonic, kind) or ()
        right = notes[degree - 1]
        wrong = [terms.note(note) for note in (*near_notes(right), notes[degree - 2], notes[degree % 7])]
        yield Draft((_scale_term(tonic, kind), _FUNCTIONS[degree - 1]), terms.note(right), wrong)


def _near_signatures(number: int) -> list[Term]:
    return [terms.signature(other) for other in {-number, *range(number - 2, number + 3)} if -7 <= other <= 7]


def _signature(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        yield Draft((terms.key(*key),), terms.signature(sharps(key)), _near_signatures(sharps(key)))


def _key_terms(found: Sequence[Key]) -> list[Term]:
    return [terms.key(*key) for key in found]


def _near(key: Key) -> list[Term]:
    """Other keys of the same mode with nearly the same signature, or with its counterpart."""
    signature = sharps(key)
    return _key_terms(
        [k for k in keys() if k[1] == key[1] and min(abs(sharps(k) - n) for n in (signature, -signature)) < 3]
    )


def _key_of_signature(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        yield Draft((terms.signature(sharps(key)), MODES[key[1]]), terms.key(*key), _near(key))


def _relative(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        other = "minor" if key[1] == "major" else "major"
        right = key_of(sharps(key), other)
        yield Draft((terms.key(*key), MODES[other]), terms.key(*right), [*_near(right), terms.key(key[0], other)])


def _parallel(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        right = key[0], "minor" if key[1] == "major" else "major"
        if right in keys():
            yield Draft(
                (terms.key(*key), MODES[right[1]]), terms.signature(sharps(right)), _near_signatures(sharps(right))
            )


def _last_accidental(rng: Random) -> Iterator[Draft]:
    for key in shuffled([key for key in keys() if sharps(key)], rng):
        number = sharps(key)
        sign = SHARP if number > 0 else FLAT
        # The letters alone: which accidental it is has been said.
        wrong = [terms.same(letter) for letter in "CDEFGAB"]
        yield Draft((terms.key(*key), sign), terms.same(signature_notes(number)[-1][0]), wrong)


def _common(rng: Random) -> Iterator[Draft]:
    pairs = [(a, b) for a, b in product(keys(), keys()) if sharps(a) < sharps(b)]
    for pair in shuffled(pairs, rng):
        first, second = ({*"CDEFGAB"} - {n[0] for n in altered} | {*altered} for altered in map(_altered, pair))
        number = len(first & second)
        near = [terms.same(other) for other in near_numbers(number) if other <= 7]
        yield Draft(tuple(terms.key(*key) for key in shuffled(pair, rng)), terms.same(number), near)


def _altered(key: Key) -> tuple[str, ...]:
    return signature_notes(sharps(key))


def _distant(rng: Random) -> Iterator[Draft]:
    for key, name, mode in shuffled(list(product(keys(), _DISTANCES, MODES)), rng):
        tonic = moved(key[0], name)
        if tonic and (right := (tonic, mode)) in keys():
            asked = (terms.key(*key), article(terms.interval(name)), MODES[mode])
            yield Draft(asked, terms.signature(sharps(right)), _near_signatures(sharps(right)))


FORMS: Final = (
    Form(
        "scales",
        "notes",
        Term("{0}音阶从主音开始上行，由哪些音构成？", "Which notes, ascending from the tonic, form the {0} scale?"),
        _scale_notes,
    ),
    Form(
        "scales",
        "name",
        Term(
            "以第一个音为主音，上行的{0}构成什么音阶？",
            "With the first note as the tonic, which scale do these ascending notes form: {0}?",
        ),
        _scale_name,
    ),
    Form("scales", "degree", Term("{0}音阶的{1}音是哪个音？", "Which note is the {1} of the {0} scale?"), _degree),
    Form(
        "scales",
        "which-degree",
        Term("{1}是{0}音阶中的第几级音？", "Which degree of the {0} scale is {1}?"),
        _which_degree,
    ),
    Form("scales", "function", Term("{0}的{1}是哪个音？", "Which note is the {1} of {0}?"), _function),
    Form("key_signatures", "count", Term("{0}的调号是什么？", "What is the key signature of {0}?"), _signature),
    Form(
        "key_signatures",
        "key",
        Term("调号为{0}的{1}是哪个调？", "Which {1} key has the key signature of {0}?"),
        _key_of_signature,
    ),
    Form(
        "key_signatures",
        "relative",
        Term("{0}的关系{1}是哪个调？", "Which key is the relative {1} of {0}?"),
        _relative,
    ),
    Form(
        "key_signatures",
        "parallel",
        Term("{0}的同主音{1}的调号是什么？", "What is the key signature of the parallel {1} of {0}?"),
        _parallel,
    ),
    Form(
        "key_signatures",
        "last",
        Term(
            "{0}的调号中，最后一个{1}写在哪个音级上？",
            "In the key signature of {0}, on which letter is the last {1} written?",
        ),
        _last_accidental,
    ),
    Form(
        "key_signatures",
        "common",
        Term(
            "只看调号、按音的写法比较，{0}与{1}的七个音中有几个共同音？",
            "By their key signatures alone, how many of their seven notes do {0} and {1} share, spelled alike?",
        ),
        _common,
    ),
    Form(
        "key_signatures",
        "distant",
        Term(
            "主音位于{0}主音上方{1}的{2}，调号是什么？",
            "What is the key signature of the {2} key whose tonic lies {1} above the tonic of {0}?",
        ),
        _distant,
    ),
)
