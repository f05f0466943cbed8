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
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from string import ascii_uppercase
from typing import Final

from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.refusals import is_refusal

MAX_REPLY: Final = 20_000  # characters of a reply's end that are read, and a tenth as many of its beginning
MAX_LINE: Final = 400  # characters of a line that are read
MAX_STATEMENTS: Final = 40  # how many labelled answers are read, the last ones
LABELLED: Final = "what follows the last label, such as “Final Answer:”"  # a rule


def _load_patterns() -> dict[str, re.Pattern[str]]:
    parts = tomllib.loads(files(__package__).joinpath("choices.toml").read_text(encoding="utf-8"))
    texts = {name: "".join(strings) for name, strings in parts.items()}
    for shared in ("glue", "letter_ends"):
        texts = {name: text.replace(f"{{{shared}}}", texts[shared]) for name, text in texts.items()}
    return {name: re.compile(text) for name, text in texts.items()}


_PATTERNS: Final = _load_patterns()
CORRECTION: Final = _PATTERNS["correction"]
_INLINE: Final = re.compile(r"(?<![A-Za-z0-9])[A-H](?= ?(?:[:：.)]|[—–-](?= )) ?\S)")
_CONDITION: Final = re.compile(r"(?i)(?:^|[.;,] ?)(?:if|wenn|si|se|如果|もし|если)\b[^.;]*$")
_DENIED: Final = re.compile(r"(?i)\b(?:not|rather than|instead of|nor|than|unlike)\b[^.,;\n]{0,60}")


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
    reply = clean_reply(reply)
    text = unicodedata.normalize("NFKC", _both_ends(reply, MAX_REPLY))
    text = _both_ends(text, 2 * MAX_REPLY)  # one character may have become eighteen
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return Reading("unreadable" if reply.strip() else "empty")
    choices = _options(tuple(options))
    if letter := choices.exact(text):
        return Reading("answered", letter, "the whole reply")
    corrected, corrected_at = _correction(text, choices)
    statements = [*_statements(text)]
    for number, (start, statement, is_sure, is_joined) in enumerate(statements):
        if start < corrected_at:
            break
        if _CONDITION.search(text[:start].splitlines()[-1] if text[:start].splitlines() else ""):
            continue
        if number + 1 < len(statements) and _is_repeated(text, statements[number + 1][0], start):
            others = choices.opening(statements[number + 1][1])
            if others and others != choices.opening(statement):
                return Reading("several", rule=LABELLED)
        letters = choices.opening(statement) or choices.ending(statement)
        if reading := _reading(letters, LABELLED, len(options)):
            return Reading("several", rule=LABELLED) if is_joined else reading
        if len(letters) > 1:
            return Reading("unreadable")
        if is_sure and is_refusal(statement[:MAX_LINE]):
            return Reading("refused", rule=LABELLED)
    if corrected:
        return Reading("answered", corrected, "the last correction")
    listed, lines = _listed(lines, choices)
    reading = _read_lines(lines, choices, len(options)) if lines else Reading("unreadable")
    if reading.status == "unreadable" and listed:
        return _verdicts(listed, choices)
    return reading


def _is_repeated(text: str, first: int, second: int) -> bool:
    """Whether two labels are the same, on lines next to each other."""
    return (
        text[first:second].count("\n") == 1
        and text[first : first + 8].casefold() == text[second : second + 8].casefold()
    )


def _correction(text: str, choices: "_Options") -> tuple[str | None, int]:
    """The option behind the last "wait", "no" or "actually", and the place of that."""
    for match in [*_PATTERNS["correction"].finditer(text)][:-MAX_STATEMENTS:-1]:
        own_line = text[match.start() :].lstrip(" .,?!…–—").partition("\n")[0]
        whole_line = text[: match.start()].rpartition("\n")[2] + text[match.start() :].partition("\n")[0]
        is_listed = len(_inline_items(whole_line, choices.letters)) > 1
        if not text[: match.start()].strip() or is_listed or choices.exact(own_line):
            continue
        rest = text[match.end() : match.end() + MAX_LINE].strip(" ,.:;!–—…、。")
        for clause in re.split(r"[.;:,。；：，、!?…]\s*", rest.partition("\n")[0])[:12]:
            clause = clause.strip(" –—-")
            if _PATTERNS["open"].search(clause):
                continue
            letters = choices.concluding(clause) or choices.opening(clause, marked=True)
            letters = letters or choices.mentioned(_PATTERNS["denial"].sub(" ", clause))
            if (named := _PATTERNS["corrected_to"].search(clause)) and named["letter"] in choices.letters:
                letters = {named["letter"]}
            if len(letters) == 1:
                return min(letters), match.start()
    return None, -1


