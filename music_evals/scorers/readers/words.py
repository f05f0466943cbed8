"""Words for musical values: plain text, terms in several languages in one, numbers in words.

In the folder `patterns`, `terms.toml` holds musical words and what they are called in English,
`phrases.toml` the phrases around them, and `rewrites.toml` replacements that are made before values
are read.
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, NamedTuple

from text_to_num import alpha2digit

from music_evals.scorers.readers.patterns import Match, filled, load, pattern, texts
from music_evals.scorers.readers.refusals import unaccented

Span = tuple[int, int, Any]  # beginning and end of a value in a text, and the value
MAX_CHARACTERS = 4_000  # of an answer that are read

TERMS = load("terms")
_SIGNS = str.maketrans(load("signs"))


class Extraction(NamedTuple):
    """A text that values were read in, and the values in their order with their places."""

    text: str
    spans: tuple[Span, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """The values in their order."""
        return tuple(value for *_, value in self.spans)

    @property
    def is_pure(self) -> bool:
        """Whether the text says nothing beside the values."""
        rest = self.text
        for start, end, _ in reversed(self.spans):
            rest = f"{rest[:start]} {rest[end:]}"
        return all(
            pattern("phrases", "neutral").fullmatch(word)
            for word in re.findall(r"[A-Za-z]+|\d+", rest)
        )


def extraction(text: str, spans: list[Span]) -> Extraction:
    """The values of a text that are not None."""
    return Extraction(text, tuple(span for span in spans if span[2] is not None))


def extract(text: str, found: re.Pattern[str], value_of: Callable[[Match], Hashable]) -> Extraction:
    """The values of a pattern's matches in a text; a match with the value None does not count."""
    return extraction(
        text, [(match.start(), match.end(), value_of(match)) for match in found.finditer(text)]
    )


def folded(text: str, *, numbers: bool = False) -> str:
    """The text with plain signs, without accents, emphasis and questions; with `numbers` in digits
    where in words.
    """
    # What no encoding can write, half of a surrogate pair, fails in the reader of numbers.
    text = re.sub("[\ud800-\udfff]", "\ufffd", text[:MAX_CHARACTERS])
    strokes = re.sub("(?<=[a-hs])[¹²³]", lambda match: match[0].translate(_SIGNS), text)
    plain = unicodedata.normalize("NFKC", re.sub("[°º]", "o", strokes).replace("`", " "))
    plain = in_digits(plain) if numbers else plain
    plain = rewritten(unaccented(plain).translate(_SIGNS), "latex")[: 2 * MAX_CHARACTERS]
    plain = re.sub(r"(?s)(?:^|(?<=[.;!\n]))[^.;!?\n]{0,300}\?(?=.)", " ", plain)
    return re.sub(r"[ \t]+", " ", plain).strip()


@cache
def _rewrites(table: str) -> list[tuple[re.Pattern[str], str]]:
    flags = 0 if table in ("latex", "spelling") else re.IGNORECASE
    return [
        (re.compile(filled(old, texts("fragments")), flags), new)
        for old, new in load("rewrites")[table]
    ]


def rewritten(text: str, table: str) -> str:
    """The text after the replacements of a table of `rewrites.toml`, one after the other."""
    for old, new in _rewrites(table):
        text = old.sub(new, text)
    return text


