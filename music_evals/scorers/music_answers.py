"""Checking an answer about a score against its reference by rule, where a rule can.

Every closed type of answer is read into *values* (a pitch, a key, a set of measures …), whatever its spelling, and the
values are compared. The rule would rather not tell (None) than be wrong, so that judges decide:

- What cannot be read is not told; nor is a prediction that negates ("not C major") or hedges ("E5 or F5").
- A prediction with the reference's values and no others is right; one with none of them is wrong; one that lists
  others beside them, and says nothing else, is wrong. With other values among explanations, a prediction is right if it
  is short and opens with the value, and else is not told.
- An answer that says that it does not know ("Unknown", "cannot be determined") is wrong.
- A reference of "None" is met by "None", "No", "There is none" and the like.

Conventions by type. ``pitch``, ``pitches``: C♯5, C#5 and "C sharp 5" are one, C♯5 and D♭5 are two; where the reference
has an octave, a prediction without it is wrong; lists are sets. ``key``: tonic and mode; without a mode not told.
``metre``: 4/4 is common time, 2/2 cut time; 2/4 is neither. ``clef``: treble is G2, bass F4, alto C3, tenor C4; lists
are sets. ``measures``: sets of measure numbers; "starting at measure 9" is known by its beginning. ``duration``:
British and American names; a note is not a rest, which is left to judges. ``numeral``: degrees and figures in order,
6/5 = 65; numerals that differ in case alone are left to judges, because the published questions ask for capitals
whatever the chord's quality. ``cadence``: perfect = authentic = V–I, plagal = IV–I, half = imperfect = ends on V,
deceptive = interrupted = V–vi. ``text`` is for judges alone.

Only the first `MAX_ANSWER` characters are read; every pattern is bounded, so that time is linear.

Source: arXiv 2511.20697, section 3.3 ("V-I" and "authentic cadence"); the rules are this project's.
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

AnswerType = Literal[
    "yes_no", "pitch", "pitches", "key", "metre", "clef", "number", "measures", "duration", "chord", "numeral",
    "cadence", "text",
]  # fmt: skip
"""What an answer is made of; ``text`` is anything that no rule reads."""

MAX_ANSWER: Final = 4_000
"""Characters of an answer that are read."""

SHORT: Final = 400
"""Characters up to which the first value of a prediction is taken for its answer."""

_LONGEST_RANGE: Final = 5_000


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read in a text: values in order, where the first stands, and what is left without them."""

    values: tuple[Hashable, ...]
    rest: str
    opens: bool

    @property
    def pure(self) -> bool:
        return all(word in _NEUTRAL for word in re.findall(r"[^\W_]+", self.rest.lower()))


_NEUTRAL: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and answer are at bar bars beats bpm by chord chords clef clefs final followed from full hand in initial"
        " key left lower m major measure measures meter metre minute mm music note notes of on per pitch pitches"
        " quarter rest rests right signature staff staves the then this time to triad upper with yes",
    )
)
_HEDGE: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|or|either|isn't|aren't|doesn't|rather than|instead of|maybe|perhaps|possibly)\b",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"(?:the answer is )?(?:unknown|undetermined|i (?:do not|don't) know|not (?:known|determinable|enough information)"
    r"|(?:it |this )?(?:cannot|can't|could not|can not) be (?:determined|identified|read)"
    r"|unable to (?:determine|answer)|n/a)\b",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(
    r"none[,;(.] .{0,300}|(?:none|no|nothing|nil|absent|not (?:present|given|indicated|marked|specified)"
    r"|(?:there (?:is|are)|it has) (?:none|no|not any)(?: [a-z-]{1,20}){0,6}"
    r"|no (?:[a-z-]{1,20} ){0,4}[a-z-]{1,20})[.! ]{0,3}",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"(?:[-*>#_ ]{0,8})(?:(?:final |the )?answer(?: is|:)+ ?|(?:it|this|that) is |it's )?(?:the |an? (?=[a-z]))?",
    re.IGNORECASE,
)
_YES_NO: Final = re.compile(
    r"[-*>#_ ]{0,8}(?:(?:final |the )?answer(?: is|:) ?)?(?:(?P<yes>yes|there (?:is an?|are(?! no))|present)"
    r"|(?P<no>no(?=\W|$)|none|there (?:is|are) (?:no|none|not)))\b",
    re.IGNORECASE,
)

