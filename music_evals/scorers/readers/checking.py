"""Checking an answer about a score against its reference by rule, where a rule can.

Both are read into *values* (see `pitches`, `times` and `chords` in this folder), which are compared. A rule
would rather not decide than be wrong, so that judges decide:

- A refusal is wrong. Refusals are recognised before ``None``, ``No`` or 0 is read.
- No rule decides on an answer that no rule reads, that negates ("not C major") or that hedges ("perhaps E5").
- An answer with the reference's values and no others is right; one with none of them is wrong; one that offers
  several ("E5 or F5") is wrong. With other values among explanations, an answer is right if it is short and
  opens with the value; else no rule decides.
- "None", "No", "There is none", "No accidentals" and the like meet a reference of "None", if they deny nothing but
  musical terms.

Conventions by type, besides those of the values: ``pitch``, ``pitches``: C♯5 and D♭5 are two; if the reference has
an octave, an answer without it is wrong; lists are sets. ``clef``: lists are sets. ``measures``: sets; the first
measure is enough for "starting at measure 9". ``duration``: judges decide on a note in the place of a rest.
``numeral``: judges decide on numerals that differ in case alone, because the published questions ask for capitals
whatever the chord's quality. ``text`` is for judges, except a few closed terms (inversions, textures, dynamics …).

Source: arXiv 2511.20697, section 3.3 ("V-I" and "authentic cadence"); the rules are this project's.
"""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, get_args

from music_evals.scorers.readers import Status
from music_evals.scorers.readers.chords import read_cadences, read_chords, read_numerals
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.pitches import read_keys, read_pitches
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.times import read_clefs, read_durations, read_measures, read_metres, read_numbers
from music_evals.scorers.readers.tables import pattern, load
from music_evals.scorers.readers.words import Extraction, find_terms, folded, term_tables
from music_evals.scorers.readers.choices import CORRECTION

# The form of an answer; ``text`` is anything that no rule reads.
AnswerType = Literal[
    "yes_no", "pitch", "pitches", "key", "metre", "clef", "number", "measures", "duration", "chord", "numeral",
    "cadence", "text",
]  # fmt: skip
ANSWER_TYPES: Final[tuple[AnswerType, ...]] = get_args(AnswerType)
READERS: Final[dict[str, Callable[[str], Extraction]]] = {
    "pitch": read_pitches, "pitches": read_pitches, "key": read_keys, "metre": read_metres, "clef": read_clefs,
    "number": read_numbers, "measures": read_measures, "duration": read_durations, "chord": read_chords,
    "numeral": read_numerals, "cadence": read_cadences,
}  # fmt: skip
SHORT: Final = 400  # characters up to which the first value of an answer is taken for it
Values = tuple[Any, ...]
_LISTS: Final = ("pitches", "clef", "measures", "numeral")  # types whose references may have several values


class Checked(NamedTuple):
    """How an answer reads, and whether it is right: None if no rule decides."""

    status: Status
    is_right: bool | None


_RIGHT: Final = Checked("answered", True)
_WRONG: Final = Checked("answered", False)
_SEVERAL: Final = Checked("several", False)
_UNREADABLE: Final = Checked("unreadable", None)


_NEGATION, _UNSURE, _OR, _ASIDE = (pattern("phrases", key) for key in ("negation", "unsure", "choice", "aside"))
_LABEL: Final = re.compile(
    r"(?im)^[*_#>\s-]{0,8}(?:so,? |thus,? |therefore,? )?(?:the )?(?:final |correct )?"
    r"(?:answer|antwort|r[eé]ponse|risposta|respuesta)(?: is)?[*_ ]{0,4}[:=：→] ?[*_]{0,2}"
    r"|(?:答案|答え|정답|답|ответ)(?:是|は|은|는)?[*_ ]{0,4}[:=：→] ?"
    r"|(?:答案是|答えは|정답은|답은|lautet die antwort|my answer is) ?"
)
_BOXED: Final = re.compile(r"\\boxed\s?\{((?:[^{}]|\{[^{}]{0,200}\}){0,400})\}")


