"""Reading a judge's vote, 1 (the same) or 0, or its rating, 0 to 5, from a reply that may reason
first: the last line with a vote or a rating decides.
"""

import unicodedata
from functools import partial

from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.patterns import pattern

_MAX = 1_500  # characters of a reply's end that are read
_pattern = partial(pattern, "votes")


def read_vote(reply: str) -> int | None:
    """Read 1 or 0; None where the reply gives neither, or both.

    Example:
        >>> read_vote("Another octave, so it is not the same.\\n**0**"), read_vote(
        ...     "0 or 1"), read_vote("Score: 1")
        (0, None, 1)
    """
    text = unicodedata.normalize("NFKC", clean_reply(reply)[-_MAX:])[-2 * _MAX :]
    text = _pattern("vote").sub(r"\1", _pattern("markup").sub(" ", text))
    lines = [_pattern("quoted").sub(" ", line.strip()) for line in text.strip().splitlines()]
    for line in reversed(lines):
        if _pattern("both").search(line):
            return None
        labelled = [None, *_pattern("labelled").finditer(line)]
        vote = labelled[-1] or _pattern("beginning").match(line) or _pattern("ending").search(line)
        if vote:
            return int(vote["vote"])
    for line in lines[-1:] + lines[:1]:
        if match := _pattern("in_words").match(line):
            return int(match["right"] is not None)
    return None


def read_rating(reply: str) -> int | None:
    """Read a whole number from 0 to 5, alone in a line or at its end behind "Rating:".

    Example:
        >>> read_rating("The mood is wrong.\\n**Rating:** 3/5"), read_rating(
        ...     "Rating: 4 or 5"), read_rating("Rating: 9"), read_rating("4.5")
        (3, None, None, None)
    """
    ratings = _pattern("rating").findall(_pattern("markup").sub(" ", clean_reply(reply)[-_MAX:]))
    return int(ratings[-1]) if ratings else None
