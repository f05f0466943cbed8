"""Finding the final answer in what a model wrote.

The answer is the last *valid* "Final Answer" line, whatever its case, emphasis and punctuation. A reply that consists
of nothing but an option counts as well, as does a line that is word for word an option's sentence: two of the tasks
ask for just that. Long lines are looked at only at their beginning, so that the time taken is linear in the length of
the output, whatever it holds.

Source: arXiv 2510.22455, section 2.3.
"""

import re
from collections.abc import Iterator, Sequence

MAX_LINE = 400
"""Characters of a line that are looked at: an answer stands at the beginning of its line."""

_DECORATION = re.compile(r"\\boxed|\\text|[*_`#>\"'“”$(){}\[\]]")
_PREFIX = re.compile(r"\s*final\s+answer(?:\s+is)?\s*[:=：–-]?", re.IGNORECASE)
_LETTER_ALONE = re.compile(r"\s*([A-Z])\s*(?:[.:,;=–—-].*)?$", re.IGNORECASE)
_LETTER_AND_TEXT = re.compile(r"\s*([A-Z])\s+(.*)$", re.IGNORECASE)


def choice_letter(text: str, options: Sequence[str]) -> str | None:
    """Find the letter of the option (A, B, C … in their order) that a reply ends on; None where there is none.

    Example:
        >>> choice_letter("The third is minor.\\n**Final Answer: B. Minor**", ["Major", "Minor"])
        'B'
    """
    for answer in _final_answers(text):
        if letter := _letter(answer, options):
            return letter
    whole = text.strip()
    if len(whole) > MAX_LINE or "\n" in whole:
        return None
    whole = _DECORATION.sub(" ", whole)
    letter = _letter(whole, options)
    if letter is None or _words(whole)[1:] not in ([], _words(options[ord(letter) - ord("A")])):
        return None
    return letter


def choice_sentence(text: str, options: Sequence[str]) -> str | None:
    """Find the sentence among the options that a reply ends on; None where there is none.

    The sentences are told apart by their first word (Yes, No), which will do for a whole sentence.

    Example:
        >>> both = ["Yes, these are the same melody.", "No, these are not the same melody."]
        >>> choice_sentence("Final answer: no, these are not the same melody", both)
        'No, these are not the same melody.'
    """
    sentences = {tuple(_words(option)): option for option in options}
    known = sentences | {words[:1]: option for words, option in sentences.items()}
    for answer in _final_answers(text):
        if option := known.get(tuple(_words(answer))):
            return option
    for line in reversed(text.splitlines()):
        if option := sentences.get(tuple(_words(line[:MAX_LINE]))):
            return option
    whole = text.strip()
    return known.get(tuple(_words(whole))) if len(whole) <= MAX_LINE else None


def _final_answers(text: str) -> Iterator[str]:
    """What follows "Final Answer" on its line, or on the next where the line ends there; the last one first."""
    below = ""
    for line in reversed(text.splitlines()):
        clean = _DECORATION.sub(" ", line[:MAX_LINE])
        if match := _PREFIX.match(clean):
            answer = clean[match.end() :]
            yield answer if answer.strip() else below
        if clean.strip():
            below = clean


def _letter(answer: str, options: Sequence[str]) -> str | None:
    alone, with_text = _LETTER_ALONE.match(answer), _LETTER_AND_TEXT.match(answer)
    match = alone or with_text
    if match is None:
        return None
    letter = match[1].upper()
    index = ord(letter) - ord("A")
    if index >= len(options):
        return None
    # "A" may be an article: without punctuation after it, it counts only before its own option's text.
    if alone is None and with_text is not None:
        option = _words(options[index])
        if _words(with_text[2])[: len(option)] != option:
            return None
    return letter


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.casefold())