def check(prediction: str, reference: str, answer_type: str) -> Checked:
    """Check an answer against the reference by the rule of its type, an `AnswerType`.

    Raises:
        ValueError: there is no such type.

    Example:
        >>> check("It is C sharp 5.", "C♯5", "pitch"), check("D♭5", "C♯5", "pitch").is_right
        (Checked(status='answered', is_right=True), False)
        >>> check("No score was provided", "None", "text"), check("Allegro", "Allegro vivace", "text")
        (Checked(status='refused', is_right=False), Checked(status='unreadable', is_right=None))
        >>> check("拍号是四分之三拍", "3/4", "metre").is_right, check("Yes and no", "Yes", "yes_no").status
        (True, 'several')
    """
    if answer_type not in ANSWER_TYPES:
        raise ValueError(f"answer_type={answer_type!r} is not valid; valid values are: {', '.join(ANSWER_TYPES)}")
    text = clean_reply(prediction)
    if not text.strip():
        return Checked("empty", False)
    in_words = answer_type in ("number", "measures", "metre")
    expected = folded(reference, numbers=in_words)
    for statement in _statements(text):
        checked = _check_statement(folded(statement, numbers=in_words), expected, answer_type)
        if checked != _UNREADABLE:
            return checked
    return _UNREADABLE


_CONCLUSION: Final = re.compile(
    r"(?is)(?:.*[.;:,!?\n)，。、；]\s*|.*므로 |^)(?:but |and )?(?:so|therefore|thus|hence|i\.e\.|that is"
    r"|making|in short|answer|the \w+(?: \w+){0,4}? (?:is|are)(?= )|it is|it's|but it is|but yes|因此|所以|故|also"
    r"|daher|donc|quindi"
    r"|por tanto|sum|total(?: is)?(?: ?=)?|altogether|together|insgesamt"
    r"|zusammen(?: also)?|en tout|in totale|resultan|итого|всего|значит|поэтому"
    r"|一?共|合计|合計|합쳐서|따라서|그러므로|i conclude that|говорят о)"
    r"(?:\b|(?<=[\u3040-\ud7a3]))[,:]? ?(?P<rest>[^.;!?\n]*[^.;!?\n\s][^;!?\n]{0,20})[.!\s]*$"
)


_JSON: Final = re.compile(
    r"""["'](?:answer|value|result|response|output)["']\s*:\s*["'\[]*([^"'\]}]+)"""
    r"""|^\W{0,9}\{\s*"\w{1,30}"\s*:\s*["\[]*([^"\]}:]+)["\]]*\s*\}\W*$"""
)


def _statements(text: str) -> Iterator[str]:
    """Where an answer may be, the surest place first.

    These are what corrects another answer, a box, a value in JSON, the text after the last label, a conclusion, the
    whole reply, its last line.
    """
    end = text[-20_000:]
    corrections = [match for match in CORRECTION.finditer(end) if end[: match.start()].strip(" *_")]
    corrections = [match for match in corrections if re.search(r"\w", end[match.end() :].partition("\n")[0])]
    labels = [*_LABEL.finditer(end)]
    if corrections and not (labels and labels[-1].start() > corrections[-1].start()):
        yield end[corrections[-1].end() :].partition("\n")[0].lstrip(" ,.:;、，–—-")
    if boxes := _BOXED.findall(end) or ["".join(values) for values in _JSON.findall(end)]:
        yield boxes[-1]
    if labels:
        yield end[labels[-1].end() :].strip() or end
    lines = [line for line in end.splitlines() if line.strip()]
    conclusion = _CONCLUSION.match(lines[-1][-SHORT:]) if lines else None
    if conclusion and conclusion.start("rest") > 12:
        yield conclusion["rest"]
    if not corrections:
        yield re.sub(r"^[\s\[({]+|[\s\])}]+$", "", text) or text
    if len(lines) > 1:
        yield lines[-1]


def _check_statement(answer: str, expected: str, answer_type: str) -> Checked:
    if not re.search(r"\w|[♩♪𝄴𝄵¢?𝄞𝄢𝄽𝄾𝄐]", answer):
        return _UNREADABLE
    if len(answer) <= SHORT and is_refusal(answer):
        return Checked("refused", False)
    read = READERS.get(answer_type)
    # "No sharps or flats, so C major" names a key.
    is_absent = is_absence(answer) and not (read and read(answer.partition(",")[2]).values)
    if expected.rstrip(". ").lower() in ("none", "there is none"):
        return _RIGHT if is_absent else _check_against_none(answer, answer_type)
    if answer_type == "yes_no":
        return _RIGHT if answer.lower() == expected.lower() else _check_yes_no(answer, expected)
    if read is None:
        return _check_term(answer, expected)
    reference = read(expected)
    if not reference.values:
        return _UNREADABLE
    if is_absent:
        return _RIGHT if answer_type == "number" and reference.values == (Fraction(0),) else _WRONG
    return _compare(read(_affirmed(answer)), reference, answer_type)


