"""Checking an answer about a score against its reference by rule, where a rule can.

Both are read into *values* (see `pitches`, `times` and `chords` in this folder), which are
compared. A rule would rather not decide than be wrong, so that judges decide:

- A refusal is wrong. Refusals are recognised before ``None``, ``No`` or 0 is read.
- No rule decides on an answer that no rule reads, that negates ("not C major") or that hedges
  ("perhaps E5").
- An answer with the reference's values and no others is right; one with none of them is wrong; one
  that offers several ("E5 or F5") is wrong. With other values among explanations, an answer is
  right if it is short and opens with the value; else no rule decides.
- "None", "No", "There is none", "No accidentals" and the like meet a reference of "None", if they
  deny nothing but musical terms.

Conventions by type, besides those of the values: ``pitch``, ``pitches``: C♯5 and D♭5 are two; if
the reference has an octave, an answer without it is wrong; lists are sets. ``clef``: lists are
sets. ``measures``: sets; the first measure is enough for "starting at measure 9". ``duration``:
judges decide on a note in the place of a rest. ``numeral``: judges decide on numerals that differ
in case alone, because the published questions ask for capitals whatever the chord's quality.
``name``: see `names`. ``text`` is for judges, except a few closed terms (inversions, textures,
dynamics …).

Source: arXiv 2511.20697, section 3.3 ("V-I" and "authentic cadence"); the rules are this project's.
"""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from operator import eq
from typing import Any, Literal, NamedTuple, get_args

from music_evals.scorers.readers import Status
from music_evals.scorers.readers.chords import (
    read_cadences,
    read_chords,
    read_instruments,
    read_intervals,
    read_numerals,
)
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.names import is_same_name
from music_evals.scorers.readers.patterns import pattern
from music_evals.scorers.readers.pitches import read_keys, read_pitches
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.times import (
    read_clefs,
    read_durations,
    read_measures,
    read_metres,
    read_numbers,
)
from music_evals.scorers.readers.words import Extraction, find_terms, folded, term_tables

# The form of an answer; ``text`` is anything that no rule reads. Builders import no scorers, so
# `datasets_builders.msu.questions.kind` has the same names; a test compares them.
AnswerType = Literal[
    "yes_no", "pitch", "pitches", "key", "metre", "clef", "number", "measures", "duration",
    "chord", "numeral",
    "cadence", "name", "text",
]  # fmt: skip
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)
READERS = {
    "pitch": read_pitches,
    "pitches": read_pitches,
    "key": read_keys,
    "metre": read_metres,
    "clef": read_clefs,
    "number": read_numbers,
    "measures": read_measures,
    "duration": read_durations,
    "chord": read_chords,
    "numeral": read_numerals,
    "cadence": read_cadences,
}
_TEXT_READERS = (read_intervals, read_instruments)  # of texts that are nothing else
SHORT = 400  # characters up to which the first value of an answer is taken for it
END = 1_500  # characters of a reply's end that are looked at first
MAX_REPLY = 20_000
# Types whose references may have several values.
_LISTS = (
    "pitches",
    "clef",
    "measures",
    "numeral",
)
_IN_WORDS = ("number", "measures", "metre")  # types whose values may be numbers in words
_YES = ("yes", "ja", "oui")
_NONE = ("none", "there is none")


class Checked(NamedTuple):
    """How an answer reads, and whether it is right: None if no rule decides."""

    status: Status
    is_right: bool | None


_RIGHT = Checked("answered", True)
_WRONG = Checked("answered", False)
_SEVERAL = Checked("several", False)
_UNREADABLE = Checked("unreadable", None)
_VERDICTS = {True: _RIGHT, False: _WRONG, None: _UNREADABLE}
_pattern = partial(pattern, "phrases")


