"""Reading the letter of the chosen option from a reply to a four-option question, in Chinese or English.

Two readings, by protocol:

- `first_letter` (paper): the first capital A, B, C or D anywhere in the reply, as the paper's regular expression
  ``[ABCD]`` finds it. It reads "B" from "B小调" and "A" from "According to".
- `standing_letter` (strict): a letter that stands as an answer. In this order, it accepts

  1. the form that is asked for, double brackets: ``[[答案：C]]``, ``[[C]]``, ``[[answer: C]]``, ``[[答案：]] C``; the
     first one counts;
  2. a statement of the answer: ``答案：C``, ``答案是 C``, ``正确选项为C``, ``故选 C``, ``C选项正确``, ``Answer: C``,
     ``the answer is (C)``, ``Option C is correct``, ``\\boxed{C}``; the last one counts, for a reply that reasons
     first states its answer at the end;
  3. a letter at the beginning of the reply, on its own, in brackets or set off: ``C``, ``(C)``, ``C. …``, ``C、…``;
  4. a reply that is one option's text and nothing else.

  A letter counts only where no word, pitch or key continues it: not in "B小调", "D大调", "C#", "Db", "A4", "A major",
  "Bach", nor the article of "A good question"; and only where it is one letter, not "A或C" or "A, B and D".

Both look at the first `MAX_REPLY` characters only, with patterns that take linear time.

Source: arXiv 2406.15885, section 4.1 (Metrics); the strict reading is this project's.
"""

import re
from collections.abc import Sequence
from typing import Final

MAX_REPLY: Final = 20_000
"""Characters of a reply that are looked at."""

LETTERS: Final = "ABCD"

_FIRST: Final = re.compile(r"[ABCD]")

# What may not follow a letter that stands as an answer: what makes it a word, a pitch or a key.
_ENDS: Final = (
    r"(?![A-Za-z0-9#♯♭'’＇])"
    r"(?!\s{0,2}(?:大调|小调|调|音|弦|和弦|大七|小七|大三|小三|增三|减三|宫|商|角|徵|羽|自然|和声|旋律|升|降|段|部))"
    r"(?![ \t]?(?:或者?|和|与|及|、|,|，|/|&|or|and)[ \t]?[ABCD](?![A-Za-z0-9]))"
    r"(?![ \t-]{1,2}(?:sharp|flat|natural|major|minor|maj|min|dur|moll|string|clef|chord)\b)"
)
_GAP: Final = r"[ \t]{0,3}"
_OPEN: Final = rf"{_GAP}[*_`\"“'‘]{{0,3}}[(（\[【{{]{{0,2}}[*_]{{0,2}}{_GAP}"
_LETTER: Final = rf"(?:选项|option )?{_GAP}(?P<letter>[ABCDＡＢＣＤ]){_ENDS}"
_IS: Final = r"(?:应该是|应当是|应为|就是|是|为|选|is|would be|should be)?"

_BRACKETED: Final = re.compile(
    rf"[\[【]{{2}}{_GAP}(?:(?:正确)?答案|(?:the )?answer)?{_GAP}{_IS}[：:]?(?:[\]】]{{2}}[：:]?)?{_OPEN}{_LETTER}",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    r"(?<![不没别])(?:答案|正确选项|正确的选项|正确的|选择|选"
    r"|(?:correct|right|final|best) (?:answer|option|choice)|answer|\\boxed)"
    rf"[*_`\"”]{{0,3}}{_GAP}{_IS}[*_]{{0,2}}{_GAP}[：:=]?[*_]{{0,2}}\n?{_OPEN}{_LETTER}",
    re.IGNORECASE,
)
_CALLED_RIGHT: Final = re.compile(
    r"(?<![A-Za-z0-9#♯♭])(?P<letter>[ABCD]) ?(?:选项|项)? ?(?:is|是|为)? ?(?:the )?"
    r"(?:正确|对的|correct|right)(?! ?[吗?？])"
)
_BEGINNING: Final = re.compile(
    rf"\s{{0,20}}(?:[#>*_`-]{{1,4}}{_GAP})?{_OPEN}{_LETTER}{_GAP}[*_`\"”'’]{{0,3}}{_GAP}"
    r"(?:[.．。:：,，、;；)）\]】}=-]|\n|\r|$)",
    re.IGNORECASE,
)
_WIDE: Final = str.maketrans("ＡＢＣＤ", LETTERS)
_SPACE: Final = re.compile(r"\s+")


def first_letter(reply: str) -> str | None:
    """Find the first capital A, B, C or D, if any: the paper's reading."""
    match = _FIRST.search(reply, 0, MAX_REPLY)
    return match[0] if match else None


def standing_letter(reply: str, options: Sequence[str]) -> str | None:
    """Find the letter that stands as the reply's answer to the options A to D, if any: the strict reading.

    Example:
        >>> standing_letter("这是B小调，所以答案是C", ["A大调", "B大调", "B小调", "D大调"])
        'C'
        >>> standing_letter("B小调", ["A大调", "B大调", "B小调", "D大调"])
        'C'
    """
    text = reply[:MAX_REPLY]
    if match := _BRACKETED.search(text) or _last_statement(text) or _BEGINNING.match(text):
        return match["letter"].upper().translate(_WIDE)
    if len(reply) > MAX_REPLY:
        return None
    whole = _plain(reply)
    fitting = [letter for letter, option in zip(LETTERS, options, strict=False) if _plain(option) == whole]
    return fitting[0] if len(fitting) == 1 and whole else None


def _last_statement(text: str) -> re.Match[str] | None:
    statements = [match for pattern in (_STATED, _CALLED_RIGHT) for match in pattern.finditer(text)]
    # A small letter is an article ("the answer is a scale"), not an option.
    capital = [match for match in statements if match["letter"].isupper()]
    return max(capital, key=lambda match: match.start("letter"), default=None)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip(" .。").casefold()