def _check_against_none(answer: str, answer_type: str) -> Checked:
    if answer_type == "yes_no":
        says = _yes_or_no(answer)
        return _SEVERAL if len(says) > 1 else _RIGHT if False in says else _WRONG if says else _UNREADABLE
    read = READERS.get(answer_type)
    return _WRONG if read and not _UNSURE.search(answer) and read(answer).values else _UNREADABLE


_DENIAL: Final = re.compile(
    r"(?i)[^,.;]{1,40}(?:보이지만|보였지만|생각했지만|に見えますが|かと思いましたが)[,、]?"
    r"|(?:zuerst dachte ich an|at first (?:glance|sight)?|i first considered|i'?d said) [^,.;]{1,30}[,;]"
    r"|[,;]? ?\(?\b(?:it is |it's |und |and |but )?(?:not|rather than|instead of|no|nicht|statt|without|kein\w*|pas"
    r"|не|ne|no es|non(?: e)?(?! troppo| tanto))\b[^,.;:)\n]{0,80}?(?:[,]? ?\b(?:but|sondern|mais|ma|sino|bensi|а)\b"
    r"|(?=[,.;:\n]|$|\bbecause\b|\bas\b)|\))"
    r"|不是[^,;.\n]{1,20}[,;] ?而?是"
    r"|[^\s,.;]{1,20} ?(?:では(?:ありません|ない|なく(?:て)?)|じゃない|[이가] ?아니(?:라|고|다)?|[이가] ?아닙니다)"
)


def _affirmed(answer: str) -> str:
    """The text without denials: "not G minor but B♭ major", "trill, not mordent"."""
    return _DENIAL.sub(" ", answer).strip()


_NOUNS, _ABSENCE_WORDS, _NOTHING, _DENIED = (
    "|".join(load("phrases")[key]) for key in ("nouns", "others", "nothing", "marked")
)
_CHINESE: Final = "|".join(load("phrases")["chinese"])
_PHRASE: Final = rf"(?:(?:{_NOUNS}|{_ABSENCE_WORDS})\b[ ,/-]{{0,2}}){{1,14}}"
_ABSENT: Final = re.compile(
    r"(?is)(?:[^\w]{0,8})(?:(?:the )?(?:final )?answer(?: is|:) ?|(?:it|this|that) is |it's )?(?:"
    rf"(?:{_NOTHING})"
    r"|(?:there (?:is|are|was|were) |there's |it has |it contains |i (?:see|find) "
    r"|(?:the|this) (?:score|piece|music|measure|bar|passage) (?:has|contains|shows) "
    r"|es gibt (?:hier )?|hier (?:gibt es|sind|ist) |il n'y a |non ci sono |non c'e |no hay )?"
    r"(?:no|not any|none|without(?: any)?|keine?[nrs]?|pas d[e' ]+|aucune?|nessun[oa']?|ningun[oa]?|alcun[oa]?|)? ?"
    rf"(?<=[a-z'] )(?:{_PHRASE})"
    rf"|there (?:is|are|was|were)(?: not|n't) (?:one|any|an?)\b ?(?:{_PHRASE})?|there (?:is|are) none\b ?(?:{_PHRASE})?"
    rf"|(?:it |they )?(?:is |are )?(?:not|n't) (?:{_DENIED})|(?:it |they )(?:is|are)n't (?:{_DENIED})"
    rf"|(?:{_PHRASE})(?:is |are )?(?:absent|(?:not|n't|never) (?:{_DENIED}))"
    rf"|(?:nicht|no|no esta|non|pas) (?:{_DENIED})"
    rf"|(?:没有?|无|未|不)(?:有|标|含|用|使用)?(?:{_CHINESE}){{0,8}}|(?:{_CHINESE}){{1,8}}(?:没有|未标)|なし|ない"
    r")(?P<tail>[ ]?[.,;:!(-].{0,300})?[. !]*"
)