def check(prediction: str, reference: str, answer_type: str) -> Checked:
    """Check an answer against the reference by the rule of its type, an `AnswerType`.

    Raises:
        ValueError: there is no such type.

    Example:
        >>> check("It is C sharp 5.", "C♯5", "pitch"), check("D♭5", "C♯5", "pitch").is_right
        (Checked(status='answered', is_right=True), False)
        >>> check("No score was provided", "None", "text"), check("Allegro", "Allegro vivace",
        ...     "text")
        (Checked(status='refused', is_right=False), Checked(status='unreadable', is_right=None))
        >>> check("拍号是四分之三拍", "3/4", "metre").is_right, check("Yes and no", "Yes",
        ...     "yes_no").status
        (True, 'several')
    """
    if answer_type not in ANSWER_TYPES:
        raise ValueError(
            f"answer_type={answer_type!r} is not valid; valid values are: {', '.join(ANSWER_TYPES)}"
        )
    text = clean_reply(prediction)
    if not text.strip():
        return Checked("empty", False)
    numbers = answer_type in _IN_WORDS
    expected = folded(reference, numbers=numbers)
    places = list(statements(text))
    for statement in places:
        checked = _check_statement(folded(statement, numbers=numbers), expected, answer_type)
        if checked.is_right is not None:
            return checked
    return Checked("answered", None) if any(map(_says_value, places)) else _UNREADABLE


def _says_value(answer: str) -> bool:
    """Whether a short answer says a value of any type, or yes or no, and nothing else."""
    text = affirmed(folded(answer[:SHORT], numbers=True))
    readings = [read(text) for read in (*READERS.values(), *_TEXT_READERS)]
    plain = [reading for reading in readings if reading.values and reading.is_pure]
    return len(_yes_or_no(text)) == 1 or not all(map(_doubt, plain))


def statements(text: str, *, marked_only: bool = False) -> Iterator[str]:
    """Yield where an answer may be, the surest place first.

    These are, the last first, what corrects another answer, a box, a value in JSON and the text
    after a label; then a conclusion, the whole reply, its last line.

    Args:
        text: a reply.
        marked_only: leave out the last three.
    """
    end = text[-END:]
    corrections = _last("correction", end)
    labelled = _last("label", text[-MAX_REPLY:])
    for _, statement in sorted(_last("enclosed", end) + labelled + corrections):
        yield statement
    if marked_only:
        return
    lines = text[-MAX_REPLY:].strip().splitlines()
    if conclusion := _pattern("conclusion").match(lines[-1][-SHORT:]):
        yield conclusion["rest"]
    if not corrections:
        yield re.sub(r"^[\s\[({]+|[\s\])}]+$", "", text) or text
    if len(lines) > 1:
        yield lines[-1]


def after_label(text: str) -> str:
    """Return all that follows the last label of an answer; nothing without a label.

    >>> after_label("I listened.\\nFinal Answer: let it\\nbe")
    'let it\\nbe'
    """
    return next((statement for _, statement in _last("label", text)), "")


def _last(name: str, text: str) -> list[tuple[int, str]]:
    """What the last match of a pattern marks as an answer, and its distance from the end."""
    matches = list(_pattern(name).finditer(text))[-1:]
    return [
        (len(text) - match.start(), match["answer"] or text[match.end() :]) for match in matches
    ]


def _check_statement(answer: str, expected: str, answer_type: str) -> Checked:
    if is_refusal(answer):
        return Checked("refused", False)
    read = READERS.get(answer_type) or _text_reader(expected)
    if answer_type == "name":
        return _VERDICTS[is_same_name(affirmed(answer), expected)]
    is_none = expected.rstrip(". ").lower() in _NONE
    if answer_type == "yes_no":
        return _check_yes_no(answer, "No" if is_none else expected)
    return _check_value(answer, None if is_none else expected, answer_type, read)


def _check_value(
    answer: str, expected: str | None, answer_type: str, read: Callable[[str], Extraction]
) -> Checked:
    """Compare an answer with the value that is expected, or with none."""
    # "No sharps or flats, so C major" names a key.
    is_absent = is_absence(answer) and not read(answer.partition(",")[2]).values
    if expected is None and is_absent:
        return _RIGHT
    if expected is None:
        return _WRONG if read(answer).values else _UNREADABLE
    if read is _nothing:
        return _check_term(answer, expected)
    reference = read(expected)
    if is_absent:
        return _VERDICTS[reference.values == (Fraction(0),)]
    return _compare(read(affirmed(answer)), reference, answer_type)


def _nothing(text: str) -> Extraction:
    return Extraction(text, ())


def _text_reader(expected: str) -> Callable[[str], Extraction]:
    """The reader of what a text names and nothing else, if there is one."""
    for read in _TEXT_READERS:
        reading = read(expected)
        if reading.values and reading.is_pure:
            return read
    return _nothing


