"""Reading a judge's vote, 1 (the same) or 0, from a reply that may reason first."""

import re
import unicodedata
from typing import Final

from music_evals.scorers.readers.cleaning import clean_reply

_MAX: Final = 20_000
_DIGIT: Final = r"(?<![\w.,/=\-])(?P<vote>[01])(?![A-Za-z0-9/=%]| if\b|[.,]\d| ?(?:or|/|out of|point|of the|to) ?\w)"
_STATED: Final = re.compile(
    r"(?i)(?:score|verdict|vote|mark|note|grade|answer|judge?ment|decision|result|rating|output|final|correct"
    r"|评分|得分|分数|答案|判定|结果)"
    rf"[^\w\n]{{0,6}}(?:(?:is|was|=|为|是|therefore|i give)[^\w\n]{{0,4}})?(?:a )?{_DIGIT}"
)
_GIVEN: Final = re.compile(
    r"(?i)\b(?:i(?:'d| d| would)? (?:give|say|vote|choose|go with|assign)|so|therefore|thus|hence"
    rf"|it is|it's|is|give|assign|means)(?: it)?(?: a)?[:,]? ?{_DIGIT}"
)
_BEGINNING: Final = re.compile(
    rf"{_DIGIT}(?=\s*(?:[.:;,–-]|correct|incorrect|right|wrong|same|not the same|because|since|$|\())"
)
_IN_WORDS: Final = re.compile(
    r"(?i)(?:(?:final )?(?:verdict|judge?ment|decision|answer|result|判定|结果)(?: is)?\W{0,3})?"
    r"(?:the (?:student\W?s )?answer is )?(?:(?P<right>correct|right|same|the same|yes|true|正确|一致)"
    r"|incorrect|wrong|not (?:the same|correct)|different|no|false|错误|不正确|不一致)(?=\W*$|[.,:;–-])"
)
_END: Final = re.compile(rf"(?:^|[.!?:;,→]\s){_DIGIT}\W*$")


def read_vote(reply: str) -> int | None:
    """Read 1 or 0; None where the reply gives neither, or both.

    Example:
        >>> read_vote("Another octave, so it is not the same.\\n**0**"), read_vote("0 or 1"), read_vote("Score: 1")
        (0, None, 1)
    """
    text = unicodedata.normalize("NFKC", clean_reply(reply)[-_MAX:])[-2 * _MAX :]
    text = re.sub(r"\\(?:boxed|text)\s?|\(not [01]\)|[*_`$#{}()\[\]\"']", " ", text).strip()
    text = re.sub(r"(?<![\w.,/])([01])(?:\.0)?(?: ?/ ?1| out of 1)?(?![\w./]|[,]\d)", r"\1", text)
    if text.strip(" .") in ("0", "1"):
        return int(text.strip(" ."))
    if not text or re.search(r"\b[01] ?(?:or|/|-) ?[01]\b|1 ?= ?|0 ?= ?", text):
        return None
    if matches := [match for pattern in (_STATED, _GIVEN) for match in pattern.finditer(text)]:
        return int(max(matches, key=lambda match: match.start("vote"))["vote"])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in (lines[-1], lines[0]):
        if match := _BEGINNING.match(line) or _END.search(line):
            return int(match["vote"])
    for line in (lines[-1], lines[0]):
        if match := _IN_WORDS.match(line):
            return int(match["right"] is not None)
    return None
