"""The words of music theory in Chinese and English; notes, intervals and keys are given by their music21 names.

Each function words one thing and needs no theory itself: what is worded has been computed before.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple


class Term(NamedTuple):
    """One thing's name in every language."""

    zh: str
    en: str


def tokens(text: str) -> tuple[str, ...]:
    """Split a table of short names that is written in one line."""
    return tuple(text.split())


def words(zh: str, en: str) -> list[Term]:
    """Pair names that are listed in the same order, divided by vertical bars.

    >>> words("主音|导音", "tonic|leading note")
    [Term(zh='主音', en='tonic'), Term(zh='导音', en='leading note')]
    """
    return [Term(*pair) for pair in zip(zh.split("|"), en.split("|"), strict=True)]


_ACCIDENTALS: Final = {
    "##": Term("重升", " double sharp"),
    "#": Term("升", " sharp"),
    "": Term("", ""),
    "-": Term("降", " flat"),
    "--": Term("重降", " double flat"),
}
_ORDINALS: Final = words(
    "一|二|三|四|五|六|七|八|九|十|十一|十二|十三|十四|十五",
    "first|second|third|fourth|fifth|sixth|seventh|octave|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth",
)
_QUALITIES: Final = dict(zip("PMmAd", words("纯|大|小|增|减", "perfect|major|minor|augmented|diminished"), strict=True))

MODES: Final = {"major": Term("大调", "major"), "minor": Term("小调", "minor")}
"""Mode → its name."""

UP, DOWN = Term("向上", "up"), Term("向下", "down")
SHARP, FLAT = Term("升号", "sharp"), Term("降号", "flat")


def same(text: object) -> Term:
    """Take numbers and signs, which are written alike in every language."""
    return Term(str(text), str(text))


def joined(first: Term, second: Term) -> Term:
    """Put two names together, with a space where the language has spaces."""
    return Term(first.zh + second.zh, f"{first.en} {second.en}")


def listed(terms: Iterable[Term]) -> Term:
    """Word a list in its order."""
    words = list(terms)
    return Term("、".join(word.zh for word in words), ", ".join(word.en for word in words))


def article(term: Term) -> Term:
    """Put the indefinite article before an English name; Chinese has none."""
    return Term(term.zh, f"{'an' if term.en[0] in 'aeiou' else 'a'} {term.en}")


def plurals(term: Term) -> Term:
    """Put an English name into the plural; Chinese has none."""
    return Term(term.zh, f"{term.en}s")


def note(name: str) -> Term:
    """Word a note name without octave.

    >>> note("F##"), note("B-")
    (Term(zh='重升F', en='F double sharp'), Term(zh='降B', en='B flat'))
    """
    zh, en = _ACCIDENTALS[name[1:]]
    return Term(zh + name[0], name[0] + en)


def notes(names: Iterable[str]) -> Term:
    """Word a list of notes in its order."""
    return listed(map(note, names))


def interval(name: str) -> Term:
    """Word an interval.

    >>> interval("m2"), interval("A1").en
    (Term(zh='小二度', en='minor second'), 'augmented unison')
    """
    quality, number = _QUALITIES[name[0]], _ORDINALS[int(name[1:]) - 1]
    return Term(f"{quality.zh}{number.zh}度", f"{quality.en} {'unison' if name[1:] == '1' else number.en}")


def degree(number: int) -> Term:
    """Word a scale degree, from 1."""
    return Term(f"第{_ORDINALS[number - 1].zh}级", f"{_ORDINALS[number - 1].en} degree")


def key(key: tuple[str, str]) -> Term:
    """Word a key.

    >>> key(("F#", "minor"))
    Term(zh='升F小调', en='F sharp minor')
    """
    return joined(note(key[0]), MODES[key[1]])


def signature(sharps: int) -> Term:
    """Word a key signature; flats count as negative.

    >>> signature(1).en, signature(-3), signature(0).zh
    ('1 sharp', Term(zh='3个降号', en='3 flats'), '无升降号')
    """
    if sharps == 0:
        return Term("无升降号", "no sharps or flats")
    sign, n = SHARP if sharps > 0 else FLAT, abs(sharps)
    return Term(f"{n}个{sign.zh}", f"{n} {sign.en}{'s' if n > 1 else ''}")


def position(inversion: int) -> Term:
    """Word the position of a chord; 0 is root position."""
    if inversion == 0:
        return Term("原位", "root position")
    return Term(f"第{_ORDINALS[inversion - 1].zh}转位", f"{_ORDINALS[inversion - 1].en} inversion")
