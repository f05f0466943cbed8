"""Reading which option a reply chooses, in English, Chinese or any language that shares their labels.

An answer stands, in this order:

1. after a label, in the form that was asked for or another: ``Final Answer: B``, ``[[答案：C]]``,
   ``【答案】C``, ``故选 C``, ``the answer is (C)``, ``\\boxed{C}``, ``{"answer": "B"}``, ``Option C is
   correct``; on the label's line, or on the next one where the line ends there;
2. in the last line;
3. at the beginning of the first line, set off from what follows: ``C. …``, ``C、…``, ``**B**``;
4. in a line that is an option's text and nothing else.

Of several labelled answers the last one that can be read counts. An answer is a letter, a letter with
its option's text, or the text alone; of options that are sentences their first word will do where that
tells them apart (Yes, No). A letter counts only where no word, pitch or key continues it: not in "B小调",
"C#", "A minor scale", "A good question". A letter beside the text of another option, and "A or B", are
several answers; a list of all options is none.

Source: arXiv 2510.22455, section 2.3 (form of the answer); arXiv 2406.15885, section 4.1
(``[[答案：C]]``); the reading is this project's."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Final

from music_evals.scorers.readers import Reading, without_thinking
from music_evals.scorers.readers.refusals import is_refusal

MAX_REPLY: Final = 20_000
"""Characters of a reply's end that are looked at; of its beginning a tenth."""
MAX_LINE: Final = 400
"""Characters of a line that are looked at: an answer stands at the beginning of its line."""

MAX_STATEMENTS: Final = 40
"""How many labelled answers are looked at, the last ones."""

LABELLED: Final = "what follows the last label, such as “Final Answer:”"
"""The rule of readings that a label leads to."""

_FIRST: Final = re.compile("[ABCD]")
_MARKUP: Final = re.compile(
    r"\\(?:boxed|text(?:bf|rm)?|mathrm|[()\[\]])|</?(?:final_)?(?:answer|option|choice|b|strong|em|p|code)>"
    r"|[*_`#>\"“”$✅✔️]|^\s*[-•]\s"
)
_OPENERS: Final = re.compile(r"[(\[{（【「『〔]")
_CLOSERS: Final = re.compile(r"[)\]}）】」』〕]")
_GLUE: Final = r"[*_\"”'」】\]）)]{0,4}\s{0,2}"
_LABEL: Final = re.compile(
    r"(?<![不没别非误无])(?<!\bnot )(?<!\bno )(?<!\bnot the )(?:"
    r"(?P<strong>\bfinal answer|\\boxed|(?:最终|正确)?答案|正确(?:的)?选项)"
    r"|\b(?:(?:correct|right|best) )?(?:answer|choice|option)(?= ?(?:is|would be|should be|must be|[:：=–—-]"
    r"|[*_\"”'\])]{1,4} ?[:：]))"
    r"|(?<=[故应该我可能就项即])选择?|^[^\S\n]*选择?|(?<=[，。；,;]) ?选择?|选项(?=[:：为是])|正确的(?=是)"
    r"|\bi (?:would |will |'d )?(?:choose|pick|select|go with|chose)\b"
    rf"){_GLUE}(?:应该是|应当是|应为|就是|是|为|选|is|would be|should be|must be)?{_GLUE}(?P<colon>[:：=–—-])?{_GLUE}",
    re.IGNORECASE | re.MULTILINE,
)
_CALLED_RIGHT: Final = re.compile(
    r"(?<![A-Za-z0-9#♯♭])(?P<letter>[A-H])[*_)）.:：]{0,3} ?(?:选项|项)? ?(?:is|是|为)? ?(?:the )?"
    r"(?:正确|对的|correct|right)(?! ?[吗?？])"
)
# What may not follow a letter that stands as an answer: what makes it a word, a pitch or a key.
_ENDS: Final = (
    r"(?![A-Za-z0-9#♯♭'’＇])"
    r"(?!\s{0,2}(?:大调|小调|调|音|弦|和弦|大七|小七|大三|小三|增三|减三|宫|商|角|徵|羽|自然|和声|旋律|升|降|段|部))"
    r"(?![ \t-]{1,2}(?:sharp|flat|natural|major|minor|maj|min|dur|moll|string|clef|chord)\b)"
)
_LEAD: Final = re.compile(
    r"\s*(?:(?:so|thus|therefore|hence)\b,?\s)?(?:i(?:'m| am) (?:not )?(?:sure|certain|quite sure),? (?:but )?)?"
    r"(?:i(?: would|'d)? (?:think|believe|guess|say|go with|choose|pick)(?: that)?:?\s|probably |most likely |my"
    r" (?:guess|answer)(?: is)?:? )?"
    r"(?:我(?:认为|觉得|选)|应该|其实)?(?:(?:it is|it's|this is|is|that is)\s|的?是|为|选择?)?"
    r"(?:not (?:option )?\w+,? but (?:rather )?)?"
    r"(?:(?:either|both|between|the|answer|choice|letter|options?)\s|选项|(?-i:an?) (?=\w{3}))*[:：]?\s{0,3}",
    re.IGNORECASE,
)
_CORRECTED: Final = re.compile(
    r"\b(?:wait|correction|actually|or rather|scratch that|i mean|no:)\b[,:]?(?: no[:,])?|不对|更正|而是|其实是",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[.;:。；：]\s+|(?:[,，]\s*)?\b(?:so|therefore|thus|hence|but)\b[,:]?\s+|，?(?:所以|因此)|，(?=其实|应该)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"\W*(?:选|option )?[A-H](?![A-Za-z0-9])|\W*(?:yes|no)\b", re.IGNORECASE)
