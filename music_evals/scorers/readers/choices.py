"""Reading which option a reply chooses, by letter or text.

Names of options in a reply are first replaced by one sign each (`_Options.with_signs`), so that "B.
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
answer. A reply that was cut answers only by a label, or by a first line that is an option and ends
in a blank line, if no other option is named below.

Source: arXiv 2510.22455, section 2.3 (form of the answer); arXiv 2406.15885, section 4.1
(``[[答案：C]]``); the reading is this project's.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from string import ascii_uppercase
from typing import Any

from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.chords import other_names
from music_evals.scorers.readers.cleaning import clean_reply, plain_letters
from music_evals.scorers.readers.patterns import Match, pattern, texts
from music_evals.scorers.readers.refusals import is_refusal

MAX_REPLY = 20_000  # characters of a reply's end that are read
MIN_GAPS = 2  # between the words of an option that stand for it
MAX_UNIT = 400  # characters of a sentence that are read
MAX_DENIAL = 40  # characters of a clause that denies an option and says nothing else
MAX_WORDS = 4  # of a statement that is an answer, though none of the options
MAX_CORRECTIONS = 3
MAX_LABELS = 40  # how many labels and corrections are tried, the last ones
LABELLED = "what follows the last label, such as “Final Answer:”"  # a rule

# The signs of options are letters of a script that no reply has: one for an option that is named
# surely, one for an option that a number, "yes" or letters in a row may name.
_SURE = "".join(map(chr, range(0xA500, 0xA51A)))
_VAGUE = "".join(map(chr, range(0xA520, 0xA53A)))
_LETTERS_OF_SIGNS = str.maketrans(_SURE + _VAGUE, 2 * ascii_uppercase)
_BOX = "ꘀ"
_PLAIN = str.maketrans({"♭": "b", "♯": "#", "𝄫": "bb", "𝄪": "##", **dict.fromkeys("’‘ʼʻ", "'")})


_BRACKETS = str.maketrans("[]{}<>【】〔〕（）", "()()()()()()")
_EDGE = "A-Za-zÀ-ɏЀ-ӿ0-9#"
_FORMS = ("chosen_name", "name_right", "but_name", "is_name", "so_name")


Letters = set[str]  # of options
_PATTERNS = "choice_patterns"
_pattern = partial(pattern, _PATTERNS)


def first_letter(reply: str) -> Reading:
    """Read the first capital A, B, C or D anywhere, as the regular expression of ZIQI-Eval's paper
    does.

    Example:
        >>> first_letter("B小调").answer, first_letter("According to the score")
        ('B', Reading(status='answered', answer='A', rule='the first capital A to D', error=''))
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
    text = plain_letters(clean_reply(reply)[-MAX_REPLY:]).strip()
    if not text:
        return Reading("empty")
    choices = _options(tuple(options))
    if letter := choices.letter_of_whole(text):
        return Reading("answered", letter, "the whole reply")
    marked = choices.with_signs(text)
    read = _read_first_line if is_cut else _read_sentences
    reading = _read_label(marked, choices) or read(marked, choices)
    return reading or Reading("refused" if is_refusal(text) else "unreadable")


def _read_label(text: str, choices: "_Options") -> Reading | None:
    """Read what follows the last label that has an answer, or the correction behind it."""
    labels = [match for match in _pattern("final_label").finditer(text) if not match["each"]]
    for label in reversed(labels[-MAX_LABELS:]):
        after = text[label.end() :].lstrip(" :：=–—-\n")
        statement = after.partition("\n")[0][:MAX_UNIT]
        ahead = text[: label.start()].rpartition("\n")[2]
        is_letter = ahead.strip() and statement[:1].upper() in choices.ambiguous
        if is_letter or _pattern("stated_note").match(statement):
            return Reading("unreadable", rule=LABELLED)  # a note, or the letter of another one
        if letters := choices.letters_stated(statement):
            if _pattern("joined").search(ahead):
                return Reading("several", rule=LABELLED)
            return _reading(_corrected(after, choices) or letters, LABELLED, choices)
        if is_refusal(choices.without_signs(statement)):
            return Reading("refused", rule=LABELLED)
        if not ahead.strip() and 0 < len(statement.split()) <= MAX_WORDS:
            return Reading("unreadable", rule=LABELLED)  # "Final Answer: none"
    return None


