"""Reading which option a reply chooses, in English, Chinese or any language that shares their labels.

An answer stands, in this order:

1. after a label, in the form that was asked for or another: ``Final Answer: B``, ``[[答案：C]]``, ``【答案】C``, ``故选 C``,
   ``the answer is (C)``, ``\\boxed{C}``, ``{"answer": "B"}``, ``Option C is correct``; on the label's line, or on the next
   one where the line ends there;
2. in the last line;
3. at the beginning of the first line, set off from what follows: ``C. …``, ``C、…``, ``**B**``;
4. in a line that is an option's text and nothing else.

Of several labelled answers the last one that can be read counts. An answer is a letter, a letter with its option's
text, or the text alone; of options that are sentences their first word will do where that tells them apart (Yes, No). A
letter counts only where no word, pitch or key continues it: not in "B小调", "C#", "A minor scale", "A good question". A
letter beside the text of another option, and "A or B", are several answers; a list of all options is none.

Source: arXiv 2510.22455, section 2.3 (form of the answer); arXiv 2406.15885, section 4.1 (``[[答案：C]]``); the reading is
this project's.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Final

from music_evals.scorers.readers import Reading, without_thinking
from music_evals.scorers.readers.refusals import is_refusal

MAX_REPLY: Final = 20_000
"""Characters of a reply's end that are looked at; of its beginning a tenth."""
MAX_LINE: Final = 400
"""Characters of a line that are looked at: an answer stands at the beginning of its line."""

_OPENERS: Final = re.compile(r"\\(?:boxed|text(?:bf|rm)?|mathrm|[()\[\]])|[*_`#>\"“”$(\[{（【「『〔]|^\s*[-•]\s")
_CLOSERS: Final = re.compile(r"[)\]}）】」』〕]")
_WIDE: Final = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in "ＡＢＣＤＥＦＧＨ"}

_GLUE: Final = r"[*_\"”'」】\]）)]{0,4}\s{0,2}"
_LABEL: Final = re.compile(
    r"(?<![不没别非误无])(?<!\bnot )(?<!\bno )(?<!\bnot the )(?:"
    r"(?P<strong>\bfinal answer|\\boxed|(?:最终|正确)?答案|正确(?:的)?选项)"
    r"|\b(?:(?:correct|right|best) )?(?:answer|choice|option)(?= ?(?:is|would be|should be|must be|[:：=–—-]|[*_\"”'\])]{1,4} ?[:：]))"
    r"|(?<=[故应该我可能就项即])选择?|^\s*选择?|(?<=[，。；,;]) ?选择?|选项(?=[:：为是])|正确的(?=是)"
    r"|\bi (?:would |will |'d )?(?:choose|pick|select|go with|chose)\b"
    rf"){_GLUE}(?:应该是|应当是|应为|就是|是|为|选|is|would be|should be|must be)?{_GLUE}(?P<colon>[:：=–—-])?{_GLUE}",
    re.IGNORECASE | re.MULTILINE,
)
_CALLED_RIGHT: Final = re.compile(
    r"(?<![A-Za-z0-9#♯♭])(?P<letter>[A-H])[*_)）.]{0,3} ?(?:选项|项)? ?(?:is|是|为)? ?(?:the )?"
    r"(?:正确|对的|correct|right)(?! ?[吗?？])"
)
# What may not follow a letter that stands as an answer: what makes it a word, a pitch or a key.
_ENDS: Final = (
    r"(?![A-Za-z0-9#♯♭'’＇])"
    r"(?!\s{0,2}(?:大调|小调|调|音|弦|和弦|大七|小七|大三|小三|增三|减三|宫|商|角|徵|羽|自然|和声|旋律|升|降|段|部))"
    r"(?![ \t-]{1,2}(?:sharp|flat|natural|major|minor|maj|min|dur|moll|string|clef|chord)\b)"
)
_LEAD: Final = re.compile(
    r"\s*(?:(?:so|thus|therefore|hence)\b,?\s)?(?:(?:it is|it's|this is|is|的?是|为|选择?)\s?)?(?:the |an? (?=\w{3}))?"
    r"(?:(?:选项|options?|choice|letter)\s{0,2}[:：]?\s{0,2})?",
    re.IGNORECASE,
)
_LETTER: Final = re.compile(rf"(?P<letter>[A-Ha-h]){_ENDS}")
_SET_OFF: Final = re.compile(
    r"\s*(?:$|[.．。:：,，、;；=!！–—-]|选项|项|因为?|because\b|since\b|as\b|is (?:the )?(?:correct|right))",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"[.\s]*(?:或者?|和|与|及|、|,|，|/|&|;|\||or\b|and\b|nor\b)\s*(?:或者?|or\b|and\b)?\s*(?:option )?(?P<letter>[A-H])"
    rf"{_ENDS}"
)
_WRONG: Final = re.compile(
    r"\b(?:wrong|incorrect|false|not|isn't|aren't|neither|never|cannot|can't)\b|不|没|非|错", re.IGNORECASE
)
_NOUN: Final = re.compile(r"(?:\s(?:chord|triad|quality|option|key|excerpt)s?)?[\s.!。]*$", re.IGNORECASE)


