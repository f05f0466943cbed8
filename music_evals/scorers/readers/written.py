"""Reading the answers to questions on a written score: a number, an option's index, an order, or some measures.

Two readings, by protocol:

- ``strict``: the reply says the answer and nothing else, in the form that was asked for or in another plain one. White
  space, a label ``Answer:`` ahead, Markdown's ``*``, ``_`` and backticks around it, and one full stop behind it do not
  count. The forms are: a number in digits; one of the indices 0 to 3; four digits that name each of the indices 0 to 3
  once; the numbers of measures with single spaces between them, or ``none``. Plain besides are units (``24 measures``),
  brackets, ``\\boxed{}``, commas, arrows, an option's text behind its index, "no errors", and a number in words.
- ``paper``: the reading of the authors' code. An index is the first character 0 to 3, also of ``10``; a number of
  measures is the first run of digits; an order and the wrong measures are the longest run (the first of equally long
  runs), so that ``3 7 12`` reads as ``12``, against the paper's own form. Leading zeros stay: ``024`` is not ``24``. A
  reply without digits names no measure.

If a model was to reason first (`reasoned`), both read only the text after the last ``Answer:`` that begins a line, or
the whole reply if no line begins so. ``strict`` ignores thinking ahead of ``</think>``; ``paper`` reads it.

Source: arXiv 2606.08722, section 3.2 and Table 1 (forms), and its code (https://github.com/CSCPadova/lilybench); the
strict reading is this project's.
"""

import re
import unicodedata
from functools import partial
from typing import Final, Literal, NamedTuple

from music_evals.scorers.readers import Status
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.tables import Match, pattern
from music_evals.scorers.readers.words import in_digits

Protocol = Literal["strict", "paper"]

MAX_REPLY: Final = 20_000  # characters of a reply that are read
MAX_DIGITS: Final = 50  # digits of a run that the paper's reading keeps, more than any right answer has
MAX_LINE: Final = 2_000  # characters of a line that are read
END: Final = 1_500  # characters of a reply's end that are read first
NONE: Final = "none"  # the answer that no measure is wrong

