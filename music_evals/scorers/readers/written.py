"""Reading the answers to questions on a written score: a number, an option's index, an order, or
some measures.

Two readings, by protocol:

- ``strict``: the reply says the answer and nothing else, in the form that was asked for or in
  another plain one. White space, a label ``Answer:`` ahead, Markdown's ``*``, ``_`` and backticks
  around it, and one full stop behind it do not count. The forms are: a number in digits; one of the
  indices 0 to 3; four digits that name each of the indices 0 to 3 once; the numbers of measures
  with single spaces between them, or ``none``. Plain besides are units (``24 measures``), brackets,
  ``\\boxed{}``, commas, arrows, an option's text behind its index, "no errors", and a number in
  words.
- ``paper``: the reading of the authors' code. An index is the first character 0 to 3, also of
  ``10``; a number of measures is the first run of digits; an order and the wrong measures are the
  longest run (the first of equally long runs), so that ``3 7 12`` reads as ``12``, against the
  paper's own form. Leading zeros stay: ``024`` is not ``24``. A reply without digits names no
  measure.

If a model was to reason first (`reasoned`), both read only the text after the last ``Answer:`` that
begins a line, or the whole reply if no line begins so. ``strict`` ignores thinking ahead of
``</think>``; ``paper`` reads it.

Source: arXiv 2606.08722, section 3.2 and Table 1 (forms), and its code
(https://github.com/CSCPadova/lilybench); the strict reading is this project's.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from music_evals.scorers.readers import Status
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.patterns import Match, pattern
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.times import measure_numbers
from music_evals.scorers.readers.words import in_digits

Kind = Literal["number", "index", "order", "measures"]
Protocol = Literal["strict", "paper"]

MAX_REPLY = 20_000  # characters of a reply that are read
MAX_DIGITS = 50  # digits of a run that the paper's reading keeps, more than any right answer has
MAX_LINE = 2_000  # characters of a line that are read
END = 1_500  # characters of a reply's end that are read first
NONE = "none"  # the answer that no measure is wrong

_RUNS = {
    "number": "first run of digits",
    "index": "first digit 0 to 3",
    "order": "longest run of digits",
    "measures": "longest run of digits",
}
"""What the paper's code takes for the answer."""
_AROUND = "*_` \t\r\n"
_pattern = partial(pattern, "written")


class Answer(NamedTuple):
    """The answer in plain form (``12``, ``2``, ``3102``, ``4 7`` or ``none``), and the rule that
    found it.

    `in_form` says whether the reply has the form that the strict reading requires.
    """

    status: Status
    text: str | None
    in_form: bool
    rule: str = ""


def read_answer(
    kind: Kind,
    reply: str,
    protocol: Protocol = "strict",
    *,
    reasoned: bool = False,
    joined: bool = False,
) -> Answer:
    """Read an answer of a kind.

    A number is in digits, without leading zeros by the strict reading; an index is a digit, 0 to 3;
    an order has four digits, and by the paper's reading may be none, such as ``0012`` or ``7``.
    Measures are numbers, each once and ascending, or ``none``; `measures_of` returns them as
    integers. The paper's reading has one number at most. If measures are `joined`, as in ``2510``,
    each of its digits is a measure, and 10 is one.

    Example:
        >>> read_answer("number", "024"), read_answer("number", "24 or 25").status
        (Answer(status='answered', text='24', in_form=True, rule='the whole reply'), 'several')
        >>> read_answer("number", "About 024 measures.", "paper").text, read_answer("index",
        ...     "2: G major").text
        ('024', '2')
        >>> read_answer("order", "2031").text, read_answer("order", "It is 2011.", "paper").text
        ('2031', '2011')
        >>> read_answer("measures", "7 4").text, read_answer("measures", "bars 3 and 15",
        ...     "paper").text, read_answer("measures", "2510", joined=True).text
        ('4 7', '15', '2 5 10')
    """
    text = clean_reply(reply)
    stated = _stated(text, reasoned)
    bare = _bare(stated)
    in_form = _is_in_form(bare, kind)
    rule = "the whole reply" if stated == text else "what follows the last “Answer:”"
    if protocol == "strict":
        answer = _strict(text, kind)
    elif run := _published_run(kind, _stated(reply, reasoned)):
        answer = run
        rule = f"the {_RUNS[kind]} in {rule}"
    else:
        # The published code does not read ``none``, so that the strict reading of it stays.
        answer = NONE if in_form else None
    if joined and answer and answer.isdecimal():
        named = _pattern("joined").findall("".join(str(int(digit)) for digit in answer))
        answer = " ".join(sorted({*named}, key=int))
    if answer is not None:
        return Answer("answered", answer, in_form, rule)
    return Answer(_status(stated, bare), None, False, rule)


def read_option(reply: str, options: Sequence[str], answer: Answer) -> Answer:
    """Compare an index with the texts of options that a reply names, in one line that may be
    repeated.

    The text alone is an answer, and an index with the text of another option is several.

    Example:
        >>> options = ["Joseph Haydn", "Clara Schumann"]
        >>> replies = ("It is by Clara Schumann.", "1: Joseph Haydn", "1: Clara Schumann")
        >>> [read_option(reply, options, read_answer("index", reply)).text for reply in replies]
        ['1', None, '1']
    """
    lines = {line.strip() for line in clean_reply(reply).splitlines()} - {""}
    line = min(lines, default="")
    if len(lines) != 1 or len(line) > MAX_LINE or _pattern("doubt").search(line):
        return answer
    texts = [_words(option.rpartition(": ")[2]) for option in options]
    # A text of one character may be an index.
    named = {
        str(place) for place, text in enumerate(texts) if len(text) > 3 and text in _words(line)
    }
    if len(named) != 1 or answer.status not in ("answered", "unreadable"):
        return answer
    place = named.pop()
    rest = _words(line).replace(texts[int(place)], " ", 1)
    if {*re.findall("[0-9]+", rest), answer.text or place} != {place}:
        return Answer("several", None, False, "an index and another option")
    return Answer("answered", place, False, "the text of an option")