_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("–—−‐‑‒―", "-"),
        **dict.fromkeys("‘’ʼ`´", "'"),
        **dict.fromkeys("“”*$", " "),
        "♯": "#",
        "♭": "b",
        "𝄪": "##",
        "𝄫": "bb",
        "°": "o",
        "º": "o",
        "ø": "ø",
        "Δ": "maj",
        "⁄": "/",
    }
)

_ACCIDENTAL: Final = (
    r"(?P<accidental>[ -]?(?:double[ -]?sharp|double[ -]?flat|sharp|flat|natural)(?![a-z])|##|x|#|bb|b|♮)?"
)
_SHIFTS: Final = {
    "": 0, "♮": 0, "natural": 0, "#": 1, "sharp": 1, "b": -1, "flat": -1, "##": 2, "x": 2, "bb": -2, "doublesharp": 2,
    "doubleflat": -2,
}  # fmt: skip

_PITCH: Final = re.compile(
    rf"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g]){_ACCIDENTAL}(?P<octave>[ -]?-?\d(?!\d))?(?![A-Za-z0-9#])", re.IGNORECASE
)
_MIDDLE_C: Final = re.compile(r"\bmiddle[ -]c(?![a-z0-9])", re.IGNORECASE)
_STANDS_ALONE: Final = re.compile(r"\s{0,3}(?:$|[,;.:)\n/]|and\b|or\b)")
_KEY: Final = re.compile(
    rf"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g]){_ACCIDENTAL}"
    r"(?:[ -]{0,2}(?P<mode>major|minor|maj|min|dur|moll|dorian|phrygian|lydian|mixolydian|aeolian|locrian|ionian)\b"
    r"|(?P<small>m)(?![A-Za-z0-9]))(?P<general> (?:key|mode|scale)\b)?",
    re.IGNORECASE,
)
_MODES: Final = {"maj": "major", "dur": "major", "min": "minor", "moll": "minor", "m": "minor"}

