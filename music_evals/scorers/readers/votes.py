"""Reading a judge's vote, 1 (the same) or 0, from a reply that may reason first: its last line that has a vote decides."""

import re
import unicodedata
from typing import Final

from music_evals.scorers.readers.cleaning import clean_reply

_MAX: Final = 1_500  # characters of a reply's end that are read
_MARKUP: Final = re.compile(r"\\(?:boxed|text)\s?|\(not [01]\)|[*_`$#{}()\[\]\"']")
_VOTE: Final = re.compile(r"(?<![\w.,/])([01])(?:\.0)?(?: ?/ ?1| out of 1)?(?![\w./]|[,]\d)")
_BOTH: Final = re.compile(r"\b[01] ?(?:or|/|-) ?[01]\b|[01] ?= ?|\b[01]\b.{0,20} otherwise|[01]\W{0,3}\?")
# What reference and student say is no vote.
_QUOTED: Final = re.compile(
    r"(?i)(?:\bboth|\bstudent(?: ?s)?|\bprediction|(?:\bthe |^|[.,;] ?)reference|\bpredicted|\bexpected|\bcorrect answer)"
    r"(?: answer)?(?: (?:is|are|was|say|says|said|give|gives|gave|have|has|had|name|names|mean|means)|(?<=^reference):)?"
    r"(?: (?:measures?|bars?|an?|only|the|number)){0,2} ?\b[01]\b"
)
_DIGIT: Final = r"(?<![A-Za-z0-9.,/=\-])(?P<vote>[01])(?![A-Za-z0-9/=%]| if\b|[.,]\d| ?(?:or|/|out of|point|of the|to) ?\w)"
_LABELLED: Final = re.compile(
    r"(?i)(?:\b(?:score|verdict|vote|mark|note|grade|answer|judge?ment|decision|result|rating|output|final|correct|wrong"
    r"|points?|same|equivalent|i(?: ?d| would)? (?:give|say|choose|go with|assign|rate)|gets|deserves|so|also"
    r"|therefore|thus|hence|it(?: i| )?s)\b|评分|得分|分数|打分|答案|判定|结果|输出)"
    rf"[^\w\n]{{0,6}}(?:(?:is|was|be|should|为|是|therefore|i give|it|as|this)\b[^\w\n]{{0,4}}){{0,3}}(?:an? )?{_DIGIT}"
)
_BEGINNING: Final = re.compile(
    rf"{_DIGIT}(?=\s*(?:[.:;,–-]|correct|incorrect|right|wrong|same|not the same|because|since|$))"
)
_END: Final = re.compile(rf"(?:^|[.!?:;,→]\s){_DIGIT}\W*$")
_IN_WORDS: Final = re.compile(
    r"(?i)(?:(?:final )?(?:verdict|judge?ment|decision|answer|result|判定|结果)(?: is)?\W{0,3})?"
    r"(?:the (?:student\W?s )?answer is )?(?:(?P<right>correct|right|same|the same|yes|true|正确|一致)"
    r"|incorrect|wrong|not (?:the same|correct)|different|no|false|错误|不正确|不一致)(?=\W*$|[.,:;–-])"
)


def read_vote(reply: str) -> int | None:
    """Read 1 or 0; None where the reply gives neither, or both.

    Example:
        >>> read_vote("Another octave, so it is not the same.\\n**0**"), read_vote("0 or 1"), read_vote("Score: 1")
        (0, None, 1)
    """
    text = unicodedata.normalize("NFKC", clean_reply(reply)[-_MAX:])[-2 * _MAX :]
    text = _VOTE.sub(r"\1", _MARKUP.sub(" ", text))
    lines = [_QUOTED.sub(" ", line.strip()) for line in text.splitlines() if line.strip()]
    lines.reverse()
    for line in lines:
        if _BOTH.search(line):
            return None
        if match := _vote(line):
            return int(match["vote"])
    words = [match for line in lines[:1] + lines[-1:] if (match := _IN_WORDS.match(line))]
    return int(words[0]["right"] is not None) if words else None


def _vote(line: str) -> re.Match[str] | None:
    """The last vote behind a label, else the vote that opens or ends a line."""
    labelled = [*_LABELLED.finditer(line)]
    if labelled:
        return labelled[-1]
    return _BEGINNING.match(line) or _END.search(line)