def affirmed(answer: str) -> str:
    """The text without denials: "not G minor but B♭ major", "trill, not mordent"."""
    return _pattern("denial").sub(" ", answer)


def is_absence(text: str) -> bool:
    """Whether folded text says that something musical is not there; refusals have to be ruled out
    before.
    """
    match = _pattern("absent").fullmatch(text)
    if not match or _pattern("aside").search(match["tail"] or ""):
        return False
    # Without a word of denial a phrase says that something is there.
    return _pattern("negation").search(text) is not None


def _yes_or_no(text: str) -> set[bool]:
    """True for a text that says yes, False for no, both where it says both."""
    if text.rstrip().endswith("?"):
        return set()
    verdicts = set().union(*map(_line_says, map(str.strip, text.splitlines())))
    words = {match[1].lower() in _YES for match in _pattern("alone").finditer(text[:SHORT])}
    if verdicts and len(words) > 1:
        return {True, False}
    ending = _pattern("ending").search(text)
    if not verdicts and ending:
        return {ending["word"].lower() == "yes"}
    return verdicts


def _line_says(line: str) -> set[bool]:
    if _pattern("says_yes").match(line):
        return {True}
    return {False} if _pattern("says_no").match(line) or is_absence(line) else set()


def _check_yes_no(answer: str, expected: str) -> Checked:
    says = _yes_or_no(answer)
    if len(says) > 1:
        return _SEVERAL
    # A reference that goes on ("Yes, C♯") asks for what it names.
    yes, lead = (_pattern("says_yes").match(text) for text in (expected, answer))
    details = expected[yes.end() :].strip(" .,;:") if yes else ""
    if not says and not details:
        return _UNREADABLE
    if says == {yes is None}:
        return _WRONG
    if not details:
        return _RIGHT
    rest = answer[lead.end() :] if lead else ""
    pitches = [set(read_pitches(text).values) for text in (answer, rest, details)]
    return _RIGHT if pitches[2] in pitches[:2] else _UNREADABLE


def _check_term(answer: str, expected: str) -> Checked:
    """Compare an answer with a reference that is one of a few terms; it has to name one term of a
    table.
    """
    # A term may contain a denial: "no inversion" is root position.
    text = answer if term_tables(answer) else affirmed(answer)
    for table in term_tables(expected):
        terms = find_terms(text, table)
        named = set(terms.values)
        if len(named) > 1 and _pattern("choice").search(text):
            return _SEVERAL
        is_sure = len(named) == 1 and _is_committed(terms)
        if is_sure and _pattern("is_term_end").match(terms.text, terms.spans[-1][1]):
            return _RIGHT if named == set(find_terms(expected, table).values) else _WRONG
    return _UNREADABLE


def _is_committed(extraction: Extraction) -> bool:
    """Whether no word beside the first value makes another one of it, nor offers another."""
    text = extraction.text
    first = extraction.spans[0]
    last = extraction.spans[-1]
    before = text[: first[0]][-60:]
    after = text[last[1] :][:60]
    is_turned = _pattern("is_turned_before").search(before)
    is_turned = is_turned or _pattern("is_turned_after").match(text, first[1])
    has_others = first is last and _pattern("choice").search(f"{before} {after}")
    return not is_turned and not has_others


def _compare(answer: Extraction, reference: Extraction, answer_type: str) -> Checked:
    """Compare the values of an answer and of the reference."""
    values = set(answer.values)
    expected = set(reference.values)
    if not values or not expected:
        return _UNREADABLE
    if doubt := _doubt(answer):
        return doubt
    right, met, undecided = _agreement(values, expected, answer_type)
    if right == values and met == expected:
        return _RIGHT
    if undecided:
        return _UNREADABLE
    if right:
        is_list = answer_type in _LISTS or len(expected) > 1
        return _compare_mixed(answer, right, met == expected, is_list)
    is_sure = len(values) == 1 or answer.is_pure or _opens(answer)
    return _WRONG if is_sure else _UNREADABLE


def _compare_mixed(
    answer: Extraction, right: set[Any], is_complete: bool, is_list: bool
) -> Checked:
    """Judge an answer with right values and others."""
    if answer.is_pure:
        return _WRONG if is_list else _SEVERAL
    is_first = is_complete and right == {answer.values[0]} and _opens(answer)
    # Words behind the first value may say that it is not the answer.
    turns = _pattern("turn").search(answer.text, answer.spans[0][1])
    return _RIGHT if is_first and not turns else _UNREADABLE