_IS: Final = re.compile(
    r"^(?:an?|the)?(?: ?[a-g][b#]?)?$|(?:\b(?:is|are|was|be|has|as|not \w+ but|therefore|thus|so|hence|answer)\b|=|:"
    r"|是|为|選|选)"
    r"(?: clearly| most likely| probably| of)?(?: an?| the)?(?: [a-g][b#]?)?$"
)
_LETTER: Final = re.compile(rf"(?P<letter>[A-Ha-h]){_ENDS}")
_SET_OFF: Final = re.compile(
    r"\s*(?:$|[.．。:：,，、;；=!！–—-]|选项|项|因为?|because\b|since\b|as\b|is (?:the )?(?:correct|right))",
    re.IGNORECASE,
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
    if match := _FIRST.search(reply, 0, MAX_REPLY):
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
    whole = without_thinking(reply)
    text = unicodedata.normalize("NFKC", _ends(whole, MAX_REPLY))
    text = _ends(text, 2 * MAX_REPLY)  # one character may have become eighteen
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return Reading("unreadable" if whole.strip() else "empty")
    known = _known(tuple(options))
    if letter := known.exact(text):
        return Reading("answered", letter, "the whole reply")
    lists_all = False
    for stated, is_sure, is_joined in _stated(text):
        found = known.chosen(stated) or known.ends(stated)
        if len(found) == 1:
            return Reading("several", rule=LABELLED) if is_joined else Reading("answered", found.pop(), LABELLED)
        if 1 < len(found) < max(3, len(options)):
            return Reading("several", rule=LABELLED)
        lists_all = lists_all or len(found) > 1
        if is_sure and is_refusal(stated[:MAX_LINE]):
            return Reading("refused", rule=LABELLED)
    listed = [known.exact(line) if len(line) <= MAX_LINE else None for line in lines]
    ending = listed[-len(options) :]
    if len(options) > 1 and None not in ending and len(set(ending)) == len(options):
        return Reading("unreadable")
    last, first = lines[-1], lines[0]
    rule = "the last line"
    found = set() if lists_all else known.chosen(last) or known.ends(last)
    if not found and not is_refusal(last) and len(set(filter(None, listed))) < 2:
        rule = "the beginning of the first line"
        found = known.chosen(first, set_off=len(lines) > 1) if len(lines) == 1 or _OPENING.match(first) else set()
    if not found and not is_refusal(last):
        rule = "lines that are an option's text"
        found = {letter for letter in listed if letter}
    if len(found) == 1:
        return Reading("answered", found.pop(), rule)
    if 1 < len(found) < max(3, len(options)):
        return Reading("several", rule=rule)
    return Reading("refused" if not found and (is_refusal(last) or is_refusal(first)) else "unreadable")


@lru_cache(maxsize=1_000)
def _known(options: tuple[str, ...]) -> "_Options":
    return _Options(options)


def _ends(text: str, most: int) -> str:
    """The beginning and the end of a text that is longer."""
    return text if len(text) <= most else f"{text[: MAX_REPLY // 10]}\n{text[-MAX_REPLY:]}"


class _Options:
    """The options with their letters, and the texts by which each may be called."""

    def __init__(self, options: Sequence[str]) -> None:
        self.letters = ascii_uppercase[: len(options)]
        names: dict[str, set[str]] = {}
        for letter, option in zip(self.letters, options, strict=True):
            bracketed = re.fullmatch(r"(.+?)\s*[({（](.+)[)}）]", option)
            without_first = re.match(r"(?:yes|no|是|否|不是)[,，]\s*(.+)", option, re.IGNORECASE)
            for text in (option, *(bracketed.groups() if bracketed else ()), without_first[1] if without_first else ""):
                if plain := _plain(text):
                    names.setdefault(plain, set()).add(letter)
        self.named = {text: letters.copy().pop() for text, letters in names.items() if len(letters) == 1}
        firsts = [_plain(option).split(" ")[0] for option in options]
        # Sentences are told apart by their first words, where these differ.
        is_sentence = len(set(firsts)) == len(firsts) and all(" " in _plain(option) for option in options)
        self.firsts = dict(zip(firsts, self.letters, strict=True)) if is_sentence else {}

    def exact(self, text: str) -> str | None:
        """The option whose text this is, with its letter ahead or without."""
        if len(text) > 10 * MAX_LINE:
            return None
        plain = _plain(text)
        # Options may be letters themselves: names of notes.
        if len(plain) == 1 and plain.upper() in self.letters:
            return plain.upper()
        if letter := self.named.get(plain):
            return letter
        first, _, rest = plain.partition(" ")
        return self.named.get(rest) if self.named.get(rest) == first.upper() else None

    def chosen(self, statement: str, *, set_off: bool = False) -> set[str]:
        """The options that a statement names at its beginning; of one that corrects itself, at its end."""
        for part in reversed(_CORRECTED.split(statement[:MAX_LINE])):
            if found := self._chosen(part, set_off=set_off):
                return found
        return set()

    def _chosen(self, statement: str, *, set_off: bool) -> set[str]:
        if letter := self.exact(statement):
            return {letter}
        clean = _CLOSERS.sub(".", _OPENERS.sub(" .", _MARKUP.sub(" ", statement))).lstrip(" .'\"")
        clean = clean[match.end() :] if (match := _LEAD.match(clean)) else clean
        clean = clean.lstrip(" .'\"\n")
        if re.fullmatch(r"[A-H]{2,8}\W*", clean) and set(clean.strip(" .")) <= set(self.letters):
            return set(clean.strip(" ."))
        if own := re.match(r"([A-Ha-h])(?P<gap>[\s.:：、,，-]*)(?P<rest>.*)", clean, re.DOTALL):
            letter, gap = own[1].upper(), own["gap"]
            by_text = self._by_text(own["rest"]) if gap or not own["rest"][:1].isascii() else set()
            is_article = not gap.strip() and own["rest"][:1].isascii()
            if letter in by_text or (by_text and not is_article and letter in self.letters and own[1].isupper()):
                aside = {self.named.get(_plain(text)) for text in re.findall(r"[({（]([^)}）]{1,80})", statement)} - {
                    None
                }
                return {letter} | {other for other in aside if other} if letter in by_text else {letter} | by_text
        match = _LETTER.match(clean)
        if not match or match["letter"].upper() not in self.letters:
            return set() if set_off else self._by_text(clean)
        letters, rest = {match["letter"].upper()}, clean[match.end() :]
        while another := _ANOTHER.match(rest):
            letters.add(another["letter"])
            rest = rest[another.end() :]
        if _WRONG.match(rest.lstrip(" .:")) or not (_SET_OFF.match(rest) or len(letters) > 1):
            return set() if set_off else self._by_text(clean)
        return letters

    def ends(self, line: str) -> set[str]:
        """The option that a sentence says something to be; nothing where it denies it, or names another one besides."""
        if len(line) > MAX_LINE:
            return set()
        *_, clause = _CLAUSE.split(_NOUN.sub("", line))
        if found := self._chosen(clause, set_off=False) if clause != line else set():
            return found
        if _WRONG.search(line):
            return set()
        plain = _plain(clause)
        fitting = {text: letter for text, letter in self.named.items() if _IS.search(_cut(plain, text))}
        named = {letter for text, letter in self.named.items() if f" {text} " in f" {plain} "}
        found = {letter for text, letter in fitting.items() if len(text) == max(map(len, fitting))}
        return found if len(found) == 1 and named <= found else set()

    def _by_text(self, text: str) -> set[str]:
        plain, head = _plain(text), _plain(re.split(r"[.,;:!?()\n]|\s[–—-]\s", text)[0])
        fitting = {option: letter for option, letter in self.named.items() if _begins(plain, option, head)}
        longest = max(map(len, fitting), default=0)
        found = {letter for option, letter in fitting.items() if len(option) == longest}
        for first, letter in self.firsts.items():
            match = re.match(
                rf"\W*{re.escape(first)}\s*(?:$|[.,;:!–—\n-]|(?P<both>and no\b|and yes\b))", text, re.IGNORECASE
            )
            if match and match["both"]:
                return set(self.letters)
            if match and not is_refusal(text):
                found |= {letter} | (
                    {other} if (other := self.named.get(_plain(text[match.end() :].split(".")[0]))) else set()
                )
        if len(found) == 1 and (match := re.match(r"[^.。;；\n]*?(?:\b(?:or|nor)\b|或|和|/)[^.。;；\n]*", text)):
            # "Major or minor" is two answers.
            words = f" {_plain(match[0])} "
            found |= {
                letter
                for option, letter in self.named.items()
                if f" {option} " in words or (option in words and not option.isascii())
            }
        return found


def _cut(plain: str, text: str) -> str:
    """What stands ahead of an option's text at the end of a sentence; a mark that fits nothing where it does not."""
    ends = plain.endswith(f" {text}") or (plain.endswith(text) and not text.isascii())
    return plain.removesuffix(text).strip() if ends else "\0"


_GOES_ON: Final = re.compile(
    r"(?!$| ?(?:chord|triad|quality|off|hits?\b|because|since|as\b|or\b|and\b|is\b|seventh|或|和|因|是))"
)


def _begins(plain: str, option: str, head: str) -> bool:
    """Whether words begin with an option, and what goes on does not make another thing of it."""
    if not plain.startswith(option):
        return False
    rest = plain[len(option) :]
    if rest and rest[0] != " " and option[-1:].isascii():
        return False
    return head == option or not _GOES_ON.match(rest)


_SIGN: Final = re.compile(r"(?<=\b[a-g])[ -]?(?:(flat)|sharp)\b")
_WORD: Final = re.compile(r"\w+(?:[#+°/.'-]+\w+)*[#+°]?|[#+°/]+")


def _plain(text: str) -> str:
    """Words and signs without punctuation around them, names of notes with signs."""
    folded = _SIGN.sub(lambda match: "b" if match[1] else "#", text.casefold())
    folded = folded.replace("♭", "b").replace("♯", "#").replace("_", " ")
    return " ".join(_WORD.findall(folded))


def _stated(text: str) -> Iterator[tuple[str, bool, bool]]:
    """What follows each label on its line, or the next; whether the label is sure; whether "or" is ahead of it."""
    found = [(match.start("letter"), match["letter"], True) for match in _CALLED_RIGHT.finditer(text)]
    for match in _LABEL.finditer(text):
        after = text[match.end() : match.end() + MAX_LINE].lstrip(' \t*_:：#`"”')
        first, _, below = after.lstrip("\n").partition("\n")
        stated = first if first.strip(" \t*_:：#`.]】") else below.lstrip().partition("\n")[0]
        found.append((match.start(), stated, bool(match["strong"] or match["colon"])))
    for start, stated, is_sure in sorted(found, reverse=True)[:MAX_STATEMENTS]:
        ahead = text[max(0, start - 8) : start]
        yield stated, is_sure, re.search(r"(?:\b(?:or|and)|或|和)[\s$*]*$", ahead) is not None
