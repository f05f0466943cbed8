"""Words that are sung or said: the word error rate, or with ``text:cer`` the character error rate.

Conventions: case and punctuation do not count; of characters, spaces do not count either. The score
is 1 less the error rate of an answer, at least 0, weighted by the length of the reference. The
error rates themselves are over all answers and may exceed 1.

Source: jiwer.
"""

import re
import unicodedata
from collections.abc import Sequence

from music_evals.scorers.answer_kinds.kind import AnswerKind, commonest

_MOST = 20_000  # characters of an answer
# Marks of sections and times, and lines in brackets.
_NOT_SUNG = re.compile(r"\[[^\]\n]{0,40}\]|(?m:^\([^()\n]{0,200}\)$)")
_LEAD = re.compile(
    r"(?i)\A[^\n:：]{0,120}(?:lyrics|words|transcri|sings?\b|singer|text|歌词)[^\n:：]{0,80}[:：]"
)
_NO_WORD = re.compile(r"[^\w\s']+")


def make(name: str, argument: str, _: Sequence[str]) -> AnswerKind:
    """Make ``text`` or ``text:cer``."""
    is_cer = argument == "cer"

    def score(answer: str, reference: str) -> float:
        errors, length = count_errors(answer, reference, is_cer=is_cer)
        return max(0.0, 1 - errors / length)

    def weight(answer: str, reference: str) -> float:
        return float(count_errors(answer, reference, is_cer=is_cer)[1])

    return AnswerKind(
        name="text:cer" if is_cer else "text",
        read=_read,
        score=score,
        weight=weight,
        guesses=_with_nothing,
        is_long=True,
    )


def plain_words(text: str) -> str:
    """Return a text as it is compared.

    >>> plain_words("Don't stop — me, NOW!")
    "don't stop me now"
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(_NO_WORD.sub(" ", folded).split())


def count_errors(answer: str, reference: str, *, is_cer: bool) -> tuple[int, int]:
    """Return the number of errors of an answer, and the length of the reference, at least 1.

    >>> count_errors("let it bee", "let it be", is_cer=False)
    (1, 3)
    """
    import jiwer

    given, expected = plain_words(answer)[:_MOST], plain_words(reference)
    if is_cer:
        given, expected = given.replace(" ", ""), expected.replace(" ", "")
    if not expected:
        return 0, 1
    compare = jiwer.process_characters if is_cer else jiwer.process_words
    counted = compare(expected, given)
    length = counted.hits + counted.substitutions + counted.deletions
    return counted.substitutions + counted.deletions + counted.insertions, length


def _read(statement: str) -> list[str]:
    text = _NOT_SUNG.sub("", statement).strip()
    words = _LEAD.sub("", text, count=1).strip('*`"“”„> \n')
    return [words] if words else []


def _with_nothing(references: Sequence[str]) -> list[str]:
    return ["", *commonest(references)]
