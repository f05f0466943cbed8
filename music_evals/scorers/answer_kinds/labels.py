"""Tags of a vocabulary: a set of them (``labels``), or a list in order (``list``).

Conventions: case, spaces, hyphens, underscores, apostrophes and slashes do not count, and neither
does an s at the end; "&", "and" and "n" are the same. The longest tag is read first: with
``drumnbass`` in the vocabulary, "drum and bass" is one. A tag outside the vocabulary counts as a
wrong one. ``labels`` are worth F1, weighted by the number of tags, so that the weighted mean is
micro F1 over all clips. ``list`` is right if all of it is. A reference is ``jazz; rock``.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import filterfalse

from music_evals.scorers.answer_kinds.kind import AnswerKind, commonest
from music_evals.scorers.readers.words import Vocabulary, folded

BETWEEN = "; "
_SEPARATORS = re.compile(
    r"(?i)[,;|\n•·#、，]+|[/+]|->|→|\s[–-]\s|&"
    r"|\b(?:and then|and|then|und|et|y|e|first|next|finally)\b"
)
_TAG = "[\ue000-\uf8ff]"  # a tag of the vocabulary, see `Vocabulary.marked`
_NONE = "[^\ue000-\uf8ff]"  # no tag
_LEAD = (
    rf"(?:{_NONE}*\b(?:is|are|hear|has|have|features?|includes?|contains?|with|of|moves?|goes"
    rf"|ist|sind|son|es)\b|{_NONE}{{0,40}}[:：])"
)
_GAP = r"[^\w\ue000-\uf8ff]*"
_COUNT = r"(?:(?:an?|the|some|up|mainly|two|three|\d)\s)?"
_TAIL = rf"(?: music)?{_GAP}(?:(?:(?<=[.(:–-])|\bin\b|\bon\b)\s{_NONE}*|(?<=\(){_NONE}*)?"
_NAMED = re.compile(
    rf"{_GAP}(?:{_LEAD}{_GAP})??{_COUNT}{_GAP}({_TAG}){_TAIL}|[^(]*\(({_TAG})\){_GAP}",
    re.DOTALL | re.IGNORECASE,
)
_REASON = re.compile(
    r"(?m)^([^\w\n]*[\ue000-\uf8ff])(?: [–-]|:| \|)[^\n\ue000-\uf8ff]*$"
)  # of a tag in a line
_ONLY_TAGS = re.compile(
    rf"(?s)(?:[^\ue000-\uf8ff]*:)?((?:{_TAG}|[^\w\ue000-\uf8ff]|_|\b(?:and|then)\b)*)"
)
_FILLER = re.compile(r"(?:[^\ue000-\uf8ff\w]|[\d_])*|.{0,40}[:：]\s*", re.DOTALL)
_MOST_WORDS = 4  # of a tag outside the vocabulary
_LONGEST = 150  # characters of a piece
_MOST_TAGS = 300
_SIZES = (1, 2, 3, 5, 8, 13)  # of sets of the commonest tags, as guesses


def make(name: str, _: str, vocabulary: Sequence[tuple[str, str]]) -> AnswerKind:
    """Make ``labels`` or ``list`` of names with their tags."""
    tags = Vocabulary(vocabulary)

    def read(statement: str) -> list[str]:
        named = _tags_in(folded(statement), tags)
        return [BETWEEN.join(named)] if named else []

    if name == "list":
        return AnswerKind(
            read=read, score=lambda answer, reference: float(answer == reference), is_list=True
        )
    return AnswerKind(
        read=read,
        score=f1,
        weight=lambda *sides: float(sum(len({*split_tags(side)}) for side in sides)),
        guesses=_commonest_tags,
        is_list=True,
        is_sure=True,
        column="^(?:tag|label|genre|instrument|mood|theme)",
    )


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
    given = set(split_tags(answer))
    expected = set(split_tags(reference))
    return 2 * len(given & expected) / max(len(given) + len(expected), 1)


def _tags_in(statement: str, vocabulary: Vocabulary) -> list[str]:
    """The tags that a list names; nothing if the statement is prose."""
    marked = re.sub(rf"({_TAG}) ?\([^()]*\)", r"\1", vocabulary.marked(statement))
    if match := _ONLY_TAGS.fullmatch(marked):
        return [sign.translate(vocabulary.tags_of_signs) for sign in re.findall(_TAG, match[1])]
    marked, _, rest = marked.partition(". ")
    # A line may say why its tag is named, or that it is not there.
    marked = re.sub(r"(?m)^[^\w\n]*[\ue000-\uf8ff][ |:]+(?:no|false|absent)$\n?", "", marked)
    names = [] if re.search(_TAG, rest) else _names_in(_REASON.sub(r"\1", marked))
    return [name.translate(vocabulary.tags_of_signs) for name in names]


def _names_in(marked: str) -> list[str]:
    """The signs of tags, and other names, that a text lists; nothing if it is prose."""
    names = []
    unknown = []
    for piece in filterfalse(_FILLER.fullmatch, _SEPARATORS.split(marked)):
        match = _NAMED.fullmatch(piece.strip()[:_LONGEST])
        names.append(match[1] or match[2] if match else piece.strip())
        if not match:
            unknown.append(piece)
    is_prose = any(len(piece.split()) > _MOST_WORDS for piece in unknown)
    return names if len(unknown) < len(names) <= _MOST_TAGS and not is_prose else []


def _commonest_tags(references: Sequence[str]) -> list[str]:
    counts = Counter(tag for reference in references for tag in split_tags(reference))
    ranked = [tag for tag, _ in counts.most_common(max(_SIZES))]
    return [BETWEEN.join(ranked[:size]) for size in _SIZES] + commonest(references)
