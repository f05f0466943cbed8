"""The words of music theory in Chinese and English; notes, intervals and keys have their music21
names.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from music_evals.datasets_builders import read_table


class Term(NamedTuple):
    """A name in Chinese and English."""

    zh: str
    en: str


def tokens(text: str) -> tuple[str, ...]:
    """Split a line of short names."""
    return tuple(text.split())


@cache
def words(table: str) -> dict[str, Term]:
    """Return a table of ``words.toml``.

    >>> words("modes")["minor"]
    Term(zh='小调', en='minor')
    """
    return {
        name: Term(*pair) for name, pair in read_table("questions/theory/words.toml")[table].items()
    }


MODES = words("modes")
UP, DOWN = Term("向上", "up"), Term("向下", "down")
SHARP, FLAT = Term("升号", "sharp"), Term("降号", "flat")


def same(text: object) -> Term:
    """Name numbers and signs, which are the same in both languages."""
    return Term(str(text), str(text))


def joined(first: Term, second: Term) -> Term:
    """Join two names, with a space in English."""
    return Term(first.zh + second.zh, f"{first.en} {second.en}")


def listed(terms: Iterable[Term]) -> Term:
    """Name a list."""
    terms = list(terms)
    return Term("、".join(term.zh for term in terms), ", ".join(term.en for term in terms))


def article(term: Term) -> Term:
    """Add the indefinite article to an English name; Chinese has none."""
    return Term(term.zh, f"{'an' if term.en[0] in 'aeiou' else 'a'} {term.en}")


def plurals(term: Term) -> Term:
    """Add the plural to an English name; Chinese has none."""
    return Term(term.zh, f"{term.en}s")


def note(name: str) -> Term:
    """Name a note without octave.

    >>> note("F##"), note("B-")
    (Term(zh='重升F', en='F double sharp'), Term(zh='降B', en='B flat'))
    """
    zh, en = words("accidentals")[name[1:]]
    return Term(zh + name[0], name[0] + en)


def notes(names: Iterable[str]) -> Term:
    """Name a list of notes."""
    return listed(map(note, names))


def interval(name: str) -> Term:
    """Name an interval.

    >>> interval("m2"), interval("A1").en
    (Term(zh='小二度', en='minor second'), 'augmented unison')
    """
    quality, number = words("interval_qualities")[name[0]], words("ordinals")[name[1:]]
    return Term(
        f"{quality.zh}{number.zh}度", f"{quality.en} {'unison' if name[1:] == '1' else number.en}"
    )


def degree(number: int) -> Term:
    """Name a scale degree, from 1."""
    zh, en = words("ordinals")[str(number)]
    return Term(f"第{zh}级", f"{en} degree")


def key(key: tuple[str, str]) -> Term:
    """Name a key."""
    return joined(note(key[0]), MODES[key[1]])


def signature(sharps: int) -> Term:
    """Name a key signature; flats are negative."""
    if sharps == 0:
        return Term("无升降号", "no sharps or flats")
    sign, n = SHARP if sharps > 0 else FLAT, abs(sharps)
    return Term(f"{n}个{sign.zh}", f"{n} {sign.en}{'s' if n > 1 else ''}")


def position(inversion: int) -> Term:
    """Name the position of a chord; 0 is root position."""
    if inversion == 0:
        return Term("原位", "root position")
    zh, en = words("ordinals")[str(inversion)]
    return Term(f"第{zh}转位", f"{en} inversion")
