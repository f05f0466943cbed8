"""Tags of a vocabulary: a set of them (``labels``), or a list in order (``list``).

Conventions: case, hyphens and underscores do not count. A tag outside the vocabulary counts as a
wrong one. ``labels`` are worth F1, weighted by the number of tags, so that the weighted mean is
micro F1 over all clips. ``list`` is right if all of it is. A reference is ``jazz; rock``.
"""

import re
from collections import Counter
from collections.abc import Sequence

from music_evals.scorers.answer_kinds.kind import AnswerKind, commonest
from music_evals.scorers.readers.words import folded

BETWEEN = "; "
_SEPARATORS = re.compile(r"[,;\n•·]+|\s(?:and|&|then)\s|->|→|(?<![\w.])\d+[.)]\s")
_HEADING = re.compile(r"^[^:]{0,40}:\s*$")
_NO_TAG = re.compile(r"[\"|:{}=]")  # signs of a table, of JSON, of a sentence
_MOST_WORDS = 4  # of a tag outside the vocabulary
_MOST_TAGS = 300
_SIZES = (1, 2, 3, 5, 8, 13)  # of sets of the commonest tags, as guesses


def make(name: str, _: str, vocabulary: Sequence[str]) -> AnswerKind:
    """Make ``labels`` or ``list``."""
    tags = {_plain(tag): tag for tag in vocabulary}

    def read(statement: str) -> list[str]:
        named = _tags_in(folded(statement), tags)
        if name == "labels":
            named = [*dict.fromkeys(named)]
        return [BETWEEN.join(named)] if named else []

    if name == "list":
        return AnswerKind(name=name, read=read, score=_is_equal, is_list=True)
    return AnswerKind(name=name, read=read, score=f1, weight=_weight, guesses=_commonest_tags)


def split_tags(text: str) -> list[str]:
    """Return the tags of a reference.

    >>> split_tags("jazz; rock"), split_tags("")
    (['jazz', 'rock'], [])
    """
    return [tag for tag in text.split(BETWEEN) if tag]


def f1(answer: str, reference: str) -> float:
    """Return the F1 of two sets of tags.

    >>> f1("jazz; folk", "jazz; rock"), f1("", "jazz")
    (0.5, 0.0)
    """
    given, expected = set(split_tags(answer)), set(split_tags(reference))
    return 2 * len(given & expected) / max(len(given) + len(expected), 1)


def _weight(answer: str, reference: str) -> float:
    return float(len({*split_tags(answer)}) + len({*split_tags(reference)}))


def _is_equal(answer: str, reference: str) -> float:
    return float(answer == reference)


def _plain(text: str) -> str:
    return re.sub(r"[\s_–-]+", " ", text.casefold()).strip(" .:*'\"`[](){}")


def _tags_in(statement: str, tags: dict[str, str]) -> list[str]:
    """The tags that a list names; nothing if the statement is prose."""
    if _plain(statement) in tags:
        return [tags[_plain(statement)]]
    words = _plain(statement).split()
    if words and all(word in tags for word in words):
        return [tags[word] for word in words]
    pieces = [_plain(_HEADING.sub("", piece)) for piece in _SEPARATORS.split(statement)]
    pieces = [piece for piece in pieces if piece][: _MOST_TAGS + 1]
    unknown = [piece for piece in pieces if piece not in tags]
    is_prose = any(len(piece.split()) > _MOST_WORDS or _NO_TAG.search(piece) for piece in unknown)
    if is_prose or len(unknown) == len(pieces) or len(pieces) > _MOST_TAGS:
        return []
    return [tags.get(piece, piece) for piece in pieces]


def _commonest_tags(references: Sequence[str]) -> list[str]:
    counts = Counter(tag for reference in references for tag in split_tags(reference))
    ranked = [tag for tag, _ in counts.most_common(max(_SIZES))]
    return [BETWEEN.join(ranked[:size]) for size in _SIZES] + commonest(references)
