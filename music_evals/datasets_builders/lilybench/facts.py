"""What headers tell of a piece (composer, title, style, instrument, licence), brought to one form.

Headers are as `music_evals.notation.lilypond.syntax.read_header` gives them. The Mutopia Project asks for certain
fields (``mutopiacomposer``, ``style`` and so on) with words from its own lists; what people write into them is more
varied. The table of names is ``datasets_builders/names/lilybench.toml``.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from music_evals.datasets_builders import read_table

STYLES: Final = (
    *("Baroque", "Classical", "Folk", "Gospel", "Hymn", "Jazz", "March", "Modern", "Popular", "Renaissance"),
    *("Romantic", "Song", "Technique"),
)
"""The styles of the Mutopia Project's list (``Popular / Dance`` in one word), and ``Technique``, which is in use."""

_NOBODY: Final = frozenset({"Anonymous", "Traditional"})
_ABOUT_MUSIC: Final = re.compile(
    r"\b(?:anon|anonymous|arr|attr|attrib|attributed|doubtful|spurious|trad|traditional)\b"
)
_UNCERTAIN: Final = re.compile(r"\b(?:attr|attrib|attributed|doubtful|spurious)\b")
_BY_SOMEBODY: Final = re.compile(r"\b(?:[Bb]y|nach|d['’]après) (?:\w\. ?){0,3}[A-Z]\w")
_YEAR: Final = r"(?:ca?\. ?)?(\d{4})\??"
_YEARS: Final = re.compile(rf"\( ?{_YEAR} ?[-–—]{{1,3}} ?(?:{_YEAR})? ?\)")
_NAME: Final = re.compile(r"[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){1,5}")
_SEPARATOR: Final = re.compile(r"[:;,./–—]| - ")
_BRACKETED: Final = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_PREPOSITION: Final = re.compile(r"\b(?:after|auf|aus|by|for|from|fur|in|of|on|per|pour|sur|uber)\b.*", re.DOTALL)
_NUMERAL: Final = re.compile("[ivxlc]+")
_OTHER_LIFE: Final = 10  # years between the births of two persons of one name
_ABBREVIATION: Final = 3  # letters that may stand for a forename
_REMARK: Final = re.compile(r"\((?:hymntune|hymn tune|alternative typesetting)\)", re.IGNORECASE)
_ARTICLE_LAST: Final = re.compile(r"(.{1,200}), (The|An?|Les?|La|Der|Die|Das|Il)")


class Composer(NamedTuple):
    """A composer, by the usual English name; years that are roughly known count as known."""

    name: str
    born: int | None = None
    died: int | None = None

    @property
    def name_and_years(self) -> str:
        """The name as headers write it, such as ``Clara Schumann (1819–1896)``; without years if one is not known."""
        return f"{self.name} ({self.born}–{self.died})" if self.born and self.died else self.name


class _Names(NamedTuple):
    """The table; by code with the words of which one must stand in a header that names the composer."""

    by_code: Mapping[str, tuple[Composer, frozenset[str]]]
    by_name: Mapping[str, Composer]
    doubtful: tuple[str, ...]
    styles: Mapping[str, str]
    kinds: Mapping[str, str]
    endings: Mapping[str, str]
    untelling: frozenset[str]


@cache
def _names() -> _Names:
    listed = read_table("names/lilybench.toml")
    by_code: dict[str, tuple[Composer, frozenset[str]]] = {}
    by_name: dict[str, Composer] = {}
    for code, entry in listed["mutopia"].items():
        composer = Composer(entry["name"], entry.get("born"), entry.get("died"))
        last = _words(composer.name)[-1]
        by_code[code] = composer, frozenset([last, *(_fold(word) for word in entry.get("also", ()))])
        by_name[_fold(composer.name)] = composer
    for name, entry in listed["corpus"].items():
        by_name[_fold(name)] = Composer(name, entry.get("born"), entry.get("died"))
    return _Names(
        by_code,
        by_name,
        tuple(listed["attribution"]["doubtful"]),
        listed["styles"],
        {word: kind for kind, words in listed["kinds"].items() for word in words},
        listed["endings"],
        frozenset().union(*listed["titles"].values()),
    )


def composer_named(name: str) -> Composer | None:
    """The composer whom the table lists under this very name, whatever its accents and capitals."""
    return _names().by_name.get(_fold(name))


def may_be_one(one: Composer, other: Composer) -> bool:
    """Whether two composers may be one person: the longer name has the last name of the other, and all its forenames.

    Forenames may be shortened to three letters at most. Lives that begin more than ten years apart are two persons'.

    >>> bach = Composer("Johann Sebastian Bach", 1685, 1750)
    >>> [may_be_one(bach, Composer(name)) for name in ("J. S. Bach", "Joh. Seb. Bach", "J. C. Bach")]
    [True, True, False]
    """
    if one.born and other.born and abs(one.born - other.born) > _OTHER_LIFE:
        return False
    shorter, longer = sorted((_words(one.name), _words(other.name)), key=len)
    # A word is looked for behind where the last one was found.
    rest = iter(longer)
    return shorter[-1] in longer and all(any(_agree(word, known) for known in rest) for word in shorter)


