"""Answers the composed theory questions from their text and options alone, by arithmetic on the
line of fifths.

It shares nothing with what composed them: an independent check of the bank. What a text says is
read into numbers, by the same readers in either language, and an option is right if it means what
the arithmetic says.
"""

import re

from tests.oracles.spelling import Interval, interval_up, letter_of, root_of
from tests.oracles.theory_words import BANK, READERS, ROMAN

# No question is nearly as long. The bound keeps the matching quick whatever the text is.
_LONGEST = 500

_MAJOR = (0, 2, 4, -1, 1, 3, 5)  # above the tonic, in fifths
_MINOR = (0, 2, -3, -1, 1, -4, -2)
_INVERSIONS = {"": 0, "6": 1, "64": 2, "7": 0, "65": 1, "43": 2, "42": 3}


def _raised(notes, by):
    return tuple(note + by for note in notes)


def _sharps(key):
    return key[0] - 3 * key[1]


def _inverted(chord, inversion):
    return (*chord[inversion:], *chord[:inversion])


def _resolved(figure, key):
    """The notes of a Roman numeral, from the lowest up."""
    tonic, minor = key
    if figure[4]:
        tonic += _root_above(figure[4], "", minor)
        minor = int(figure[4].islower())
    root = _root_above(figure[1], figure[2], minor)
    chord = [0, -3 if figure[1].islower() else 4, -6 if figure[2] else 1]
    if figure[3] in ("7", "65", "43", "42"):
        # Of the key, but for the diminished seventh chord, whose seventh is lowered.
        scale = _MINOR if minor else _MAJOR
        of_key = scale[(ROMAN.index(figure[1].upper()) + 6) % 7] - root
        chord.append(-9 if figure[2] == "°" else of_key)
    return _inverted(_raised(chord, tonic + root), _INVERSIONS[figure[3]])


def _root_above(numeral, sign, minor):
    degree = ROMAN.index(numeral.upper())
    # The seventh degree of minor is raised under a diminished chord only.
    return _MAJOR[degree] if sign and degree == 6 else (_MINOR if minor else _MAJOR)[degree]


def _function_chord(key, function):
    degree, *chords = function
    root = _MAJOR[
        degree
    ]  # tonic, subdominant, dominant and leading note are alike in major and harmonic minor
    return _raised(chords[key[1]], key[0] + root)