def _read_first_line(text: str, choices: "_Options") -> Reading | None:
    """Read the first line of a reply that runs on, as those of base models do: an option and
    nothing else, ahead of a blank line, where no other option is named below.
    """
    first, blank, rest = text.partition("\n\n")
    match = _pattern("exact").fullmatch(first.strip())
    if not blank or not match:
        return None
    letters = choices.letters_of(match["name"])
    named = set().union(*map(choices.letters_mentioned, _units(rest)))
    return None if named - letters else _reading(letters, "the first line", choices)


def _read_sentences(text: str, choices: "_Options") -> Reading | None:
    """Read the last sentence that commits, or a list of verdicts, or the last sentence that names
    an option.
    """
    listed, lines = _listed(text.splitlines(), choices)
    units = _units("\n".join(lines))
    letters = _corrected("\n".join(lines), choices) or _last(choices.letters_committed_to, units)
    if letters:
        return _reading(letters, "the last sentence that commits", choices)
    if listed:
        return _verdicts(listed, choices)
    mentioned = set().union(*map(choices.letters_mentioned, units))
    if mentioned:
        return _reading(mentioned, "the only option that is named and not denied", choices)
    denied = set().union(*map(choices.letters_denied, units))
    left = {*choices.letters} - denied
    if denied and len(left) == 1 and not is_refusal(text):
        return Reading("answered", min(left), "the only option that is not denied")
    return None


def _corrected(text: str, choices: "_Options") -> Letters:
    """The option that the text behind the last "wait", "no" or "actually" comes to."""
    for correction in reversed(list(_pattern("taken_back").finditer(text))[-MAX_CORRECTIONS:]):
        units = _units(text[correction.end() :])
        letters = _last(choices.letters_committed_to, units)
        letters = letters or _last(choices.letters_mentioned, units)
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
    """The sentences of a text, without those that are too long for an answer."""
    return [unit for unit in _pattern("unit").split(text) if len(unit) <= MAX_UNIT]


def _listed(lines: list[str], choices: "_Options") -> tuple[dict[str, str], list[str]]:
    """Part lines that go through the options one by one, by letter, from the others."""
    runs: list[dict[str, str]] = []
    last = ""
    for unit in filter(str.strip, chain.from_iterable(map(_pattern("items").split, lines))):
        match = _pattern("item").match(unit)
        letter = min(choices.letters_of(match["name"]), default="") if match else ""
        # A list goes on with a later letter, and nothing goes on behind a line without one.
        if not last or letter <= last:
            runs.append({})
        runs[-1][letter] = unit
        last = letter
    listed = max(reversed(runs), key=len, default={})
    if len(listed) < 2:
        return {}, lines
    single = [run.values() for run in runs if len(run) == 1]
    return listed, list(chain.from_iterable(single))


def _verdicts(listed: dict[str, str], choices: "_Options") -> Reading | None:
    """Read which option a list calls right; several if it lists some options without verdicts."""
    rule = "a list of verdicts"
    denied = {letter for letter, unit in listed.items() if _pattern("denied").search(unit)}
    affirmed = {letter for letter, unit in listed.items() if _pattern("affirmed").search(unit)}
    affirmed -= denied
    for letters in (affirmed, listed.keys() - denied):
        if denied and len(letters) == 1:
            return Reading("answered", min(letters), rule)
    is_incomplete = not denied and len(listed) < len(choices.letters)
    return Reading("several", rule=rule) if is_incomplete or len(affirmed) > 1 else None