def is_absence(text: str) -> bool:
    """Whether folded text says that something musical is not there; refusals have to be ruled out before."""
    match = _ABSENT.fullmatch(text)
    if not match or _ASIDE.search(match["tail"] or ""):
        return False
    # Without a word of denial a phrase says that something is there.
    return _NEGATION.search(text[: match.start("tail")] if match["tail"] else text) is not None


_ENDS: Final = (
    r"(?=\W*$|[ ]?[.,;:!?)\n(-]"
    r"|\s(?:and|but|or|because|since|as|in|at|the|this|there|it|indeed|for|because|und|et|y|e)\b)"
)
_YES_WORD, _NO_WORD = (
    rf"(?:(?:{'|'.join(load('phrases')[word])}){_ENDS}|(?:{'|'.join(load('phrases')[word+'_eastern'])}){chinese_end})"
    for word, chinese_end in (("yes", ""), ("no", r"(?=\W|$)"))
)
_SAY: Final = (
    r"[^\w]{0,8}(?:(?:the )?(?:final )?answer(?: is|:)? ?|i (?:think|believe|would say|'d say)(?: that)?:? "
    r"|(?:it|that)(?:'s| is) (?=(?:true|false|correct|incorrect|present|absent|not)\b)"
    r"|(?:is |are )(?=(?:present|not)))?"
)
_YES: Final = re.compile(
    rf"(?i){_SAY}(?:{_YES_WORD}|y\W*$|there (?:is|are) (?:one|some|several|two)\b"
    rf"|an? (?:\w+ ){{0,3}}?(?:{_NOUNS}) (?:is|are) (?:present|there|indicated|marked)\b"
    rf"|there (?:is|are|was|were) (?!no\b|not\b)(?:an? |one |some |two |\d+ )?(?:\w+ ){{0,3}}?(?:{_NOUNS})\b)"
)
_NO: Final = re.compile(rf"{_SAY}(?:{_NO_WORD}|n\W*$)", re.IGNORECASE)
_ENDING: Final = re.compile(
    r"(?:,| so| but|[:.–-])\s*(?:so |but )?(?:the answer is )?(?P<word>yes|no)\W*$", re.IGNORECASE
)
_STANDALONE: Final = re.compile(r"\b(yes|no|ja|nein|oui)\b(?=\s*(?:$|[,.;:!)]|(?:and|but|or)\b))", re.IGNORECASE)


def _yes_or_no(text: str) -> set[bool]:
    """True for a text that says yes, False for no, both where the beginnings of its lines say both."""
    if text.rstrip().endswith("?") or re.match(r"(?i)\W*(?:if|wenn|falls)\b", text):
        return set()
    if re.search("혹은|또는|言い切れ", text):
        return {True, False}
    says: set[bool] = set()
    for line in (text, *text.splitlines()[1:]):
        line = line.strip()
        if _YES.match(line):
            says.add(True)
        elif _NO.match(line) or is_absence(line):
            says.add(False)
    words = {match[1].lower() in ("yes", "ja", "oui") for match in _STANDALONE.finditer(text[:SHORT])}
    if len(says) > 1 or (says and len(words) > 1):
        return {True, False}
    if says == {False} and not is_absence(text) and _ASIDE.search(text):
        return set()
    if not says and (ending := _ENDING.search(text)):
        return {ending["word"].lower() == "yes"}
    return says if _YES.match(text) or _NO.match(text) or is_absence(text) else set()


def _check_yes_no(answer: str, expected: str) -> Checked:
    wanted, says = _yes_or_no(expected), _yes_or_no(answer)
    if len(says) > 1:
        return _SEVERAL
    yes = _YES.match(expected)
    details = expected[yes.end() :].strip(" .,;:") if yes else ""
    if details and not says and not _UNSURE.search(answer) and read_pitches(answer).values:
        says = {True}
    if len(wanted) != 1 or not says:
        return _UNREADABLE
    if wanted != says:
        return _WRONG
    # A reference that goes on ("Yes, C♯") asks for what it names.
    if not details or wanted == {False}:
        return _RIGHT
    lead, named = _YES.match(answer), read_pitches(details)
    readings = [read_pitches(text).values for text in (answer, answer[lead.end() :] if lead else answer)]
    is_named = named.values and named.is_pure and set(named.values) in map(set, readings)
    return _RIGHT if is_named else _UNREADABLE