def _divided(metre):
    count = metre[0]
    return (count // 3, 3) if count > 3 and count % 3 == 0 else (count, 2)


def _sound_alike(notes, others):
    """Are all spelled otherwise, and sound the same?"""
    pairs = zip(notes, others, strict=False)
    alike = all(a != b and (a - b) % 12 == 0 for a, b in pairs)
    return alike and len(notes) == len(others)


_FITS = {
    "interval_up": lambda it, a, b: it == interval_up(a, b),
    "interval_down": lambda it, a, b: it == interval_up(b, a),
    "note_above": lambda it, a, by: it == a + by.fifths,
    "note_below": lambda it, a, by: it == a - by.fifths,
    "inversion": lambda it, a: it == a.inversion,
    "reduction": lambda it, a: it == Interval(a.letters - 7, a.semitones - 12),
    "semitones": lambda it, a: it == a.semitones,
    "enharmonic_note": lambda it, a: _sound_alike([it], [a]),
    "enharmonic_key": lambda it, a: it[1] == a[1] and _sound_alike([it[0]], [a[0]]),
    "enharmonic_interval": lambda it, a: it != a and it.semitones == a.semitones,
    "enharmonic_notes": lambda it, a: _sound_alike(it, a),
    "transposed_melody": lambda it, a, to, by: it == _raised(a, to * by.fifths),
    "sounding_notes": lambda it, a, c: it == _raised(a, c),
    "written_notes": lambda it, a, c: it == _raised(a, -c),
    "transposed_key": lambda it, a, to, by: it == (a[0] + to * by.fifths, a[1]),
    "written_key": lambda it, a, c: it == (a[0] - c, a[1]),
    "scale_notes": lambda it, a: it == _raised(a[1], a[0]),
    "scale_name": lambda it, a: a == _raised(it[1], it[0]),
    "note_of_degree": lambda it, a, n: n <= len(a[1]) and it == a[0] + a[1][n - 1],
    "degree_of_note": lambda it, a, b: it <= len(a[1]) and b == a[0] + a[1][it - 1],
    "note_of_function": lambda it, a, n: n < len(a[1]) and it == a[0] + a[1][n],
    "signature": lambda it, a: it == _sharps(a),
    "key_of_signature": lambda it, n, m: (_sharps(it), it[1]) == (n, m),
    "relative_key": lambda it, a, m: it != a and (_sharps(it), it[1]) == (_sharps(a), m),
    "parallel_signature": lambda it, a, m: it == _sharps((a[0], m)),
    "last_sign": lambda it, a, s: (
        s * _sharps(a) > 0 and letter_of(it) == letter_of(_sharps(a) + (5 if s > 0 else -1))
    ),
    "shared_notes": lambda it, a, b: it == max(0, 7 - abs(_sharps(a) - _sharps(b))),
    "signature_above": lambda it, a, by, m: it == _sharps((a[0] + by.fifths, m)),
    "chord_notes": lambda it, a, b, n: it == _inverted(_raised(b, a), n),
    "chord_name": lambda it, a: (
        root_of(a) is not None and a == _inverted(_raised(it[0], root_of(a) or 0), it[1])
    ),
    "chord_root": lambda it, a: it == root_of(a),
    "chord_member": lambda it, a, b, n: n < len(b) and it == a + b[n],
    "figure_notes": lambda it, a, f: it == _resolved(f, a),
    "figure_name": lambda it, a, b: b == _resolved(it, a),
    "figure_bass": lambda it, a, f: it == _resolved(f, a)[0],
    "function_chord": lambda it, a, f: it == _function_chord(a, f),
    "notes_in_bars": lambda it, n, a, b: it * b == n * a,
    "notes_in_note": lambda it, a, b: it * b == a,
    "beats": lambda it, a: it == _divided(a),
    "notes_in_row": lambda it, a, b: it * b == sum(a),
    "last_in_bar": lambda it, a, b: it + sum(b) == a,
    "tuplet": lambda it, n, a, m: it == m * a,
    "note_of_tuplet": lambda it, n, a, m, b: n > 0 and it == m * a / n / b,
}
"""Name of a wording in ``theory.toml`` → whether an option fits what fills its blanks."""

_BLANK = re.compile(r"\{([a-z]+):([a-z_]+)\}")


def _pattern(wording):
    """A pattern for a wording, and what its blanks hold."""
    literal = re.split(r"\{[^}]*\}", wording)
    blanks = _BLANK.findall(wording)
    parts = [
        f"(?P<{name}>.+?){re.escape(after)}"
        for (name, _), after in zip(blanks, literal[1:], strict=True)
    ]
    return re.compile(re.escape(literal[0]) + "".join(parts)), dict(blanks)


_PATTERNS = [
    (*_pattern(form[language]), READERS[form["option"]], _FITS[name])
    for name, form in BANK["forms"].items()
    for language in ("zh", "en")
]


def solve(question, options):
    """Answer a theory question, in Chinese or English, by arithmetic on what it says: the index of
    the right option.

    None where the text is no question of a known form, or where no option is right, or several are.

    Example:
        >>> solve("Which note lies a diminished fifth above B?", ["F sharp", "F"])
        1
        >>> solve("Who composed Aida?", ["Verdi", "Puccini"]) is None
        True
    """
    if len(question) > _LONGEST:
        return None
    for pattern, kinds, read, fits in _PATTERNS:
        match = pattern.fullmatch(question)
        asked = {name: READERS[kind](match[name]) for name, kind in kinds.items()} if match else {}
        if match and None not in asked.values():
            meanings = [read(option) if len(option) <= _LONGEST else None for option in options]
            fitting = [
                place for place, it in enumerate(meanings) if it is not None and fits(it, **asked)
            ]
            return fitting[0] if len(fitting) == 1 else None
    return None
