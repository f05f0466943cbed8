"""Telling whether two scores are of the same work, however they are titled, encoded and laid out."""

import re
import unicodedata
from typing import Final

_COMMENT: Final = re.compile(r"(?<!\\)%.*$", re.MULTILINE)
_NO_MUSIC: Final = re.compile(r"[\s\\$]+")  # white space and the marks of where a line goes on
_INLINE_FIELD: Final = re.compile(r"\[[A-Za-z]:(?![|:])[^\]\n]*\]")
_FIELD_LINE: Final = re.compile(r"^\s*[A-Za-z+]:(?![|:]).*$", re.MULTILINE)


def music_of(abc: str) -> str:
    """Return the music of an ABC text on one line: without fields, comments and white space.

    Two encodings of a score that differ in title, headers, measure numbers or line breaks have the same music.

    >>> music_of("X:1\\nT:A title\\nK:C\\n[V:1] C2 D2 | %1\\nA:| w\\nw: a word\\n")
    'C2D2|A:|w'
    """
    text = _COMMENT.sub("", abc.replace("\r", "\n"))
    return _NO_MUSIC.sub("", _INLINE_FIELD.sub("", _FIELD_LINE.sub("", text)))


def name_of(title: str, composer: str) -> str:
    """Return title and composer without what spellings differ in; empty where the title has no letters or digits.

    >>> name_of("Sonata, Op. 10", "Frédéric  CHOPIN") == name_of("Sonata op.10", "Frederic Chopin")
    True
    """
    plain = [
        "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())
        for text in (title, composer)
    ]
    return " / ".join(plain) if plain[0] else ""
