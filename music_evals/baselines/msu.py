"""How the reader answers MSU's computed questions: by their kind, from the score as music21 reads
it.

Only the measures and the part are read from the text of a question.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

from music_evals.baselines.score import Event, Measure, Part, Score, read_score

_NUMBERS = re.compile(r"measures? ([0-9]{1,6})(?:–([0-9]{1,6}))?")
_PART = re.compile(r"the part “([^”]*)”|staff ([0-9]{1,3}) from the top")
_TEMPO_WORDS = re.compile(
    r"\b(adagi|all?egr|andant|grave|langsam|larg|lent|moderat|modéré|mäßig|nicht|prest|schnell|vivac|tempo|lebhaft|vif)",
    re.IGNORECASE,
)
_DYNAMIC = re.compile(r'"?_?((?=[a-z]{0,5}[fp])[fmprsz]{1,6})"?')
_MARKS_OF_NOTE = re.compile(r"(?:\.(?![|:])|![^!\s]{1,30}!)+")
_ARTICULATIONS = {
    ".": "Staccato",
    "wedge": "Staccatissimo",
    **{name: name.capitalize() for name in ("tenuto", "marcato", "accent")},
}
_ORNAMENTS = {
    **{"trill": "Trill", "turn": "Turn", "invertedturn": "Inverted turn"},
    **{"uppermordent": "Upper mordent", "lowermordent": "Lower mordent"},
}
_INVERSIONS = ("Root position", "First inversion", "Second inversion", "Third inversion")
_QUALITIES = re.compile(
    r"(?:major|minor|diminished|augmented) "
    r"triad|(?:dominant|major|minor|half-diminished|diminished) seventh chord"
)


class _Question:
    """The music that a question is about: the part that it names, else all parts, and the measures
    that it names.
    """

    def __init__(self, score: Score, text: str) -> None:
        self.header, self.parts = score
        self.numbers = [(int(first), int(last or first)) for first, last in _NUMBERS.findall(text)]
        if found := _PART.search(text):
            # ABC has no quotation mark within a name.
            name, staff = (found[1] or "").replace('"', "'"), int(found[2] or 0)
            self.parts = [
                part
                for place, part in enumerate(self.parts, 1)
                if (place == staff if staff else part.name == name)
            ]
        if not self.parts:
            raise ValueError("there is no such part")
        self.all = [measure for part in self.parts for measure in part.measures]
        self.firsts = [part.measures[0] for part in self.parts]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures of the range that the question names first."""
        first, last = self.numbers[0]
        found = [each for each in self.all if first <= each.number <= last]
        if not found:
            raise ValueError(f"there are no measures {first} to {last}")
        return found

    @property
    def measure(self) -> Measure:
        """The only measure that the question names."""
        (found,) = self.measures
        return found


_Answer = Callable[[_Question], str]


def answer(abc: str, text: str, kind: str) -> str:
    r"""Answer a question of a kind on a score; ``Unknown`` for other kinds, and if the score does
    not say it.

    Example:
        >>> abc = "X:1\nL:1/4\nM:2/4\nK:Bb\nV:1\nV:1\n_G,D | %1\n"
        >>> answer(abc, "In measure 1, what is the lowest pitch? Give its octave too.",
        ...     "lowest pitch")
        'G♭3'
        >>> answer(abc, "In measure 2, what is the lowest pitch?", "lowest pitch"), answer(abc,
        ...     "Is it beautiful?", "")
        ('Unknown', 'Unknown')
    """
    try:
        return _ANSWERS[kind](_Question(read_score(abc), text))
    except (ValueError, LookupError):
        return "Unknown"


def _one(found: Iterable[object]) -> str:
    (only,) = set(map(str, found)) - {""}
    return only


def _yes(is_so: object) -> str:
    return "Yes" if is_so else "No"


def _plain(name: str) -> str:
    return name.replace("♮", "")


def _spelled(pitch: Any) -> str:
    return _plain(pitch.unicodeNameWithOctave)


def _most(counts: Mapping[Any, float]) -> list[Any]:
    return [name for name, count in counts.items() if count == max(counts.values())]


# --- what sounds


def _sounding(measures: list[Measure], *, at_last: bool = False) -> Any:
    """The chord at the first or last moment of a measure at which a note begins in any part."""
    from music21.chord import Chord

    notes = [event for measure in measures for event in measure.notes]
    moment = (max if at_last else min)(event.start for event in notes)
    return Chord(
        [pitch for event in notes if event.start <= moment < event.end for pitch in event.pitches]
    )


