"""How the authors of question sets read a reply: their procedures with all their warts, for
``protocol=paper``.

Each reader takes the reply, the options as shown, and the place of the right one, and returns the
letter of an option. The place counts only where two options read alike. Linear time, for the whole
reply up to `MAX_REPLY` characters.

Sources: github.com/yongyizang/AreYouReallyListening, ``qwen_2_audio.py`` (`last_brackets`);
github.com/mulab-mir/ muchomusic, ``scoring.py`` (`only_letter`); github.com/Sakshi113/MMAU and
github.com/ddlBoJack/MMAR, ``evaluation.py`` (`all_words`); github.com/tomsouri/
MusICA-MetaBench-preprint, ``src/mmmu_eval_utils.py`` (`last_letter`); github.com/OFA-Sys/AIR-Bench,
``score_foundation.py`` (`first_letter`). The authors of SSMR-Bench
publish no reader: `last_box` takes the form that their prompt asks for.
"""

import re
from collections.abc import Sequence
from string import ascii_letters, ascii_uppercase

from music_evals.scorers.readers import Reading

MAX_REPLY = 1_000_000
_FIVE = (
    "ABCDE"  # the letters that RUL-MuChoMusic's authors look for, however many options are shown
)
_LETTERS = f"{ascii_letters}()"
_MARGIN, _FEW_WORDS = ",.!?:;'\n ", 5  # of `last_letter`
_CHOSEN = re.compile(r"(?i)(?:answer is|chose|choose|select|guess is|I guess) ([A-E])\b")


def last_brackets(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    """Read the last ``[[B]]``; else the last "answer is B"; else the first named letter; else the
    first quoted option.

    A letter from A to E without an option is no answer, and no other rule is tried.

    >>> last_brackets("[[A]], no: [[B]]", ["Lute", "Harp"]).answer
    'B'
    >>> last_brackets("(A), I mean [[E]]", ["Lute", "Harp", "Bell", "Drum"]).answer is None
    True
    """
    reply = reply[:MAX_REPLY]
    named = sorted(map("".join, re.findall(rf"[oO]ption ([{_FIVE}])|\(([{_FIVE}])\)", reply)))
    rules = {
        "the last [[…]]": re.findall(rf"\[\[([{_FIVE}])\]\]", reply)[-1:],
        "“answer is …”": _CHOSEN.findall(reply)[-1:],
        "the first letter that is named": named[:1],
    }
    for rule, letters in rules.items():
        if letters:
            letter = letters[0].upper()
            if letter in ascii_uppercase[: len(options)]:
                return Reading("answered", letter, rule)
            return Reading("unreadable", None, rule)
    return _quoted(reply, options)


def only_letter(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    """Read the one capital letter of an option that occurs anywhere, also in a word; else the first
    quoted option.

    >>> only_letter("Because of the banjo", ["Lute", "Harp"]).answer, only_letter("(A) or (B)",
    ...     ["Lute", "Harp"]).answer
    ('B', None)
    """
    reply = reply[:MAX_REPLY].split("The correct answer is:")[-1]
    letters = {*ascii_uppercase[: len(options)]} & {*reply}
    if len(letters) != 1:
        return _quoted(reply, options)
    return Reading("answered", letters.pop(), "the only capital letter")


def all_words(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    """Read the option all of whose words occur, while no other word of another option does; letters
    do not count.

    >>> all_words("a slow waltz", ["Waltz", "Slow march"]).answer, all_words("Waltz!", ["Waltz",
    ...     "Slow march"]).answer
    (None, 'A')
    """
    words = _words(reply[:MAX_REPLY])
    texts = [_words(option) for option in options]
    for place in sorted(range(len(options)), key=lambda place: place != right):
        others = set().union(*(text - texts[place] for text in texts))
        if words and texts[place] <= words and not words & others:
            return Reading(
                "answered", ascii_uppercase[place], "all words of one option and no word of another"
            )
    return _unread(reply)


def last_box(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    r"""Read the letter in the last ``\boxed{}``.

    >>> last_box(r"\boxed{A}, rather \boxed{B}", ["Lute", "Harp"]).answer
    'B'
    """
    found = re.findall(rf"\\boxed\{{\s*([{ascii_uppercase[: len(options)]}])\b", reply[:MAX_REPLY])
    return Reading("answered", found[-1], r"the last \boxed{}") if found else _unread(reply)


def last_letter(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    """Read the letter of an option at the end; else the last ``(B)``; else the last B between
    spaces; else, in a reply of over five words, the last option that is quoted.

    >>> last_letter("Answer: B.", ["Lute", "Harp"]).answer, last_letter("(A) it is", ["Lute",
    ...     "Harp"]).answer
    ('B', 'A')
    """
    reply = reply[:MAX_REPLY]
    letters = ascii_uppercase[: len(options)]
    end = next((char for char in reversed(reply) if char in _LETTERS), " ")
    text = f" {reply.strip(_MARGIN)} "
    named = [end] if end in letters else re.findall(rf"\(([{letters}])\)", text)
    named = named or re.findall(rf"(?= ([{letters}]) )", text)
    if named:
        return Reading("answered", named[-1], "the last letter")
    lowered = text.lower()
    places = [lowered.rfind(option.lower()) for option in options]
    if len(text.split()) > _FEW_WORDS and max(places) >= 0:
        return Reading("answered", letters[places.index(max(places))], "the last quoted option")
    return _unread(reply)


def first_letter(reply: str, options: Sequence[str], right: int = 0) -> Reading:
    """Read a capital letter from A to D at the beginning; else as the last character but one.

    A letter without an option is no answer. The authors leave replies without a letter out of the
    accuracy; here they are wrong.

    >>> first_letter("A. Lute", ["Lute", "Harp"]).answer, first_letter("The answer is B.", ["Lute",
    ...     "Harp"]).answer
    ('A', 'B')
    """
    text = reply[:MAX_REPLY].strip().replace("\n", "")
    found = re.match("[A-D]", text) or re.search(r"[A-D](?=.\Z)", text)
    if found and found[0] in ascii_uppercase[: len(options)]:
        return Reading("answered", found[0], "the letter at the beginning or at the end")
    return _unread(reply)


def _words(text: str) -> set[str]:
    return {*re.findall(r"\b\w+\b", text.lower())}


def _quoted(reply: str, options: Sequence[str]) -> Reading:
    """The first option, in their order, whose text stands in the reply."""
    lowered = reply.lower()
    for letter, option in zip(ascii_uppercase, options, strict=False):
        if option.lower().strip() in lowered:
            return Reading("answered", letter, "the first option that is quoted")
    return _unread(reply)


def _unread(reply: str) -> Reading:
    return Reading("unreadable" if reply.strip() else "empty")


READERS = {
    reader.__name__: reader
    for reader in (last_brackets, only_letter, all_words, last_box, last_letter, first_letter)
}
"""Readers by the name that ``benchmark.toml`` gives as ``official_reading``."""
