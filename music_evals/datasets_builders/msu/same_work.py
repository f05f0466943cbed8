"""Recognition of scores of the same work despite different titles, encodings and layouts."""

import re
import unicodedata

_COMMENT = re.compile(r"(?<!\\)%.*$", re.MULTILINE)
_NO_MUSIC = re.compile(r"[\s\\$]+")  # white space and marks of continued lines
_INLINE_FIELD = re.compile(r"\[[A-Za-z]:(?![|:])[^\]\n]*\]")
_FIELD_LINE = re.compile(r"^\s*[A-Za-z+]:(?![|:]).*$", re.MULTILINE)


def music_of(abc: str) -> str:
    """Return the music of ABC on one line, without fields, comments and white space.

    Encodings that differ in title, headers, measure numbers or line breaks have the same music.

    >>> music_of("X:1\\nT:A title\\nK:C\\n[V:1] C2 D2 | %1\\nA:| w\\nw: a word\\n")
    'C2D2|A:|w'
    """
    text = _COMMENT.sub("", abc.replace("\r", "\n"))
    return _NO_MUSIC.sub("", _INLINE_FIELD.sub("", _FIELD_LINE.sub("", text)))


def name_of(title: str, composer: str) -> str:
    """Return title and composer in lower case, letters and digits only; empty if the title has
    none.

    >>> name_of("Sonata, Op. 10", "Frédéric  CHOPIN") == name_of("Sonata op.10", "Frederic Chopin")
    True
    """
    plain = [
        "".join(
            letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum()
        )
        for text in (title, composer)
    ]
    return " / ".join(plain) if plain[0] else ""