class _Options:
    """The options with their letters, and the texts by which each may be called."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self.letters = ascii_uppercase[: len(options)]
        self.texts = dict(zip(self.letters, options, strict=True))
        # An option's own text is of no other.
        named = self._letters_by_name(other_names) | self._letters_by_name(_names)
        self.names = {name: min(letters) for name, letters in named.items() if len(letters) == 1}
        # A text that is a letter, such as the name of a note, is read as the letter of an option.
        texts_to_mark = [name for name in self.names if name.upper() not in {*self.letters}]
        self.texts_to_mark = sorted(texts_to_mark, key=len, reverse=True)
        self.ambiguous = {*self.letters} & {name.upper() for name in self.names}
        matches = map(_pattern("yes_or_no").match, options)
        answers = [match and match.lastgroup for match in matches]
        self.yes_no: dict[str | None, str] = {}
        if sorted(map(str, answers)) == ["no", "yes"]:
            self.yes_no = dict(zip(answers, self.letters, strict=True))

    @cached_property  # takes milliseconds, and most replies are a letter
    def marked_texts(self) -> re.Pattern[str]:
        """What matches any of the texts to mark, each as a group."""
        return re.compile("|".join(map(_name_pattern, self.texts_to_mark)) or "$.")

    def _letters_by_name(self, names_of: Callable[[str], Iterable[str]]) -> dict[str, Letters]:
        """The options that have a name, by the names that a function gives of their texts."""
        letters = defaultdict(set)
        for letter, text in self.texts.items():
            for name in filter(None, map(_folded, names_of(text))):
                letters[name].add(letter)
        return letters

    def letter_of_whole(self, text: str) -> str | None:
        """The option whose letter or text a text is, or a part of its text, and nothing else."""
        bare = text.strip(" \t\n\"'*_`.,()[]{}:$<>“”")
        if _pattern("marked").match(bare):
            return None
        if bare.upper() in {*self.letters}:
            return bare.upper()
        words = _folded(bare)
        if words in self.names or words.count(" ") < MIN_GAPS:
            return self.names.get(words)
        letters = {letter for name, letter in self.names.items() if f" {words} " in f" {name} "}
        return letters.pop() if len(letters) == 1 else None

    def letters_of(self, name: str) -> Letters:
        """The letters of signs, or letters of which there are options."""
        return {*name.translate(_LETTERS_OF_SIGNS).upper()} & {*self.letters}

    def _sign(self, letter: str, signs: str = _SURE) -> str:
        return signs[self.letters.index(letter)]

    def with_signs(self, text: str) -> str:
        """A text with signs for the options that it names."""
        text = _replaced(
            text,
            ("sign", ""),
            ("unchecked", "✗ "),
            ("checked", "✓ "),
            ("box", f" {_BOX}"),
            ("markup", " "),
        )
        text = _replaced(
            _with_accidentals(text),
            ("letter_and_note", self._mark_letter_and_note),
            ("bracketed", self._mark_bracketed),
            ("quotes", " "),
        )
        text = self.marked_texts.sub(self._mark_text, text.translate(_BRACKETS))
        return _replaced(
            text,
            ("yes_or_no", self._mark_yes_no),
            ("letter_and_text", self._mark_letter_and_text),
            ("listed_notes", self._without_notes),
            ("named", self._mark_named),
            ("indexed", self._mark_place),
            ("ordinals", self._mark_place),
            ("group", self._mark_group),
        )

    def _mark_bracketed(self, match: Match) -> str:
        letter = match["letter"].upper()
        is_none = match["note"] or letter not in self.letters
        return match[0] if is_none else f" {self._sign(letter)} "

    def _mark_text(self, match: Match) -> str:
        name = self.texts_to_mark[(match.lastindex or 1) - 1]
        # A short text may stand in a reply without naming its option.
        is_vague = name.isdigit() or len(name) < (3 if name.isascii() else 2)
        return f" {self._sign(self.names[name], _VAGUE if is_vague else _SURE)} "

    def _mark_yes_no(self, match: Match) -> str:
        letter = self.yes_no.get(match.lastgroup)
        return f" {self._sign(letter, _VAGUE)}" if letter else match[0]

    def _mark_letter_and_text(self, match: Match) -> str:
        letter = match["letter"].upper()
        sign = match["sign"]
        own = min(self.letters_of(sign))
        is_word = self.texts[own].isascii() and not match["gap"].strip()
        if own != letter and (is_word or match["letter"].islower() or letter not in self.letters):
            return match[0]
        return self._sign(letter) + sign

    def _mark_letter_and_note(self, match: Match) -> str:
        """Signs for a letter and for its text, which is a letter too."""
        letter = match["letter"]
        own = self.names.get(match["name"].lower())
        if own is None or letter not in self.letters:
            return match[0]
        return f" {self._sign(letter)}{self._sign(own)} "

    def _without_notes(self, match: Match) -> str:
        """A list of letters, or of notes without their letters if not all are those of options."""
        is_of_letters = {*_pattern("note").findall(match[0])} <= {*self.letters}
        return match[0] if is_of_letters else _pattern("note").sub("♩", match[0])

    def _mark_named(self, match: Match) -> str:
        letter = match["name"].upper()
        return match["noun"] + self._sign(letter) if letter in self.letters else match[0]

    def _mark_place(self, match: Match) -> str:
        """A sign for "option 2" or "the second option"; the number may be the text of one."""
        number = str(match.lastgroup)[1:]
        letters = self.letters[int(number) - 1 :]
        is_text = number in match[0] and any(number in name for name in self.names)
        return match[0] if is_text or not letters else f" {self._sign(letters[0])} "

    def _mark_group(self, match: Match) -> str:
        letters = [self.letters_of(name) for name in _pattern("one_name").findall(match[0])]
        named = sorted(set().union(*letters))
        return "".join(map(self._sign, named)) if all(letters) else match[0]  # these are notes

    def letters_stated(self, statement: str) -> Letters:
        """The options that a statement names at its beginning, or else in its first sentence."""
        statement = _pattern("yes_or_no").sub(self._mark_yes_no, statement)
        first = _pattern("unit").split(statement)[0]
        if match := _pattern("stated").match(statement):
            letters = self.letters_of(match["name"])
            is_vague = match["name"] >= _VAGUE[0] and is_refusal(self.without_signs(first))
            return set() if is_vague else letters
        return self.letters_committed_to(first) or self.letters_mentioned(first)

    def letters_committed_to(self, unit: str) -> Letters:
        """The options that a sentence commits to."""
        if match := _pattern("exact").fullmatch(unit):
            return self.letters_of(match["name"])
        clauses = self._clauses(_pattern("so_comma").sub(r"\1 ", unit))
        beginning = clauses[0] if clauses and unit.startswith(clauses[0]) else ""
        matches = [_pattern("after_colon").search(unit), _pattern("opening").match(beginning)]
        for clause in clauses:
            # Where a clause names three options, "is" may compare them.
            is_of_several = len(self.letters_of("".join(_pattern("names").findall(clause)))) > 2
            forms = ("chosen_name", "name_right") if is_of_several else _FORMS
            matches += [_pattern(form).search(clause) for form in forms]
        names = [match["name"] for match in matches if match and not _is_note(match)]
        return self.letters_of("".join(name for name in names if name not in self.ambiguous))

    def letters_mentioned(self, unit: str) -> Letters:
        """The options that a sentence names surely, or several of them in a row, and does not
        deny.
        """
        return self.letters_of("".join(_pattern("mention").findall(" ".join(self._clauses(unit)))))

    def letters_denied(self, unit: str) -> Letters:
        """The options that a sentence denies."""
        clauses = [clause for clause in _pattern("clause").split(unit) if len(clause) <= MAX_DENIAL]
        denials = " ; ".join(clause for clause in clauses if _pattern("denied").search(clause))
        return self.letters_of("".join(_pattern("mention_or_letter").findall(denials)))

    def _clauses(self, unit: str) -> list[str]:
        """The clauses of a sentence that name an option and say what is so: none that denies,
        supposes or refuses.
        """
        clauses = []
        for clause in _pattern("clause").split(unit):
            is_denied = _pattern("denied").search(clause) or _pattern("supposed").search(clause)
            is_named = self.letters_of("".join(_pattern("names").findall(clause)))
            if is_named and not is_denied and not is_refusal(self.without_signs(clause)):
                clauses.append(clause)
        return clauses

    def without_signs(self, text: str) -> str:
        """A text with the options' texts for their signs."""
        return _pattern("spaced_sign").sub(self._text, text)

    def _text(self, match: Match) -> str:
        text = self.texts[min(self.letters_of(match[1]))]
        return f" {text} " if text.isascii() else text


