r"""Writes canonical LilyPond (`music_evals.notation.lilypond.canonical`) as ABC 2.1: the same measures and notes.

The ABC says what the LilyPond says and no more: one measure per line without its number, notes, rests, ties, tuplets,
grace notes, clefs, keys and metres. Section numbers are those of https://abcnotation.com/wiki/abc:standard:v2.1.

- A note has an accidental if the key does not imply its alteration, or if its step had an accidental earlier in the
  measure. Without a key (``K:none``) every altered note has one.
- A word that is no LilyPond becomes a word that is no ABC. ABC reads three letters of a mode (3.1.14), so a wrong mode
  that begins like a mode is written backwards. A wrong note has ``@`` ahead, which is reserved (8.1).
- What is masked in LilyPond, ``\key ?`` or ``\time ?``, is ``K:?`` or ``M:?``.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from string import ascii_lowercase
from typing import Final

from music_evals.notation.abc.tunes import ALTERATIONS, FIFTHS, parse_key
from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures
from music_evals.notation.lilypond.syntax.languages import pitch_of

_UNIT: Final = Fraction(1, 8)
_MASKED: Final = re.compile(r"\\(key|time) \?")
_SIGNS: Final = {alteration: sign for sign, alteration in ALTERATIONS.items()}
_MOST: Final = 9  # notes of a tuplet, in one digit


def lilypond_to_abc(text: str, header: Sequence[str] = ()) -> str:
    r"""Write a canonical score, or single measures of one, as ABC; ValueError if ABC cannot express it.

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
        >>> print(lilypond_to_abc("fis'4 \\tuplet 3/2 { f'8 g'8 a'8 } |"), end="")
        L:1/8
        K:none
        ^F2 (3:2:3 =F G A |
    """
    masked = set(_MASKED.findall(text))
    measures = read_measures(_MASKED.sub("", text))
    voices = [list(group) for _, group in groupby(measures, key=lambda measure: (measure.staff, measure.voice))]
    names: list[str] = []
    for staff, group in groupby(voices, key=lambda voice: voice[0].staff):
        names += [f"{staff + 1}{letter}".rstrip("a") for letter, _ in zip(ascii_lowercase, group, strict=False)]
    words = voices[0][0].words
    is_score = voices[0][0].staff >= 0
    key = next((_key(word) for word in words if word.kind == "key"), "C" if is_score else "none")
    metre = next((word.match["metre"] for word in words if word.kind == "metre"), "")
    fields = [*(["X:1", *header] if is_score else []), f"L:{_UNIT}"]
    if shown := "?" if "time" in masked else metre:
        fields.append(f"M:{shown}")
    clefs = [next((word.match["clef"] for word in voice[0].words if word.kind == "clef"), "") for voice in voices]
    field = f"K:{'?' if 'key' in masked else key}"
    if len(voices) == 1:
        fields.append(f"{field} clef={clefs[0]}" if clefs[0] else field)
    else:
        joined = [" ".join(group) for _, group in groupby(names, key=lambda name: name.rstrip(ascii_lowercase))]
        fields += [f"%%score {' '.join(f'({group})' if ' ' in group else group for group in joined)}", field]
        fields += [f"V:{name}{f' clef={clef}' if clef else ''}" for name, clef in zip(names, clefs, strict=True)]
    own = key
    for name, voice in zip(names, voices, strict=True):
        # A voice that is not the first of its staff has its key.
        changed = next((_key(word) for word in voice[0].words if word.kind == "key"), None)
        own = changed or own
        start = f"[K:{own}] " if own != key and "key" not in masked else ""
        lines = list(_lines(voice, own, metre))
        fields += [*([f"V:{name}"] if len(voices) > 1 else []), start + lines[0], *lines[1:]]
    return "\n".join([*fields, ""])


def _key(word: Word) -> str:
    r"""A key in ABC, such as ``Bbm``; a mode that there is not stays, as ``B yonsens``."""
    tonic, mode = pitch_of(word.match["tonic"]), word.match["mode"]
    if tonic is None:
        raise ValueError(f"a key on {word.match['tonic']!r:.40} cannot be written")
    name = "CDEFGAB"[tonic.step] + {-1: "b", 0: "", 1: "#"}[int(tonic.alteration)]
    short = {"major": "", "minor": "m"}.get(mode, mode[:3])
    if mode in ("major", "minor", "mixolydian", "dorian", "phrygian", "locrian", "lydian"):
        return name + short
    try:
        parse_key(f"{name} {mode}")
    except ValueError:
        return f"{name} {mode}"
    return f"{name} {mode[::-1]}"


def _alterations(key: str) -> dict[str, int]:
    try:
        sharps = 0 if key == "none" else parse_key(key).sharps
    except ValueError:  # a wrong mode: the key is that of the tonic
        sharps = parse_key(key.partition(" ")[0]).sharps
    letters = FIFTHS[:sharps] if sharps > 0 else FIFTHS[::-1][:-sharps]
    return dict.fromkeys(letters, 1 if sharps > 0 else -1)


def _lines(voice: Sequence[MeasureText], key: str, metre: str) -> Iterator[str]:
    """The measures of a voice; the key and metre of its beginning are written elsewhere."""
    implied = _alterations(key)
    for measure in voice:
        texts: list[str] = []
        altered: set[str] = set()
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
                text = _notes(word, implied, altered) if word.kind == "note" else rests[word.match["name"]]
                length = word.duration / factor / _UNIT
                written = str(length).replace("1/2", "/") if length.numerator == 1 else str(length)
                texts += [*([mark] if mark else []), *([f"{{{graces}}}"] if graces else [])]
                texts.append(text + written.removeprefix("1") + ("-" if word.match["tie"] else ""))
                graces = ""
            elif word.kind == "unknown":
                raise ValueError(f"{word.match[0]!r:.40} cannot be written as ABC")
        yield " ".join([*texts, *([f"{{{graces}}}"] if graces else [])]) + " |" * measure.closed


def _tuplets(words: Sequence[Word]) -> dict[int, tuple[str, Fraction]]:
    """Index of a word in a tuplet → ``(p:q:r`` ahead of it (4.13), and the factor of its length.

    A tuplet of more than nine notes in the time of others cannot be written so: its notes have fractions as lengths.
    """
    marks: dict[int, tuple[str, Fraction]] = {}
    factor: Fraction | None = None
    members: list[int] = []
    for number, word in enumerate(words):
        if word.match["below"]:
            factor, members = Fraction(int(word.match["above"]), int(word.match["below"])), []
        elif factor is not None and word.kind in ("note", "rest"):
            members.append(number)
        elif factor is not None and word.match["close"] and word.kind == "other" and not _closes_grace(words, number):
            if factor.denominator <= _MOST:
                marks |= dict.fromkeys(members, ("", factor))
                for start in range(0, len(members), _MOST):
                    count = len(members[start : start + _MOST])
                    marks[members[start]] = (f"({factor.denominator}:{factor.numerator}:{count}", factor)
            factor = None
    return marks


def _closes_grace(words: Sequence[Word], number: int) -> bool:
    return words[number - 1].kind == "grace"


def _notes(word: Word, implied: dict[str, int], altered: set[str]) -> str:
    """A note or chord without its length; adds the steps with an accidental to `altered`."""
    octave = word.match["octave"] or ""
    texts = []
    for name in word.match["chord"].split() if word.match["chord"] else [word.match["name"] + octave]:
        bare = name.rstrip("',")
        pitch = pitch_of(bare)
        if pitch is None:
            return f"@{bare}"
        letter, height = "CDEFGAB"[pitch.step], name.count("'") - name.count(",")
        alteration = int(pitch.alteration)
        if alteration != pitch.alteration:
            raise ValueError(f"{bare} is a quarter tone, which is not written")
        sign = ""
        if alteration != implied.get(letter, 0) or letter in altered:
            sign = _SIGNS[alteration]
            altered.add(letter)
        texts.append(sign + (letter + "," * (1 - height) if height < 2 else letter.lower() + "'" * (height - 2)))
    return texts[0] if len(texts) == 1 else f"[{''.join(texts)}]"
