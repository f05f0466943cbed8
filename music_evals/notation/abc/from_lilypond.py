r"""Writes canonical LilyPond (`music_evals.notation.lilypond.canonical`) as ABC 2.1: the same
measures and notes.

The ABC says what the LilyPond says and no more: one measure per line without its number, notes,
rests, ties, tuplets, grace notes, clefs, keys and metres. Section numbers are those of
https://abcnotation.com/wiki/abc:standard:v2.1.

- A note has an accidental if the key does not imply its alteration, or if its step had an
  accidental earlier in the measure, or in a note before the measure that has a tie. Without a key
  (``K:none``) every altered note has one.
- A word that is no LilyPond becomes a word that is no ABC. A wrong mode is written backwards,
  because ABC reads only three letters of a mode (3.1.14). A wrong note has ``@`` ahead, which is
  reserved (8.1).
- What is masked in LilyPond, ``\key ?`` or ``\time ?``, is ``K:?`` or ``M:?``.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, groupby
from typing import Final

from music_evals.notation.abc.tunes import (
    SIGNS,
    key_alterations,
    letter_text,
    parse_key,
    short_length_text,
    staff_layout,
    voice_names,
)
from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures
from music_evals.notation.lilypond.syntax.languages import pitch_of

_UNIT: Final = Fraction(1, 8)
_MASKED: Final = re.compile(r"\\(key|time) \?")
_MODES: Final = {
    "major": "",
    "minor": "m",
    **{f"{name}ian": name[:3] for name in ("mixolyd", "dor", "phryg", "locr", "lyd")},
}
_MOST: Final = 9  # notes of a tuplet, in one digit


def lilypond_to_abc(text: str, header: Sequence[str] = ()) -> str:
    r"""Write a canonical score, or single measures of one, as ABC; ValueError if ABC cannot express
    it.

    Args:
        text: the score or measures, also with one wrong word, or with masked keys or metres.
        header: further fields of a score, such as ``T:`` and ``Q:``.

    Example:
        >>> measures = "\\key g \\major \\time 3/4 \\partial 4 fis'4 |\n  f'8 fis'8 g'2 |"
        >>> print(lilypond_to_abc(f"\\new Staff {{\n  {measures}\n}}\n"), end="")
        X:1
        L:1/8
        M:3/4
        K:G
        F2 |
        =F ^F G4 |
    """
    masked = set(_MASKED.findall(text))
    measures = read_measures(_MASKED.sub("", text))
    voices = [
        list(group)
        for _, group in groupby(measures, key=lambda measure: (measure.staff, measure.voice))
    ]
    is_score = voices[0][0].staff >= 0
    key = _first("key", voices[0]) or ("C" if is_score else "none")
    metre = _first("metre", voices[0])
    fields = [*(["X:1", *header] if is_score else []), f"L:{_UNIT}"]
    if metre or "time" in masked:
        fields.append(f"M:{'?' if 'time' in masked else metre}")
    fields.append(f"K:{'?' if 'key' in masked else key}")
    clefs = [f" clef={clef}" if (clef := _first("clef", voice)) else "" for voice in voices]
    if len(voices) == 1:
        fields[-1] += clefs[0]
        return "\n".join([*fields, *_lines(voices[0], key, metre), ""])
    staves = [list(group) for _, group in groupby(voices, key=lambda voice: voice[0].staff)]
    names = [voice_names(number, len(staff)) for number, staff in enumerate(staves, 1)]
    flat = list(chain.from_iterable(names))
    fields.insert(-1, f"%%score {' '.join(map(staff_layout, names))}")
    fields += [f"V:{name}{clef}" for name, clef in zip(flat, clefs, strict=True)]
    own = key
    for name, voice in zip(flat, voices, strict=True):
        own = _first("key", voice) or own  # a further voice of a staff has the staff's key
        lines = _lines(voice, own, metre)
        fields += [f"V:{name}", (f"[K:{own}] " if own != key else "") + next(lines), *lines]
    return "\n".join([*fields, ""])


def _first(kind: str, voice: Sequence[MeasureText]) -> str:
    """The key, metre or clef at the beginning of a voice, if it is written there."""
    word = next((word for word in voice[0].words if word.kind == kind), None)
    return "" if word is None else _key(word) if kind == "key" else word.match[kind]


def _key(word: Word) -> str:
    """A key in ABC, such as ``Bbm``."""
    tonic, mode = pitch_of(word.match["tonic"]), word.match["mode"]
    if tonic is None:
        raise ValueError(f"a key on {word.match['tonic']!r:.40} cannot be written")
    name = "CDEFGAB"[tonic.step] + {-1: "b", 0: "", 1: "#"}[int(tonic.alteration)]
    return name + _MODES.get(mode, f" {mode[::-1]}")


def _alterations(key: str) -> dict[str, int]:
    # After a wrong mode, the key is that of the tonic.
    sharps = 0 if key == "none" else parse_key(key.partition(" ")[0]).sharps
    return key_alterations(sharps)


def _lines(voice: Sequence[MeasureText], key: str, metre: str) -> Iterator[str]:
    """The measures of a voice; the key and metre of its beginning are written elsewhere."""
    implied = _alterations(key)
    # the last note, if a tie follows, whether or not the tie ends at a note of the same pitch
    tied = ""
    for measure in voice:
        texts: list[str] = []
        altered = {letter.upper() for letter in re.findall(r"[\^_=]([A-Ga-g])", tied)}
        tuplets = _tuplets(measure.words)
        graces = ""
        for number, word in enumerate(measure.words):
            if word.kind == "key" and _key(word) != key:
                key = _key(word)
                implied = _alterations(key)
                texts.append(f"[K:{key}]")
            elif word.kind == "metre" and word.match["metre"] != metre:
                metre = word.match["metre"]
                texts.append(f"[M:{metre}]")
            elif word.kind == "grace" and word.match["duration"]:
                graces += _notes(word, implied, altered)
            elif word.kind in ("note", "rest"):
                mark, factor = tuplets.get(number, ("", Fraction(1)))
                rests = {"r": "z", "s": "x"}
                text = (
                    _notes(word, implied, altered)
                    if word.kind == "note"
                    else rests[word.match["name"]]
                )
                length = short_length_text(word.duration / factor / _UNIT)
                texts += [part for part in (mark, f"{{{graces}}}" if graces else "") if part]
                texts.append(text + length + ("-" if word.match["tie"] else ""))
                tied = text if word.match["tie"] else ""
                graces = ""
            elif word.kind == "unknown":
                raise ValueError(f"{word.match[0]!r:.40} cannot be written as ABC")
        yield " ".join([*texts, *([f"{{{graces}}}"] if graces else [])]) + " |" * measure.closed


def _tuplets(words: Sequence[Word]) -> dict[int, tuple[str, Fraction]]:
    """Index of a word in a tuplet → ``(p:q:r`` ahead of it (4.13), and the factor of its length.

    ABC has no tuplet of more than nine notes in the time of others: such notes have fractions as
    lengths.
    """
    factors: dict[int, tuple[Fraction, int]] = {}  # with the number of the tuplet
    tuplet = 0
    for number, word in enumerate(words):
        tuplet += word.match["below"] is not None
        if word.kind in ("note", "rest"):
            value, dots = word.match["duration"].rstrip("."), word.match["duration"].count(".")
            factors[number] = (word.duration * int(value) / (2 - Fraction(1, 2**dots)), tuplet)
    marks: dict[int, tuple[str, Fraction]] = {}
    for (factor, _), group in groupby(factors, key=factors.__getitem__):
        members = list(group)
        for start in range(0, len(members) if 1 < factor.denominator <= _MOST else 0, _MOST):
            chunk = members[start : start + _MOST]
            marks |= dict.fromkeys(chunk, ("", factor))
            marks[chunk[0]] = (f"({factor.denominator}:{factor.numerator}:{len(chunk)}", factor)
    return marks


def _notes(word: Word, implied: dict[str, int], altered: set[str]) -> str:
    """A note or chord without its length; adds the steps with an accidental to `altered`."""
    texts = []
    for name in (word.match["chord"] or f"{word.match['name']}{word.match['octave']}").split():
        pitch = pitch_of(name.rstrip("',"))
        if pitch is None:
            return f"@{name}"
        if pitch.alteration not in SIGNS:
            raise ValueError(f"{name} is a quarter tone, which is not written")
        letter, sign = "CDEFGAB"[pitch.step], ""
        if pitch.alteration != implied.get(letter, 0) or letter in altered:
            sign = SIGNS[int(pitch.alteration)]
            altered.add(letter)
        texts.append(sign + letter_text(letter, name.count("'") - name.count(",") - 1))
    return texts[0] if len(texts) == 1 else f"[{''.join(texts)}]"