def _replaced(text: str, *replacements: tuple[str, Any]) -> str:
    """A text with the matches of patterns replaced, one pattern after the other."""
    for name, replacement in replacements:
        text = _pattern(name).sub(replacement, text)
    return text


def _is_note(match: Match) -> bool:
    """Whether a letter is the name of a note, because the words before speak of one."""
    ahead = match.string[: match.start("name")]
    return match["name"].isascii() and _pattern("pitch").search(ahead) is not None


_options = lru_cache(maxsize=1_000)(_Options)


def _names(option: str) -> Iterator[str]:
    """The texts by which an option may be called: whole, without brackets, what is in brackets,
    what follows "yes,".
    """
    yield option
    bracketed = re.fullmatch(r"(.+?)\s*[({（](.+)[)}）]", option)
    for match in filter(None, (bracketed, _pattern("after_yes_or_no").match(option))):
        yield from match.groups()


def _with_accidentals(text: str) -> str:
    """A text with ASCII signs behind the names of notes: ``C##`` for "C double sharp" or 重升C."""
    return _pattern("accidental").sub(_with_sign, text.translate(_PLAIN))


def _with_sign(match: Match) -> str:
    words = f"{match['before'] or ''}{match['after'] or ''}"
    sign = "b" if _pattern("flat").search(words) else "#"
    return match["note"] + sign * (bool(words) + bool(_pattern("double").search(words)))


