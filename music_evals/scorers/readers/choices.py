"""Reading which option a reply chooses, in English, Chinese or any language that shares their labels.

An answer is looked for in this order:

1. after a label, in the form that was asked for or another: ``Final Answer: B``, ``[[答案：C]]``, ``【答案】C``,
   ``故选 C``, ``the answer is (C)``, ``\\boxed{C}``, ``{"answer": "B"}``, ``Option C is correct``; on the label's line,
   or on the next line if the label ends its line. The last labelled answer that can be read counts;
2. in the last line;
3. at the beginning of the first line, with a mark behind it: ``C. …``, ``C、…``, ``**B**``;
4. in a line that is an option's text and nothing else.

An answer is a letter, a letter with its option's text, or the text alone. If the first words of options that are
sentences differ, the first word is enough (Yes, No). A letter does not count if a word, pitch or key continues it:
"B小调", "C#", "A minor scale", "A good question". A letter beside the text of another option, and "A or B", are several
answers; a list of all options is none.

Source: arXiv 2510.22455, section 2.3 (form of the answer); arXiv 2406.15885, section 4.1 (``[[答案：C]]``); the reading
is this project's.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Final

from music_evals.scorers.readers import Reading, without_thinking
from music_evals.scorers.readers.refusals import is_refusal

MAX_REPLY: Final = 20_000  # characters of a reply's end that are read, and a tenth as many of its beginning
MAX_LINE: Final = 400  # characters of a line that are read
MAX_STATEMENTS: Final = 40  # how many labelled answers are read, the last ones
LABELLED: Final = "what follows the last label, such as “Final Answer:”"  # a rule

_MARKUP: Final = re.compile(
    r"\\(?:boxed|text(?:bf|rm)?|mathrm|[()\[\]])|</?(?:final_)?(?:answer|option|choice|b|strong|em|p|code)>"
    r"|[*_`#>\"“”$✅✔️]|^\s*[-•]\s"
)
_OPENERS: Final = re.compile(r"[(\[{（【「『〔]")
_CLOSERS: Final = re.compile(r"[)\]}）】」』〕]")
_GLUE: Final = r"[*_\"”'」】\]）)]{0,4}\s{0,2}"
_LABEL: Final = re.compile(
    r"(?im)(?<![不没别非误无])(?<!\bnot )(?<!\bno )(?<!\bnot the )(?:"
    r"(?P<strong>\bfinal answer|\\boxed|(?:最终|正确)?答案|正确(?:的)?选项)"
    r"|\b(?:(?:correct|right|best) )?(?:answer|choice|option)"
    r"(?= ?(?:is|would be|should be|must be|[:：=–—-]|[*_\"”'\])]{1,4} ?[:：]))"
    r"|(?<=[故应该我可能就项即])选择?|^[^\S\n]*选择?|(?<=[，。；,;]) ?选择?|选项(?=[:：为是])|正确的(?=是)"
    r"|\bi (?:would |will |'d )?(?:choose|pick|select|go with|chose)\b"
    rf"){_GLUE}(?:应该是|应当是|应为|就是|是|为|选|is|would be|should be|must be)?{_GLUE}(?P<colon>[:：=–—-])?{_GLUE}"
)
_CALLED_RIGHT: Final = re.compile(
    r"(?<![A-Za-z0-9#♯♭])(?P<letter>[A-H])[*_)）.:：]{0,3} ?(?:选项|项)? ?(?:is|是|为)? ?(?:the )?"
    r"(?:正确|对的|correct|right)(?! ?[吗?？])"
)
# A letter that is an answer, not the beginning of a word, a pitch or a key.
_ENDS: Final = (
    r"(?![A-Za-z0-9#♯♭'’＇])"
    r"(?!\s{0,2}(?:大调|小调|调|音|弦|和弦|大七|小七|大三|小三|增三|减三|宫|商|角|徵|羽|自然|和声|旋律|升|降|段|部))"
    r"(?![ \t-]{1,2}(?:sharp|flat|natural|major|minor|maj|min|dur|moll|string|clef|chord)\b)"
)
_LEAD: Final = re.compile(
    r"(?i)\s*(?:(?:so|thus|therefore|hence)\b,?\s)?(?:i(?:'m| am) (?:not )?(?:sure|certain|quite sure),? (?:but )?)?"
    r"(?:i(?: would|'d)? (?:think|believe|guess|say|go with|choose|pick)(?: that)?:?\s|probably |most likely |my"
    r" (?:guess|answer)(?: is)?:? )?"
    r"(?:我(?:认为|觉得|选)|应该|其实)?(?:(?:it is|it's|this is|is|that is)\s|的?是|为|选择?)?"
    r"(?:not (?:option )?\w+,? but (?:rather )?)?"
    r"(?:(?:either|both|between|the|answer|choice|letter|options?)\s|选项|(?-i:an?) (?=\w{3}))*[:：]?\s{0,3}"
)
_CORRECTED: Final = re.compile(
    r"(?i)\b(?:wait|correction|actually|or rather|scratch that|i mean|no:)\b[,:]?(?: no[:,])?|不对|更正|而是|其实是"
)
_CLAUSE: Final = re.compile(
    r"(?i)[.;:。；：]\s+|(?:[,，]\s*)?\b(?:so|therefore|thus|hence|but)\b[,:]?\s+|，?(?:所以|因此)|，(?=其实|应该)"
)
_OPENING: Final = re.compile(r"\W*(?:选|option )?[A-H](?![A-Za-z0-9])|\W*(?:yes|no)\b", re.IGNORECASE)
_IS: Final = re.compile(
    r"^(?:an?|the)?(?: ?[a-g][b#]?)?$|(?:\b(?:is|are|was|be|has|as|not \w+ but|therefore|thus|so|hence|answer)\b|=|:"
    r"|是|为|選|选)"
    r"(?: clearly| most likely| probably| of)?(?: an?| the)?(?: [a-g][b#]?)?$"
)
_LETTER: Final = re.compile(rf"(?P<letter>[A-Ha-h]){_ENDS}")
_MARK: Final = re.compile(
    r"(?i)\s*(?:$|[.．。:：,，、;；=!！–—-]|选项|项|因为?|because\b|since\b|as\b|is (?:the )?(?:correct|right))"
)
_ANOTHER: Final = re.compile(
    r"[.\s]*(?:或者?|和|与|及|、|,|，|/|&|;|\||or\b|and\b|nor\b)\s*(?:或者?|or\b|and\b)?\s*"
    r"(?:option )?(?P<letter>[A-H])"
    rf"{_ENDS}"
)
_WRONG: Final = re.compile(
    r"\b(?:wrong|incorrect|false|not|isn't|aren't|neither|never|cannot|can't)\b|不|没|非|错", re.IGNORECASE
)
_NOUN: Final = re.compile(r"(?:\s(?:chord|triad|quality|option|key|excerpt)s?)?[\s.!。]*$", re.IGNORECASE)


def first_letter(reply: str) -> Reading:
    """Read the first capital A, B, C or D anywhere, as the regular expression of ZIQI-Eval's paper does.

    Example:
        >>> first_letter("B小调").answer, first_letter("According to the score")
        ('B', Reading(status='answered', answer='A', rule='the first capital A to D'))
    """
    if match := re.search("[ABCD]", reply[:MAX_REPLY]):
        return Reading("answered", match[0], "the first capital A to D")
    return Reading("empty" if not reply.strip() else "refused" if is_refusal(reply) else "unreadable")


def read_choice(reply: str, options: Sequence[str]) -> Reading:
    """Read which option, as the letter A, B, C … in their order, a reply chooses.

    Example:
        >>> read_choice("The third is minor.\\n**Final Answer: B. Minor**", ["Major", "Minor"])
        Reading(status='answered', answer='B', rule='what follows the last label, such as “Final Answer:”')
        >>> read_choice("A or B", ["Major", "Minor"]).status, read_choice("No sound was given", ["Major"]).status
        ('several', 'refused')
    """
    reply = without_thinking(reply)
    text = unicodedata.normalize("NFKC", _both_ends(reply, MAX_REPLY))
    text = _both_ends(text, 2 * MAX_REPLY)  # one character may have become eighteen
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return Reading("unreadable" if reply.strip() else "empty")
    choices = _options(tuple(options))
    if letter := choices.exact(text):
        return Reading("answered", letter, "the whole reply")
    lists_all = False
    for statement, is_sure, is_joined in _statements(text):
        letters = choices.opening(statement) or choices.ending(statement)
        if reading := _reading(letters, LABELLED, len(options)):
            return Reading("several", rule=LABELLED) if is_joined else reading
        lists_all = lists_all or len(letters) > 1
        if is_sure and is_refusal(statement[:MAX_LINE]):
            return Reading("refused", rule=LABELLED)
    exact = [choices.exact(line) if len(line) <= MAX_LINE else None for line in lines]
    ending = exact[-len(options) :]
    if len(options) > 1 and None not in ending and len(set(ending)) == len(options):
        return Reading("unreadable")
    last, first = lines[-1], lines[0]
    rule = "the last line"
    letters = set() if lists_all else choices.opening(last) or choices.ending(last)
    if not letters and not is_refusal(last):
        listed = {letter for letter in exact if letter}
        if len(listed) < 2 and (len(lines) == 1 or _OPENING.match(first)):
            letters, rule = choices.opening(first, marked=len(lines) > 1), "the beginning of the first line"
        if not letters:
            letters, rule = listed, "lines that are an option's text"
    if reading := _reading(letters, rule, len(options)):
        return reading
    return Reading("refused" if not letters and (is_refusal(last) or is_refusal(first)) else "unreadable")


def _reading(letters: set[str], rule: str, options: int) -> Reading | None:
    if len(letters) == 1:
        return Reading("answered", min(letters), rule)
    return Reading("several", rule=rule) if 1 < len(letters) < max(3, options) else None


def _both_ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: MAX_REPLY // 10]}\n{text[-MAX_REPLY:]}"


class _Options:
    """The options with their letters, and the texts by which each may be called."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self.letters = ascii_uppercase[: len(options)]
        letters_by_text: dict[str, set[str]] = {}
        for letter, option in zip(self.letters, options, strict=True):
            bracketed = re.fullmatch(r"(.+?)\s*[({（](.+)[)}）]", option)
            without_first = re.match(r"(?:yes|no|是|否|不是)[,，]\s*(.+)", option, re.IGNORECASE)
            for text in (option, *(bracketed.groups() if bracketed else ()), without_first[1] if without_first else ""):
                if plain := _plain(text):
                    letters_by_text.setdefault(plain, set()).add(letter)
        self.by_text = {text: min(letters) for text, letters in letters_by_text.items() if len(letters) == 1}
        plain_options = [_plain(option) for option in options]
        firsts = [plain.split(" ")[0] for plain in plain_options]
        # The first words of sentences stand for them if they differ.
        are_sentences = len(set(firsts)) == len(firsts) and all(" " in plain for plain in plain_options)
        self.by_first_word = dict(zip(firsts, self.letters, strict=True)) if are_sentences else {}

    def exact(self, text: str) -> str | None:
        """The option whose text this is, with its letter ahead or without."""
        if len(text) > 10 * MAX_LINE:
            return None
        plain = _plain(text)
        # Options may be letters themselves: names of notes.
        if len(plain) == 1 and plain.upper() in self.letters:
            return plain.upper()
        if letter := self.by_text.get(plain):
            return letter
        first, _, rest = plain.partition(" ")
        return self.by_text.get(rest) if self.by_text.get(rest) == first.upper() else None

    def opening(self, statement: str, *, marked: bool = False) -> set[str]:
        """The options that a statement names at its beginning, or behind its last correction.

        If `marked`, a letter needs a mark behind it.
        """
        for clause in reversed(_CORRECTED.split(statement[:MAX_LINE])):
            if letters := self._opening(clause, marked):
                return letters
        return set()

    def _opening(self, statement: str, marked: bool) -> set[str]:
        if letter := self.exact(statement):
            return {letter}
        clean = _CLOSERS.sub(".", _OPENERS.sub(" .", _MARKUP.sub(" ", statement))).lstrip(" .'\"")
        clean = _LEAD.sub("", clean, count=1).lstrip(" .'\"\n")
        if re.fullmatch(r"[A-H]{2,8}\W*", clean) and set(clean.strip(" .")) <= set(self.letters):
            return set(clean.strip(" ."))
        if letters := self._letter_and_text(clean, statement):
            return letters
        match = _LETTER.match(clean)
        if match and match["letter"].upper() in self.letters:
            letters, rest = {match["letter"].upper()}, clean[match.end() :]
            while another := _ANOTHER.match(rest):
                letters.add(another["letter"])
                rest = rest[another.end() :]
            if not _WRONG.match(rest.lstrip(" .:")) and (_MARK.match(rest) or len(letters) > 1):
                return letters
        return set() if marked else self._named(clean)

    def _letter_and_text(self, clean: str, statement: str) -> set[str]:
        """The letters of "B. Minor" and of "A. Minor", whose text is another option's."""
        match = re.match(r"([A-Ha-h])([\s.:：、,，-]*)(.*)", clean, re.DOTALL)
        if not match:
            return set()
        letter, gap, rest = match[1].upper(), match[2], match[3]
        named = self._named(rest) if gap or not rest[:1].isascii() else set()
        if letter in named:
            asides = re.findall(r"[({（]([^)}）]{1,80})", statement)
            return {letter, *(self.by_text[plain] for plain in map(_plain, asides) if plain in self.by_text)}
        is_article = not gap.strip() and rest[:1].isascii()
        return {letter, *named} if named and not is_article and letter in self.letters and match[1].isupper() else set()

    def ending(self, line: str) -> set[str]:
        """The option that a sentence ends in; nothing if it denies it, or names another option besides."""
        if len(line) > MAX_LINE:
            return set()
        *_, clause = _CLAUSE.split(_NOUN.sub("", line))
        if clause != line and (letters := self._opening(clause, marked=False)):
            return letters
        if _WRONG.search(line):
            return set()
        plain = _plain(clause)
        fitting = {
            text: letter
            for text, letter in self.by_text.items()
            if (plain.endswith(f" {text}") or (plain.endswith(text) and not text.isascii()))
            and _IS.search(plain.removesuffix(text).strip())
        }
        named = {letter for text, letter in self.by_text.items() if f" {text} " in f" {plain} "}
        letters = _longest(fitting)
        return letters if len(letters) == 1 and named <= letters else set()

    def _named(self, text: str) -> set[str]:
        plain, head = _plain(text), _plain(re.split(r"[.,;:!?()\n]|\s[–—-]\s", text)[0])
        letters = _longest({option: letter for option, letter in self.by_text.items() if _begins(plain, option, head)})
        for first, letter in self.by_first_word.items():
            match = re.match(
                rf"\W*{re.escape(first)}\s*(?:$|[.,;:!–—\n-]|(?P<both>and no\b|and yes\b))", text, re.IGNORECASE
            )
            if match and match["both"]:
                return set(self.letters)
            if match and not is_refusal(text):
                other = self.by_text.get(_plain(text[match.end() :].split(".")[0]))
                letters |= {letter, other} if other else {letter}
        # "Major or minor" is two answers.
        if len(letters) == 1 and (match := re.match(r"[^.。;；\n]*?(?:\b(?:or|nor)\b|或|和|/)[^.。;；\n]*", text)):
            words = f" {_plain(match[0])} "
            for option, letter in self.by_text.items():
                if f" {option} " in words or (option in words and not option.isascii()):
                    letters.add(letter)
        return letters


