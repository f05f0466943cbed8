"""Reading which option a reply chooses, by letter or text.

Names of options in a reply are first replaced by one sign each (`_Options.marked`), so that "B.
Minor", "option B" and "minor" are one thing to all rules. The rules, of which the first that
decides counts:

1. the whole reply is an option;
2. what follows the last label: ``Final Answer: B``, ``[[答案：C]]``, ``{"answer": "B"}``,
   ``\\boxed{C}``; a later correction ("no, wait: C") replaces it;
3. the last sentence that commits: it is an option and nothing else, begins with one and a mark
   behind it, or says "I choose B", "B is correct", "so it must be B";
4. a list that calls one option right, or all others wrong;
5. the only option that is named and not denied;
6. all options but one are denied.

Clauses that deny, that suppose ("if it were B") and that refuse choose nothing. "A or B" are
several answers, and so is a letter beside the text of another option. A list of all options is no
answer. A reply that was cut answers only by a label.

Source: arXiv 2510.22455, section 2.3 (form of the answer); arXiv 2406.15885, section 4.1
(``[[答案：C]]``); the reading is this project's.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from string import ascii_uppercase
from typing import Final

from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.cleaning import clean_reply, plain_letters
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.tables import Match, filled, load

MAX_REPLY: Final = (
    20_000  # characters of a reply's end that are read, and a tenth as many of its beginning
)
END: Final = 1_500  # characters of a reply's end, which are read first
MIN_PART: Final = 3  # words of an option that stand for it
MAX_UNIT: Final = 400  # characters of a sentence that are read
MAX_DENIAL: Final = 40  # characters of a clause that denies an option and says nothing else
MAX_WORDS: Final = 4  # of a statement that is an answer, though none of the options
MAX_CORRECTIONS: Final = 3
MAX_LABELS: Final = 40  # how many labels and corrections are tried, the last ones
LABELLED: Final = "what follows the last label, such as “Final Answer:”"  # a rule

# The signs of options are letters of a script that no reply has: one for an option that is named
# surely, one for an option that a number, "yes" or letters in a row may name.
_SURE: Final = 0xA500
_VAGUE: Final = 0xA520
_BOX: Final = "ꘀ"


_WITHOUT_SPACES: Final = ("zh", "ja", "ko", "any")  # their entries need no edge of a word
_BRACKETS: Final = str.maketrans("[]{}<>【】〔〕（）", "()()()()()()")
_BOXES: Final = (("☐", "✗ "), ("[ ]", "✗ "), ("☑", "✓ "), ("☒", "✓ "), ("[x]", "✓ "), ("[X]", "✓ "))
_FORMS: Final = ("chosen_name", "name_right", "but_name", "is_name")


Letters = set[str]  # of options


@cache
def _texts() -> dict[str, str]:
    """The patterns of `choice_patterns.toml`, in which words of `choices.toml` stand for their
    names.
    """
    found = {name: _of_languages(entries) for name, entries in load("choices").items()}
    for name, text in load("choice_patterns").items():
        found[name] = filled(text, found)
    return found


def _of_languages(entries: dict[str, str]) -> str:
    words = "|".join(text for language, text in entries.items() if language not in _WITHOUT_SPACES)
    signs = [text for language, text in entries.items() if language in _WITHOUT_SPACES]
    return "|".join([rf"(?<!\w)(?i:{words})(?!\w)", *signs])


@cache  # compiled when it is first used, and not by whoever imports a reader
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_texts()[name], re.MULTILINE)


def first_letter(reply: str) -> Reading:
    """Read the first capital A, B, C or D anywhere, as the regular expression of ZIQI-Eval's paper
    does.

    Example:
        >>> first_letter("B小调").answer, first_letter("According to the score")
        ('B', Reading(status='answered', answer='A', rule='the first capital A to D'))
    """
    if match := re.search("[ABCD]", reply[:MAX_REPLY]):
        return Reading("answered", match[0], "the first capital A to D")
    if not reply.strip():
        return Reading("empty")
    return Reading("refused" if is_refusal(reply) else "unreadable")


def read_choice(reply: str, options: Sequence[str], *, is_cut: bool = False) -> Reading:
    """Read which option, as the letter A, B, C … in their order, a reply chooses.

    Args:
        reply: what a model wrote.
        options: their texts, in the order that was shown.
        is_cut: whether the reply was cut at the limit of tokens, so that only a label shows an
            answer.

    Example:
        >>> read_choice("The third is minor.\\n**Final Answer: B. Minor**", ["Major", "Minor"])
        Reading(status='answered', answer='B', rule='what follows the last label, ...')
        >>> read_choice("A or B", ["Major", "Minor"]).status, read_choice("No sound was given",
        ...     ["Major"]).status
        ('several', 'refused')
    """
    said = clean_reply(reply)
    text = said
    if len(said) > MAX_REPLY:
        text = f"{said[: MAX_REPLY // 10].rpartition(' ')[0]}\n{said[-MAX_REPLY:]}"
    text = plain_letters(text).strip()
    if not text:
        return Reading("unreadable" if said.strip() else "empty")
    choices = _options(tuple(options))
    if letter := choices.exact(text):
        return Reading("answered", letter, "the whole reply")
    if len(text) > END:
        reading = _read_end(choices.marked(text[-END:].partition("\n")[2]), choices, is_cut)
        if reading and reading.answer:
            return reading
    marked = choices.marked(text)
    reading = _read_label(marked, choices)
    if reading is None and not is_cut:
        reading = _read_sentences(marked, choices)
    if reading is None:
        return Reading("refused" if is_refusal(text) else "unreadable")
    return reading


def _read_end(text: str, choices: "_Options", is_cut: bool) -> Reading | None:
    """Read the label in the end of a long reply, or the last line if it is an option and nothing
    else.
    """
    reading = _read_label(text, choices)
    if (
        reading is None
        and not is_cut
        and (match := _pattern("exact").fullmatch(text.rpartition("\n")[2]))
    ):
        reading = _reading(choices.letters_of(match["name"]), "the last line", choices)
    return reading


def _read_label(text: str, choices: "_Options") -> Reading | None:
    """Read what follows the last label that has an answer, or the correction behind it."""
    labels = [match for match in _pattern("final_label").finditer(text) if not match["each"]]
    for label in reversed(labels[-MAX_LABELS:]):
        after = text[label.end() :].lstrip(" :：=–—-\n")
        statement = after.partition("\n")[0][:MAX_UNIT]
        ahead = text[: label.start()].rpartition("\n")[2]
        if ahead.strip() and statement[:1].upper() in choices.ambiguous:
            return Reading("unreadable", rule=LABELLED)  # a note, or the letter of another one
        if letters := choices.stated(statement):
            if _pattern("joined").search(ahead):
                return Reading("several", rule=LABELLED)
            return _reading(_corrected(after, choices) or letters, LABELLED, choices)
        if is_refusal(choices.spoken(statement)):
            return Reading("refused", rule=LABELLED)
        if not ahead.strip() and 0 < len(statement.split()) <= MAX_WORDS:
            return Reading("unreadable", rule=LABELLED)  # "Final Answer: none"
    return None


def _read_sentences(text: str, choices: "_Options") -> Reading | None:
    """Read the last sentence that commits, or a list of verdicts, or the last sentence that names
    an option.
    """
    listed, lines = _listed(text.splitlines(), choices)
    units = [unit for line in lines for unit in _units(line)]
    letters = _corrected("\n".join(lines), choices) or _last(choices.committed, units)
    if letters:
        return _reading(letters, "the last sentence that commits", choices)
    if listed:
        return _verdicts(listed, choices)
    if letters := {letter for unit in units for letter in choices.mentioned(unit)}:
        return _reading(letters, "the only option that is named and not denied", choices)
    denied = {letter for unit in units for letter in choices.denied(unit)}
    left = {*choices.letters} - denied
    is_left_over = len(left) == 1 and denied and not is_refusal(text)
    return (
        Reading("answered", min(left), "the only option that is not denied")
        if is_left_over
        else None
    )


def _corrected(text: str, choices: "_Options") -> Letters:
    """The option that the text behind the last "wait", "no" or "actually" comes to."""
    corrections = [*_pattern("taken_back").finditer(text)]
    for correction in reversed(corrections[-MAX_CORRECTIONS:]):
        if not text[: correction.start()].strip():
            continue
        units = _units(text[correction.end() :])
        letters = _last(choices.committed, units) or _last(choices.mentioned, units)
        if len(letters) == 1:
            return letters
    return set()


def _last(named: Callable[[str], Letters], units: Sequence[str]) -> Letters:
    """The options of the last sentence that has any."""
    return next(filter(None, map(named, reversed(units))), set())


def _reading(letters: Letters, rule: str, choices: "_Options") -> Reading:
    if len(letters) == 1:
        return Reading("answered", min(letters), rule)
    is_all = len(letters) == len(choices.letters) > 2
    return Reading("unreadable" if is_all else "several", rule=rule)


def _units(text: str) -> list[str]:
    """The sentences of a text that name an option, without those that are too long for an
    answer.
    """
    return [
        unit
        for unit in _pattern("unit").split(text)
        if len(unit) <= MAX_UNIT and _pattern("any_name").search(unit)
    ]


def _listed(lines: Sequence[str], choices: "_Options") -> tuple[dict[str, str], list[str]]:
    """Part lines that go through the options one by one, by letter, from the others."""
    runs: list[list[tuple[str, str]]] = []
    for unit in [item for line in lines for item in _pattern("items").split(line) if item.strip()]:
        match = _pattern("item").match(unit)
        letter = min(choices.letters_of(match["name"]), default="") if match else ""
        if not runs or not letter or letter <= runs[-1][-1][0] or not runs[-1][-1][0]:
            runs.append([])
        runs[-1].append((letter, unit))
    longest = max(map(len, runs), default=0)
    if longest < 2:
        return {}, [*lines]
    last = [run for run in runs if len(run) == longest][-1]
    return dict(last), [unit for run in runs for _, unit in run if len(run) < longest]


def _verdicts(listed: dict[str, str], choices: "_Options") -> Reading | None:
    """Read which option a list calls right; several if it lists some options without verdicts."""
    rule = "a list of verdicts"
    denied = {letter for letter, unit in listed.items() if _pattern("denied").search(unit)}
    affirmed = {
        letter for letter, unit in listed.items() if _pattern("affirmed").search(unit)
    } - denied
    if denied and len(affirmed) == 1:
        return Reading("answered", min(affirmed), rule)
    if denied and len(listed) - len(denied) == 1:
        return Reading("answered", min(listed.keys() - denied), rule)
    is_part = not denied and len(listed) < len(choices.letters)
    return Reading("several", rule=rule) if is_part or len(affirmed) > 1 else None


class _Options:
    """The options with their letters, and the texts by which each may be called."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self.letters = ascii_uppercase[: len(options)]
        self.texts = dict(zip(self.letters, options, strict=True))
        named: dict[str, Letters] = {}
        for letter, option in zip(self.letters, options, strict=True):
            for name in _names(option):
                named.setdefault(name, set()).add(letter)
        self.names = {name: min(letters) for name, letters in named.items() if len(letters) == 1}
        # A text that is a letter, such as the name of a note, is read as the letter of an option.
        texts = [name for name in self.names if name.upper() not in {*self.letters}]
        self.pattern = re.compile(
            "|".join(map(_name_pattern, sorted(texts, key=len, reverse=True))) or "(?!)", re.I
        )
        self.ambiguous = {*self.letters} & {name.upper() for name in self.names}
        matches = map(_pattern("yes_or_no").match, options)
        yes_no = [str(match.lastgroup) if match else "" for match in matches]
        self.yes_no = (
            dict(zip(yes_no, self.letters, strict=True)) if sorted(yes_no) == ["no", "yes"] else {}
        )

    def exact(self, text: str) -> str | None:
        """The option whose letter or text a text is, and nothing else."""
        plain = text.strip(" \t\n\"'*_`.,()[]{}:$<>“”").lstrip("# ")
        if len(plain) == 1 and plain.upper() in self.letters:
            return plain.upper()
        without_article = re.sub(r"^(?i:an?|the) (?=\w)", "", plain)
        return (
            self.names.get(_folded(plain))
            or self.names.get(_folded(without_article))
            or self._part(_folded(plain))
        )

    def _part(self, words: str) -> str | None:
        """The only option of whose text these words are a part, at least three of them."""
        whole = [letter for name, letter in self.names.items() if f" {words} " in f" {name} "]
        return whole[0] if words.count(" ") >= MIN_PART - 1 and len({*whole}) == 1 else None

    def letters_of(self, name: str) -> Letters:
        """The letters of signs, or a letter if there is such an option."""
        if name[0] >= chr(_SURE):
            return {self.letters[(ord(sign) - _SURE) % (_VAGUE - _SURE)] for sign in name}
        return {name.upper()} & {*self.letters}

    def _sign(self, letter: str, first: int = _SURE) -> str:
        return chr(first + self.letters.index(letter))

    def marked(self, text: str) -> str:
        """A text with signs for the options that it names."""
        text = _pattern("sign").sub("", text)
        for box, verdict in _BOXES:
            text = text.replace(box, verdict)
        text = _pattern("markup").sub(" ", _pattern("box").sub(f" {_BOX}", text))
        text = (
            _pattern("quotes")
            .sub(" ", _pattern("bracketed").sub(self._mark_bracketed, text))
            .translate(_BRACKETS)
        )
        text = self.pattern.sub(self._mark_text, _with_accidentals(text))
        if self.yes_no:
            text = _pattern("yes_or_no").sub(self._mark_yes_no, text)
        text = _pattern("letter_and_text").sub(self._mark_letter_and_text, text)
        text = _pattern("named").sub(self._mark_named, text)
        text = _pattern("indexed").sub(self._mark_indexed, text)
        text = _pattern("ordinals").sub(self._mark_ordinal, text)
        return _pattern("group").sub(self._mark_group, text)

    def _mark_bracketed(self, match: Match) -> str:
        letter = match["letter"].upper()
        if match["before"] or match["pitch"] or letter not in self.letters:
            return match[0]
        return f" {self._sign(letter)} "

    def _mark_text(self, match: Match) -> str:
        name = _folded(match[0])
        # A short text may stand in a reply without naming its option.
        is_vague = name.isdigit() or len(name) < (3 if name.isascii() else 2)
        return f" {self._sign(self.names[name], _VAGUE if is_vague else _SURE)} "

    def _mark_yes_no(self, match: Match) -> str:
        return f" {self._sign(self.yes_no[str(match.lastgroup)], _VAGUE)}"

    def _mark_letter_and_text(self, match: Match) -> str:
        letter, sign = match["letter"].upper(), match["sign"]
        if self.letters_of(sign) == {letter}:
            return self._sign(letter)
        is_foreign = not any(
            name.isascii() for name, own in self.names.items() if {own} == self.letters_of(sign)
        )
        is_beside = match["letter"].isupper() and (match["gap"].strip() or is_foreign)
        return self._sign(letter) + sign if is_beside and letter in self.letters else match[0]

    def _mark_named(self, match: Match) -> str:
        letter = match["name"].upper()
        return match["noun"] + self._sign(letter) if letter in self.letters else match[0]

    def _mark_indexed(self, match: Match) -> str:
        number = int(match["name"])
        is_text = any(match["name"] in name for name in self.names)
        if is_text or number > len(self.letters):
            return match[0]
        return match["noun"] + self._sign(self.letters[number - 1])

    def _mark_ordinal(self, match: Match) -> str:
        number = next(int(name[1:]) for name, word in match.groupdict().items() if word)
        return (
            f" {self._sign(self.letters[number - 1])} " if number <= len(self.letters) else match[0]
        )

    def _mark_group(self, match: Match) -> str:
        letters: Letters = set()
        for name in _pattern("one_name").findall(match[0]):
            own = self.letters_of(name)
            if not own:
                return match[0]  # these are notes
            letters |= own
        first = _SURE if len(letters) == 1 else _VAGUE
        return "".join(self._sign(letter, first) for letter in sorted(letters))

    def stated(self, statement: str) -> Letters:
        """The options that a statement names at its beginning, or else in its first sentence."""
        if self.yes_no:
            statement = _pattern("yes_or_no").sub(self._mark_yes_no, statement)
        first = _pattern("unit").split(statement)[0]
        if match := _pattern("stated").match(statement):
            letters = self.letters_of(match["name"])
            is_vague = match["name"] >= chr(_VAGUE) and is_refusal(self.spoken(first))
            return set() if is_vague else letters
        return self.committed(first) or self.mentioned(first)

    def committed(self, unit: str) -> Letters:
        """The options that a sentence commits to."""
        if match := _pattern("exact").fullmatch(unit):
            return self.letters_of(match["name"])
        unit = _pattern("so_comma").sub(r"\1 ", unit)
        clauses = self._clauses(unit)
        opening = clauses[0] if clauses and unit.startswith(clauses[0]) else ""
        found = [_pattern("after_colon").search(unit), _pattern("opening").match(opening)]
        for clause in clauses:
            found += [_pattern(form).search(clause) for form in _FORMS]
        named = [match["name"] for match in found if match and not _is_note(match)]
        named += [match["name"] for match in map(_pattern("so_name").search, clauses) if match]
        named = [name for name in named if name.upper() not in self.ambiguous]
        letters = self._letters(named)
        return set() if len(letters) == len(self.letters) > 2 else letters

    def mentioned(self, unit: str) -> Letters:
        """The options that a sentence names surely, or several of them in a row, and does not
        deny.
        """
        return self._letters(_pattern("mention").findall(" ".join(self._clauses(unit))))

    def denied(self, unit: str) -> Letters:
        """The options that a sentence denies."""
        clauses = [clause for clause in _pattern("clause").split(unit) if len(clause) <= MAX_DENIAL]
        denials = " ; ".join(clause for clause in clauses if _pattern("denied").search(clause))
        return self._letters(_pattern("mention_or_letter").findall(denials))

    def _letters(self, names: Iterable[str]) -> Letters:
        return {letter for own in map(self.letters_of, names) for letter in own}

    def _clauses(self, unit: str) -> list[str]:
        """The clauses of a sentence that name an option and say what is so: none that denies,
        supposes or refuses.
        """
        names = _pattern("names")
        clauses = [
            clause
            for clause in _pattern("clause").split(unit)
            if self._letters(names.findall(clause))
        ]
        said = [
            clause
            for clause in clauses
            if not (_pattern("denied").search(clause) or _pattern("supposed").search(clause))
        ]
        return [clause for clause in said if not is_refusal(self.spoken(clause))]

    def spoken(self, text: str) -> str:
        """A text with the options' texts for their signs."""
        return _pattern("spaced_sign").sub(self._text, text)

    def _text(self, match: Match) -> str:
        text = self.texts[min(self.letters_of(match[1]))]
        return f" {text} " if text.isascii() else text


