"""Words for musical values: plain text, terms in several languages in one, numbers in words, and what is left.

`terms.toml` holds the words and what they are called in English; `rewrites.toml` what is put in other words before.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from text_to_num import alpha2digit

from music_evals.scorers.readers.refusals import MAX_CHARACTERS, unaccented

Values = list[tuple[int, int, Hashable]]
"""Values with the places where they begin and end."""


class Found(NamedTuple):
    """The values of a text in their order, the text that they were read in, and where in it each stands."""

    values: tuple[Hashable, ...]
    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def rest(self) -> str:
        """The text without the values."""
        starts, ends = [start for start, _ in self.spans], [0, *(end for _, end in self.spans)]
        return " ".join(self.text[end:start] for end, start in zip(ends, [*starts, len(self.text)], strict=True))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


TERMS: Final = _table("terms.toml")
_REWRITES: Final = {
    name: [(re.compile(old, re.IGNORECASE if name not in ("latex", "spelling") else 0), new) for old, new in pairs]
    for name, pairs in _table("rewrites.toml").items()
}
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("–—−‐‑‒―", "-"),
        **dict.fromkeys("′", "'"),
        **dict.fromkeys('“”„«»$`"', " "),
        **{"♯": "#", "♭": "b", "𝄪": "##", "𝄫": "bb", "♮": "", "°": "o", "⁄": "/", "″": "''"},
        **dict.fromkeys("，、", ","),
        **{"。": ".", "；": ";", "：": ":", "（": "(", "）": ")"},
    }
)
_QUESTION: Final = re.compile(r"(?:^|(?<=[.;!\n]))[^.;!?\n]{0,300}\?(?=.)", re.DOTALL)


def folded(text: str, *, numbers: bool = False) -> str:
    """The text with plain signs, without accents, emphasis and questions; with `numbers` in digits where in words."""
    # What no encoding can write, half of a surrogate pair, fails in the reader of numbers.
    text = re.sub("[\ud800-\udfff]", "\ufffd", text[:MAX_CHARACTERS])
    plain = re.sub("(?<=[a-hs])[¹²³]", lambda match: "'" * ("¹²³".index(match[0]) + 1), text)
    plain = unicodedata.normalize("NFKC", plain.replace("°", "o").replace("º", "o"))
    plain = rewritten(unaccented(in_digits(plain) if numbers else plain).translate(_SIGNS), "latex")
    return re.sub(r"[ \t]+", " ", _QUESTION.sub(" ", plain[: 2 * MAX_CHARACTERS]).replace("*", " ")).strip()


def rewritten(text: str, table: str) -> str:
    """The text after the replacements of a table of `rewrites.toml`, one after the other."""
    for pattern, replacement in _REWRITES[table]:
        text = pattern.sub(replacement, text)
    return text


@cache
def _translation(table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    words = [(re.escape(name.strip()), name) for name in TERMS[table]]
    words += [(word, name) for name, some in TERMS[table].items() for word in some]
    # The longest first, optional parts aside: "dominant seventh" before "dominant(?: chord)?".
    words.sort(key=lambda one: len(re.sub(r"\(\?[:=!].*?\)\??|\\?.\?|\\w\*", "", one[0])), reverse=True)
    parts = [f"({word})" if _is_cjk(word) else rf"((?<![A-Za-z])(?:{word})(?![A-Za-z]))" for word, _ in words]
    names = tuple(f" {name} " if _is_cjk(word) else name for word, name in words)
    return re.compile("|".join(parts), re.IGNORECASE), names


def _is_cjk(text: str) -> bool:
    return re.search("[\u3040-\u9fff]", text) is not None


def translated(text: str, table: str) -> str:
    """The text with the words of a table of `terms.toml` in the English that the table gives."""
    pattern, names = _translation(table)
    return rewritten(pattern.sub(lambda match: names[(match.lastindex or 1) - 1], text), "spaces").strip()


def find_terms(text: str, table: str) -> Found:
    """The terms of a table that a text names."""
    pattern, names = _translation(table)
    return found(text, matched(pattern.finditer(text), lambda match: names[(match.lastindex or 1) - 1].strip()))


_NOT_TERMS: Final = (
    "duration",
    "mode",
    "clef",
    "cadence",
    "numeral",
    "absence",
    "yes",
    "no",
    "times",
    "counts",
    "units",
    "qualities",
)


def term_tables(text: str) -> list[str]:
    """The tables of closed terms of which a text is one: an inversion, a texture, a dynamic, …"""
    plain = re.sub(r"^with |[ .;]+$", "", text, flags=re.IGNORECASE)
    return [
        table
        for table in TERMS
        if table not in _NOT_TERMS and any(end - start == len(plain) for start, end in find_terms(plain, table).spans)
    ]


_CHINESE: Final = re.compile("[零〇一二两三四五六七八九十百]{1,9}")
DIGITS: Final = {**{sign: place for place, sign in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}


def _chinese_number(text: str) -> str:
    if not set(text) & {"十", "百"}:
        return "".join(str(DIGITS[sign]) for sign in text)
    total = digit = 0
    for sign in text:
        if sign in DIGITS:
            digit = DIGITS[sign]
        else:
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
    return str(total + digit)


def in_digits(text: str) -> str:
    """The text with its numbers in digits, as far as they are words of one of the languages."""
    for word, number in TERMS["times"].items():
        text = re.sub(rf"\b{word}\b", number, text, flags=re.IGNORECASE)
    text = _CHINESE.sub(lambda match: _chinese_number(match[0]), text)
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    for language in ("en", "de", "fr", "es", "it"):
        # Italian has "none" for ninths.
        if re.search(r"\d", text) or (language == "it" and re.search(r"\bnone\b", text, re.IGNORECASE)):
            break
        text = alpha2digit(text, language, 0.0)
    return str(text)


_NEUTRAL: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and answer are at bar bars beats bpm by chord chords clef clefs final followed from full hand in"
        " initial is it its"
        " key left lower m major measure measures meter metre minute mm music note notes number of on per pitch"
        " pitches piece"
        " quarter rest rests right signature staff staves the then there this time to triad upper with yes scale mode"
        " highest"
        " lowest shortest longest value opening starts starting begins takt tonart mesure cle voice part quality type"
        " bis und et e y"
        " der die das ein eine le la les un une il el los las est ist degree degrees progression position equals"
        " grand clave"
        " schlussel pitched tempo marking total staves beat equal exactly was written pulse",
    )
)


def is_pure(found: Found) -> bool:
    """Whether nothing stands beside the values that says anything."""
    return all(word in _NEUTRAL for word in re.findall(r"[A-Za-z]+|\d+", found.rest.lower()))


def matched(matches: Iterable[re.Match[str]], value_of: Callable[[re.Match[str]], Hashable]) -> Values:
    """The matches that have a value, with where they stand."""
    values = ((match.start(), match.end(), value_of(match)) for match in matches)
    return [found for found in values if found[2] is not None]


def found(text: str, values: Values) -> Found:
    """What was found in a text, from the values in their order."""
    return Found(tuple(value for *_, value in values), text, tuple((start, end) for start, end, _ in values))