_options: Final = lru_cache(maxsize=1_000)(_Options)


def _longest(letters: dict[str, str]) -> set[str]:
    """The letters of the longest texts."""
    return {letter for text, letter in letters.items() if len(text) == max(map(len, letters))}


_GOES_ON: Final = re.compile(
    r"(?!$| ?(?:chord|triad|quality|off|hits?\b|because|since|as\b|or\b|and\b|is\b|seventh|或|和|因|是))"
)


def _begins(plain: str, option: str, head: str) -> bool:
    """Whether words begin with an option, and the words behind it do not make another thing of it."""
    rest = plain.removeprefix(option)
    is_word = not rest or rest[0] == " " or not option[-1:].isascii()
    return plain.startswith(option) and is_word and (head == option or not _GOES_ON.match(rest))


_SIGN: Final = re.compile(r"(?<=\b[a-g])[ -]?(?:(flat)|sharp)\b")
_WORD: Final = re.compile(r"\w+(?:[#+°/.'-]+\w+)*[#+°]?|[#+°/]+")


def _plain(text: str) -> str:
    """Words and signs without punctuation around them, names of notes with signs."""
    folded = _SIGN.sub(lambda match: "b" if match[1] else "#", text.casefold())
    folded = folded.replace("♭", "b").replace("♯", "#").replace("_", " ")
    return " ".join(_WORD.findall(folded))


def _statements(text: str) -> Iterator[tuple[str, bool, bool]]:
    """The text after each label, the last first; whether the label is sure; whether "or" is ahead of it."""
    labelled = [(match.start("letter"), match["letter"], True) for match in _CALLED_RIGHT.finditer(text)]
    for match in _LABEL.finditer(text):
        after = text[match.end() : match.end() + MAX_LINE].lstrip(' \t*_:：#`"”')
        first, _, below = after.lstrip("\n").partition("\n")
        statement = first if first.strip(" \t*_:：#`.]】") else below.lstrip().partition("\n")[0]
        labelled.append((match.start(), statement, bool(match["strong"] or match["colon"])))
    for start, statement, is_sure in sorted(labelled, reverse=True)[:MAX_STATEMENTS]:
        is_joined = re.search(r"(?:\b(?:or|and)|或|和)[\s$*]*$", text[max(0, start - 8) : start]) is not None
        yield statement, is_sure, is_joined