def _words(text: str) -> str:
    """The words of a text, each with a space at both ends."""
    return re.sub(r"[\W_ʻʼ]+", " ", f" {text.casefold()} ")


def read_all_measures(
    reply: str, *, reasoned: bool = False, joined: bool = False
) -> frozenset[int]:
    """Read every number in a reply, or every digit if measures are joined, as a measure; see
    `read_answer`.

    Example:
        >>> sorted(read_all_measures("<think>4?</think>Bars 3 and 15."))
        [3, 15]
    """
    stated = _stated(clean_reply(reply), reasoned)[:MAX_REPLY]
    return frozenset(map(int, _pattern("joined" if joined else "lone").findall(stated)))


def measures_of(answer: str) -> frozenset[int]:
    """Return the measures that an answer of measures, or a right answer, names; ValueError
    for another text.
    """
    try:
        return frozenset(int(number) for number in answer.split(" ") if answer != NONE)
    except ValueError:
        raise ValueError(
            f"{answer[:80]!r} names no measures; numbers with single spaces, or none, are"
        ) from None


def _is_in_form(text: str, kind: Kind) -> bool:
    """Whether a text is an answer in the form that was asked for."""
    return _pattern(f"{kind}_form").fullmatch(text) is not None


def _published_run(kind: Kind, stated: str) -> str:
    """The run of digits that the paper's code takes for the answer; empty without any."""
    runs = _pattern(f"{kind}_run").findall(stated.strip()[:MAX_REPLY])
    if _RUNS[kind].startswith("longest"):
        runs.sort(key=len, reverse=True)
    return "".join(runs[:1])[:MAX_DIGITS]


def _status(stated: str, bare: str) -> Status:
    """How a reply reads that gives no answer."""
    if not stated.strip():
        return "empty"
    if _pattern("several").fullmatch(bare):
        return "several"
    return "refused" if is_refusal(bare or stated) else "unreadable"


def _strict(text: str, kind: Kind) -> str | None:
    """The answer behind the last label; without a label, of the whole reply, its first line or its
    conclusion.
    """
    lines = _lines(text)
    labels = [number for number, line in enumerate(lines) if _pattern("label").match(line)]
    is_first = lines != [] and _is_in_form(lines[0], kind)
    if labels and is_first:
        return None  # a base model goes on with questions of its own
    if labels:
        label, *below = lines[labels[-1] :]
        value = _trimmed(_pattern("label").sub("", label, count=1))
        return _first_answer([value, *below] if value else below, kind)
    if is_first or len(lines) < 2:
        return _first_answer(lines, kind)
    *others, last = lines
    if _pattern("conclusion").match(last):
        return _answer_of_line(last, kind)
    has_others = any(_answer_of_line(line, kind) for line in others)
    return _answer_of_line(last, kind) if _is_in_form(last, kind) and not has_others else None


def _first_answer(lines: list[str], kind: Kind) -> str | None:
    """The answer in the first line, where the lines below explain it and say no other."""
    for line in lines[1:]:
        if _pattern("taken_back").search(line) or _answer_of_line(line, kind):
            return None
    return _answer_of_line(lines[0], kind) if lines else None


def _lines(text: str) -> list[str]:
    """The lines of a reply, without what is wrapped around an answer or a line."""
    folded = unicodedata.normalize("NFKC", text[-MAX_REPLY:])[-2 * MAX_REPLY :]
    unwrapped = _pattern("wrapped").sub(
        lambda wrap: next(filter(None, wrap.groups()), "[]" if "{" in wrap[0] else ""), folded
    )
    return [line for line in map(_trimmed, unwrapped.splitlines()) if line]


def _trimmed(line: str) -> str:
    return line.strip(_AROUND).removesuffix(".").strip(_AROUND + '"“”。')


def _answer_of_line(line: str, kind: Kind) -> str | None:
    """The answer that a line says in a plain form, or in a sentence that names one and does not
    doubt it.
    """
    text = line[:MAX_LINE]
    if kind == "number":
        text = in_digits(text)
    bare = _pattern("aside").sub("", text)
    match = _pattern(kind).fullmatch(bare)
    if not match and not _pattern("doubt").search(bare):
        match = _pattern(f"{kind}_sentence").fullmatch(text)
    return _in_form(match, kind) if match else None


def _in_form(match: Match, kind: Kind) -> str | None:
    """The answer in the form that was asked for."""
    if match.lastgroup in ("none", "denied"):
        return None if is_refusal(match.string) else NONE
    text = match[str(match.lastgroup)]
    if kind == "order":
        order = "".join(re.findall("[0-3]", text))
        return order if _is_in_form(order, kind) else None
    if kind == "measures":
        return " ".join(map(str, sorted(measure_numbers(text, least=0) or ()))) or None
    return str(int(text))


def _bare(stated: str) -> str:
    """The answer without what does not count around it."""
    text = stated.strip(_AROUND)
    if label := _pattern("answer_label").match(text):
        text = text[label.end() :].strip(_AROUND)
    return text.removesuffix(".").strip(_AROUND)


def _stated(text: str, reasoned: bool) -> str:
    """The whole reply, or the text after its last label if the model was to reason first."""
    end = text[-MAX_REPLY:]
    labels = list(_pattern("answer_line").finditer(end)) if reasoned else []
    return end[labels[-1].end() :] if labels else text
