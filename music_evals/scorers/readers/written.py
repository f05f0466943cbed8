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
from typing import Final, Literal, NamedTuple

from music_evals.scorers.readers import Status
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.words import in_digits

Protocol = Literal["strict", "paper"]

MAX_REPLY: Final = 20_000  # characters of a reply that are read
MAX_DIGITS: Final = 50  # digits of a run that the paper's reading keeps, more than any right answer has
NONE: Final = "none"  # the answer that no measure is wrong

_LABEL: Final = re.compile(r"[*_`#>\t ]{0,8}(?:final )?answer[*_` ]{0,4}:[*_`\t ]{0,8}", re.IGNORECASE)
_AROUND: Final = "*_` \t\r\n"
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_INDEX: Final = re.compile("[0-3]")
_ORDER: Final = re.compile(r"(?!.*(.).*\1)[0-3]{4}")
_MEASURES: Final = re.compile(r"[0-9]{1,6}(?: [0-9]{1,6}){0,999}|(?i:none)")
_NOUN: Final = (
    r"(?:measures?|mm?\.|bars?|takte?n?|mesures?|compase?s?|misur[ae]|battut[ae]"
    r"|小节|小節(?:です)?|마디(?:입니다)?|такт(?:ов|а|ы)?)"
)
_BEFORE: Final = (
    r"(?:(?:the |final )*(?:answer|total|antwort|réponse"
    r"|risposta|respuesta|答案|答え|정답|ответ)(?: is|是)? ?[:：]? ?)?"
)
_COUNTED: Final = (
    r"(?:(?:it|the (?:score|piece|music)|this (?:score|piece)|there) (?:has|is|are|contains) "
    r"|(?:the )?number of \S{1,20}(?: is|:) |es sind "
    r"|il y a |ci sono |hay |一?共有?|只有|just |only )?"
)
_WRAPPED: Final = re.compile(
    r"\\(?:boxed|text)\s?\{([^{}]{0,200})\}|<answer>([^<>]{0,200})</answer>"
    r"|(?:```\w{0,9}\s*)?\{\s*\"\w{1,30}\"\s*:\s*[\"\[]{0,2}([^{}\"\]]{0,200})[\"\]]{0,2}\s*\}(?:\s*```)?|[$]"
)
_PLAIN: Final = {
    _NUMBER: re.compile(
        rf"(?i){_BEFORE}(?:{_COUNTED}|{_NOUN} ?[:=] ?|[^\n=]{{1,60}}= ?)[(\[{{]?(?P<answer>[0-9]{{1,6}})"
        rf"(?:\.0)?[)\]}}]?"
        rf" ?(?:full |complete )?{_NOUN}?(?: in (?:this|the) (?:score|piece|music)| in total| long)?"
    ),
    _INDEX: re.compile(
        rf"(?i){_BEFORE}(?:the )?(?:correct |right )?"
        r"(?:(?:option|index|choice|candidate|fragment|选项|選択肢)(?: is)?:? ?|#)?"
        r"[(\[{]?(?P<answer>[0-3])[)\]}]?(?: is (?:the )?(?:best|right|correct)[^\n0-9]{0,40}"
        r"| ?[:.)–-] [^\n0-9]{1,200})?"
    ),
    _ORDER: re.compile(
        rf"(?i){_BEFORE}(?:(?:the )?(?:correct |right )?(?:order|正确顺序|reihenfolge)(?: is| ist|是)?:? ?)?"
        r"(?P<answer>[(\[{]?(?:(?:segment|fragment|part)s? ?)?"
        r"[0-3](?:(?:[\s,;、<>→–-]|\\to|then|and|segment|fragment)*[0-3]){3}[)\]}]?)"
    ),
    _MEASURES: re.compile(
        rf"(?i){_BEFORE}(?:(?:the )?(?:wrong )?{_NOUN}(?: numbers?)? ?:? ?)?(?:[(\[{{](?! ?[)\]}}])|第)?"
        rf"(?P<answer>[0-9]{{1,6}}(?:(?:,? ?(?:and|und|et|y|e|和|to|through|-|–) ?|[,;&、] ?| )"
        rf"{_NOUN}? ?第?[0-9]{{1,6}}){{0,99}})"
        rf"[)\]}}]?(?: ?{_NOUN})?(?: (?:is|are) wrong)?|(?P<none>(?:there are )?no (?:errors?|wrong measures?|mistakes?"
        r"|measures?(?: (?:is|are) wrong| (?:has|contains) (?:an |any )?errors?)?)"
        r"|all measures are (?:correct|right|fine)"
        r"|none of (?:them|the measures)(?: (?:is|are) wrong)?|\[\s*\]|没有错误|keine fehler"
        r"|aucune(?: erreur)?|ningun[oa]|нет ошибок)"
    ),
}
"""Form → other plain forms of the same answer."""
_JOINED: Final = re.compile("10|[0-9]")
_ALONE: Final = re.compile("(?<![0-9])[0-9]{1,6}(?![0-9])")
_DIGITS: Final = re.compile(r"\d+")  # of any script, as published
_TAKEN_BACK: Final = re.compile(
    r"(?im)\b(?:wait|correction|actually|sorry|rather|(?:that|this)(?:'s| is| was) wrong)\b|^(?:or|no)\b|不对|更正"
)
_SEVERAL: Final = re.compile(
    r"(?i)(?:either )?(?:[0-9]{1,6}|none)(?:(?: or )(?:[0-9]{1,6}|none)){1,9}|[0-9]{4}/[0-9]{4}"
    r"|(?:between )?[0-9]{2,6}(?: and | to | ?[-–] ?)[0-9]{2,6}|[0-3]/[0-3]"
)


