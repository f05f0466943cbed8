"""Comparing names of composers, pieces and instruments.

Case, accents, articles, years, and the order of "Bach, Johann Sebastian" do not count. Given names
may be initials or missing; a surname alone is the composer whom it usually means. A name that
shares no word with the reference is another one; of a name that shares some, only a musician can
say.
"""

import re
from difflib import get_close_matches

from music_evals.scorers.readers.patterns import load, pattern
from music_evals.scorers.readers.refusals import unaccented

_LEAD = re.compile(
    r"\A\W{0,9}(?:.{0,80}?\b(?:composer|title|piece|work|instruments?|parts?|name|komponist|titel)\b"
    r".{0,30}?(?:\b(?:is|are|ist|es)\b|:|=)"
    r"|.{0,60}?\b(?:by|titled|called|entitled|played on|written for|von)\b|it(?:'s| is))\W+"
)
_ASIDE = re.compile(r"\([^()\d]{0,40}\d{4}[^()]{0,40}\)|\b1[4-9]\d\d\b")
_NO_NAME = re.compile(r"\b(?:the|an?|der|die|das|la|le|les|il|el|of|and|for)\b|[^\w\s]|_")
_SIMILAR = 0.75  # of two spellings of a given name
_LONGEST = 600  # characters of an answer that are read
_MOST = 8  # words of a name


def name_words(text: str) -> list[str]:
    """The words of a name as they are compared.

    >>> name_words("The composer is J. S. Bach (1685–1750).")
    ['j', 's', 'bach']
    """
    plain = _LEAD.sub("", _ASIDE.sub(" ", unaccented(text[:_LONGEST]).casefold()))
    return re.sub("(?<=[aou])e(?=[^aeiou])", "", _NO_NAME.sub(" ", plain)).split()


def is_same_name(answer: str, reference: str) -> bool | None:
    """Return whether two names are of the same; None if only a musician can say.

    >>> is_same_name("W. A. Mozart", "Wolfgang Amadeus Mozart"), is_same_name("Verdi", "Puccini")
    (True, False)
    >>> is_same_name("Bach", "Carl Philipp Emanuel Bach") is None
    True
    """
    words = name_words(answer)
    own = name_words(reference)
    if not words or not own:
        return None
    if sorted(words) == sorted(own):  # before a choice: "O Haupt" and "Seele, o Seele" are titles
        return True
    if pattern("phrases", "choice").search(answer):
        return None
    if f" {' '.join(own)} " in f" {' '.join(words)} ":
        return True
    surname = own[-1]
    given = [word for word in words if word != own[-1]]
    if surname in words and len(surname) > 2:
        return True if _are_given_names(given, own) else None
    return None if len(words) > _MOST or not {*words}.isdisjoint(own) else False


def _are_given_names(given: list[str], own: list[str]) -> bool:
    """Whether words are given names, or initials, of a name; a surname alone has its usual ones."""
    if not given:
        return bool(load("names")["usual"].get(own[-1], " ".join(own)) == " ".join(own))
    unknown = [word for word in given if not any(name.startswith(word) for name in own)]
    return all(get_close_matches(word, own, 1, _SIMILAR) for word in unknown)