def _listed(lines: list[str], choices: "_Options") -> tuple[dict[str, str], list[str]]:
    """Part lines that go through options one by one, by letter, from the others."""
    runs: list[list[tuple[str, str]]] = [[]]
    for line in [item for whole in lines for item in _inline_items(whole, choices.letters)]:
        match = _PATTERNS["listed"].match(line)
        letter = match["letter"].upper() if match else choices.heading(line)
        if not letter or letter not in choices.letters or (runs[-1] and letter <= runs[-1][-1][0]):
            runs.append([])
        if letter and letter in choices.letters:
            runs[-1].append((letter, line))
        else:
            runs[-1].append(("", line))
            runs.append([])
    longest = max(runs, key=len)
    if len(longest) < 2:
        return {}, lines
    return dict(longest), [line for run in runs for _, line in run if run is not longest]


def _inline_items(line: str, letters: str) -> list[str]:
    """The items of a list in one line: "A: no, B: yes, …"; the line itself if it is no such list."""
    places = [match.start() for match in _INLINE.finditer(line[:MAX_LINE])]
    named = [line[place] for place in places]
    if len(named) < 2 or named != sorted(set(named)) or named[0] != "A" or len(named) < min(3, len(letters)):
        return [line]
    items = [line[start:end] for start, end in zip(places, [*places[1:], None], strict=True)]
    return [*([line[: places[0]]] if line[: places[0]].strip() else []), *items]


def _verdicts(listed: dict[str, str], choices: "_Options") -> Reading:
    """Read which option a list calls right; "several" for a list of some options without verdicts."""
    rule = "a list of verdicts"
    words = {letter: choices.without_text(letter, line) for letter, line in listed.items()}
    denied = {letter for letter, text in words.items() if _PATTERNS["denied"].search(text)}
    affirmed = {letter for letter, text in words.items() if _PATTERNS["affirmed"].search(text)} - denied
    for letters in (affirmed, words.keys() - denied):
        if denied and len(letters) == 1:
            return Reading("answered", min(letters), rule)
    is_part = len(affirmed) > 1 or (not denied and len(words) < len(choices.letters))
    return Reading("several" if is_part else "unreadable", rule=rule)


def _read_lines(lines: list[str], choices: "_Options", options: int) -> Reading:
    """Read the last line, then the beginning of the first, then lines that are an option's text."""
    exact = [choices.exact(line) if len(line) <= MAX_LINE else None for line in lines]
    ending = exact[-options:]
    if options > 1 and None not in ending and len(set(ending)) == options:
        return Reading("unreadable")
    last, first = lines[-1], lines[0]
    rule = "the last line"
    if len(lines) > 1 and lines[-2].rstrip().endswith(":") and _PATTERNS["listed"].match(last) and exact[-1] is None:
        return Reading("unreadable")  # the beginning of a list
    letters = set() if exact[-1] else choices.concluding(last)
    letters = letters or choices.opening(last) or choices.ending(last)
    if not letters and not is_refusal(last):
        listed = {letter for letter in exact if letter}
        if len(listed) < 2 and (len(lines) == 1 or _PATTERNS["opening"].match(first)):
            letters, rule = choices.opening(first, marked=len(lines) > 1), "the beginning of the first line"
        if not letters:
            letters, rule = listed, "lines that are an option's text"
    if reading := _reading(letters, rule, options):
        return reading
    if not letters and (is_refusal(last) or is_refusal(first)):
        return Reading("refused")
    if letters := choices.committed(lines):
        return Reading("several") if len(letters) > 1 else Reading("answered", min(letters), "the only option named")
    return Reading("unreadable")


def _reading(letters: set[str], rule: str, options: int) -> Reading | None:
    if len(letters) == 1:
        return Reading("answered", min(letters), rule)
    return Reading("several", rule=rule) if 1 < len(letters) < max(3, options) else None


def _both_ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: MAX_REPLY // 10]}\n{text[-MAX_REPLY:]}"


