"""The errors of LilyBench's `error_detection` in simple texts, found without LilyPond.

Reads staves of one voice, written out measure by measure with bar checks, in absolute or relative octaves, in Dutch or
English names: what the tests' own scores hold. The definitions are those of `datasets_builders.lilybench.checker`.
"""

import re
from fractions import Fraction

_NOTE = re.compile(r"([a-g])(isis|eses|is|es|ss|s|ff|f|)([',]*)(\d*)(\.*)([()~]*)")
_DUTCH = {"is": 1, "isis": 2, "es": -1, "s": -1, "eses": -2, "": 0}
_ENGLISH = {"s": 1, "ss": 2, "f": -1, "ff": -2, "": 0}
_FIFTHS = {"c": 0, "d": 2, "e": 4, "f": -1, "g": 1, "a": 3, "b": 5}
_MODES = {"\\major": 0, "\\minor": 3}
_CLEFS = ("treble", "bass", "alto", "tenor")
_VOICE = re.compile(r"(\\relative ([a-g])([',]*)\s*)?\{([^{}]*\|[^{}]*)\}")


def wrong_measures(text: str) -> list[int]:
    r"""Numbers of the measures with an error, ascending; 0 is a pickup.

    Example:
        >>> wrong_measures("{ \\key g \\major g'4 a' b' c'' | d''4 c''8 b' a'4 | g'4 aes' g'2 | g'4 zq g'2 | }")
        [2, 3, 4]
    """
    found: set[int] = set()
    metre = re.search(r"\\time (\S+)", text)
    alterations = _ENGLISH if '\\language "english"' in text else _DUTCH
    for voice in _VOICE.finditer(re.sub(r"%.*", "", text)):
        reference = _degree(voice[2], voice[3]) if voice[1] else None
        found |= set(_Reader(reference, Fraction(metre[1]) if metre else Fraction(1), alterations).errors(voice[4]))
    return sorted(found)


def _degree(letter: str, marks: str) -> int:
    return "cdefgab".index(letter) + 7 * (marks.count("'") - marks.count(","))


class _Reader:
    def __init__(self, reference: int | None, metre: Fraction, alterations: dict[str, int]) -> None:
        self.reference = reference  # of relative octaves
        self.alterations = alterations
        self.before: int | None = None
        self.signature = 0  # sharps less flats
        self.metre = self.full = metre
        self.length = Fraction(1, 4)

    def errors(self, music: str) -> list[int]:
        """Numbers of the wrong measures; the last one may be incomplete."""
        measures = [measure.split() for measure in music.split("|")]
        number = 0 if "\\partial" in measures[0] else 1
        wrong = []
        for place, tokens in enumerate(measures):
            if not tokens:
                continue
            lasted, is_wrong = self.measure(tokens)
            if is_wrong or (lasted != self.full and place < len(measures) - 1):
                wrong.append(number)
            number, self.full = number + 1, self.metre
        return wrong

    def measure(self, tokens: list[str]) -> tuple[Fraction, bool]:
        """How long a measure lasts, and whether there is an error of another kind in it."""
        lasted, is_wrong = Fraction(0), False
        rest = iter(tokens)
        for token in rest:
            if token == "\\time":
                self.metre = self.full = Fraction(next(rest))
            elif token == "\\partial":
                self.full = Fraction(1, int(next(rest)))
            elif token == "\\clef":
                is_wrong |= next(rest).strip('"') not in _CLEFS
            elif token == "\\key":
                is_wrong |= not self.key(next(rest), next(rest))
            elif (note := _NOTE.fullmatch(token)) and note[2] in self.alterations:
                if note[4]:
                    self.length = Fraction(1, int(note[4])) * (2 - Fraction(1, 2 ** len(note[5])))
                lasted += self.length
                is_wrong |= self.is_odd(note)
            else:
                is_wrong = True
        return lasted, is_wrong

    def key(self, tonic: str, mode: str) -> bool:
        note = _NOTE.fullmatch(tonic)
        if note is None or note[2] not in self.alterations or mode not in _MODES:
            return False
        self.signature = self.fifths(note) - _MODES[mode]
        return True

    def fifths(self, note: re.Match[str]) -> int:
        return _FIFTHS[note[1]] + 7 * self.alterations[note[2]]

    def is_odd(self, note: re.Match[str]) -> bool:
        """Whether a note lies more than ten steps from the one before, or is foreign to the key and to those around."""
        degree = _degree(note[1], note[3])
        if self.reference is not None:
            # The nearest of its name to the note before, moved by the octaves written after it.
            near = _degree(note[1], "")
            degree += round((self.reference - near) / 7) * 7
            self.reference = degree
        leap = self.before is not None and abs(degree - self.before) > 10
        self.before = degree
        return leap or not -2 <= self.fifths(note) - self.signature <= 9
