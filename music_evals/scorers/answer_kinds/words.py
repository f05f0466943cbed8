"""Words that are sung or said: the word error rate, or with ``text:cer`` the character error rate.

``lyrics:en`` (``de``, ``es``, ``fr``) are lyrics as they are printed. Their score compares words
without case and punctuation. Jam-ALT's own package, `alt_eval`, has their further figures, for
which lines and all other marks of the reply stay as they are. ``name`` is the name of a person, a
piece or an instrument, right or wrong; see `readers.names`. ``caption`` is a description of music,
by its ROUGE-L, which rewards shared words alone; its references are all captions of a clip, a line
each.

Conventions: both texts are normalised as papers do, English words by Whisper's normaliser (numbers,
contractions, British spelling), Chinese characters to simplified ones; case and punctuation do not
count, and of characters, spaces do not count either. The score is 1 less the error rate of an
answer, at least 0, weighted by the length of the reference. The error rates themselves are over all
answers and may exceed 1. Marks of subtitles are not words.

Source: jiwer; A. Radford and others, "Robust Speech Recognition via Large-Scale Weak Supervision",
appendix C.
"""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from music_evals.notation.extras import require
from music_evals.scorers.answer_kinds.kind import AnswerKind, commonest
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.names import is_same_name, name_words
from music_evals.scorers.readers.words import folded

_MOST = 20_000  # characters of an answer
# Marks of sections and times, and lines in brackets.
_LEAD = re.compile(
    r"(?i)\A[^\n:：]{0,120}(?:lyrics|words|transcri|sings?\b|singer|text|歌[词詞])[^\n:：]{0,80}[:：]"
)
_QUOTED = re.compile(r"[^\n:：]{0,120}[:：]\s*[„“\"](?P<words>[^“”„\"]+)[“”\"][^\n]{0,200}")
# A paragraph of one line behind the words, which unlike them is a sentence.
_MOST_OF_NAME = 12  # words


def make(name: str, argument: str, _: Sequence[str]) -> AnswerKind:
    """Make ``text``, ``text:cer``, ``lyrics:en``, ``name`` or ``caption``; MissingLibraryError for
    ``lyrics`` without its extra.
    """
    if name == "caption":
        return AnswerKind(
            read=lambda statement: re.findall(r"(?s)\S.*", statement),
            score=rouge_l,
            write=lambda captions: captions.partition("\n")[0],
            is_long=True,
            is_prose=True,
        )
    if name == "name":
        return AnswerKind(read=_read_name, score=lambda *sides: float(is_same_name(*sides) is True))
    is_printed = name == "lyrics" and bool(require("alt_eval", "lyrics"))
    count = partial(count_errors, is_cer=argument == "cer", is_raw=is_printed)

    def score(answer: str, reference: str) -> float:
        errors, length = count(answer, reference)
        return max(0.0, 1 - errors / length)

    return AnswerKind(
        read=_as_printed if is_printed else _read,
        score=score,
        weight=lambda *sides: float(count(*sides)[1]),
        guesses=lambda references: ["", *commonest(references)],
        column="lyric|text|word|transcri",
        is_long=True,
    )


def plain_words(text: str) -> str:
    """Return a text as it is compared.

    >>> plain_words("Don't stop — me, NOW!")
    "don't stop me now"
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(re.sub(r"[^\w\s']+", " ", folded).split())


@cache
def _normaliser(name: str) -> Any:
    """A normaliser of English words, or of Chinese characters."""
    # Loaded where they are used; neither has types.
    if name == "zh":
        return import_module("opencc").OpenCC("t2s").convert
    return import_module("whisper_normalizer.english").EnglishTextNormalizer()


@lru_cache(maxsize=10_000)
def normal_words(text: str, *, is_cer: bool, is_raw: bool = False) -> str:
    """Return a text as papers compare it, characters or English words; if raw, without case and
    punctuation only.

    >>> normal_words("2 hearts won't change colour", is_cer=False)
    '2 hearts will not change color'
    """
    text = text[:_MOST]
    if not is_raw:
        text = str(_normaliser("zh" if is_cer else "en")(text))
    return plain_words(text).replace(" ", "" if is_cer else " ")


def count_errors(
    answer: str, reference: str, *, is_cer: bool, is_raw: bool = False
) -> tuple[int, int]:
    """Return the number of errors of an answer, and the length of the reference, at least 1.

    >>> count_errors("let it bee", "let it be", is_cer=False)
    (1, 3)
    """
    import jiwer

    sides = (normal_words(text, is_cer=is_cer, is_raw=is_raw) for text in (reference, answer))
    expected, given = sides
    if not expected:
        return 0, 1
    compare = jiwer.process_characters if is_cer else jiwer.process_words
    counted = compare(expected, given)
    length = len(counted.references[0])
    return length - counted.hits + counted.insertions, length


def rouge_l(answer: str, reference: str) -> float:
    """Return the ROUGE-L (F-measure) of a caption against the nearest line of a reference.

    Words are those of the package ``rouge-score`` without stemming: letters a to z and digits,
    without case. Source: C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries",
    2004.

    >>> rouge_l("a slow piano tune", "Fast drums\\nA slow, sad piano tune")
    0.8888888888888888
    """
    from rapidfuzz.distance import Indel

    given, *captions = [
        re.findall("[a-z0-9]+", text.lower()) for text in (answer, *reference.splitlines())
    ]
    # Without the words that both have in order, all words are inserted or deleted.
    return max(Indel.normalized_similarity(given, words) for words in captions)


def _as_printed(statement: str) -> list[str]:
    return [statement.strip()] if statement.strip() else []


def _read(statement: str) -> list[str]:
    text = statement
    if "-->" in text:
        from pysubs2 import SSAFile
        from pysubs2.exceptions import Pysubs2Error

        with suppress(Pysubs2Error):
            text = "\n".join(event.plaintext for event in SSAFile.from_string(text))
    text = re.sub(r"\[[^\]\n]{0,40}\]|(?m:^\([^()\n]{0,200}\)$)", "", text).strip()
    if remark := re.fullmatch(r"(?s)(?P<words>.*[^.!?)\n])\n\s*\n[^\n]*[.!)]", text):
        text = remark["words"]
    if quoted := _QUOTED.fullmatch(text):
        text = quoted["words"]
    words = _LEAD.sub("", text, count=1).strip('*`"“”„「」> \n')
    return [words] if words else []


def _read_name(statement: str) -> list[str]:
    words = name_words(affirmed(folded(statement)))
    return [" ".join(words)] if 0 < len(words) <= _MOST_OF_NAME else []