_TERM_END: Final = re.compile(
    rf"\W*$|[ ]?[.,;:!()/\[\n-]|[ ](?:{'|'.join(load('phrases')['term_end'])})\b|[\u3040-\ud7a3]", re.IGNORECASE
)


_DENIED_AFTER: Final = re.compile(r"(?i)\W+(?:is|are|was|were|does|do|has|have)(?:n't| not)\b")


def _check_term(answer: str, expected: str) -> Checked:
    """Compare an answer with a reference that is one of a few terms; it has to name one term of a table."""
    tables = term_tables(expected)
    if "instrument" in tables:
        tables = ["instrument"]
    affirmed = _affirmed(answer)
    if _UNSURE.search(affirmed):
        return _UNREADABLE
    # A term may contain a denial: "no inversion" is root position.
    text = answer if tables and term_tables(answer) else affirmed
    for table in tables:
        terms = find_terms(text, table)
        named = set(terms.values)
        own = find_terms(answer, table)
        if any(_DENIED_AFTER.match(own.text, end) for _, end, _ in own.spans):
            return _UNREADABLE
        if len(named) > 1 and _OR.search(affirmed):
            return _SEVERAL
        if len(named) == 1 and _is_committed(terms) and _TERM_END.match(terms.text, terms.spans[-1][1]):
            return _RIGHT if named == set(find_terms(expected, table).values) else _WRONG
    return _UNREADABLE


_LEAD: Final = re.compile(
    r"(?i)[^\w#]{0,8}(?:(?:[\w'-]+ ){0,7}(?:is|are|was|at|:|=|in|ist|est|e|es) ?:? ?)?"
    r"(?:(?:in|at|the|an?|key of|clearly|most likely) ?){0,3}(?:[\w' ]{0,40}[:=] ?)?|[\u4e00-\u9fff]{0,12}[是为:]?"
)
_BEFORE, _AFTER = ("|".join(load("phrases")[f"turned_{side}"]) for side in ("before", "after"))
_TURNED_BEFORE: Final = re.compile(
    rf"(?i)(?:\b(?:{_BEFORE})\b[ -]?(?:the |la |le |an? |of |in |at |on )?(?:\w+ )?|qu'|到第?)$"
)
_TURNED_AFTER: Final = re.compile(rf"(?i)[ -](?:{_AFTER})\b|为止|之前|之后")
# A first value that another one follows with nothing but a comma or "and" between.
# What says behind a first value that it is not the answer.
_TURN: Final = re.compile(r"(?i)\b(?:but|would be|at first|resolves|becomes)\b|;")
# What says behind the last value that another thing was asked, and ahead of a value that it is not the answer.
_ELSEWHERE: Final = re.compile(
    r"(?i)\b(?:whereas|while|in question|asked|instead|previous|preceding|before|pero|aber|mais|однако)\b|하지만|但是"
)
_CONCEDED: Final = re.compile(r"(?i)\W*(?:although|though|while|whereas|obwohl|bien que|aunque|sebbene|хотя|虽然)\b")
_LIST: Final = re.compile(r"\S{1,6}(?: (?:major|minor))?\s{0,3}(?:[,;/&]|and\b|-)\s{0,3}[A-G](?:#|b)?\d?\b")


def _is_committed(extraction: Extraction) -> bool:
    """Whether no word beside the first value makes another one of it, nor offers another."""
    text, first, last = extraction.text, extraction.spans[0], extraction.spans[-1]
    if _TURNED_BEFORE.search(text[max(0, first[0] - 60) : first[0]]) or _TURNED_AFTER.match(text, first[1]):
        return False
    return len(extraction.values) > 1 or not _OR.search(f"{text[: first[0]][-60:]} {text[last[1] :][:60]}")


