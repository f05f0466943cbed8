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
from itertools import chain, groupby, islice
from operator import attrgetter

from music_evals.notation.abc.tunes import (
    SIGNS,
    alterations_in,
    letter_text,
    short_length_text,
    staff_layout,
    voice_names,
)
from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures
from music_evals.notation.lilypond.syntax.languages import pitch_of

_VoiceText = Sequence[MeasureText]
_UNIT = Fraction(1, 8)
_MASKED = re.compile(r"\\(key|time) \?")
_MODES = {
    "major": "",
    "minor": "m",
    "mixolydian": "mix",
    "dorian": "dor",
    "phrygian": "phr",
    "locrian": "loc",
    "lydian": "lyd",
}
_FIELDS = {"key": "K", "metre": "M"}
_RESTS = {"r": "z", "s": "x"}
_MOST = 9  # notes of a tuplet, in one digit


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
    masked = _MASKED.findall(text)
    measures = read_measures(_MASKED.sub("", text))
    voices = [list(group) for _, group in groupby(measures, key=attrgetter("voice"))]
    is_score = measures[0].staff >= 0
    key = _first("key", voices[0]) or ("C" if is_score else "none")
    metre = _first("metre", voices[0])
    fields = ["X:1", *header] if is_score else []
    fields.append(f"L:{_UNIT}")
    if metre or "time" in masked:
        fields.append(f"M:{'?' if 'time' in masked else metre}")
    key_field = f"K:{'?' if 'key' in masked else key}"
    if len(voices) > 1:
        fields += _several_voices(voices, key_field, key, metre)
    else:
        fields += [key_field + _clef(voices[0]), *_Writer(key, metre).lines(voices[0])]
    return "\n".join([*fields, ""])


def _several_voices(
    voices: Sequence[_VoiceText], key_field: str, key: str, metre: str
) -> Iterator[str]:
    """The fields from the layout on, and the measures of all voices."""
    staves = groupby(voices, key=lambda voice: voice[0].staff)
    names = [voice_names(number, len(list(staff))) for number, (_, staff) in enumerate(staves, 1)]
    yield f"%%score {' '.join(map(staff_layout, names))}"
    yield key_field
    named = list(zip(chain.from_iterable(names), voices, strict=True))
    for name, voice in named:
        yield f"V:{name}{_clef(voice)}"
    own = key
    for name, voice in named:
        own = _first("key", voice) or own  # a further voice of a staff has the staff's key
        first, *further = _Writer(own, metre).lines(voice)
        yield f"V:{name}"
        yield first if own == key else f"[K:{own}] {first}"
        yield from further


def _clef(voice: _VoiceText) -> str:
    clef = _first("clef", voice)
    return f" clef={clef}" if clef else ""


def _first(kind: str, voice: _VoiceText) -> str:
    """The key, metre or clef at the beginning of a voice, if it is written there."""
    for word in voice[0].words:
        if word.kind == kind:
            return _value(word)
    return ""


def _value(word: Word) -> str:
    """A clef, a metre, or a key in ABC, such as ``Bbm``."""
    if word.kind != "key":
        return word.match[word.kind]
    tonic, mode = pitch_of(word.match["tonic"]), word.match["mode"]
    if tonic is None:
        raise ValueError(f"a key on {word.match['tonic']!r:.40} cannot be written")
    name = "CDEFGAB"[tonic.step] + {-1: "b", 0: "", 1: "#"}[int(tonic.alteration)]
    return name + _MODES.get(mode, f" {mode[::-1]}")


class _Writer:
    """Writes the measures of a voice; the key and metre of its beginning are written elsewhere."""

    def __init__(self, key: str, metre: str) -> None:
        self._signs = {"key": key, "metre": metre}
        self._altered: set[str] = set()  # letters that had an accidental in the measure
        # The last note, if a tie follows, whether or not the tie ends at a note of the same pitch.
        self._tied = ""

    def lines(self, voice: _VoiceText) -> Iterator[str]:
        """Write the measures, one per line."""
        for measure in voice:
            yield self._measure(measure.words) + " |" * measure.closed

    def _measure(self, words: Sequence[Word]) -> str:
        texts: list[str] = []
        self._altered = {letter.upper() for letter in re.findall(r"[\^_=]([A-Ga-g])", self._tied)}
        tuplets = _tuplets(words)
        graces = ""
        for number, word in enumerate(words):
            if word.kind == "unknown":
                raise ValueError(f"{word.match[0]!r:.40} cannot be written as ABC")
            if word.kind in _FIELDS and self._signs[word.kind] != _value(word):
                self._signs[word.kind] = _value(word)
                texts.append(f"[{_FIELDS[word.kind]}:{_value(word)}]")
            elif word.kind == "grace" and word.match["duration"]:
                graces += self._notes(word)
            elif word.kind in ("note", "rest"):
                mark, factor = tuplets.get(number, ("", Fraction(1)))
                texts += filter(None, (mark, graces and f"{{{graces}}}"))
                texts.append(self._note(word, factor))
                graces = ""
        return " ".join([*texts, f"{{{graces}}}"] if graces else texts)

    def _note(self, word: Word, factor: Fraction) -> str:
        """A note, chord or rest."""
        text = self._notes(word) if word.kind == "note" else _RESTS[word.match["name"]]
        self._tied = text if word.match["tie"] else ""
        return text + short_length_text(word.duration / factor / _UNIT) + "-" * bool(self._tied)

    def _notes(self, word: Word) -> str:
        """A note or chord without its length; remembers the letters with an accidental."""
        texts = []
        for name in (word.match["chord"] or f"{word.match['name']}{word.match['octave']}").split():
            pitch = pitch_of(name.rstrip("',"))
            if pitch is None:
                return f"@{name}"
            if pitch.alteration not in SIGNS:
                raise ValueError(f"{name} is a quarter tone, which is not written")
            letter, sign = "CDEFGAB"[pitch.step], ""
            implied = alterations_in(self._signs["key"]).get(letter, 0)
            if pitch.alteration != implied or letter in self._altered:
                sign = SIGNS[int(pitch.alteration)]
                self._altered.add(letter)
            texts.append(sign + letter_text(letter, name.count("'") - name.count(",") - 1))
        return texts[0] if len(texts) == 1 else f"[{''.join(texts)}]"


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
            factors[number] = (word.factor, tuplet)
    marks: dict[int, tuple[str, Fraction]] = {}
    for (factor, _), group in groupby(factors, key=factors.__getitem__):
        if not 1 < factor.denominator <= _MOST:
            continue
        while chunk := [*islice(group, _MOST)]:
            marks |= dict.fromkeys(chunk, ("", factor))
            marks[chunk[0]] = (f"({factor.denominator}:{factor.numerator}:{len(chunk)}", factor)
    return marks
