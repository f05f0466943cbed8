"""Checking an answer about a score against its reference by rule, where a rule can.

Both are read into *values* (see `pitches`, `times` and `chords` in this folder), which are compared. A rule
would rather not tell than be wrong, so that judges decide:

- A refusal is wrong, and it is looked for before ``None``, ``No`` or 0 is read.
- What no rule reads is not told; nor is an answer that negates ("not C major") or hedges ("perhaps E5").
- An answer with the reference's values and no others is right; one with none of them is wrong; one that offers
  several ("E5 or F5") is wrong. With other values among explanations, an answer is right if it is short and
  opens with the value, and else is not told.
- A reference of "None" is met by "None", "No", "There is none", "No accidentals" and the like, where nothing
  but musical terms is said to be absent.

Conventions by type, besides those of the values: ``pitch``, ``pitches``: C♯5 and D♭5 are two; where the
reference has an octave, an answer without it is wrong; lists are sets. ``clef``: lists are sets. ``measures``:
sets; "starting at measure 9" is known by its beginning. ``duration``: a note is not a rest, which is left to
judges. ``numeral``: numerals that differ in case alone are left to judges, because the published questions ask
for capitals whatever the chord's quality. ``text`` is for judges, save a few closed terms (inversions,
textures, dynamics …).

Source: arXiv 2511.20697, section 3.3 ("V-I" and "authentic cadence"); the rules are this project's.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Final, Literal, NamedTuple, get_args

from music_evals.scorers.readers import Status, without_thinking
from music_evals.scorers.readers.chords import read_cadences, read_chords, read_numerals
from music_evals.scorers.readers.pitches import read_keys, read_pitches
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.times import read_clefs, read_durations, read_measures, read_metres, read_numbers
from music_evals.scorers.readers.words import TERMS, Found, find_terms, folded, is_pure, term_tables

AnswerType = Literal[
    "yes_no", "pitch", "pitches", "key", "metre", "clef", "number", "measures", "duration", "chord", "numeral",
    "cadence", "text",
]  # fmt: skip
"""What an answer is made of; ``text`` is anything that no rule reads."""
ANSWER_TYPES: Final[tuple[AnswerType, ...]] = get_args(AnswerType)

READERS: Final[dict[str, Callable[[str], Found]]] = {
    "pitch": read_pitches, "pitches": read_pitches, "key": read_keys, "metre": read_metres, "clef": read_clefs,
    "number": read_numbers, "measures": read_measures, "duration": read_durations, "chord": read_chords,
    "numeral": read_numerals, "cadence": read_cadences,
}  # fmt: skip
"""By type of answer; each reads folded text."""
SHORT: Final = 400
"""Characters up to which the first value of an answer is taken for it."""
_LISTS: Final = ("pitches", "clef", "measures", "numeral")
"""Types whose references may have several values, so that several are no lack of commitment."""


class Checked(NamedTuple):
    """How an answer reads, and whether it is right: None where no rule tells."""

    status: Status
    is_right: bool | None


_REFUSED: Final = Checked("refused", False)
_SEVERAL: Final = Checked("several", False)
_UNREADABLE: Final = Checked("unreadable", None)
_LABEL: Final = re.compile(
    r"^[*_#>\s-]{0,8}(?:so,? |thus,? |therefore,? )?(?:the )?(?:final |correct )?(?:answer|答案|antwort|reponse"
    r"|risposta|respuesta)(?: is)?[*_ ]{0,4}[:=：] ?",
    re.IGNORECASE | re.MULTILINE,
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
    said = without_thinking(prediction)
    if not said.strip():
        return Checked("empty", False)
    in_words = answer_type in ("number", "measures", "metre")
    expected = folded(reference, numbers=in_words)
    checked = _UNREADABLE
    for stated in _statements(said):
        checked = _checked(folded(stated, numbers=in_words), expected, answer_type)
        if checked.status != "unreadable":
            break
    return checked


_CONCLUSION: Final = re.compile(
    r"(?:.*[.;:,!?\n)]\s*|^)(?:so|therefore|thus|hence|i\.e\.|that is|making|in short|answer|the \w+(?: \w+){0,4}?"
    r" (?:is|are)(?= )|it is|it's|but it is|but yes"
    r"|因此|所以|故|also|daher|donc|quindi|por tanto)\b[,:]? ?(?P<rest>[^.;!?\n]*[^.;!?\n\s][^;!?\n]{0,20})[.!\s]*$",
    re.IGNORECASE | re.DOTALL,
)


def _statements(said: str) -> Iterator[str]:
    """Where an answer may stand: a box, after the last label, a conclusion, the whole reply, its last line."""
    end = said[-20_000:]
    if boxes := _BOXED.findall(end):
        yield boxes[-1]
    if labels := list(_LABEL.finditer(end)):
        yield end[labels[-1].end() :].strip() or end
    lines = [line for line in end.splitlines() if line.strip()]
    last = lines[-1][-SHORT:] if lines else ""
    if (conclusion := _CONCLUSION.match(last)) and conclusion.start("rest") > 12:
        yield conclusion["rest"]
    yield said
    if len(lines) > 1:
        yield lines[-1]


def _checked(given: str, expected: str, answer_type: str) -> Checked:
    if not re.search(r"\w|[♩♪𝄴𝄵¢?𝄞𝄢𝄽𝄾𝄐]", given):
        return _UNREADABLE
    if len(given) <= SHORT and is_refusal(given):
        return _REFUSED
    absent = is_absence(given)
    if (
        absent
        and answer_type in READERS
        and given.find(",") + 1
        and READERS[answer_type](given.partition(",")[2]).values
    ):
        absent = False  # "No sharps or flats, so C major"
    if expected.rstrip(". ").lower() in ("none", "there is none"):
        return _against_none(given, answer_type, absent)
    if answer_type == "text":
        return _check_term(given, expected)
    if answer_type == "yes_no":
        return _told(True) if given.lower() == expected.lower() else _check_yes_no(given, expected)
    wanted = READERS[answer_type](expected)
    if not wanted.values:
        return _UNREADABLE
    if absent:
        return _told(answer_type == "number" and wanted.values == (Fraction(0),))
    return _compared(READERS[answer_type](_affirmed(given)), wanted, answer_type)


_DENIAL: Final = re.compile(
    r"[,;]? ?\(?\b(?:it is |it's |und |and |but )?(?:not|rather than|instead of|no|nicht|statt|without"
    r"|non-?(?=[a-z]))\b[^,.;:)\n]{0,80}?"
    r"(?:[,]? ?(?:\bbut\b|\bsondern\b)|(?=[,.;:\n]|$|\bbecause\b|\bas\b)|\))",
    re.IGNORECASE,
)


def _affirmed(given: str) -> str:
    """The text without what it says that is not so: "not G minor but B♭ major", "trill, not mordent"."""
    return _DENIAL.sub(" ", given).strip()


def _told(is_right: bool | None) -> Checked:
    return _UNREADABLE if is_right is None else Checked("answered", is_right)


# --- nothing there ---

_NOUNS: Final = "|".join(TERMS["absence"]["nouns"])
_PHRASE: Final = rf"(?:(?:{_NOUNS}|{'|'.join(TERMS['absence']['others'])})\b[ ,/-]{{0,2}}){{1,14}}"
_DENIED: Final = (
    r"(?:present|given|indicated|marked|specified|notated|shown|written|there|used|found|vorhanden|angegeben"
    r"|indicad[ao]|marcad[ao]|indiquee?|indicat[ao])"
)
_ABSENT: Final = re.compile(
    r"(?:[^\w]{0,8})(?:(?:the )?(?:final )?answer(?: is|:) ?|(?:it|this|that) is |it's )?(?:"
    r"(?:none|no|nope|nothing(?: (?:is|was) (?:marked|there|indicated|given|written|notated))?|not (?:a single )?one"
    r"|nil|zero|absent|never|nowhere|nein|keine?[rs]?|aucune?|nessun[oa]|ningun[oa]|nada|niente|rien|nulla)"
    rf"|(?:there (?:is|are|was|were) |there's |it has |it contains |i (?:see|find) |(?:the|this) (?:score|piece|music"
    rf"|measure|bar|passage) (?:has|contains|shows) "
    rf"|es gibt (?:hier )?|hier (?:gibt es|sind|ist) |il n'y a |non ci sono |non c'e |no hay )?(?:no|not any|none"
    rf"|without(?: any)?|keine?[nrs]?|pas d[e' ]+|aucune?|nessun[oa']?|ningun[oa]?|alcun[oa]?|)? ?"
    rf"(?<=[a-z'] )(?:{_PHRASE})"
    rf"|there (?:is|are|was|were)(?: not|n't) (?:one|any|an?)\b ?(?:{_PHRASE})?|there (?:is|are) none\b ?(?:{_PHRASE})?"
    rf"|(?:it |they )?(?:is |are )?(?:not|n't) {_DENIED}|(?:it |they )(?:is|are)n't {_DENIED}"
    rf"|(?:{_PHRASE})(?:is |are )?(?:absent|(?:not|n't|never) {_DENIED})|nicht {_DENIED}|no (?:esta )?{_DENIED}|non"
    rf" {_DENIED}|pas {_DENIED}"
    rf"|(?:没有?|无|未|不)(?:有|标|含|用|使用)?(?:{TERMS['absence']['chinese']}){{0,8}}"
    rf"|(?:{TERMS['absence']['chinese']}){{1,8}}(?:没有|未标)|なし|ない"
    r")(?P<tail>[ ]?[.,;:!(-].{0,300})?[. !]*",
    re.IGNORECASE | re.DOTALL,
)
_ASIDE: Final = re.compile(
    r"\bthere (?:is|are) (?!no|not|none)|\bbut\b|\bboth\b|\bhowever\b|\b(?:i|we|me|my|you|your|je|ich|io|yo|image"
    r"|picture|file|audio|upload\w*|provid\w*|attach\w*|access\w*|inform\w*|answer\w*|ai|model|sorry|data)\b"
    r"|我|您|你|图|请|提供|文件|信息",
    re.IGNORECASE,
)


def is_absence(given: str) -> bool:
    """Whether folded text says that something musical is not there; refusals have to be ruled out before."""
    match = _ABSENT.fullmatch(given)
    if not match or _ASIDE.search(match["tail"] or ""):
        return False
    head = given[: match.start("tail")] if match["tail"] else given
    # Without a word of denial a phrase says that something is there.
    return (
        re.search(
            r"\b(?:no|none|not|n't|nothing|nil|zero|absent|never|nowhere|without|nope|nein|non|nada|niente|rien|nulla"
            r"|pas|nicht|kein\w*|aucune?|nessun\w?|ningun\w?)\b|n't|没|无|未|不|なし|ない",
            head,
            re.IGNORECASE,
        )
        is not None
    )


def _against_none(given: str, answer_type: str, absent: bool) -> Checked:
    if absent:
        return _told(True)
    if answer_type == "text":
        return _UNREADABLE
    if answer_type == "yes_no":
        said = _said(given)
        return said if isinstance(said, Checked) else _told(None if said is None else not said)
    if _UNSURE.search(given) or not READERS[answer_type](given).values:
        return _UNREADABLE
    return _told(False)


# --- yes and no ---

_ENDS: Final = (
    r"(?=\W*$|[ ]?[,.;:!?)\n(-]|\s(?:and|but|or|because|since|as|in|at|the|this|there|it|indeed|for|because|und|et|y"
    r"|e)\b)"
)
_YES_WORD: Final = rf"(?:(?:{'|'.join(TERMS['yes']['words'])}){_ENDS}|(?:{'|'.join(TERMS['yes']['chinese'])}))"
_NO_WORD: Final = rf"(?:(?:{'|'.join(TERMS['no']['words'])}){_ENDS}|(?:{'|'.join(TERMS['no']['chinese'])})(?=\W|$))"
_SAY: Final = (
    r"[^\w]{0,8}(?:(?:the )?(?:final )?answer(?: is|:)? ?|i (?:think|believe|would say|'d say)(?: that)?:? |(?:it"
    r"|that)(?:'s| is) (?=(?:true|false|correct|incorrect|present|absent|not)\b)|(?:is |are )(?=(?:present|not)))?"
)
_YES: Final = re.compile(
    rf"{_SAY}(?:{_YES_WORD}|y\W*$|there (?:is|are) (?:one|some|several|two)\b|an? (?:\w+ ){{0,3}}?(?:{_NOUNS}) (?:is"
    rf"|are) (?:present|there|indicated|marked)\b|there (?:is|are|was|were) (?!no\b|not\b)(?:an? |one |some |two |\d+"
    rf" )?(?:\w+ ){{0,3}}?(?:{_NOUNS})\b)",
    re.IGNORECASE,
)
_NO: Final = re.compile(rf"{_SAY}(?:{_NO_WORD}|n\W*$)", re.IGNORECASE)
_ENDING: Final = re.compile(
    r"(?:,| so| but|[:.–-])\s*(?:so |but )?(?:the answer is )?(?P<word>yes|no)\W*$", re.IGNORECASE
)
_STANDALONE: Final = re.compile(
    r"\b(?P<word>yes|no|ja|nein|oui)\b(?=\s*(?:$|[,.;:!)]|(?:and|but|or)\b))", re.IGNORECASE
)


def _said(text: str) -> bool | Checked | None:
    """Whether a text says yes or no at the beginning of its lines; several where it says both."""
    if text.rstrip().endswith("?"):
        return None
    said: set[bool] = set()
    for line in (text, *text.splitlines()[1:]):
        line = line.strip()
        if _YES.match(line):
            said.add(True)
        elif _NO.match(line) or is_absence(line):
            said.add(False)
    words = {match["word"].lower() in ("yes", "ja", "oui") for match in _STANDALONE.finditer(text[:SHORT])}
    if len(said) > 1 or (said and len(words) > 1):
        return _SEVERAL
    if said == {False} and not is_absence(text) and _ASIDE.search(text):
        return None
    if not said and (ending := _ENDING.search(text)):
        return ending["word"].lower() == "yes" or (None if ending["word"].lower() != "no" else False)
    return said.pop() if said and (_YES.match(text) or _NO.match(text) or is_absence(text)) else None


def _check_yes_no(given: str, expected: str) -> Checked:
    wanted, said = _said(expected), _said(given)
    if isinstance(said, Checked):
        return said
    match = _YES.match(expected)
    details = expected[match.end() :].strip(" .,;:") if match else ""
    if details and said is None and not _UNSURE.search(given):
        said = read_pitches(given).values != () or None
    if wanted is None or said is None or isinstance(wanted, Checked):
        return _UNREADABLE
    if wanted != said:
        return _told(False)
    # A reference that goes on ("Yes, C♯") asks for what it names.
    if not details or not wanted:
        return _told(True)
    lead = _YES.match(given)
    named = read_pitches(details)
    some = [read_pitches(text) for text in (given, given[lead.end() :] if lead else given)]
    return _told(
        True
        if named.values and is_pure(named) and any(set(named.values) == set(names.values) for names in some)
        else None
    )


# --- terms ---


def _check_term(given: str, expected: str) -> Checked:
    """Compare an answer that is one of a few terms; which of them an answer names decides, if it names just one."""
    tables = term_tables(expected)
    if "instrument" in tables:
        tables = ["instrument"]
    affirmed = _affirmed(given)
    # What is denied may be the term itself: "no inversion" is root position.
    named_in = given if tables and term_tables(given) else affirmed
    found = {table: find_terms(named_in, table) for table in tables}
    found = {table: one for table, one in found.items() if one.values}
    if not found or _UNSURE.search(affirmed):
        return _UNREADABLE
    for table, one in found.items():
        (wanted,) = set(find_terms(expected, table).values)
        named = set(one.values)
        if len(named) > 1 and _OR.search(affirmed):
            return _SEVERAL
        if len(named) == 1 and _is_committed(one) and _TERM_END.match(one.text, one.spans[-1][1]):
            return _told(named == {wanted})
    return _UNREADABLE


# --- values ---

_UNSURE: Final = re.compile(
    r"\b(?:not|never|neither|nor|isn't|aren't|doesn't|don't|maybe|perhaps|possibly|probably not|might|could be|nicht"
    r"|peut-etre|vielleicht|forse|quizas?"
    r"|tal vez)\b|不是|可能|也许|并非|或许",
    re.IGNORECASE,
)
_OR: Final = re.compile(r"\b(?:or|either|oder|ou|o)\b|或", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"[^\w#]{0,8}(?:(?:[\w'-]+ ){0,7}(?:is|are|was|at|:|=|in|ist|est|e|es) ?:? ?)?(?:(?:in|at|the|an?|key of|clearly"
    r"|most likely) ?){0,3}"
    r"(?:[\w' ]{0,40}[:=] ?)?|[\u4e00-\u9fff]{0,12}[是为:]?",
    re.IGNORECASE,
)
# Words that make another value of the one that they stand beside.
_TURNED_BEFORE: Final = re.compile(
    r"(?:\b(?:(?:relative|parallel) \w+(?: key)?(?: of)?|sous|sustain|for solo|molto|poco|piu|un poco|assai|relative"
    r"|parallel|before|after|until|till|up to|less|more|fewer|greater|least|most|than|no|non|without|anything but"
    r"|except|unless"
    r"|sub|double|secondary|pre|leading|dominant of|dominant|relative \w+ of|ends?|ending|undotted|half of an?"
    r"|jusqu'a|bis|hasta|fino a|vor|nach|avant|apres|second|third"
    r"|french|contra|opposite of|far from)\b[ -]?(?:the |la |le |an? |of |in |at |on )?(?:\w+ )?|到第?)$",
    re.IGNORECASE,
)
_TURNED_AFTER: Final = re.compile(
    r"[ -](?:tones?|steps?|saxophone|sax|guitar|drum|clarinet|flute|recorder|trombone|fifth|fourth|octave|of an?\b"
    r"|pedal|3e ligne|long|interval|and (?:an? )?(?:cello|violin|viola|piano|flute|voice|orchestra))\b|为止|之前|之后",
    re.IGNORECASE,
)


# A term may be the beginning of another one: "first violin", "Allegro ma non troppo".
_TERM_END: Final = re.compile(
    r"\W*$|[ ]?[.,;:!()/\[\n-]|[ ](?:texture|homophony|polyphony|chords?|triads?|positions?|motion|form|signs?|notes?"
    r"|dynamics?|ornaments?|articulations?|accompaniment"
    r"|registers?|inversion|spacing|tempo|voicing|in|on|is|are|and|because|as|since|throughout|hairpin|solo|dots?"
    r"|with|for|at|from|over|then|here|mark|rhythms?|pattern|figures?"
    r"|marking(?! \()|level|of the)\b|[\u4e00-\u9fff的]",
    re.IGNORECASE,
)


def _is_committed(found: Found) -> bool:
    """Whether no word beside the first value makes another one of it, nor offers another."""
    (start, _), (_, end) = found.spans[0], found.spans[-1]
    if _TURNED_BEFORE.search(found.text[max(0, start - 60) : start]):
        return False
    if _TURNED_AFTER.match(found.text, found.spans[0][1]):
        return False
    return not _OR.search(found.text[:start][-60:] + " " + found.text[end:][:60]) or len(found.values) > 1


def _compared(found: Found, wanted: Found, answer_type: str) -> Checked:
    values, expected = found.values, wanted.values
    if answer_type in ("pitch", "pitches") and all(isinstance(one, tuple) and one[2] is None for one in expected):
        values = tuple((*one[:2], None) for one in values if isinstance(one, tuple))
    if answer_type == "duration" and any(isinstance(one, tuple) and one[3] is None for one in values + expected):
        values, expected = _without_nouns(values), _without_nouns(expected)
    if answer_type == "chord":
        values, expected = _in_root_position(values), _in_root_position(expected)
    if answer_type == "measures" and any(isinstance(one, tuple) for one in expected):
        values = tuple(("from", min(one)) if isinstance(one, frozenset) else one for one in values)
    given_set, expected_set = set(values), set(expected)
    if not values or _UNSURE.search(found.text):
        return _UNREADABLE
    if len(given_set) > 1 and _OR.search(found.text[found.spans[0][0] :]):
        return _SEVERAL
    if not _is_committed(found):
        return _UNREADABLE
    if given_set == expected_set:
        return _told(True)
    doubt = _DOUBTS.get(answer_type)
    if doubt and any(doubt(one, other) for one in given_set - expected_set for other in expected_set):
        return _UNREADABLE
    is_short, pure = len(found.text) <= SHORT, is_pure(found)
    opens = _LEAD.fullmatch(found.text[: found.spans[0][0]]) is not None and is_short
    if not given_set & expected_set:
        return _told(False) if pure or opens or (len(given_set) == 1 and is_short) else _UNREADABLE
    if pure:
        return _told(False) if answer_type in _LISTS or len(expected_set) > 1 else _SEVERAL
    is_first = opens and len(expected_set) == 1 and values[0] in expected_set and not _lists(found)
    return _told(True) if is_first else _UNREADABLE


def _lists(found: Found) -> bool:
    """Whether the first value is followed by another with nothing but a comma or "and" between: one of several."""
    rest = found.text[found.spans[0][0] :]
    return re.match(r"\S{1,6}(?: (?:major|minor))?\s{0,3}(?:[,;/&]|and\b|-)\s{0,3}[A-G](?:#|b)?\d?\b", rest) is not None


def _without_nouns(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple((*one[:3], None) for one in values if isinstance(one, tuple))


def _in_root_position(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple((*one[:3], one[3] or None) for one in values if isinstance(one, tuple))


def _differ_in_case(given: Hashable, expected: Hashable) -> bool:
    return str(given).lower() == str(expected).lower() or any("K" in str(one) for one in (given, expected))


def _differ_in_noun(given: Hashable, expected: Hashable) -> bool:
    return isinstance(given, tuple) and isinstance(expected, tuple) and given[:3] == expected[:3]


def _differ_in_inversion(given: Hashable, expected: Hashable) -> bool:
    if not (isinstance(given, tuple) and isinstance(expected, tuple)) or given[:3] != expected[:3]:
        return False
    return given[3] is None or expected[3] is None or -1 in (given[3], expected[3])


def _begin_together(given: Hashable, expected: Hashable) -> bool:
    first, second = (
        (value[1], True) if isinstance(value, tuple) else (min(value), False)  # type: ignore[call-overload]
        for value in (given, expected)
    )
    return bool(first[0] == second[0] and (first[1] or second[1]))


def _imperfect_authentic(given: Hashable, expected: Hashable) -> bool:
    return "imperfect authentic" in (given, expected)


_DOUBTS: Final[dict[str, Callable[[Hashable, Hashable], bool]]] = {
    "numeral": _differ_in_case,
    "duration": _differ_in_noun,
    "chord": _differ_in_inversion,
    "measures": _begin_together,
    "cadence": _imperfect_authentic,
}
"""By type, when two values that differ may still be one answer: then the rule does not tell."""


# --- the type of an answer ---


def answer_type_of(question: str, answer: str) -> AnswerType:
    """Tell what an answer is made of, where a question comes without a type.

    It is ``text`` where in doubt: a closed type needs both a question that asks for it and an answer that holds nothing
    else.

    Example:
        >>> answer_type_of("What is the initial key?", "G minor"), answer_type_of("What is the initial key?", "Dark")
        ('key', 'text')
    """
    asked, expected = question.lower(), folded(answer)
    if re.fullmatch(r"(?:yes|no)\b.*", expected, re.IGNORECASE | re.DOTALL):
        return "yes_no"
    if re.match(r"(?:(?:in|between) measures? [\d\W]{1,12})?(?:is|are|does|do)\b", asked):
        return "yes_no" if _reads_as_none(expected) else "text"
    for words, types in _ASKED:
        if any(word in asked for word in words):
            for answer_type in types:
                reading = READERS[answer_type](expected)
                single = answer_type != "pitch" or len(set(reading.values)) == 1
                if _reads_as_none(expected) or (reading.values and is_pure(reading) and single):
                    return answer_type
            return "text"
    return "text"


_ASKED: Final[tuple[tuple[tuple[str, ...], tuple[AnswerType, ...]], ...]] = (
    (("clef",), ("clef",)),
    (("time signature", "metre", "meter change"), ("metre",)),
    (("beats per minute", "metronome"), ("number",)),
    (("chord progression", "scale degree", "degree chord"), ("numeral",)),
    (("highest pitch", "lowest pitch"), ("pitch", "pitches")),
    (("accidental",), ("pitches",)),
    (("rest value", "note value"), ("duration",)),
    (("initial key", "key signature", "new key", "what key"), ("key",)),
    (("what type of cadence", "what cadence", "which cadence"), ("cadence",)),
    (("what is the chord", "which chord"), ("chord",)),
    (("in which measure", "where is"), ("measures",)),
)


def _reads_as_none(expected: str) -> bool:
    return expected.rstrip(". ").lower() == "none"
