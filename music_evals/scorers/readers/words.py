"""Words for musical values: plain text, terms in several languages in one, numbers in words.

`terms.toml` holds musical words and what they are called in English, `phrases.toml` the phrases around them, and
`rewrites.toml` replacements that are made before values are read.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Hashable
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from text_to_num import alpha2digit

from music_evals.scorers.readers.refusals import MAX_CHARACTERS, unaccented

Span = tuple[int, int, Any]  # beginning and end of a value in a text, and the value


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


TERMS: Final = _load("terms.toml")
PHRASES: Final = _load("phrases.toml")
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("–—−‐‑‒―", "-"),
        **dict.fromkeys('“”„«»$`"', " "),
        **{"♯": "#", "♭": "b", "𝄪": "##", "𝄫": "bb", "♮": "", "°": "o", "⁄": "/", "′": "'", "″": "''"},
        **{"，": ",", "、": ",", "。": ".", "；": ";", "：": ":", "（": "(", "）": ")"},
    }
)
_QUESTION: Final = re.compile(r"(?s)(?:^|(?<=[.;!\n]))[^.;!?\n]{0,300}\?(?=.)")


class Extraction(NamedTuple):
    """The values of a text in their order, the text that they were read in, and the place of each value in it."""

    values: tuple[Any, ...]
    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def is_pure(self) -> bool:
        """Whether the text says nothing beside the values."""
        starts, ends = [start for start, _ in self.spans], [0, *(end for _, end in self.spans)]
        rest = " ".join(self.text[end:start] for end, start in zip(ends, [*starts, len(self.text)], strict=True))
        return all(word in PHRASES["neutral"]["words"] for word in re.findall(r"[A-Za-z]+|\d+", rest.lower()))


def extraction(text: str, spans: list[Span]) -> Extraction:
    """The values of a text, with the places of those that are not None."""
    spans = [span for span in spans if span[2] is not None]
    return Extraction(tuple(value for *_, value in spans), text, tuple((start, end) for start, end, _ in spans))


def extract(text: str, pattern: re.Pattern[str], value_of: Callable[[re.Match[str]], Hashable]) -> Extraction:
    """The values of a pattern's matches in a text; a match with the value None does not count."""
    return extraction(text, [(match.start(), match.end(), value_of(match)) for match in pattern.finditer(text)])


def folded(text: str, *, numbers: bool = False) -> str:
    """The text with plain signs, without accents, emphasis and questions; with `numbers` in digits where in words."""
    # What no encoding can write, half of a surrogate pair, fails in the reader of numbers.
    text = re.sub("[\ud800-\udfff]", "\ufffd", text[:MAX_CHARACTERS])
    plain = re.sub("(?<=[a-hs])[¹²³]", lambda match: "'" * ("¹²³".index(match[0]) + 1), text)
    plain = unicodedata.normalize("NFKC", plain.replace("°", "o").replace("º", "o").replace("`", " "))
    plain = rewritten(unaccented(in_digits(plain) if numbers else plain).translate(_SIGNS), "latex")
    return re.sub(r"[ \t]+", " ", _QUESTION.sub(" ", plain[: 2 * MAX_CHARACTERS]).replace("*", " ")).strip()


@cache
def _rewrites(table: str) -> list[tuple[re.Pattern[str], str]]:
    flags = 0 if table in ("latex", "spelling") else re.IGNORECASE
    return [(re.compile(old, flags), new) for old, new in _load("rewrites.toml")[table]]


def rewritten(text: str, table: str) -> str:
    """The text after the replacements of a table of `rewrites.toml`, one after the other."""
    for pattern, replacement in _rewrites(table):
        text = pattern.sub(replacement, text)
    return text


@cache
def _translation(table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern with a group per word of a table of `terms.toml`, and the English of each group."""
    words = [(re.escape(name.strip()), name) for name in TERMS[table]]
    words += [(word, name) for name, synonyms in TERMS[table].items() for word in synonyms]
    # The longest first, optional parts aside: "dominant seventh" before "dominant(?: chord)?".
    words.sort(key=lambda pair: len(re.sub(r"\(\?[:=!].*?\)\??|\\?.\?|\\w\*", "", pair[0])), reverse=True)
    groups, names = [], []
    for word, name in words:
        is_cjk = re.search("[\u3040-\u9fff\uac00-\ud7a3]", word) is not None
        groups.append(f"({word})" if is_cjk else rf"((?<![A-Za-z])(?:{word})(?![A-Za-z]))")
        names.append(f" {name} " if is_cjk else name)
    return re.compile("|".join(groups), re.IGNORECASE), tuple(names)


def translated(text: str, table: str) -> str:
    """The text with the words of a table of `terms.toml` in the English that the table gives."""
    pattern, names = _translation(table)
    return rewritten(pattern.sub(lambda match: names[(match.lastindex or 1) - 1], text), "spaces").strip()


def find_terms(text: str, table: str) -> Extraction:
    """The terms of a table that a text names."""
    pattern, names = _translation(table)
    return extract(text, pattern, lambda match: names[(match.lastindex or 1) - 1].strip())


_READ_AS_VALUES: Final = ("duration", "mode", "clef", "cadence", "numeral", "qualities")


def term_tables(text: str) -> list[str]:
    """The tables of closed terms that have the text as a term: an inversion, a texture, a dynamic, …"""
    plain = re.sub(r"^(?:with|the) |[ .;]+$", "", text, flags=re.IGNORECASE)
    tables = [table for table in TERMS if table not in _READ_AS_VALUES]
    return [table for table in tables if (0, len(plain)) in find_terms(plain, table).spans]


DIGITS: Final = {**{sign: place for place, sign in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}


def _chinese_number(match: re.Match[str]) -> str:
    if not set(match[0]) & {"十", "百"}:
        return "".join(str(DIGITS[sign]) for sign in match[0])
    total = digit = 0
    for sign in match[0]:
        if sign in DIGITS:
            digit = DIGITS[sign]
        else:
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
    return str(total + digit)


def in_digits(text: str) -> str:
    """The text with its numbers in digits, as far as they are words of one of the languages."""
    for word, number in PHRASES["times"].items():
        text = re.sub(rf"\b{word}\b", number, text, flags=re.IGNORECASE)
    text = re.sub("[零〇一二两三四五六七八九十百]{1,9}", _chinese_number, re.sub("[前后上下每同]一|一共", "", text))
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    for language in ("en", "de", "fr", "es", "it"):
        # Italian has "none" for ninths.
        if re.search(r"\d", text) or (language == "it" and re.search(r"\bnone\b", text, re.IGNORECASE)):
            break
        text = alpha2digit(text, language, 0.0)
    return str(text)