class _Options:
    """The options with their letters, and the texts by which each may be called."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self.letters, self.texts = ascii_uppercase[: len(options)], options
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

    def heading(self, line: str) -> str:
        """The letter of the option whose text a line of a list has ahead of a dash or a colon."""
        text, separator, _ = line.lstrip("*•- ").partition(next(iter(re.findall(r" [–—-] |[:：|]", line[2:])), "\0"))
        return self.by_text.get(_plain(text), "") if separator else ""

    def without_text(self, letter: str, line: str) -> str:
        """A line of a list without the text of its option."""
        return re.sub(re.escape(self.texts[self.letters.index(letter)]), " ", line, flags=re.IGNORECASE)

    def concluding(self, line: str) -> set[str]:
        """The option that a line ends in as a sentence of its own, or after "so" or "it is"."""
        for name in ("alone", "so"):
            match = _PATTERNS[name].search(line[-MAX_LINE:])
            if match and match["letter"] in self.letters:
                return {match["letter"]}
        *_, last = _PATTERNS["clause"].split(line[-MAX_LINE:])
        letter = self.exact(last) if len(line) - len(last) > 12 else None
        return {letter} if letter else set()

    def opening(self, statement: str, *, marked: bool = False) -> set[str]:
        """The options that a statement names at its beginning, or behind its last correction.

        If `marked`, a letter needs a mark behind it.
        """
        for clause in reversed(_PATTERNS["corrected"].split(statement[:MAX_LINE])):
            if letters := self._opening(clause, marked):
                return letters
        return set()

    def _opening(self, statement: str, marked: bool) -> set[str]:
        if letter := self.exact(statement):
            return {letter}
        plain = re.sub(r"[(\[{（【「『〔]", " .", _PATTERNS["markup"].sub(" ", statement))
        clean = re.sub(r"[)\]}）】」』〕]", ".", plain).lstrip(" .'\"")
        clean = _PATTERNS["lead"].sub("", clean, count=1).lstrip(" .'\"\n")
        if re.fullmatch(r"[A-H]{2,8}\W*", clean) and set(clean.strip(" .")) <= set(self.letters):
            return set(clean.strip(" ."))
        if letters := self._letter_and_text(clean, statement):
            return letters
        match = _PATTERNS["letter"].match(clean)
        if match and match["letter"].upper() in self.letters:
            letters, rest = {match["letter"].upper()}, clean[match.end() :]
            while another := _PATTERNS["another"].match(rest):
                letters.add(another["letter"])
                rest = rest[another.end() :]
            if not _PATTERNS["wrong"].match(rest.lstrip(" .:")) and (_PATTERNS["mark"].match(rest) or len(letters) > 1):
                return letters
        return set() if marked else self._named(clean)

    def _letter_and_text(self, clean: str, statement: str) -> set[str]:
        """The letters of "B. Minor" and of "A. Minor", whose text is another option's."""
        match = re.match(r"([A-Ha-h])([\s.:：、,，-]*)(.*)", clean, re.DOTALL)
        if not match:
            return set()
        letter, gap, rest = match[1].upper(), match[2], match[3]
        named = self._named(rest) if gap or not rest[:1].isascii() else set()
        is_article = not gap.strip() and rest[:1].isascii()
        if letter in named and not (is_article and letter == "A" and rest[:1].islower()):
            asides = re.findall(r"[({（]([^)}）]{1,80})", statement)
            return {letter, *(self.by_text[plain] for plain in map(_plain, asides) if plain in self.by_text)}
        return {letter, *named} if named and not is_article and letter in self.letters and match[1].isupper() else set()

    def ending(self, line: str) -> set[str]:
        """The option that a sentence ends in; nothing if it denies it, or names another option besides."""
        if len(line) > MAX_LINE:
            return set()
        *_, clause = _PATTERNS["clause"].split(_PATTERNS["noun"].sub("", line))
        if re.match(rf"\W*(?:\w+ ){{1,3}}?\w+[:：]\s*{re.escape(clause)}", line):
            return set()  # "Upper note: A"
        if clause != line and (letters := self._opening(clause, marked=False)):
            return letters
        if _PATTERNS["wrong"].search(line):
            return set()
        plain = _plain(clause)
        fitting = {
            text: letter
            for text, letter in self.by_text.items()
            if (plain.endswith(f" {text}") or (plain.endswith(text) and not text.isascii()))
            and _PATTERNS["is"].search(plain.removesuffix(text).strip())
        }
        named = {letter for text, letter in self.by_text.items() if f" {text} " in f" {plain} "}
        letters = _longest(fitting)
        return letters if len(letters) == 1 and named <= letters else set()

    def committed(self, lines: Sequence[str]) -> set[str]:
        """The options that the first and the last sentence name alone; else the two that one of them offers."""
        sentences = [one for line in lines for one in _PATTERNS["sentence"].split(line) if re.search(r"\w", one)]
        singles: set[str] = set()
        offered: set[str] = set()
        for sentence in sentences[:1] + sentences[-1:]:
            if len(sentence) > MAX_LINE or _PATTERNS["open"].search(sentence):
                return set()
            named = self.mentioned(text := _PATTERNS["denial"].sub(" ", sentence))
            singles |= named if len(named) == 1 else set()
            offered |= named if len(named) == 2 and _PATTERNS["either"].search(text) else set()
        is_cut = not _PATTERNS["end"].search(lines[-1]) and not self.exact(lines[-1].split()[-1])
        return set() if is_cut else singles or offered

    def mentioned(self, sentence: str) -> set[str]:
        """The options that a sentence names anywhere, by letter or by text."""
        words = f" {_plain(sentence)} "
        for text in sorted(self.by_text, key=len, reverse=True):
            is_within = len(text) > 1 and not text.isascii() and text in words
            is_edge = len(text) > 3 or words.startswith(f" {text} ") or words.endswith(f" {text} ")
            if is_within or (is_edge and re.search(rf" {re.escape(text)} (?!scale|key)", words)):
                rest = words.replace(text, " ")
                return {self.by_text[text]} | self.mentioned(rest) if rest.strip() else {self.by_text[text]}
        matches = [] if _PATTERNS["spelled"].search(sentence) else _PATTERNS["mentioned"].finditer(sentence)
        letters = {match["letter"] for match in matches if not match["noun"]}
        letters = letters if letters <= set(self.letters) else set()  # they are notes
        ordinal = _PATTERNS["ordinal"].search(sentence)
        place = next((int(name[1:]) for name, word in ordinal.groupdict().items() if word), 0) if ordinal else 0
        return letters | set(self.letters[place - 1 :][:1] if ordinal else ())

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
        # A sentence about several options chooses none of them.
        if len(letters) == 1 and not self.exact(text):
            sentence = re.split(r"[.。\n]", _DENIED.sub(" ", text))[0]
            words = f" {_plain(sentence)} "
            letters |= {letter for option, letter in self.by_text.items() if f" {option} " in words}
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