def read_choice(reply: str, options: Sequence[str]) -> Reading:
    """Read which option, as the letter A, B, C … in their order, a reply chooses.

    Example:
        >>> read_choice("The third is minor.\\n**Final Answer: B. Minor**", ["Major", "Minor"])
        Reading(status='answered', answer='B')
        >>> read_choice("A or B", ["Major", "Minor"]).status, read_choice("No sound was given", ["Major"]).status
        ('several', 'refused')
    """
    whole = without_thinking(reply)
    text = whole if len(whole) <= MAX_REPLY else f"{whole[: MAX_REPLY // 10]}\n{whole[-MAX_REPLY:]}"
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return Reading("unreadable" if whole.strip() else "empty")
    known = _Options(options)
    if letter := known.exact(text):
        return Reading("answered", letter)
    several = False
    for stated, is_sure in _stated(text):
        found = known.chosen(stated) or known.named(stated)
        if len(found) == 1:
            return Reading("answered", found.pop())
        if is_sure and is_refusal(stated[:MAX_LINE]):
            return Reading("refused")
        several = several or 1 < len(found) < max(3, len(options))
    if several:
        return Reading("several")
    listed = [known.exact(line) if len(line) <= MAX_LINE else None for line in lines]
    ending = listed[-len(options) :]
    if len(options) > 1 and None not in ending and len(set(ending)) == len(options):
        return Reading("unreadable")
    last, first = lines[-1], lines[0]
    found = known.chosen(last) or known.named(last)
    if not found and not is_refusal(last) and len(set(filter(None, listed))) < 2:
        found = known.chosen(first, set_off=len(lines) > 1)
    if not found and not is_refusal(last):
        found = {letter for letter in listed if letter}
    if len(found) == 1:
        return Reading("answered", found.pop())
    if 1 < len(found) < max(3, len(options)):
        return Reading("several")
    return Reading("refused" if not found and (is_refusal(last) or is_refusal(first)) else "unreadable")