def _folded(text: str) -> str:
    """The words and signs of a text in small letters, with single spaces."""
    text = _with_accidentals(text).casefold()
    return " ".join(re.findall(r"\w+(?:[#+°/.'-]+\w+)*[#+°]*|[#+°/]+", text))


def _name_pattern(name: str) -> str:
    """What matches a name in a text, whatever stands between its words, as a group."""
    is_notes = _pattern("notes").fullmatch(name)
    between = texts(_PATTERNS)["between_notes"] if is_notes else r"(?:[^\w#+°]|_){1,8}"
    words = between.join(map(re.escape, name.split(" ")))
    body = rf"(?<![=_])(?<!\d[.,/])(?i:{words})(?![.,/]\d)"
    if is_notes:  # in a longer list they are another answer
        body = texts(_PATTERNS)["no_note_before"] + body + texts(_PATTERNS)["no_note_behind"]
    if name.endswith(("major", "minor")):
        body += texts(_PATTERNS)["no_interval_behind"]
    if len(name) == 1 and name > "\u2e80":
        return rf"((?:(?<=[是为选])|(?<!\w)){body}(?!\w))"
    begins = rf"(?<![{_EDGE}-])" if name[0] < "\u2e80" else ""
    ends = rf"(?![{_EDGE}])" if name[-1] < "\u2e80" else ""
    return f"({begins}{body}{ends})"
