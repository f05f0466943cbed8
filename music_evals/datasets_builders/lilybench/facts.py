"""Facts in the header of a piece: composer, title, style, instrument, licence, in one form.

Headers are from `music_evals.notation.lilypond.syntax.header.read_header`. The Mutopia Project asks
for certain fields (``mutopiacomposer``, ``style`` and so on) with words from its own lists, but
people write other words too. The table of names is ``datasets_builders/names/lilybench.toml``.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from music_evals.datasets_builders import read_table

PERIODS: Mapping[str, range] = {
    "Renaissance": range(1300, 1565),
    "Baroque": range(1580, 1700),
    "Classical": range(1725, 1785),
    "Romantic": range(1795, 1855),
    "Modern": range(1862, 2000),
}
"""Styles that are periods → years in which their composers were born, with gaps between, where it
is open to doubt.
"""
FORMS = ("Hymn", "Jazz", "March", "Technique")
"""Styles that are forms, and exclude one another. Songs and folk or popular music do not: a hymn is
a song.
"""

Header = Mapping[str, str]
"""Field → text, see `read_header`."""
_NAMES = "names/lilybench.toml"
_NOBODY = frozenset({"Anonymous", "Traditional"})
_ABOUT_MUSIC = re.compile(
    r"\b(?:anon|anonymous|arr|attr|attrib|attributed|doubtful|spurious|trad|traditional)\b"
)
_UNCERTAIN = re.compile(r"\b(?:attr|attrib|attributed|doubtful|spurious)\b")
_BY_SOMEBODY = re.compile(r"\b(?:[Bb]y|nach|d['’]après) (?:\w\. ?){0,3}[A-Z]\w")
_YEAR = r"(?:ca?\. ?)?(\d{4})\??"
_YEARS = re.compile(rf"\( ?{_YEAR} ?[-–—]{{1,3}} ?(?:{_YEAR})? ?\)")
_NAME = re.compile(r"[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){1,5}")
_SEPARATOR = re.compile(r"[:;,./–—]| - ")
_BRACKETED = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_PREPOSITION = re.compile(
    r"\b(?:after|auf|aus|by|for|from|fur|in|of|on|per|pour|sur|uber)\b.*", re.DOTALL
)
_NUMERAL = re.compile("[ivxlc]+")
_OTHER_LIFE = 10  # years between the births of two persons of one name
_ABBREVIATION = 3  # letters that may stand for a forename
_REMARK = re.compile(r"\((?:hymntune|hymn tune|alternative typesetting)\)", re.IGNORECASE)
_KEY = re.compile(
    r"\b(?i:major|minor|dur|moll|majeur|mineur|maggiore|minore|mayor|menor)\b|\b(?:in|en) "
    r"[A-H](?:b|#|es|is)?\b|"
    r"\b[A-H]-(?i:flat|sharp)\b"
)
_ARTICLE_LAST = re.compile(r"(.{1,200}), (The|An?|Les?|La|Der|Die|Das|Il)")


class Composer(NamedTuple):
    """A composer, by the usual English name; approximate years count as known."""

    name: str
    born: int | None = None
    died: int | None = None

    @property
    def name_and_years(self) -> str:
        """The name as in headers, such as ``Clara Schumann (1819–1896)``; without years if one is
        unknown.
        """
        return f"{self.name} ({self.born}–{self.died})" if self.born and self.died else self.name


@cache
def _composers() -> dict[str, Composer]:
    """The composers by name, without accents and capitals."""
    table = read_table(_NAMES)
    named = [{"name": name, **entry} for name, entry in table["corpus"].items()]
    composers = map(_composer, [*table["mutopia"].values(), *named])
    return {_fold(composer.name): composer for composer in composers}


def _composer(entry: Mapping[str, Any]) -> Composer:
    return Composer(entry["name"], entry.get("born"), entry.get("died"))


@cache
def _kinds() -> dict[str, str]:
    """Word → the kind of piece that it names."""
    kinds: dict[str, str] = {}
    for kind, words in read_table(_NAMES)["kinds"].items():
        kinds |= dict.fromkeys(words, kind)
    return kinds


@cache
def _common_words() -> frozenset[str]:
    """Words in titles that identify no piece."""
    return frozenset().union(*read_table(_NAMES)["titles"].values())


def composer_named(name: str) -> Composer | None:
    """Return the composer with this name in the table; accents and capitals make no difference."""
    return _composers().get(_fold(name))


def may_be_one(composer: Composer, other: Composer) -> bool:
    """Whether two composers may be one person: the longer name contains the other's last name and
    all its forenames.

    Forenames may be shortened to at most three letters. Births more than ten years apart are of two
    persons.

    >>> bach = Composer("Johann Sebastian Bach", 1685, 1750)
    >>> [may_be_one(bach, Composer(name)) for name in ("J. S. Bach", "Joh. Seb. Bach",
    ...     "J. C. Bach")]
    [True, True, False]
    """
    if composer.born and other.born and abs(composer.born - other.born) > _OTHER_LIFE:
        return False
    shorter, longer = sorted((_words(composer.name), _words(other.name)), key=len)
    if shorter[-1] not in longer:
        return False
    remaining = iter(longer)  # each word is looked for behind the one before
    return all(any(_agree(word, longer_word) for longer_word in remaining) for word in shorter)


def _agree(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return short == long or (len(short) <= _ABBREVIATION and long.startswith(short))


def composer_of(header: Header, piece_id: str) -> Composer | None:
    """Return the composer of a piece, or None if that is uncertain.

    The Mutopia Project's code of a composer (``mutopiacomposer``, or the first folder of the piece)
    decides. It is uncertain if the field ``composer`` names somebody else, or nobody, or has a word
    such as ``attributed``; with a title such as ``March by Rossini``; and for works that scholars
    doubt. Without a code, name and years are read from ``composer``. If they may be those of only
    one composer of the table, it is that one.
    """
    table = read_table(_NAMES)
    stated = _tidy(header.get("composer", ""))
    doubtful = tuple(table["attribution"]["doubtful"])
    if piece_id.startswith(doubtful) or _UNCERTAIN.search(_fold(stated)):
        return None
    codes = (_tidy(header.get("mutopiacomposer", "")), piece_id.split("/")[0])
    code = next((code for code in codes if code in table["mutopia"] or code in _NOBODY), None)
    title = _tidy(header.get("mutopiatitle") or header.get("title", ""))
    if code in _NOBODY or _BY_SOMEBODY.search(title):
        return None
    if code is None:
        return _stated_composer(stated)
    entry = table["mutopia"][code]
    composer = _composer(entry)
    words = {_words(composer.name)[-1], *map(_fold, entry.get("also", ()))}
    return composer if not stated or words.intersection(_words(stated)) else None


def _stated_composer(stated: str) -> Composer | None:
    """The composer that a header names in words, such as ``Tomaso Albinoni (1671–1751)``."""
    name = stated.partition("(")[0].strip()
    if listed := composer_named(name):
        return listed
    if not _NAME.fullmatch(name) or _ABOUT_MUSIC.search(_fold(stated)):
        return None
    match = _YEARS.search(stated)
    years = match.groups() if match else (None, None)
    composer = Composer(name, *(int(year) if year else None for year in years))
    candidates = {other for other in _composers().values() if may_be_one(composer, other)}
    return candidates.pop() if len(candidates) == 1 else composer


def title_of(header: Header) -> str | None:
    """Return the title without stray signs and remarks of an archive; ``mutopiatitle`` comes before
    ``title``.
    """
    for name in ("mutopiatitle", "title"):
        title = _tidy(_REMARK.sub(" ", header.get(name, ""))).strip("-–— ,;:")
        if match := _ARTICLE_LAST.fullmatch(title):
            title = f"{match[2]} {match[1]}"
        if title.endswith(".") and not title.endswith("..") and "." not in title[:-1]:
            title = title[:-1]
        if any(sign.isalpha() for sign in title):
            return title
    return None


def names_a_key(title: str) -> bool:
    """Whether a title names a key, in English, German, French, Italian or Spanish.

    >>> [names_a_key(title) for title in ("Prelude in C", "Fuga in g-moll", "Waltz in Autumn",
    ...     "A Dance")]
    [True, True, False, False]
    """
    return _KEY.search(title) is not None


def title_kind(title: str) -> str | None:
    """Return the kind of piece that a title names, in English: prelude, fugue, minuet, waltz,
    étude, song and so on.

    If there are several, the last one counts, which is the movement's. Words behind a preposition
    do not count, and words in brackets count only if no other word names a kind.

    >>> [title_kind(title) for title in ("English Suite II: Gigue", "Air, from Suite No. 3",
    ...     "Für Elise")]
    ['gigue', 'air', None]
    """
    outside = _BRACKETED.sub(" ; ", title)
    return _last_kind(outside) or _last_kind(title.translate(str.maketrans("()[]", ";;;;")))


def _last_kind(title: str) -> str | None:
    endings = read_table(_NAMES)["endings"]
    for phrase in reversed(_SEPARATOR.split(title)):
        for word in reversed(_words(_PREPOSITION.sub("", _fold(phrase)))):
            kinds = [kind for ending, kind in endings.items() if word.endswith(ending)]
            if kind := _kinds().get(word, next(iter(kinds), None)):
                return kind
    return None


def are_siblings(title: str, other: str) -> bool:
    """Whether two titles differ only in numbers, keys and articles, or one contains all words of
    the other.

    >>> [are_siblings("Étude No. 4", other) for other in ("Study in C minor, Op. 6/8",
    ...     "Étude facile", "Valse")]
    [True, True, False]
    """
    first, second = _distinctive_words(title), _distinctive_words(other)
    return first <= second or second <= first


def _distinctive_words(title: str) -> set[str]:
    """The words that distinguish a piece from others of its set; kinds of piece are in English."""
    words = (word for word in _words(title) if not _NUMERAL.fullmatch(word))
    english = (_kinds().get(word, word) for word in words)
    return {word for word in english if len(word) > 1} - _common_words()


def style_of(header: Header) -> str | None:
    """Return the style in the Mutopia Project's words (``Popular`` for ``Popular / Dance``); None
    for other words.
    """
    styles = read_table(_NAMES)["styles"]
    stated = (styles.get(_fold(text)) for text in _texts(header, "style", "mutopiastyle"))
    return next(filter(None, stated), None)


def instrument_of(header: Header) -> str | None:
    """Return the instruments in the words of the header, or None."""
    return next(iter(_texts(header, "mutopiainstrument", "instrument")), None)


def licence_of(header: Header) -> str | None:
    """Return the licence: ``Public Domain``, ``CC BY x.y``, ``CC BY-SA x.y``, or the header's
    words, or None.
    """
    fields = ("license", "licence", "mutopialicense", "copyright", "mutopiacopyright")
    texts = _texts(header, *fields)
    return next(filter(None, [*map(_known_licence, texts), *texts]), None)


def _texts(header: Header, *names: str) -> list[str]:
    """The fields that are not blank."""
    return list(filter(None, (_tidy(header.get(name, "")) for name in names)))


def _known_licence(text: str) -> str | None:
    folded = _fold(text)
    if re.search(r"non-?commercial|no-?deriv|by-n[cd]|by-sa-n[cd]", folded):
        return None
    if "public domain" in folded:
        return "Public Domain"
    if not re.search(r"creative commons|\bcc\b", folded):
        return None
    version = re.search(r"\b([1-4])\.(\d)\b", folded)
    name = "CC BY-SA" if re.search(r"share-? ?alike|by-sa", folded) else "CC BY"
    return f"{name} {version.group()}" if version else name


def _tidy(text: str) -> str:
    """One line without control characters, with single spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _fold(text: str) -> str:
    text = text.casefold().replace("æ", "ae").replace("œ", "oe").replace("ø", "o")
    return "".join(
        sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", _fold(text))