def _key(question: _Question) -> str:
    """The key of the signature whose tonic is the last note of the bass; else, or if the key
    changes, the first.
    """
    from music21.key import KeySignature

    signature = KeySignature(question.firsts[0].sharps)
    columns = [
        list(column) for column in zip(*(part.measures for part in question.parts), strict=False)
    ]
    columns = [column for column in columns if any(measure.notes for measure in column)]
    edges = (
        []
        if any(measure.has_new_key for measure in question.all)
        else [_sounding(columns[-1], at_last=True)]
    )
    for chord in [*edges, _sounding(columns[0])]:
        for key in (signature.asKey("major"), signature.asKey("minor")):
            if key.tonic.name == chord.bass().name:
                return f"{_plain(key.tonic.unicodeName)} {key.mode}"
    raise ValueError("the bass does not say the key")


def _chord(question: _Question) -> tuple[str, str, str]:
    """Root, quality and position of the chord on the first beat."""
    chord = _sounding(question.measures)
    quality = _one(_QUALITIES.findall(chord.commonName))
    return _plain(chord.root().unicodeName), quality, _INVERSIONS[chord.inversion()]


# --- what is written in a measure


def _departing(question: _Question) -> list[str]:
    """Pitches outside the key signature, with those of grace notes, from the lowest up."""
    from music21.key import KeySignature

    signs = {each.step: each.alter for each in KeySignature(question.measure.sharps).alteredPitches}
    pitches = [pitch for event in question.measure.events for pitch in event.pitches]
    found = sorted(
        (pitch for pitch in pitches if pitch.alter != signs.get(pitch.step, 0)),
        key=lambda pitch: pitch.ps,
    )
    return list(dict.fromkeys(map(_spelled, found)))


def _value(choose: Callable[..., Event], sign: str) -> _Answer:
    def answered(question: _Question) -> str:
        events = [
            event
            for event in question.measure.events
            if bool(event.pitches) == (sign == "note") and not event.is_grace
        ]
        return f"{_one([choose(events, key=lambda event: event.end - event.start).value])} {sign}"

    return answered


def _dynamics(signs: list[list[str]]) -> str:
    return _one(found[1] for sign in chain(*signs) if (found := _DYNAMIC.fullmatch(sign)))


def _articulations(question: _Question) -> set[str]:
    found = set()
    for marked in (run for text in question.measure.texts for run in _MARKS_OF_NOTE.findall(text)):
        names = {_ARTICULATIONS.get(mark, "") for mark in re.findall(r"\.|[a-z]+", marked)}
        found |= {"Portato"} if {"Staccato", "Tenuto"} <= names else names
    return found


def _whether(pattern: str) -> _Answer:
    return lambda question: _yes(
        any(re.search(pattern, text) for each in question.measures for text in each.texts)
    )


# --- the whole score


def _largest(size: Callable[[Part], float]) -> _Answer:
    """The name of the part with the largest size."""
    return lambda question: _one(_most({part.name: size(part) for part in question.parts}))


def _width(part: Part) -> float:
    heights = [pitch.ps for measure in part.measures for pitch in measure.pitches]
    return max(heights) - min(heights) if heights else 0


def _frequent(question: _Question) -> str:
    return (
        f"{_one(_most(Counter(event.value for each in question.all for event in each.notes)))} note"
    )


def _fullest(question: _Question) -> str:
    return _one(_most(Counter(each.number for each in question.all for _ in each.pitches)))


def _entries(question: _Question) -> list[tuple[int, Fraction, str]]:
    """Measure and moment of the first note of each part, and the part's name."""
    firsts = (
        (next((each for each in part.measures if each.notes), None), part.name)
        for part in question.parts
    )
    return [
        (first.number, min(event.start for event in first.notes), name)
        for first, name in firsts
        if first
    ]


def _first_entry(question: _Question) -> str:
    earliest = min(_entries(question))[:2]
    return _one(name for *moment, name in _entries(question) if tuple(moment) == earliest)


def _outline(measure: Measure) -> list[tuple[object, ...]]:
    return sorted(
        (event.start, event.value, *map(_spelled, event.pitches)) for event in measure.events
    )


def _repeats(question: _Question) -> str:
    (other, _), (number, _) = question.numbers
    found = {each.number: _outline(each) for each in question.all}
    return _yes(found[other] == found[number])