@cache
def _translation(table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern with a group per word of a table of `terms.toml`, and the English of each group."""
    words = []
    for name, synonyms in TERMS[table].items():
        words += [(word, name) for word in (re.escape(name.strip()), *synonyms)]
    # The longest first, up to what is optional: "dominant seventh" before "dominant(?: chord)?".
    words.sort(key=lambda pair: len(pair[0].partition("(?")[0]), reverse=True)
    groups = []
    names = []
    for word, name in words:
        is_cjk = re.search("[\u3040-\u9fff\uac00-\ud7a3]", word) is not None
        groups.append(f"({word})" if is_cjk else rf"((?<![A-Za-z])(?:{word})(?![A-Za-z]))")
        names.append(f" {name} " if is_cjk else name)
    return re.compile("|".join(groups), re.IGNORECASE), tuple(names)


def translated(text: str, table: str) -> str:
    """The text with the words of a table of `terms.toml` in the English that the table gives."""
    words, names = _translation(table)
    return rewritten(
        words.sub(lambda match: names[(match.lastindex or 1) - 1], text), "spaces"
    ).strip()


def find_terms(text: str, table: str) -> Extraction:
    """The terms of a table that a text names."""
    words, names = _translation(table)
    return extract(text, words, lambda match: names[(match.lastindex or 1) - 1].strip())


_JOINT = r"[ _'/.+-]{0,3}"  # between letters of a name, which do not count
_AND = r"(?:n|and|&)"


def squashed(name: str) -> str:
    """A name as names are compared.

    >>> squashed("Rock & Roll"), squashed("rock'n'roll")
    ('rocknroll', 'rocknroll')
    """
    plain = re.sub(r"(?<![a-z])(?:and|&|n)(?![a-z])", "n", unaccented(name).casefold())
    return re.sub(r"[\W_]", "", plain)


_FIRST = 0xE000  # the first sign of a name, of characters that no text has


def _sign(match: Match) -> int:
    """The sign of a name, by the number of its group."""
    return _FIRST + (match.lastindex or 1) - 1


class Vocabulary:
    """Names that are compared without case, spaces, hyphens and the like, with what each means."""

    def __init__(self, names: Sequence[tuple[str, str]]) -> None:
        names = sorted(names, key=lambda pair: -len(pair[0]))
        self.tags_of_signs = {_FIRST + place: tag for place, (_, tag) in enumerate(names)}
        plain_names = [squashed(name) for name, _ in names]
        patterns = []
        for plain in plain_names:
            letters = [_AND if letter == "n" else re.escape(letter) for letter in plain]
            other, ending = (plain[:-1], "?") if plain.endswith("s") else (f"{plain}s", "s?")
            ending = "" if other in plain_names else ending
            patterns.append(rf"({_JOINT.join(letters)}{ending})")
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)

    def marked(self, text: str) -> str:
        """A text with a sign for each name, the longest first; `tags_of_signs` translates back."""
        text = re.sub("[\ue000-\uf8ff]", " ", text)
        return self._pattern.sub(lambda match: chr(_sign(match)), text)

    def respelled(self, text: str) -> str:
        """A text with its names as the vocabulary spells them."""

        def spelling(match: Match) -> str:
            tag = self.tags_of_signs[_sign(match)]
            return tag if squashed(match[0]) == squashed(tag) else match[0]

        return self._pattern.sub(spelling, text)


_READ_AS_VALUES = frozenset(load("theory")["read_as_values"])


def term_tables(text: str) -> list[str]:
    """The tables of closed terms that have the text as a term: an inversion, a texture, a dynamic,
    …
    """
    plain = re.sub(r"^(?:with|the) | ?\([^()]*\)$|[ .;]+$", "", text, flags=re.IGNORECASE)
    tables = []
    for table in TERMS:
        spans = () if table in _READ_AS_VALUES else find_terms(plain, table).spans
        if any(span[:2] == (0, len(plain)) for span in spans):
            tables.append(table)
    return tables


def _chinese_number(match: Match) -> str:
    values = [int(unicodedata.numeric(sign)) for sign in match[0]]
    if max(values) < 10:
        return "".join(map(str, values))
    total = digit = 0
    for value in values:
        if value < 10:
            digit = value
        else:
            total = total + (digit or 1) * value
            digit = 0
    return str(total + digit)


def in_digits(text: str) -> str:
    """The text with its numbers in digits, as far as they are words of one of the languages."""
    text = rewritten(text, "counts")
    text = re.sub("[零〇一二三四五六七八九十百]{1,9}", _chinese_number, text)
    for language in ("en", "de", "fr", "es", "it", "pt"):
        # Italian has "none" for ninths.
        if re.search(r"\d|\b[Nn]one\b" if language == "it" else r"\d", text):
            break
        text = alpha2digit(text, language, 0.0)
    return str(text)