def _compare(answer: Extraction, reference: Extraction, answer_type: str) -> Checked:
    given_values, reference_values = _comparable(answer.values, reference.values, answer_type)
    values, expected, text = set(given_values), set(reference_values), answer.text
    if not values or _UNSURE.search(text):
        return _UNREADABLE
    start = answer.spans[0][0]
    if len(values) > 1 and _OR.search(text[start:]):
        return _SEVERAL
    if not _is_committed(answer):
        return _UNREADABLE
    is_elsewhere = not answer.is_pure and _ELSEWHERE.search(text[answer.spans[-1][1] :])
    if is_elsewhere or _CONCEDED.match(text):
        return _UNREADABLE
    if values == expected:
        return _RIGHT
    if any(_may_agree(value, other, answer_type) for value in values - expected for other in expected):
        return _UNREADABLE
    is_short = len(text) <= SHORT
    opens = is_short and _LEAD.fullmatch(text[:start]) is not None
    if not values & expected:
        return _WRONG if answer.is_pure or opens or (len(values) == 1 and is_short) else _UNREADABLE
    if answer.is_pure:
        return _WRONG if answer_type in _LISTS or len(expected) > 1 else _SEVERAL
    turns = _TURN.search(text, answer.spans[0][1]) or _ELSEWHERE.search(text, answer.spans[0][1])
    is_first = opens and expected == {given_values[0]} and not _LIST.match(text, start) and not turns
    return _RIGHT if is_first else _UNREADABLE


def _comparable(values: Values, expected: Values, answer_type: str) -> tuple[Values, Values]:
    """The values of both sides without details that the reference, or for durations either side, leaves open."""
    match answer_type:
        case "pitch" | "pitches" if all(value[2] is None for value in expected):
            values = tuple((*value[:-1], None) for value in values)
        case "duration" if any(value[3] is None for value in values + expected):
            values, expected = (tuple((*value[:-1], None) for value in side) for side in (values, expected))
        case "chord" if all(chord[0] is None for chord in expected):
            values = tuple((None, None, chord[2], None) for chord in values)
        case "chord":
            values, expected = (tuple((*chord[:3], chord[3] or None) for chord in side) for side in (values, expected))
        case "measures" if len(values) > 1 and all(isinstance(value, frozenset) for value in values + expected):
            values = (frozenset().union(*values),)
        case "measures" if any(isinstance(value, tuple) for value in expected):
            values = tuple(value if isinstance(value, tuple) else ("from", min(value)) for value in values)
    return values, expected


def _may_agree(value: Any, expected: Any, answer_type: str) -> bool:
    """Whether two values that differ may still be one answer, so that no rule decides."""
    match answer_type:
        case "numeral":
            return str(value).lower() == str(expected).lower() or "K" in f"{value}{expected}"
        case "duration":
            return bool(value[:3] == expected[:3])
        case "chord":
            is_inversion_open = value[:3] == expected[:3] and not {None, -1}.isdisjoint((value[3], expected[3]))
            return is_inversion_open or (value[0] is None and value[2] == expected[2])
        case "measures":
            first, other = (item[1] if isinstance(item, tuple) else min(item) for item in (value, expected))
            return first == other and (isinstance(value, tuple) or isinstance(expected, tuple))
        case "cadence":
            return "imperfect authentic" in (value, expected)
    return False


def answer_type_of(question: str, answer: str) -> AnswerType:
    """Return the type of an answer to a question that comes without a type.

    It is ``text`` if in doubt: a closed type needs both a question that asks for it and an answer that holds nothing
    else.

    Example:
        >>> answer_type_of("What is the initial key?", "G minor"), answer_type_of("What is the initial key?", "Dark")
        ('key', 'text')
    """
    question, expected = question.lower(), folded(answer)
    is_none = expected.rstrip(". ").lower() == "none"
    if re.match(r"(?:yes|no)\b", expected, re.IGNORECASE):
        return "yes_no"
    if re.match(r"(?:(?:in|between) measures? [\d\W]{1,12})?(?:is|are|does|do)\b", question):
        return "yes_no" if is_none else "text"
    words_by_type: dict[AnswerType, list[str]] = {k.removeprefix("asks_"): v for k, v in load("phrases").items() if k.startswith("asks_")}
    for answer_type, words in words_by_type.items():
        if any(word in question for word in words):
            reading = READERS[answer_type](expected)
            is_list = answer_type == "pitch" and not is_none and len(set(reading.values)) > 1
            is_read = is_none or (reading.values and reading.is_pure)
            return "text" if not is_read else "pitches" if is_list else answer_type
    return "text"