def _agree(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return short == long or (len(short) <= _ABBREVIATION and long.startswith(short))


def composer_of(header: Mapping[str, str], piece_id: str) -> Composer | None:
    """Who composed a piece, if that is certain.

    The Mutopia Project's code of a composer (``mutopiacomposer``, or the first folder of the piece) decides. A header
    whose own ``composer`` names somebody else, or nobody, leaves it open, and so do words such as ``attributed``, a
    title such as ``March by Rossini``, and a work that scholars doubt. Of a composer whom the table lacks, name and
    years are read from ``composer``; where they may be those of one composer of the table alone, it is that one.
    """
    names = _names()
    stated = _tidy(header.get("composer", ""))
    if piece_id.startswith(names.doubtful) or _UNCERTAIN.search(_fold(stated)):
        return None
    codes = (_tidy(header.get("mutopiacomposer", "")), piece_id.split("/")[0])
    code = next((code for code in codes if code in names.by_code or code in _NOBODY), None)
    if code in _NOBODY or _BY_SOMEBODY.search(_tidy(header.get("mutopiatitle") or header.get("title", ""))):
        return None
    if code is not None:
        composer, words = names.by_code[code]
        return composer if not stated or words.intersection(_words(stated)) else None
    return _stated_composer(stated)


def _stated_composer(stated: str) -> Composer | None:
    """The composer that a header names in words, such as ``Tomaso Albinoni (1671–1751)``."""
    name = stated.partition("(")[0].strip()
    if known := composer_named(name):
        return known
    if not _NAME.fullmatch(name) or _ABOUT_MUSIC.search(_fold(stated)):
        return None
    years = _YEARS.search(stated)
    born, died = years.groups() if years else (None, None)
    composer = Composer(name, int(born) if born else None, int(died) if died else None)
    meant = {other for other in _names().by_name.values() if may_be_one(composer, other)}
    return meant.pop() if len(meant) == 1 else composer


def title_of(header: Mapping[str, str]) -> str | None:
    """The title, without stray signs and the remarks of an archive; ``mutopiatitle`` is taken ahead of ``title``."""
    for name in ("mutopiatitle", "title"):
        title = _tidy(_REMARK.sub(" ", header.get(name, ""))).strip("-–— ,;:")
        if moved := _ARTICLE_LAST.fullmatch(title):
            title = f"{moved[2]} {moved[1]}"
        if title.endswith(".") and not title.endswith("..") and "." not in title[:-1]:
            title = title[:-1]
        if any(sign.isalpha() for sign in title):
            return title
    return None


def title_kind(title: str) -> str | None:
    """The kind of piece that a title names, in English: prelude, fugue, minuet, waltz, étude, hymn, song and so on.

    Of several kinds the last one counts, which is the movement's, but not what stands behind a preposition, and what is
    in brackets only where nothing else names a kind.

    >>> [title_kind(title) for title in ("English Suite II: Gigue", "Air, from Suite No. 3", "Für Elise")]
    ['gigue', 'air', None]
    """
    outside = _BRACKETED.sub(" ; ", title)
    return _last_kind(outside) or _last_kind(title.translate(str.maketrans("()[]", ";;;;")))


def _last_kind(title: str) -> str | None:
    names = _names()
    for part in reversed(_SEPARATOR.split(title)):
        for word in reversed(_words(_PREPOSITION.sub("", _fold(part)))):
            if kind := names.kinds.get(word):
                return kind
            for ending, kind in names.endings.items():
                if word.endswith(ending):
                    return kind
    return None


def are_siblings(one: str, other: str) -> bool:
    """Whether two titles are no choice: they differ in numbers, keys and articles alone, or one holds all of the other.

    >>> [are_siblings("Étude No. 4", title) for title in ("Study in C minor, Op. 6/8", "Étude facile", "Valse")]
    [True, True, False]
    """
    first, second = _telling(one), _telling(other)
    return first <= second or second <= first


def _telling(title: str) -> set[str]:
    """The words that tell a piece from others of its set, kinds of piece in English."""
    names = _names()
    words = (names.kinds.get(word, word) for word in _words(title) if not _NUMERAL.fullmatch(word))
    return {word for word in words if len(word) > 1}.difference(names.untelling)


def style_of(header: Mapping[str, str]) -> str | None:
    """The style, as one of `STYLES`, or None where the header has none of them."""
    for name in ("style", "mutopiastyle"):
        if style := _names().styles.get(_fold(_tidy(header.get(name, "")))):
            return style
    return None


def instrument_of(header: Mapping[str, str]) -> str | None:
    """The instruments, as the header has them."""
    return next((text for name in ("mutopiainstrument", "instrument") if (text := _tidy(header.get(name, "")))), None)


def licence_of(header: Mapping[str, str]) -> str | None:
    """The licence: ``Public Domain``, ``CC BY x.y``, ``CC BY-SA x.y``, or what else the header says."""
    names = ("license", "licence", "mutopialicense", "copyright", "mutopiacopyright")
    texts = [text for name in names if (text := _tidy(header.get(name, "")))]
    return next((licence for text in texts if (licence := _known_licence(text))), texts[0] if texts else None)


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
    """One line, without control signs, single spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _fold(text: str) -> str:
    """Without accents and capitals."""
    text = text.casefold().replace("æ", "ae").replace("œ", "oe").replace("ø", "o")
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", _fold(text))