def _is_note(match: Match) -> bool:
    """Whether a letter is the name of a note, because the words before speak of one."""
    return (
        match["name"].isascii()
        and _pattern("pitch").search(match.string[: match.start("name")]) is not None
    )


_options: Final = lru_cache(maxsize=1_000)(_Options)


def _names(option: str) -> Iterator[str]:
    """The texts by which an option may be called: whole, without brackets, what is in brackets,
    what follows "yes,".
    """
    bracketed = re.fullmatch(r"(.+?)\s*[({（](.+)[)}）]", option)
    after_yes = _pattern("after_yes_or_no").match(option)
    texts = [
        option,
        *(bracketed.groups() if bracketed else ()),
        *(after_yes.groups() if after_yes else ()),
    ]
    yield from filter(None, map(_folded, texts))


def _with_accidentals(text: str) -> str:
    """A text with ASCII signs behind the names of notes."""
    text = text.replace("♭", "b").replace("♯", "#")
    return re.sub(
        r"(?i)(?<![a-z])([a-g])[ -](?:(flat)|sharp)\b",
        lambda match: match[1] + ("b" if match[2] else "#"),
        text,
    )


def _folded(text: str) -> str:
    """The words and signs of a text in small letters, with single spaces."""
    text = _with_accidentals(text).casefold().replace("_", " ")
    return " ".join(re.findall(r"\w+(?:[#+°/.'-]+\w+)*[#+°]?|[#+°/]+", text))


def _name_pattern(name: str) -> str:
    """What matches a name in a text, whatever stands between its words."""
    body = r"[\W_]{1,4}".join(map(re.escape, name.split(" ")))
    edge = "A-Za-zÀ-ɏЀ-ӿ0-9#"
    if len(name) == 1 and name > "\u2e80":
        return rf"(?:(?<=[是为选])|(?<!\w)){body}(?!\w)"
    begins = rf"(?<![{edge}-])" if name[0] < "\u2e80" else ""
    ends = rf"(?![{edge}])" if name[-1] < "\u2e80" else ""
    return begins + body + ends