def _agreement(values: set[Any], expected: set[Any], answer_type: str) -> tuple[set[Any], ...]:
    """The values that are among the expected ones, the expected ones that they meet, and the values
    that only a musician can judge.
    """
    agree: _Agree = _AGREE.get(answer_type, eq)
    right = set()
    met = set()
    undecided = set()
    for value, other in product(values, expected):
        agrees = value == other or agree(value, other)
        if agrees:
            right.add(value)
            met.add(other)
        elif agrees is None:
            undecided.add(value)
    return right, met, undecided


def _doubt(answer: Extraction) -> Checked | None:
    """What an answer is that doubts its values, or offers several, or says that they are not the
    answer.
    """
    if _pattern("unsure").search(answer.text):
        return _UNREADABLE
    first = answer.spans[0]
    last = answer.spans[-1]
    if len(set(answer.values)) > 1 and _pattern("choice").search(answer.text, first[0]):
        return _SEVERAL
    if _pattern("elsewhere").search(answer.text, last[1]) or not _is_committed(answer):
        return _UNREADABLE
    return None


def _opens(answer: Extraction) -> bool:
    """Whether an answer opens with its first value."""
    return _pattern("lead").fullmatch(answer.text[: answer.spans[0][0]]) is not None


# Whether a value is the reference's all the same, if the two are not equal; None if only a musician
# can say.
_Agree = Callable[[Any, Any], bool | None]


def _agree_duration(given: Any, expected: Any) -> bool | None:
    if given[:3] != expected[:3]:
        return False
    return True if None in (given[3], expected[3]) else None


def _agree_chord(given: Any, expected: Any) -> bool | None:
    if expected[0] is None:
        return bool(given[2] == expected[2])
    if given[0] is None:
        return None if given[2] == expected[2] else False
    inversions = {given[3] or None, expected[3] or None}
    if given[:3] != expected[:3] or inversions.isdisjoint((None, -1)):
        return False
    return True if len(inversions) == 1 else None


def _agree_measures(given: Any, expected: Any) -> bool | None:
    """The first measure is enough for "starting at measure 9"."""
    is_open = isinstance(expected, tuple)
    first = given[1] if isinstance(given, tuple) else min(given)
    if first != (expected[1] if is_open else min(expected)):
        return False
    return is_open or (None if isinstance(given, tuple) else False)


_AGREE: dict[str, _Agree] = {
    "pitches": lambda given, expected: bool(expected[2] is None and given[:2] == expected[:2]),
    "duration": _agree_duration,
    "chord": _agree_chord,
    "numeral": lambda given, expected: (
        None if str(given).lower() == str(expected).lower() else False
    ),
    "cadence": lambda given, expected: (
        None if "imperfect authentic" in (given, expected) else False
    ),
    "measures": _agree_measures,
}
_AGREE["pitch"] = _AGREE["pitches"]


def answer_type_of(question: str, answer: str) -> AnswerType:
    """Return the type of an answer to a question that comes without a type.

    It is ``text`` if in doubt: a closed type needs both a question that asks for it and an answer
    that holds nothing else.

    Example:
        >>> answer_type_of("What is the initial key?",
        ...     "G minor"), answer_type_of("What is the initial key?", "Dark")
        ('key', 'text')
    """
    expected = folded(answer)
    is_none = expected.rstrip(". ").lower() == "none"
    if re.match(r"(?i)(?:yes|no)\b", expected):
        return "yes_no"
    if _pattern("asks_yes_no").match(question):
        return "yes_no" if is_none else "text"
    asked = next((name for name in _ASKED if _pattern(f"asks_{name}").search(question)), None)
    if asked in (None, "name"):
        return asked or "text"
    reading = READERS[asked](expected)
    if not is_none and not (reading.values and reading.is_pure):
        return "text"
    return "pitches" if asked == "pitch" and len(set(reading.values)) > 1 else asked


_ASKED: tuple[AnswerType, ...] = (
    "name", "clef", "metre", "number", "numeral", "pitch", "pitches", "duration", "key", "cadence",
    "chord", "measures",
)  # fmt: skip
