"""The words of music theory, in every language; notes, intervals and keys are given by their music21 names.

Each function words one thing and needs no theory itself: what is worded has been computed before.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple


def tokens(text: str) -> tuple[str, ...]:
    """Write a table of short names in one line.

    Example:
        >>> tokens("m2 M2")
        ('m2', 'M2')
    """
    return tuple(text.split())


class Term(NamedTuple):
    """One thing's name in every language.

    Args:
        zh: in Chinese.
        en: in English.
    """

    zh: str
    en: str


_ACCIDENTALS: Final = {
    "##": Term("重升", " double sharp"),
    "#": Term("升", " sharp"),
    "": Term("", ""),
    "-": Term("降", " flat"),
    "--": Term("重降", " double flat"),
}
_ORDINALS: Final = tuple(
    Term(zh, en)
    for zh, en in zip(
        tokens("一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五"),
        tokens(
            "first second third fourth fifth sixth seventh octave ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth"
        ),
        strict=True,
    )
)
_QUALITIES: Final = {
    "P": Term("纯", "perfect"),
    "M": Term("大", "major"),
    "m": Term("小", "minor"),
    "A": Term("增", "augmented"),
    "d": Term("减", "diminished"),
}

MODES: Final = {"major": Term("大调", "major"), "minor": Term("小调", "minor")}
"""Mode → its name."""

UP, DOWN = Term("向上", "up"), Term("向下", "down")

SHARP, FLAT = Term("升号", "sharp"), Term("降号", "flat")


def note(name: str) -> Term:
    """Word a note name without octave.

    Args:
        name: as music21 spells it, such as F## or B-.

    Example:
        >>> note("F##"), note("B-")
        (Term(zh='重升F', en='F double sharp'), Term(zh='降B', en='B flat'))
    """
    zh, en = _ACCIDENTALS[name[1:]]
    return Term(zh + name[0], name[0] + en)


def listed(terms: Iterable[Term]) -> Term:
    """Word a list in its order.

    Example:
        >>> listed([note("F#"), note("A")]).zh
        '升F、A'
    """
    words = list(terms)
    return Term("、".join(word.zh for word in words), ", ".join(word.en for word in words))


def notes(names: Iterable[str]) -> Term:
    """Word a list of notes in its order.

    Example:
        >>> notes(["F#", "A"]).en
        'F sharp, A'
    """
    return listed(note(name) for name in names)


def interval(name: str) -> Term:
    """Word an interval.

    Args:
        name: as music21 abbreviates it, such as M10.

    Example:
        >>> interval("m2"), interval("A1").en
        (Term(zh='小二度', en='minor second'), 'augmented unison')
    """
    quality, number = _QUALITIES[name[0]], _ORDINALS[int(name[1:]) - 1]
    return Term(f"{quality.zh}{number.zh}度", f"{quality.en} {'unison' if name[1:] == '1' else number.en}")


def degree(number: int) -> Term:
    """Word a scale degree.

    Example:
        >>> degree(2)
        Term(zh='第二级', en='second degree')
    """
    return Term(f"第{_ORDINALS[number - 1].zh}级", f"{_ORDINALS[number - 1].en} degree")


def article(term: Term) -> Term:
    """Put the indefinite article before an English name; Chinese has none.

    Example:
        >>> article(interval("A4")).en
        'an augmented fourth'
    """
    return Term(term.zh, f"{'an' if term.en[0] in 'aeiou' else 'a'} {term.en}")


def key(tonic: str, mode: str) -> Term:
    """Word a key.

    Example:
        >>> key("F#", "minor")
        Term(zh='升F小调', en='F sharp minor')
    """
    return joined(note(tonic), MODES[mode])


def joined(first: Term, second: Term) -> Term:
    """Put two names together, with a space where the language has spaces.

    Example:
        >>> joined(note("C"), MODES["major"])
        Term(zh='C大调', en='C major')
    """
    return Term(first.zh + second.zh, f"{first.en} {second.en}")


def signature(sharps: int) -> Term:
    """Word a key signature.

    Args:
        sharps: how many sharps; flats count as negative.

    Example:
        >>> signature(1).en, signature(-3), signature(0).zh
        ('1 sharp', Term(zh='3个降号', en='3 flats'), '无升降号')
    """
    if sharps == 0:
        return Term("无升降号", "no sharps or flats")
    sign, n = SHARP if sharps > 0 else FLAT, abs(sharps)
    return Term(f"{n}个{sign.zh}", f"{n} {sign.en}{'s' if n > 1 else ''}")


def same(text: object) -> Term:
    """Take numbers and signs, which are written alike in every language.

    Example:
        >>> same(3)
        Term(zh='3', en='3')
    """
    return Term(str(text), str(text))


def in_position(chord: Term, inversion: int) -> Term:
    """Word a chord and its position.

    Example:
        >>> in_position(Term("大三和弦", "major triad"), 1).en
        'major triad, first inversion'
    """
    where = position(inversion)
    return Term(f"{chord.zh}，{where.zh}", f"{chord.en}, {where.en}")


def position(inversion: int) -> Term:
    """Word the position of a chord.

    Example:
        >>> position(0), position(2).zh
        (Term(zh='原位', en='root position'), '第二转位')
    """
    if inversion == 0:
        return Term("原位", "root position")
    return Term(f"第{_ORDINALS[inversion - 1].zh}转位", f"{_ORDINALS[inversion - 1].en} inversion")


def plurals(term: Term) -> Term:
    """Put an English name into the plural.

    Example:
        >>> plurals(Term("二分音符", "half note")).en
        'half notes'
    """
    return Term(term.zh, f"{term.en}s")


def words(zh: str, en: str) -> Sequence[Term]:
    """Pair names that are listed in the same order, divided by vertical bars.

    Example:
        >>> words("主音|导音", "tonic|leading note")
        [Term(zh='主音', en='tonic'), Term(zh='导音', en='leading note')]
    """
    return [Term(*pair) for pair in zip(zh.split("|"), en.split("|"), strict=True)]