_AROUND: Final = "*_` \t\r\n"
_LABEL: Final = re.compile(r"[*_`#>\t ]{0,8}(?:final )?answer[*_` ]{0,4}:[*_`\t ]{0,8}", re.IGNORECASE)
_LABEL_OF_LINE: Final = re.compile(rf"(?m)^{_LABEL.pattern}", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d+")  # of any script, as published


class _Kind(NamedTuple):
    """A kind of answer: its name in `written.toml`, the form that was asked for, and the runs that the paper takes."""

    name: str
    form: re.Pattern[str]
    runs: re.Pattern[str]
    taken: Literal["first", "longest"]


_INDICES: Final = re.compile("[0-3]")
_NUMBER: Final = _Kind("number", re.compile("[0-9]{1,6}"), _DIGITS, "first")
_INDEX: Final = _Kind("index", _INDICES, _INDICES, "first")
_ORDER: Final = _Kind("order", re.compile(r"(?!.*(.).*\1)[0-3]{4}"), _DIGITS, "longest")
_MEASURES: Final = _Kind("measures", re.compile("[0-9]{1,6}(?: [0-9]{1,6}){0,999}|(?i:none)"), _DIGITS, "longest")
_WRAPPED: Final = re.compile(
    r"\\(?:boxed|text)\s?\{([^{}]{0,200})\}|<answer>([^<>]{0,200})</answer>"
    r"|(?:```\w{0,9}\s*)?\{\s*\"\w{1,30}\"\s*:\s*[\"\[]{0,2}([^{}\"\]]{0,200})[\"\]]{0,2}\s*\}(?:\s*```)?|[$]"
)
_ASIDE: Final = re.compile(r"(?<=\S) ?\((?![0-9], ?[0-9])[^()\n]{2,80}\)")
_JOINED: Final = re.compile("10|[0-9]")
_ALONE: Final = re.compile("(?<![0-9])[0-9]{1,6}(?![0-9])")


class Answer(NamedTuple):
    """The answer in plain form (``12``, ``2``, ``3102``, ``4 7`` or ``none``), and the rule that found it.

    `in_form` says whether the reply has the form that the strict reading requires.
    """

    status: Status
    text: str | None
    in_form: bool
    rule: str = ""


def read_number(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False, is_cut: bool = False) -> Answer:
    """Read a number in digits; the strict reading drops leading zeros.

    Example:
        >>> read_number("024"), read_number("24 or 25").status, read_number("About 024 measures.", "paper").text
        (Answer(status='answered', text='24', in_form=True, rule='the whole reply'), 'several', '024')
    """
    return _read(reply, protocol, reasoned, is_cut, _NUMBER)


def read_index(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False, is_cut: bool = False) -> Answer:
    """Read the index of an option, 0 to 3, as a digit.

    Example:
        >>> read_index("Answer: 2").text, read_index("2: G major").text, read_index("2 or 3").text
        ('2', '2', None)
    """
    return _read(reply, protocol, reasoned, is_cut, _INDEX)


def read_order(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False, is_cut: bool = False) -> Answer:
    """Read an order of the options as four digits; by the paper's reading it may be none, such as ``0012`` or ``7``.

    Example:
        >>> read_order("2031").text, read_order("2011").text, read_order("It is 2011.", "paper").text
        ('2031', None, '2011')
    """
    return _read(reply, protocol, reasoned, is_cut, _ORDER)


def read_measures(
    reply: str, protocol: Protocol = "strict", *, reasoned: bool = False, joined: bool = False, is_cut: bool = False
) -> Answer:
    """Read the numbers of measures, each once and ascending, or ``none``; `measures_of` returns them as integers.

    The paper's reading has one number at most. If measures are `joined`, as in ``2510``, each of its digits is a
    measure, and 10 is one.

    Example:
        >>> read_measures("7 4").text, read_measures("None.").text, read_measures("bars 3 and 15", "paper").text
        ('4 7', 'none', '15')
    """
    answer = _read(reply, protocol, reasoned, is_cut, _MEASURES)
    if not joined or answer.text in (None, NONE):
        return answer
    digits = "".join(str(int(digit)) for digit in str(answer.text))
    return answer._replace(text=" ".join(sorted(set(_JOINED.findall(digits)), key=int)))


def read_all_measures(reply: str, *, reasoned: bool = False, joined: bool = False) -> frozenset[int]:
    """Read every number in a reply, or every digit if measures are joined, as a measure; see `read_measures`.

    Example:
        >>> sorted(read_all_measures("<think>4?</think>Bars 3 and 15."))
        [3, 15]
    """
    stated = _stated(clean_reply(reply), reasoned)[:MAX_REPLY]
    return frozenset(map(int, (_JOINED if joined else _ALONE).findall(stated)))


def measures_of(answer: str) -> frozenset[int]:
    """Return the measures that an answer of `read_measures`, or a right answer, names; ValueError for another text."""
    try:
        return frozenset(int(number) for number in answer.split(" ") if answer != NONE)
    except ValueError:
        raise ValueError(f"{answer[:80]!r} names no measures; numbers with single spaces, or none, are") from None


_pattern: Final = partial(pattern, "written")


def _read(reply: str, protocol: Protocol, reasoned: bool, is_cut: bool, kind: _Kind) -> Answer:
    text = clean_reply(reply)
    stated = _stated(text, reasoned)
    bare = _bare(stated, reasoned)
    in_form = kind.form.fullmatch(bare) is not None
    rule = "the whole reply" if stated == text else "what follows the last “Answer:”"
    if protocol == "strict":
        answer = _strict(text, kind, is_cut)
    else:
        # The published code does not read ``none``, so that the strict reading of it stays.
        answer = NONE if in_form else None
        if digits := kind.runs.findall(_stated(reply, reasoned).strip()[:MAX_REPLY]):
            answer = (digits[0] if kind.taken == "first" else max(digits, key=len))[:MAX_DIGITS]
            rule = f"the {kind.taken} {'digit 0 to 3' if kind is _INDEX else 'run of digits'} in {rule}"
    if answer is not None:
        return Answer("answered", answer, in_form, rule)
    return Answer(_status(stated, bare), None, False, rule)


def _status(stated: str, bare: str) -> Status:
    """How a reply reads that gives no answer."""
    if not stated.strip():
        return "empty"
    if _pattern("several").fullmatch(bare):
        return "several"
    return "refused" if is_refusal(bare or stated) else "unreadable"


def _strict(text: str, kind: _Kind, is_cut: bool) -> str | None:
    """The answer behind the last label; without a label, of the whole reply, its first line or its conclusion."""
    lines = _lines(text)
    labels = [number for number, line in enumerate(lines) if _pattern("label").match(line)]
    is_first = bool(lines) and kind.form.fullmatch(lines[0]) is not None
    if labels:
        own = lines[labels[-1] :]
        own[0] = _trimmed(_pattern("label").sub("", own[0], count=1))
        # A base model goes on with questions of its own.
        return None if is_first else _first(own[own[0] == "" :], kind)
    if is_cut or not lines:
        return None
    if is_first or len(lines) == 1:
        return _first(lines, kind)
    is_only = not any(_plain(line, kind) for line in lines[:-1]) and bool(kind.form.fullmatch(lines[-1]))
    return _plain(lines[-1], kind) if is_only or _pattern("conclusion").match(lines[-1]) else None


def _lines(text: str) -> list[str]:
    """The lines of a reply, without what is wrapped around an answer or a line."""
    folded = unicodedata.normalize("NFKC", text[-MAX_REPLY:])[-2 * MAX_REPLY :]
    unwrapped = _WRAPPED.sub(lambda wrap: next(filter(None, wrap.groups()), "[]" if "{" in wrap[0] else ""), folded)
    return [line for line in map(_trimmed, unwrapped.splitlines()) if line]


def _trimmed(line: str) -> str:
    return line.strip(_AROUND).removesuffix(".").strip(_AROUND + '"“”。')


def _first(lines: list[str], kind: _Kind) -> str | None:
    """The answer in the first line, where the lines below explain it and say no other."""
    if any(_pattern("taken_back").search(line) or _plain(line, kind) for line in lines[1:]):
        return None
    return _plain(lines[0], kind) if lines else None


def _plain(line: str, kind: _Kind) -> str | None:
    """The answer that a line says in a plain form, or in a sentence that names one and does not doubt it."""
    text = line[:MAX_LINE]
    if kind is _NUMBER and not re.search(r"\d", text):
        text = in_digits(text)
    bare = _ASIDE.sub("", text)
    match = _pattern(kind.name).fullmatch(bare)
    if not match and not _pattern("doubt").search(bare):
        match = _pattern(f"{kind.name}_sentence").fullmatch(text)
    return _in_form(match, kind) if match else None


def _in_form(match: Match, kind: _Kind) -> str | None:
    """The answer in the form that was asked for."""
    if match.lastgroup in ("none", "denied"):
        return None if is_refusal(match.string) else NONE
    text = next(filter(None, match.groupdict().values()))
    if kind is _ORDER:
        order = "".join(_INDICES.findall(text))
        return order if kind.form.fullmatch(order) else None
    spans = re.sub(r"([0-9]{1,5}) ?(?:to|through|bis|à|[-–~]) ?([0-9]{1,5})", _listed, text)
    numbers = {int(number) for number in re.findall("[0-9]+", spans)}
    return " ".join(map(str, sorted(numbers))) or None


def _listed(span: Match) -> str:
    first, last = int(span[1]), int(span[2])
    return " ".join(map(str, range(first, min(last, first + 999) + 1))) if last > first else "-"


def _bare(stated: str, reasoned: bool) -> str:
    """The answer without what does not count around it; nothing where it is too long for an answer."""
    text = stated.strip(_AROUND)
    if len(text) > MAX_REPLY:
        return ""
    if not reasoned and (label := _LABEL.match(text)):
        text = text[label.end() :]
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND)


def _stated(text: str, reasoned: bool) -> str:
    """The whole reply, or the text after its last label if the model was to reason first."""
    end = text[-MAX_REPLY:]
    labels = [*_LABEL_OF_LINE.finditer(end)] if reasoned else []
    return end[labels[-1].end() :] if labels else text