_METRE: Final = re.compile(
    r"(?<![\d/])(?P<top>\d{1,2}) ?/ ?(?P<bottom>\d{1,2})(?![\d/])|\\frac ?\{(?P<t>\d{1,2})\} ?\{(?P<b>\d{1,2})\}"
    r"|\b(?P<words>two|three|four|six|nine|twelve)[ -](?P<unit>two|four|eight)\b"
    r"|(?P<common>\bcommon time\b|𝄴)|(?P<cut>\bcut[ -](?:common )?time\b|\balla breve\b|𝄵)",
    re.IGNORECASE,
)
_CLEF_NAMES: Final = {
    "treble": "G2", "violin": "G2", "g": "G2", "g2": "G2", "bass": "F4", "f": "F4", "f4": "F4", "alto": "C3",
    "viola": "C3", "c3": "C3", "tenor": "C4", "c4": "C4", "soprano": "C1", "c1": "C1", "mezzo-soprano": "C2",
    "c2": "C2", "baritone": "F3", "f3": "F3", "percussion": "percussion", "octave treble": "G2-8", "treble 8vb": "G2-8",
}  # fmt: skip
_CLEF: Final = re.compile(
    r"(?<![A-Za-z0-9-])(?P<name>octave treble|treble 8vb|treble|violin|bass|alto|viola|tenor|mezzo-soprano|soprano"
    r"|baritone|percussion|g2?|f[34]?|c[1-4])(?: ?\(?8vb\)?)?(?P<clef>(?:[ -]clefs?)?)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES: Final = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen"
)
_WORDS: Final = {
    **{word: number for number, word in enumerate(_ONES.split("|"))},
    **{word: 10 * number for number, word in enumerate(_TENS.split("|"), start=2)},
}
_NUMBER: Final = re.compile(
    r"(?P<where>\b(?:measures?|bars?|mm?\.?) ?)?(?<![\w./,])(?P<digits>-?\d{1,9}(?:\.\d{1,6}|/\d{1,6})?)(?![\d/])"
    rf"|\b(?P<tens>{_TENS})(?:[ -](?P<ones>one|two|three|four|five|six|seven|eight|nine))?\b"
    rf"|\b(?P<word>{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_BAR: Final = r"(?:(?:measure?e?s?|bars?|mm?\.?)[ ]?)"
_SPAN: Final = rf"\d{{1,5}}(?: ?(?:-|to|through|,|;|&|, ?and|and) ?{_BAR}?\d{{1,5}})*+"
_MEASURES: Final = re.compile(
    rf"(?P<open>\b(?:starting|starts|begins|beginning|from|onwards? from) ?(?:at|in|from)? )?(?P<between>\bbetween )?"
    rf"\b{_BAR}(?P<list>{_SPAN})(?![\d/])",
    re.IGNORECASE,
)
_BARE_MEASURES: Final = re.compile(rf"(?P<list>{_SPAN})\.?", re.IGNORECASE)
_SPAN_PART: Final = re.compile(rf"(?P<sign>-|to|through|,|;|&|and)?[ ]?{_BAR}?(?P<number>\d{{1,5}})", re.IGNORECASE)
_FIRST: Final = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
_ORDINALS: Final = {word: number for number, word in enumerate(_FIRST.split("|"), start=1)}
_ORDINAL: Final = re.compile(
    rf"\b(?:(?P<word>{_FIRST})|(?P<digits>\d{{1,5}})(?:st|nd|rd|th)) (?:measure|bar)\b", re.IGNORECASE
)
_DURATIONS: Final = {
    "breve": "2", "double whole": "2", "whole": "1", "semibreve": "1", "half": "1/2", "minim": "1/2", "quarter": "1/4",
    "crotchet": "1/4", "eighth": "1/8", "8th": "1/8", "quaver": "1/8", "sixteenth": "1/16", "16th": "1/16",
    "semiquaver": "1/16", "thirty-second": "1/32", "thirty second": "1/32", "32nd": "1/32", "demisemiquaver": "1/32",
    "sixty-fourth": "1/64", "64th": "1/64", "hemidemisemiquaver": "1/64", "♩": "1/4", "♪": "1/8",
}  # fmt: skip
_DURATION: Final = re.compile(
    rf"(?P<dots>(?:double[ -]|triple[ -])?dotted[ -])?"
    rf"(?<![A-Za-z0-9])(?:(?P<name>{'|'.join(sorted(_DURATIONS, key=len, reverse=True))})"
    r"|1/(?P<unit>1|2|4|8|16|32|64))s?"
    r"(?:[ -](?P<noun>note|rest)s?)?(?P<triplet>[ -]triplets?)?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_QUALITY: Final = (
    r"(?P<quality>[ -]?(?:dominant seventh|dominant 7th|dom7|major seventh|major 7th|maj7|minor seventh|minor 7th|min7"
    r"|half[ -]diminished(?: seventh| 7th)?|fully diminished(?: seventh| 7th)?|diminished (?:seventh|7th)|dim7"
    r"|diminished|augmented|major|minor|sus2|sus4|maj|min|dim|aug)(?![a-z0-9])|m7b5|M7|m7|ø7?|o7|7|m|o|\+)?"
)
_CHORD: Final = re.compile(
    rf"(?<![A-Za-z0-9#])(?P<letter>[A-G]){_ACCIDENTAL}{_QUALITY}(?P<noun>[ -](?:chord|triad))?"
    r"(?:/(?P<bass>[A-G](?:#|b)?))?"
    r"(?:,? (?:in )?(?P<inversion>first|1st|second|2nd|third|3rd|root)[ -](?:inversion|position))?(?![A-Za-z0-9#+])"
)
_QUALITIES: Final = {
    "": "major", "major": "major", "maj": "major", "m": "minor", "minor": "minor", "min": "minor", "dim": "diminished",
    "diminished": "diminished", "o": "diminished", "aug": "augmented", "augmented": "augmented", "+": "augmented",
    "7": "7", "dominant seventh": "7", "dominant 7th": "7", "dom7": "7", "M7": "maj7", "maj7": "maj7",
    "major seventh": "maj7", "major 7th": "maj7", "m7": "m7", "min7": "m7", "minor seventh": "m7", "minor 7th": "m7",
    "m7b5": "ø7", "ø": "ø7", "ø7": "ø7", "o7": "o7", "dim7": "o7", "sus2": "sus2", "sus4": "sus4",
}  # fmt: skip
_INVERSIONS: Final = {"root": 0, "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3}
_ROMAN: Final = (
    r"(?:K(?:64|46|6/4)|[#b]?(?:VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i)(?:ø|o|\+)?"
    r"(?: ?(?:6/5|6/4|4/3|4/2|6/3|5/3|\d{1,2}))?"
    r"(?:/[#b]?(?:VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i))?)(?![A-Za-z0-9])"
)
_NUMERALS: Final = re.compile(rf"(?<![A-Za-z0-9'])(?:{_ROMAN})(?: ?(?:-+>?|→|,|to) ?(?:{_ROMAN}))*+")
_NUMERAL: Final = re.compile(_ROMAN)
_PRONOUN: Final = re.compile(
    r"\bI(?='|\s(?:think|believe|would|can|am|see|do|cannot|could|have|need|will|count|find|read)\b)"
)
_CADENCE: Final = re.compile(
    r"(?P<perfect>\b(?:perfect authentic|PAC)\b)|(?P<iac>\b(?:imperfect authentic|IAC)\b)"
    r"|(?P<authentic>\b(?:authentic|perfect|full)\b)|(?P<half>\b(?:half|semi-?cadence|imperfect)\b|\bends on V\b)"
    r"|(?P<plagal>\b(?:plagal|amen)\b)|(?P<deceptive>\b(?:deceptive|interrupted)\b)",
    re.IGNORECASE,
)

_Matches = list[tuple[int, int, Hashable]]


def _term_group(*terms: str) -> dict[str, re.Pattern[str]]:
    """Alternatives of a term are separated by bars, its name comes first."""
    return {
        term.partition("|")[0]: re.compile(rf"(?<![a-z0-9])(?:{term})(?![a-z0-9])", re.IGNORECASE) for term in terms
    }


# Terms of which a question wants one. An answer that is none of them is for judges.
_TERMS: Final = (
    _term_group("root position", "first inversion|1st inversion", "second inversion|2nd inversion",
                "third inversion|3rd inversion"),
    _term_group("monophonic|monophony", "homophonic|homophony", "polyphonic|polyphony|contrapuntal"),
    _term_group("low", "middle", "high"),
    _term_group("close", "open"),
    _term_group("root(?! position)", "third(?! inversion)", "fifth", "seventh"),
    _term_group("pppp?|pianississimo", "pp|pianissimo", "p|piano", "mp|mezzo[ -]?piano", "mf|mezzo[ -]?forte",
                "f|forte", "ff|fortissimo", "ffff?|fortississimo", "fp|fortepiano", "sfz?|sforzando"),
    _term_group("staccato", "staccatissimo", "tenuto", "accent", "marcato", "portato"),
    _term_group("trill", "(?<!inverted )turn", "inverted turn", "upper mordent", "lower mordent"),
)  # fmt: skip


def check(prediction: str, reference: str, answer_type: str) -> bool | None:
    """Check a prediction against the reference answer by the rule of its type, an `AnswerType`.

    Returns:
        True (the same answer), False (another one, or none), or None where the rule cannot tell.

    Raises:
        ValueError: there is no such type.

    Example:
        >>> check("It is C sharp 5.", "C♯5", "pitch"), check("D♭5", "C♯5", "pitch"), check("C#", "C♯5", "pitch")
        (True, False, False)
        >>> check("common time", "4/4 time", "metre"), check("Yes, B♯3; F𝄪4", "Yes", "yes_no")
        (True, True)
        >>> check("Homophony.", "Homophonic", "text"), check("Allegro", "Allegro vivace", "text")
        (True, None)
    """
    if answer_type not in get_args(AnswerType):
        raise ValueError(
            f"answer_type={answer_type!r} is not valid; valid values are: {', '.join(get_args(AnswerType))}"
        )
    given, expected = _folded(prediction), _folded(reference)
    absent = _ABSENT.fullmatch(given) is not None
    if expected.rstrip(". ").lower() in ("none", "there is none"):
        return _against_none(given, answer_type, absent)
    if answer_type == "text":
        return _check_term(given, expected)
    if not given or _UNKNOWN.match(given):
        return False
    if answer_type == "yes_no":
        return True if given.lower() == expected.lower() else _check_yes_no(given, expected)
    read = _READERS[answer_type]
    wanted = read(expected)
    if not wanted.values:
        return None
    if absent and not (answer_type == "number" and wanted.values == (Fraction(0),)):
        return False
    found = read(given)
    if answer_type == "number" and absent:
        return True
    return _compared(given, found, wanted, answer_type)


def answer_type_of(question: str, answer: str) -> AnswerType:
    """Tell what an answer is made of, where a question comes without a type.

    It is ``text`` where in doubt: a closed type needs both a question that asks for it and an answer that holds nothing
    else.

    Example:
        >>> answer_type_of("What is the initial key?", "G minor"), answer_type_of("What is the initial key?", "Dark")
        ('key', 'text')
    """
    asked, expected = question.lower(), _folded(answer)
    if re.fullmatch(r"(?:yes|no)\b.*", expected, re.IGNORECASE | re.DOTALL):
        return "yes_no"
    if re.match(r"(?:(?:in|between) measures? [\d\W]{1,12})?(?:is|are|does|do)\b", asked):
        return "yes_no" if _reads_as_none(expected) else "text"
    for words, types in _ASKED:
        if any(word in asked for word in words):
            for answer_type in types:
                reading = _READERS[answer_type](expected)
                single = answer_type != "pitch" or len(set(reading.values)) == 1
                if _reads_as_none(expected) or (reading.values and reading.pure and single):
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


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text[:MAX_ANSWER]).translate(_SIGNS)[: 2 * MAX_ANSWER]
    return re.sub(r"[ \t]+", " ", folded).strip()


def _reads_as_none(expected: str) -> bool:
    return expected.rstrip(". ").lower() == "none"


def _against_none(given: str, answer_type: str, absent: bool) -> bool | None:
    if absent:
        return True
    if answer_type == "text":
        return None
    if not given or _UNKNOWN.match(given):
        return False
    if answer_type == "yes_no":
        said = _said(given)
        return None if said is None else not said
    return False if _READERS[answer_type](given).values and not _HEDGE.search(given) else None


def _check_yes_no(given: str, expected: str) -> bool | None:
    wanted, said = _said(expected), _said(given)
    if wanted is None or said is None:
        return None
    if wanted != said:
        return False
    # A reference that goes on ("Yes, C♯") asks for what it names.
    match = _YES_NO.match(expected)
    details = expected[match.end() :].strip(" .,;:") if match else ""
    if not details or not wanted:
        return True
    named, names = _pitches(details), _pitches(given)
    return True if named.values and named.pure and set(named.values) == set(names.values) else None


def _check_term(given: str, expected: str) -> bool | None:
    """Compare an answer that is one of a few terms; which of them a prediction names decides, if it names just one."""
    named = _terms(expected)
    if len(named) != 1 or _HEDGE.search(given):
        return None
    if not given or _UNKNOWN.match(given):
        return False
    (terms, _term) = next(iter(named))
    found = {term for others, term in _terms(given) if others == terms}
    return named == {(terms, term) for term in found} if len(found) == 1 else None


def _terms(text: str) -> set[tuple[int, str]]:
    """The terms that a text names, each with the number of its group."""
    return {
        (number, name) for number, group in enumerate(_TERMS) for name, pattern in group.items() if pattern.search(text)
    }


def _said(text: str) -> bool | None:
    """What a text says at the beginning of its lines; None where that is nothing, or both."""
    heads = [match for line in text.splitlines() if (match := _YES_NO.match(line.strip()))]
    said = {match["yes"] is not None for match in heads}
    return said.pop() if len(said) == 1 and _YES_NO.match(text) else None


def _compared(given: str, found: _Reading, wanted: _Reading, answer_type: str) -> bool | None:
    values, expected = found.values, wanted.values
    if answer_type in ("pitch", "pitches") and all(isinstance(one, tuple) and one[2] is None for one in expected):
        values = tuple((*one[:2], None) for one in values if isinstance(one, tuple))
    if answer_type == "duration" and any(isinstance(one, tuple) and one[3] is None for one in values + expected):
        values, expected = _without_nouns(values), _without_nouns(expected)
    if answer_type == "measures" and any(isinstance(one, tuple) for one in expected):
        values = tuple(("from", min(one)) if isinstance(one, frozenset) else one for one in values)
    if not values or _HEDGE.search(given):
        return None
    given_set, expected_set = set(values), set(expected)
    if given_set == expected_set:
        return True
    doubt = _DOUBTS.get(answer_type)
    if doubt and any(doubt(one, other) for one in given_set - expected_set for other in expected_set):
        return None
    if not given_set & expected_set or found.pure:
        return False
    opens = found.opens and len(given) <= SHORT and len(expected_set) == 1 and values[0] in expected_set
    return True if opens else None


def _reading(text: str, matches: _Matches) -> _Reading:
    pieces, position = [], 0
    for start, end, _ in matches:
        pieces.append(text[position:start])
        position = end
    pieces.append(text[position:])
    lead = _LEAD.match(text)
    opens = bool(matches) and matches[0][0] <= (lead.end() if lead else 0)
    # After "E5, G5" or "E5 and G5" the first value is one of several answers.
    if opens and len(matches) > 1 and re.fullmatch(r"\s{0,3}(?:[,;/&]|and|-)?\s{0,3}", pieces[1]):
        opens = False
    return _Reading(tuple(value for *_, value in matches), " ".join(pieces), opens)


def _shift(accidental: str | None) -> int:
    return _SHIFTS[(accidental or "").lower().replace(" ", "").replace("-", "")]


def _pitches(text: str) -> _Reading:
    found: _Matches = [(match.start(), match.end(), ("C", 0, 4)) for match in _MIDDLE_C.finditer(text)]
    within = {position for start, end, _ in found for position in range(start, end)}
    for match in _PITCH.finditer(text):
        if match.start() in within:
            continue
        # A letter on its own may be an article.
        bare = match["accidental"] is None and match["octave"] is None
        if bare and (match["letter"].islower() or not _STANDS_ALONE.match(text, match.end())):
            continue
        octave = int(match["octave"][-1]) if match["octave"] else None
        found.append((match.start(), match.end(), (match["letter"].upper(), _shift(match["accidental"]), octave)))
    return _reading(text, sorted(found, key=lambda one: one[:2]))


def _found(matches: Iterable[re.Match[str]], value_of: Callable[[re.Match[str]], Hashable]) -> _Matches:
    """The matches that have a value, with it."""
    values = ((match.start(), match.end(), value_of(match)) for match in matches)
    return [found for found in values if found[2] is not None]


def _keys(text: str) -> _Reading:
    def key(match: re.Match[str]) -> Hashable:
        article = match["letter"] in "aA" and match["accidental"] is None and match["general"]
        if match["small"] == "M" or article:
            return None
        mode = (match["mode"] or match["small"]).lower()
        return match["letter"].upper(), _shift(match["accidental"]), _MODES.get(mode, mode)

    return _reading(text, _found(_KEY.finditer(text), key))


def _metres(text: str) -> _Reading:
    if text.strip(" .").upper() in ("C", "¢"):
        return _reading("", [(0, 0, (4, 4) if text.strip(" .").upper() == "C" else (2, 2))])

    def metre(match: re.Match[str]) -> Hashable:
        if match["common"] or match["cut"]:
            return (4, 4) if match["common"] else (2, 2)
        if match["words"]:
            return _WORDS[match["words"].lower()], _WORDS[match["unit"].lower()]
        return int(match["top"] or match["t"]), int(match["bottom"] or match["b"])

    return _reading(text, _found(_METRE.finditer(text), metre))


def _clefs(text: str) -> _Reading:
    matches = list(_CLEF.finditer(text))
    # "The bass part has a treble clef" names one clef; in "treble and bass clefs" the noun stands for both.
    if any(match["clef"] for match in matches):
        kept: list[re.Match[str]] = []
        for match in reversed(matches):
            joined = kept and re.fullmatch(r"\s{0,2}(?:,|;|/|&|and|, and)\s{0,2}", text[match.end() : kept[-1].start()])
            if match["clef"] or joined:
                kept.append(match)
        matches = kept[::-1]

    def clef(match: re.Match[str]) -> Hashable:
        octave = "8vb" in match[0].lower() and not match["name"].lower().startswith(("octave", "treble 8"))
        return _CLEF_NAMES[match["name"].lower()] + ("-8" if octave else "")

    return _reading(text, _found(matches, clef))


def _numbers(text: str) -> _Reading:
    def number(match: re.Match[str]) -> Hashable:
        if match["where"]:
            return None
        if match["digits"]:
            top, _, bottom = match["digits"].partition("/")
            return None if bottom and int(bottom) == 0 else Fraction(top) / int(bottom or 1)
        if match["tens"]:
            return Fraction(_WORDS[match["tens"].lower()] + _WORDS[(match["ones"] or "zero").lower()])
        return Fraction(_WORDS[match["word"].lower()])

    return _reading(text, _found(_NUMBER.finditer(text), number))


def _measures(text: str) -> _Reading:
    found: _Matches = [
        (match.start(), match.end(), frozenset({_ORDINALS.get((match["word"] or "").lower()) or int(match["digits"])}))
        for match in _ORDINAL.finditer(text)
    ]
    whole = _BARE_MEASURES.fullmatch(text)
    for match in [whole] if whole else _MEASURES.finditer(text):
        numbers = _span(match["list"], between=not whole and match["between"] is not None)
        if numbers is not None:
            start = not whole and match["open"] is not None and len(numbers) == 1
            found.append((match.start(), match.end(), ("from", min(numbers)) if start else numbers))
    found.sort(key=lambda one: one[:2])
    closed = [value for *_, value in found if isinstance(value, frozenset)]
    # "Measure 3, measure 4" is one set, in two pieces.
    if len(closed) == len(found) > 1:
        union = frozenset().union(*closed)
        reading = _reading(text, found)
        return _Reading((union,), reading.rest, reading.opens) if reading.pure else reading
    return _reading(text, found)


def _span(text: str, between: bool) -> frozenset[int] | None:
    numbers: set[int] = set()
    last: int | None = None
    for match in _SPAN_PART.finditer(text):
        number, sign = int(match["number"]), (match["sign"] or "").lower()
        if last is not None and (sign in ("-", "to", "through") or (between and sign == "and")):
            if not last <= number <= last + _LONGEST_RANGE:
                return None
            numbers.update(range(last, number + 1))
        numbers.add(number)
        last = number
    return frozenset(numbers) or None


def _durations(text: str) -> _Reading:
    found: list[tuple[int, int, tuple[Hashable, ...]]] = []
    for match in _DURATION.finditer(text):
        name = (match["name"] or "").lower()
        if name == "half" and not match["noun"] and not match["dots"] and not _STANDS_ALONE.match(text, match.end()):
            continue
        dots = (match["dots"] or "").lower()
        count = 0 if not dots else 2 if dots.startswith("double") else 3 if dots.startswith("triple") else 1
        value = Fraction(_DURATIONS[name]) if name else Fraction(1, int(match["unit"]))
        found.append((match.start(), match.end(), (value, count, match["triplet"] is not None, match["noun"])))
    nouns = {value[3] for *_, value in found if value[3]}
    # "Eighth" and "eighth rest" are the same where nothing says "note".
    noun = nouns.pop() if len(nouns) == 1 else None
    return _reading(text, [(start, end, (*value[:3], value[3] or noun)) for start, end, value in found])


def _chords(text: str) -> _Reading:
    def chord(match: re.Match[str]) -> Hashable:
        quality = (match["quality"] or "").lstrip(" -")
        bare = not any(match[name] for name in ("accidental", "quality", "noun", "bass", "inversion"))
        if bare and not _STANDS_ALONE.match(text, match.end()):
            return None
        name = _QUALITIES.get(quality) or ("ø7" if quality.startswith("half") else "o7")
        inversion: int | None = _INVERSIONS.get(match["inversion"] or "")
        if match["bass"]:
            steps = ("CDEFGAB".index(match["bass"][0]) - "CDEFGAB".index(match["letter"])) % 7
            inversion = {0: 0, 2: 1, 4: 2, 6: 3}.get(steps, -1)
        return match["letter"], _shift(match["accidental"]), name, inversion

    return _reading(text, _found(_CHORD.finditer(text), chord))


def _numerals(text: str) -> _Reading:
    text = _PRONOUN.sub("_", text)
    matches = _NUMERALS.finditer(text)
    return _reading(text, _found(matches, lambda match: tuple(map(_numeral, _NUMERAL.findall(match[0])))))


def _numeral(text: str) -> str:
    degree, figures, of = re.fullmatch(r"(\D+?)(?: ?(\d[\d/]*))?((?:/\D+)?)", text).groups()  # type: ignore[union-attr]
    # The figures of one chord are the same in whatever order they stand: published answers have V34 and I46.
    digits = "".join(sorted((figures or "").replace("/", ""), reverse=True))
    digits = {"2": "42", "63": "6", "53": ""}.get(digits, digits)
    return f"{degree}{digits}{of}"


def _cadences(text: str) -> _Reading:
    def progression(match: re.Match[str]) -> Hashable:
        ends = [re.sub(r"\d.*|[øo+]", "", _numeral(one)) for one in _NUMERAL.findall(match[0])[-2:]]
        kind = _PROGRESSIONS.get("-".join(ends).upper(), "half" if ends[-1] == "V" else None)
        return kind if len(ends) == 2 else None

    names = _found(_CADENCE.finditer(text), lambda match: "authentic" if match["perfect"] else match.lastgroup)
    reading = _reading(text, names or _found(_NUMERALS.finditer(text), progression))
    return _Reading(reading.values, re.sub(r"\b(?:cadence|V)\b", " ", reading.rest, flags=re.IGNORECASE), reading.opens)


_PROGRESSIONS: Final = {"V-I": "authentic", "IV-I": "plagal", "V-VI": "deceptive"}


def _differ_in_case(given: Hashable, expected: Hashable) -> bool:
    return str(given).lower() == str(expected).lower() or any("K" in str(one) for one in (given, expected))


def _without_nouns(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple((*one[:3], None) for one in values if isinstance(one, tuple))


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
    return "iac" in (given, expected)


_DOUBTS: Final[dict[str, Callable[[Hashable, Hashable], bool]]] = {
    "numeral": _differ_in_case,
    "duration": _differ_in_noun,
    "chord": _differ_in_inversion,
    "measures": _begin_together,
    "cadence": _imperfect_authentic,
}
"""By type, when two values that differ may still be one answer: then the rule does not tell."""

_READERS: Final[dict[str, Callable[[str], _Reading]]] = {
    "pitch": _pitches,
    "pitches": _pitches,
    "key": _keys,
    "metre": _metres,
    "clef": _clefs,
    "number": _numbers,
    "measures": _measures,
    "duration": _durations,
    "chord": _chords,
    "numeral": _numerals,
    "cadence": _cadences,
}