def _begins(plain: str, option: str, head: str) -> bool:
    """Whether words begin with an option, and the words behind it do not make another thing of it."""
    rest = plain.removeprefix(option)
    is_word = not rest or rest[0] == " " or not option[-1:].isascii()
    return plain.startswith(option) and is_word and (head == option or not _PATTERNS["goes_on"].match(rest))


def _plain(text: str) -> str:
    """Words and signs without punctuation around them, names of notes with signs."""
    folded = re.sub(r"(?<=\b[a-g])[ -]?(?:(flat)|sharp)\b", lambda match: "b" if match[1] else "#", text.casefold())
    folded = folded.replace("♭", "b").replace("♯", "#").replace("_", " ")
    return " ".join(re.findall(r"\w+(?:[#+°/.'-]+\w+)*[#+°]?|[#+°/]+", folded))


def _statements(text: str) -> Iterator[tuple[int, str, bool, bool]]:
    """The place and text after each label, the last first; whether the label is sure; whether "or" is ahead of it."""
    labelled = [(match.start("letter"), match["letter"], True) for match in _PATTERNS["called_right"].finditer(text)]
    for match in _PATTERNS["label"].finditer(text):
        after = text[match.end() : match.end() + MAX_LINE].lstrip(' \t*_:：#`"”')
        first, _, below = after.lstrip("\n").partition("\n")
        statement = first if first.strip(" \t*_:：#`.]】") else below.lstrip().partition("\n")[0]
        labelled.append((match.start(), statement, bool(match["strong"] or match["colon"])))
    for start, statement, is_sure in sorted(labelled, reverse=True)[:MAX_STATEMENTS]:
        is_joined = re.search(r"(?:\b(?:or|and)|或|和)[\s$*]*$", text[max(0, start - 8) : start]) is not None
        yield start, statement, is_sure, is_joined
