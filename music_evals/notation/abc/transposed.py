"""ABC a major second higher or lower, with lengths, bars, signs and words unchanged.

Every letter moves by one step and the key by two fifths: a note without an accidental follows the
new key, and an accidental is converted. Chord symbols move too, and so do pitches, keys and chords
that words name.
"""

import re
from typing import Literal

from music_evals.notation.abc.tunes import (
    ALTERATIONS,
    FIELD,
    FIFTHS,
    SIGNS,
    letter_text,
    parse_key,
    tokens,
)

Direction = Literal[1, -1]
"""A major second up or down."""

_LETTERS = "CDEFGAB"
_WRITTEN = {2: "𝄪", 1: "♯", 0: "", -1: "♭", -2: "𝄫"}
_NOTE = re.compile(r"(\^\^?|__?|=)?([A-Ga-g])([,']*)")
_QUOTED = re.compile(r'("[^"\n]*"|![^!\s]{1,30}!)')
_CHORD = re.compile(
    r"([A-G])([#b]?)((?:m|min|maj|dim|aug|sus|add|[0-9+#b()°ø-])*)(?:/([A-G])([#b]?))?"
)
_TONIC = re.compile(r"(?s)(\s*)([A-G])([#b]?)(?![a-z]*=)(.*)")
_WORD = "♯|♭|𝄪|𝄫|##?|bb?(?![a-z])|[ -]sharp|[ -]flat"
_NAME = re.compile(rf"\b([A-G])({_WORD})?(-?[0-9])?(?!\w)")
_SIGNED = re.compile(
    rf"\b[A-G](?:(?:{_WORD})[0-9]?|[0-9])?(?=\W|$)"
    r"(?:(?<=[♯♭𝄪𝄫#b0-9pt])|(?=[ -](?:major|minor|dominant|diminished|half-diminished|augmented)))"
)
_ALTERED = {
    "♯": 1,
    "#": 1,
    "sharp": 1,
    "♭": -1,
    "b": -1,
    "flat": -1,
    "𝄪": 2,
    "##": 2,
    "𝄫": -2,
    "bb": -2,
}


def direction_of(abc: str) -> Direction:
    """Return the direction with fewer accidentals for a tune; ValueError if its first key cannot be
    read.
    """
    key = re.search(r"(?m)^K:[ \t]*([A-G][#b]? ?[A-Za-z]*(?![a-z]*=))?", abc)
    if key is None or key[1] is None:
        raise ValueError("the tune names no key that can be read")
    return 1 if parse_key(key[1].strip()).sharps <= 1 else -1


def transpose_abc(abc: str, direction: Direction) -> str:
    """Return ABC a major second higher or lower.

    Args:
        abc: a tune, or a section of a tune without its header.
        direction: 1 for up, -1 for down.

    Raises:
        ValueError: the text cannot be read, or a key would have more than seven accidentals.

    Example:
        >>> print(transpose_abc('K:Gm\\n"Gm"G2 ^F>G | [DB]4 |]', 1))
        K:Am
        "Am"A2 ^G>A | [Ec]4 |]
    """
    lines = []
    for line in abc.split("\n"):
        music, percent, comment = line.partition("%")
        if field := FIELD.fullmatch(line):
            lines.append(f"K:{_key(field[2], direction)}" if field[1] == "K" else line)
        else:
            moved = [_token(kind, token, direction) for kind, token in tokens(music)]
            lines.append("".join(moved) + percent + comment)
    return "\n".join(lines)


def transpose_names(text: str, direction: Direction) -> str:
    """Move all pitches, keys and chords that a text names; for text with other words use
    `transpose_signed`.

    Example:
        >>> transpose_names("F♯4, Bb minor, G", 1), transpose_names("C4", -1)
        ('G♯4, C minor, A', 'B♭3')
    """
    return _NAME.sub(lambda name: _name(name, direction), text)


def transpose_signed(text: str, direction: Direction) -> str:
    """Move the pitches, keys and chords of a sentence: letters with an accidental, an octave or a
    quality.

    Example:
        >>> transpose_signed("Is A in a chord of B♭ major, or is A4?", 1)
        'Is A in a chord of C major, or is B4?'
    """
    return _SIGNED.sub(lambda match: transpose_names(match[0], direction), text)


def _token(kind: str, token: str, direction: Direction) -> str:
    if kind in ("note", "grace"):
        return _NOTE.sub(lambda note: _note(note, direction), token)
    if kind == "chord":
        pieces = _QUOTED.split(token)
        return "".join(
            _token("text" if place % 2 else "note", piece, direction)
            for place, piece in enumerate(pieces)
        )
    if kind == "text" and (chord := _CHORD.fullmatch(token[1:-1])):
        bass = f"/{_tonic(chord[4], chord[5], direction)}" if chord[4] else ""
        return f'"{_tonic(chord[1], chord[2], direction)}{chord[3]}{bass}"'
    if kind == "field" and token.startswith("[K:"):
        return f"[K:{_key(token[3:-1], direction)}]"
    return token


def _note(note: re.Match[str], direction: Direction) -> str:
    accidental, letter, marks = note.groups()
    place = (
        _LETTERS.index(letter.upper())
        + 7 * (letter.islower() + marks.count("'") - marks.count(","))
        + direction
    )
    sign = SIGNS[_move(letter.upper(), ALTERATIONS[accidental], direction)[1]] if accidental else ""
    return sign + letter_text(_LETTERS[place % 7], place // 7)


def _move(letter: str, alteration: int, direction: Direction, most: int = 2) -> tuple[str, int]:
    """The letter that a note moves to, and its alteration, which may be at most `most`."""
    # On the line of fifths a major second is two places, and a sharp seven.
    moved, place = divmod(FIFTHS.index(letter) + 7 * alteration + 2 * direction, 7)
    if abs(moved) > most:
        raise ValueError(f"{letter} with {alteration:+d} would need {moved:+d}")
    return FIFTHS[place], moved


def _tonic(letter: str, sign: str, direction: Direction) -> str:
    new, moved = _move(letter, _ALTERED.get(sign, 0), direction, most=1)
    return new + ("", "#", "b")[moved]


def _key(value: str, direction: Direction) -> str:
    match = _TONIC.fullmatch(value)
    if not match:
        if "=" in value.split(" ")[0]:  # a clef without a key
            return value
        raise ValueError(f"the key {value[:40]!r} cannot be read")
    space, letter, sign, further = match.groups()
    moved = _tonic(letter, sign, direction)
    mode = re.match(r" ?[A-Za-z]*(?![A-Za-z]*=)", further)
    parse_key(moved + (mode[0] if mode else ""))  # ValueError for more than seven accidentals
    return space + moved + further


def _name(name: re.Match[str], direction: Direction) -> str:
    letter, sign, octave = name[1], (name[2] or "").strip(" -"), name[3]
    new, moved = _move(letter, _ALTERED.get(sign, 0), direction)
    place = _LETTERS.index(letter) + direction
    return new + _WRITTEN[moved] + (str(int(octave) + place // 7) if octave else "")