class _Options:
    def __init__(self, options: Sequence[str]) -> None:
        self.texts = dict(zip(ascii_uppercase, map(_plain, options), strict=False))
        firsts = [text.split(" ")[0] for text in self.texts.values()]
        # Sentences are told apart by their first words, where these differ.
        is_sentence = len(set(firsts)) == len(firsts) and all(" " in text for text in self.texts.values())
        self.firsts = dict(zip(self.texts, firsts, strict=True)) if is_sentence else {}

    def exact(self, text: str) -> str | None:
        """The option whose text this is, with its letter ahead or without."""
        if len(text) > 10 * MAX_LINE:
            return None
        plain = _plain(text)
        found = [
            letter
            for letter, option in self.texts.items()
            if option and plain in (option, f"{letter} {option}".lower())
        ]
        return found[0] if len(found) == 1 else None

    def chosen(self, statement: str, *, set_off: bool = False) -> set[str]:
        """The options that a statement names at its beginning."""
        if letter := self.exact(statement):
            return {letter}
        clean = _CLOSERS.sub(".", _OPENERS.sub(" ", statement[:MAX_LINE].translate(_WIDE)))
        clean = clean[match.end() :] if (match := _LEAD.match(clean)) else clean
        own = re.match(r"\s*([A-H])[\s.:：、,，-]+(.*)", clean, re.IGNORECASE | re.DOTALL)
        if own and (option := self.texts.get(own[1].upper())) and _begins(_plain(own[2]), option):
            return {own[1].upper()}
        match = _LETTER.match(clean.lstrip())
        if not match or match["letter"].upper() not in self.texts:
            return set() if set_off else self._by_text(clean)
        letters, rest = {match["letter"].upper()}, clean.lstrip()[match.end() :]
        while another := _ANOTHER.match(rest):
            letters.add(another["letter"])
            rest = rest[another.end() :]
        if _WRONG.match(rest.lstrip(" .")) or not (_SET_OFF.match(rest) or len(letters) > 1):
            return set()
        return letters | self._by_text(rest.lstrip(" .:：,，、=–—-\n")) if len(letters) == 1 else letters

    def named(self, line: str) -> set[str]:
        """The option that a sentence ends on; nothing where it denies it, or names another one besides."""
        if _WRONG.search(line) or len(line) > MAX_LINE:
            return set()
        plain = _plain(_NOUN.sub("", line))
        ends = {letter for letter, text in self.texts.items() if text and f" {plain}".endswith(f" {text}")}
        named = {letter for letter, text in self.texts.items() if text and f" {text} " in f" {plain} "}
        return ends if named == ends and len(ends) == 1 else set()

    def _by_text(self, text: str) -> set[str]:
        plain = _plain(text)
        fitting = {letter: option for letter, option in self.texts.items() if option and _begins(plain, option)}
        longest = max(map(len, fitting.values()), default=0)
        found = {letter for letter, option in fitting.items() if len(option) == longest}
        for letter, first in self.firsts.items():
            if re.match(rf"\s*{re.escape(first)}\s*(?:$|[.,;:!–—\n-])", text, re.IGNORECASE) and not is_refusal(text):
                found.add(letter)
        if len(found) == 1:
            # "Major or minor" is two answers.
            rest = re.split(r"[.。;；\n]", text)[0]
            if re.search(r"\b(?:or|and|nor)\b|或|和", rest) or "/" in rest:
                words = f" {_plain(rest)} "
                found |= {letter for letter, option in self.texts.items() if option and f" {option} " in words}
        return found


def _begins(plain: str, option: str) -> bool:
    return plain == option or plain.startswith(option + " ") or (plain.startswith(option) and not option[-1:].isascii())


def _plain(text: str) -> str:
    """Words and signs without punctuation around them."""
    return " ".join(re.findall(r"\w+(?:[#♯♭+°/.-]+(?=\w))?[#♯♭+°]?|[#♯♭+°/]+", text.casefold().replace("_", " ")))


def _stated(text: str) -> Iterator[tuple[str, bool]]:
    """What follows each label on its line, or on the next where the line ends there, and whether the label is sure."""
    found = [(match.start("letter"), match["letter"], True) for match in _CALLED_RIGHT.finditer(text)]
    for match in _LABEL.finditer(text):
        after = text[match.end() : match.end() + MAX_LINE].lstrip(' \t*_:：#`"”')
        first, _, below = after.lstrip("\n").partition("\n")
        stated = first if first.strip(" \t*_:：#`.]】") else below.lstrip().partition("\n")[0]
        found.append((match.start(), stated, bool(match["strong"] or match["colon"])))
    for _, stated, is_sure in sorted(found, reverse=True):
        yield stated, is_sure