def _returns(question: _Question) -> str:
    outline, after = _outline(question.measure), question.measure.number
    found = [
        str(each.number)
        for each in question.all
        if each.number > after and _outline(each) == outline
    ]
    return _one([", ".join(found)])


def _tempo_words(question: _Question) -> str:
    said = (
        sign[1:-1].lstrip("^_<>@")
        for each in question.firsts
        for sign in each.signs(opening=True)
        if sign[0] == '"'
    )
    return _one(
        [*re.findall('"([^"]*)"', question.header.get("Q", "")), *filter(_TEMPO_WORDS.search, said)]
    )


def _anacrusis(question: _Question) -> str:
    return _yes(
        max(event.end for each in question.firsts for event in each.events)
        < 4 * Fraction(question.firsts[0].metre)
    )


_ANSWERS: Mapping[str, _Answer] = {
    "composer": lambda question: _one([question.header.get("C", "")]),
    "title": lambda question: _one([question.header.get("T", "")]),
    "initial key": _key,
    "key signature": lambda question: _one(abs(each.sharps) for each in question.firsts),
    "time signature": lambda question: _one(each.metre for each in question.firsts),
    "clef": lambda question: _one(each.clef for each in question.firsts),
    "tempo words": _tempo_words,
    "metronome mark": lambda question: _one(
        re.findall(r"= ?([0-9]{1,4})(?![0-9.])", question.header.get("Q", ""))
    ),
    "anacrusis": _anacrusis,
    "instruments": lambda question: ", ".join(
        dict.fromkeys(_one([part.name]) for part in question.parts)
    ),
    "last measure": lambda question: _one(part.measures[-1].number for part in question.parts),
    "opening dynamic": lambda question: _dynamics(
        [each.signs(opening=True) for each in question.firsts]
    ),
    "highest pitch": lambda question: _spelled(question.measure.pitches[-1]),
    "lowest pitch": lambda question: _spelled(question.measure.pitches[0]),
    "last pitch": lambda question: _spelled(
        max(question.measure.notes, key=lambda event: event.start).pitches[0]
    ),
    "accidental": lambda question: _yes(_departing(question)),
    "accidentals": lambda question: _one([", ".join(_departing(question))]),
    "shortest note": _value(min, "note"),
    "longest note": _value(max, "note"),
    "rest": lambda question: _yes(any(not event.pitches for event in question.measure.events)),
    "shortest rest": _value(min, "rest"),
    "longest rest": _value(max, "rest"),
    "dynamic": lambda question: _dynamics([each.signs() for each in question.measures]),
    "articulation": lambda question: _one(_articulations(question)),
    "staccato": lambda question: _yes("Staccato" in _articulations(question)),
    "ornament": lambda question: _one(
        _ORNAMENTS.get(sign, "") for sign in question.measure.signs()
    ),
    "fermata": _whether("!fermata!"),
    "grace note": _whether(r"\{"),
    "tie": _whether(r"-[\s)\]0-9/]*(?:[:|\[].*)?$"),
    "repeat sign": _whether(r"\|:|:\|"),
    "new time signature": lambda question: _one(
        each.metre for each in question.measures if each.has_new_metre
    ),
    "new key signature": lambda question: _one(
        abs(each.sharps) for each in question.measures if each.has_new_key
    ),
    "new clef": lambda question: _one(question.measure.new_clefs),
    "number of notes": lambda question: str(len(question.measure.pitches)),
    "chord name": lambda question: " ".join(_chord(question)[:2]),
    "chord quality": lambda question: _chord(question)[1].capitalize(),
    "chord inversion": lambda question: _chord(question)[2],
    "predominant rhythm": _frequent,
    "predominant rhythm of a part": _frequent,
    "busiest part": _largest(lambda part: sum(len(each.notes) for each in part.measures)),
    "widest part": _largest(_width),
    "fullest measure": _fullest,
    "last entry": lambda question: str(max(_entries(question))[0]),
    "first entry": _first_entry,
    "exact repetition": _repeats,
    "return of a measure": _returns,
    "highest note": lambda question: ", ".join(
        map(str, _most({each.number: each.pitches[-1].ps for each in question.all if each.pitches}))
    ),
    "all parts present": lambda question: _yes(all(each.notes for each in question.measures)),
    "metre changes": lambda question: _one(
        sum(each.has_new_metre for each in part.measures) for part in question.parts
    ),
}
"""Kind of question → its answer; `ValueError` or `LookupError` if there is no single answer."""