class Answer(NamedTuple):
    """The answer in plain form (``12``, ``2``, ``3102``, ``4 7`` or ``none``), and the rule that found it.

    `in_form` says whether the reply has the form that the strict reading requires.
    """

    status: Status
    text: str | None
    in_form: bool
    rule: str = ""


def read_number(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read a number in digits; the strict reading drops leading zeros.

    Example:
        >>> read_number("024"), read_number("24 or 25").status, read_number("About 024 measures.", "paper").text
        (Answer(status='answered', text='24', in_form=True, rule='the whole reply'), 'several', '024')
    """
    return _read(reply, protocol, reasoned, _NUMBER, "first")


def read_index(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read the index of an option, 0 to 3, as a digit.

    Example:
        >>> read_index("Answer: 2").text, read_index("2: G major").text, read_index("2 or 3").text
        ('2', '2', None)
    """
    return _read(reply, protocol, reasoned, _INDEX, "first")


def read_order(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read an order of the options as four digits; by the paper's reading it may be none, such as ``0012`` or ``7``.

    Example:
        >>> read_order("2031").text, read_order("2011").text, read_order("It is 2011.", "paper").text
        ('2031', None, '2011')
    """
    return _read(reply, protocol, reasoned, _ORDER, "longest")


def read_measures(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False, joined: bool = False) -> Answer:
    """Read the numbers of measures, each once and ascending, or ``none``; `measures_of` returns them as integers.

    The paper's reading has one number at most. If measures are `joined`, as in ``2510``, each of its digits is a
    measure, and 10 is one.

    Example:
        >>> read_measures("7 4").text, read_measures("None.").text, read_measures("bars 3 and 15", "paper").text
        ('4 7', 'none', '15')
    """
    answer = _read(reply, protocol, reasoned, _MEASURES, "longest")
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


def _read(
    reply: str, protocol: Protocol, reasoned: bool, form: re.Pattern[str], taken: Literal["first", "longest"]
) -> Answer:
    """Read the answer if it has the form; under ``paper``, the first or longest run of digits, or the first index."""
    text = clean_reply(reply)
    stated = _stated(text, reasoned)
    bare = _bare(stated, reasoned)
    in_form = form.fullmatch(bare) is not None
    answer = bare.lower() if in_form else None
    if protocol == "strict" and not in_form:
        answer = _plain(bare, form) or (_explained(stated, form) if not reasoned else None)
    if answer and answer != NONE and form is not _ORDER:
        answer = " ".join(map(str, sorted({int(number) for number in answer.split(" ")})))
    rule = "the whole reply" if stated == text else "what follows the last “Answer:”"
    runs = form if form is _INDEX else _DIGITS
    # The published code does not read ``none``, so that the strict reading of it stays.
    if protocol == "paper" and (digits := runs.findall(_stated(reply, reasoned).strip()[:MAX_REPLY])):
        answer = (digits[0] if taken == "first" else max(digits, key=len))[:MAX_DIGITS]
        rule = f"the {taken} {'digit 0 to 3' if form is _INDEX else 'run of digits'} in {rule}"
    if answer is not None:
        return Answer("answered", answer, in_form, rule)
    if not stated.strip():
        return Answer("empty", None, False, rule)
    if _SEVERAL.fullmatch(bare):
        return Answer("several", None, False, rule)
    return Answer("refused" if is_refusal(bare or stated) else "unreadable", None, False, rule)


def _explained(stated: str, form: re.Pattern[str]) -> str | None:
    """The answer in the line of the last label, where the lines below explain it and say no other."""
    if not _LABEL.match(stated.strip(_AROUND)):
        return None
    first, _, rest = _bare(_stated(stated, reasoned=True), reasoned=True).partition("\n")
    is_taken_back = _TAKEN_BACK.search(rest) or any(_plain(line, form) for line in rest.splitlines())
    return None if is_taken_back else _plain(first, form)


def _plain(bare: str, form: re.Pattern[str]) -> str | None:
    """The answer of a reply in a plain form that was not asked for."""
    text = _WRAPPED.sub(lambda wrap: next(filter(None, wrap.groups()), "[]" if "{" in wrap[0] else ""), bare)
    text = re.sub(r"(?<=\d)小节和第(?=\d)", ",", text.strip(_AROUND + '.。"“”'))
    match = _PLAIN[form].fullmatch(in_digits(text) if form is _NUMBER and not re.search(r"\d", text) else text)
    if match is None:
        return None
    if match.groupdict().get("none"):
        return NONE
    if form is _ORDER:
        answer = "".join(re.findall("[0-3]", match["answer"]))
    else:
        spans = re.sub(r"([0-9]{1,5}) ?(?:to|through|[-–]) ?([0-9]{1,5})", _listed, match["answer"])
        answer = " ".join(re.findall("[0-9]+", spans))
    return answer if form.fullmatch(answer) else None


def _listed(span: re.Match[str]) -> str:
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
    if not reasoned:
        return text
    end = text[-MAX_REPLY:]
    # The first line of a long reply's end may be cut.
    place = end.find("\n") + 1 if len(text) > MAX_REPLY else 0
    answer = text
    for line in end[place:].splitlines(keepends=True):
        if label := _LABEL.match(line):
            answer = end[place + label.end() :]
        place += len(line)
    return answer
