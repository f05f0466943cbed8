"""How the reader answers MSU's computed questions: by their kind, from the score as music21 reads
it.

Only the measures and the part are read from the text of a question.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

from music_evals.baselines.score import Event, Measure, Part, Score, read_score
from music_evals.notation.scores.chains import resolve

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
        if match := _PART.search(text):
            name, staff = match.groups()
            if staff:
                self.parts = self.parts[int(staff) - 1 : int(staff)]
            else:  # ABC has no quotation mark within a name
                name = name.replace('"', "'")
                self.parts = [part for part in self.parts if part.name == name]
        if not self.parts:
            raise ValueError("there is no such part")
        self.all = [measure for part in self.parts for measure in part.measures]
        self.firsts = [part.measures[0] for part in self.parts]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures of the range that the question names first."""
        first, last = self.numbers[0]
        measures = [measure for measure in self.all if first <= measure.number <= last]
        if not measures:
            raise ValueError(f"there are no measures {first} to {last}")
        return measures

    @property
    def measure(self) -> Measure:
        """The only measure that the question names."""
        (measure,) = self.measures
        return measure


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
        score = read_score(abc)
        direct = resolve(text, lambda part: {bar.number: bar for bar in _Question(score, part).all})
        return _ANSWERS[kind](_Question(score, direct))
    except (ValueError, LookupError):
        return "Unknown"


def _only(values: Iterable[object]) -> str:
    """The only value that is not empty; ValueError if there are none or several."""
    (only,) = set(map(str, values)) - {""}
    return only


def _yes(is_so: object) -> str:
    return "Yes" if is_so else "No"


def _without_natural(name: str) -> str:
    return name.replace("♮", "")


def _spelled(pitch: Any) -> str:
    return _without_natural(pitch.unicodeNameWithOctave)


def _most(counts: Mapping[Any, float]) -> list[Any]:
    return [name for name, count in counts.items() if count == max(counts.values())]


# --- what sounds


def _sounding(measures: Sequence[Measure], *, at_last: bool = False) -> Any:
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
    columns = zip(*(part.measures for part in question.parts), strict=False)
    sounding = [column for column in columns if any(measure.notes for measure in column)]
    edges = [_sounding(sounding[0])]
    if not any(measure.has_new_key for measure in question.all):
        edges.insert(0, _sounding(sounding[-1], at_last=True))
    for chord in edges:
        for key in (signature.asKey("major"), signature.asKey("minor")):
            if key.tonic.name == chord.bass().name:
                return f"{_without_natural(key.tonic.unicodeName)} {key.mode}"
    raise ValueError("the bass does not say the key")


def _chord(question: _Question) -> tuple[str, str, str]:
    """Root, quality and position of the chord on the first beat."""
    chord = _sounding(question.measures)
    quality = _only(_QUALITIES.findall(chord.commonName))
    return _without_natural(chord.root().unicodeName), quality, _INVERSIONS[chord.inversion()]


# --- what is written in a measure


def _departing(question: _Question) -> list[str]:
    """Pitches outside the key signature, with those of grace notes, from the lowest up."""
    from music21.key import KeySignature

    signs = {
        pitch.step: pitch.alter for pitch in KeySignature(question.measure.sharps).alteredPitches
    }
    pitches = chain.from_iterable(event.pitches for event in question.measure.events)
    departing = [pitch for pitch in pitches if pitch.alter != signs.get(pitch.step, 0)]
    departing.sort(key=lambda pitch: pitch.ps)
    return list(dict.fromkeys(map(_spelled, departing)))


def _value(choose: Callable[..., Event], sign: str) -> _Answer:
    def answered(question: _Question) -> str:
        events = [
            event
            for event in question.measure.events
            if bool(event.pitches) == (sign == "note") and not event.is_grace
        ]
        chosen = choose(events, key=lambda event: event.end - event.start)
        return f"{_only([chosen.value])} {sign}"

    return answered


def _dynamics(signs: Iterable[list[str]]) -> str:
    matches = filter(None, map(_DYNAMIC.fullmatch, chain(*signs)))
    return _only(match[1] for match in matches)


def _articulations(question: _Question) -> set[str]:
    articulations = set()
    for text in question.measure.texts:
        for marks in _MARKS_OF_NOTE.findall(text):
            names = {_ARTICULATIONS.get(mark, "") for mark in re.findall(r"\.|[a-z]+", marks)}
            # Both together are one articulation of their own.
            is_portato = {"Staccato", "Tenuto"} <= names
            articulations |= {"Portato"} if is_portato else names
    return articulations


def _whether(pattern: str) -> _Answer:
    def answered(question: _Question) -> str:
        texts = chain.from_iterable(measure.texts for measure in question.measures)
        return _yes(any(re.search(pattern, text) for text in texts))

    return answered


# --- the whole score


def _largest(size: Callable[[Part], float]) -> _Answer:
    """The name of the part with the largest size."""
    return lambda question: _only(_most({part.name: size(part) for part in question.parts}))


def _width(part: Part) -> float:
    heights = [pitch.ps for measure in part.measures for pitch in measure.pitches]
    return max(heights) - min(heights) if heights else 0


def _frequent(question: _Question) -> str:
    events = chain.from_iterable(measure.notes for measure in question.all)
    return f"{_only(_most(Counter(event.value for event in events)))} note"


def _fullest(question: _Question) -> str:
    counts = Counter[int]()  # of all parts together
    for measure in question.all:
        counts[measure.number] += len(measure.pitches)
    return _only(_most(+counts))


def _entries(question: _Question) -> list[tuple[int, Fraction, str]]:
    """Measure and moment of the first note of each part, and the part's name."""
    entries = []
    for part in question.parts:
        if first := next((measure for measure in part.measures if measure.notes), None):
            moment = min(event.start for event in first.notes)
            entries.append((first.number, moment, part.name))
    return entries


def _first_entry(question: _Question) -> str:
    earliest = min(_entries(question))[:2]
    return _only(name for *moment, name in _entries(question) if tuple(moment) == earliest)


def _outline(measure: Measure) -> list[tuple[object, ...]]:
    return sorted(
        (event.start, event.value, *map(_spelled, event.pitches)) for event in measure.events
    )


def _repeats(question: _Question) -> str:
    (other, _), (number, _) = question.numbers
    outlines = {measure.number: _outline(measure) for measure in question.all}
    return _yes(outlines[other] == outlines[number])


def _returns(question: _Question) -> str:
    outline = _outline(question.measure)
    first = question.measure.number
    numbers = [
        str(measure.number)
        for measure in question.all
        if measure.number > first and _outline(measure) == outline
    ]
    return _only([", ".join(numbers)])


def _tempo_words(question: _Question) -> str:
    words = re.findall('"([^"]*)"', question.header.get("Q", ""))
    for measure in question.firsts:
        for sign in measure.signs(opening=True):
            text = sign[1:-1].lstrip("^_<>@")
            if sign[0] == '"' and _TEMPO_WORDS.search(text):
                words.append(text)
    return _only(words)


def _anacrusis(question: _Question) -> str:
    events = chain.from_iterable(measure.events for measure in question.firsts)
    length = max(event.end for event in events)
    return _yes(length < 4 * Fraction(question.firsts[0].metre))


# --- kinds of questions


def _of_parts(fact: Callable[[Part], object]) -> _Answer:
    """What is the same for all parts."""
    return lambda question: _only(map(fact, question.parts))


def _at_start(fact: Callable[[Measure], object]) -> _Answer:
    """What the first measures of all parts have in common."""
    return lambda question: _only(map(fact, question.firsts))


def _new(change: str, fact: Callable[[Measure], object]) -> _Answer:
    """What begins in a measure that has a change."""
    has_change = attrgetter(change)
    return lambda question: _only(map(fact, filter(has_change, question.measures)))


def _signature(measure: Measure) -> int:
    return abs(measure.sharps)


def _instruments(question: _Question) -> str:
    return ", ".join(dict.fromkeys([_only([part.name]) for part in question.parts]))


def _last_pitch(question: _Question) -> str:
    last = max(question.measure.notes, key=lambda event: event.start)
    return _spelled(last.pitches[0])


def _ornament(question: _Question) -> str:
    return _only(_ORNAMENTS.get(sign, "") for sign in question.measure.signs())


def _highest(question: _Question) -> str:
    tops = {measure.number: measure.pitches[-1].ps for measure in question.all if measure.pitches}
    return ", ".join(map(str, _most(tops)))


def _metre_changes(part: Part) -> int:
    return sum(measure.has_new_metre for measure in part.measures)


def _notes_in(part: Part) -> int:
    return sum(len(measure.notes) for measure in part.measures)


_ANSWERS = {
    "composer": lambda question: _only([question.header.get("C", "")]),
    "title": lambda question: _only([question.header.get("T", "")]),
    "initial key": _key,
    "key signature": _at_start(_signature),
    "time signature": _at_start(attrgetter("metre")),
    "clef": _at_start(attrgetter("clef")),
    "tempo words": _tempo_words,
    "metronome mark": lambda question: _only(
        re.findall(r"= ?([0-9]{1,4})(?![0-9.])", question.header.get("Q", ""))
    ),
    "anacrusis": _anacrusis,
    "instruments": _instruments,
    "last measure": _of_parts(lambda part: part.measures[-1].number),
    "opening dynamic": lambda question: _dynamics(
        measure.signs(opening=True) for measure in question.firsts
    ),
    "highest pitch": lambda question: _spelled(question.measure.pitches[-1]),
    "lowest pitch": lambda question: _spelled(question.measure.pitches[0]),
    "last pitch": _last_pitch,
    "accidental": lambda question: _yes(_departing(question)),
    "accidentals": lambda question: _only([", ".join(_departing(question))]),
    "shortest note": _value(min, "note"),
    "longest note": _value(max, "note"),
    "rest": lambda question: _yes(not all(map(attrgetter("pitches"), question.measure.events))),
    "shortest rest": _value(min, "rest"),
    "longest rest": _value(max, "rest"),
    "dynamic": lambda question: _dynamics(map(Measure.signs, question.measures)),
    "articulation": lambda question: _only(_articulations(question)),
    "staccato": lambda question: _yes("Staccato" in _articulations(question)),
    "ornament": _ornament,
    "fermata": _whether("!fermata!"),
    "grace note": _whether(r"\{"),
    "tie": _whether(r"-[\s)\]0-9/]*(?:[:|\[].*)?$"),
    "repeat sign": _whether(r"\|:|:\|"),
    "new time signature": _new("has_new_metre", attrgetter("metre")),
    "new key signature": _new("has_new_key", _signature),
    "new clef": lambda question: _only(question.measure.new_clefs),
    "number of notes": lambda question: str(len(question.measure.pitches)),
    "chord name": lambda question: " ".join(_chord(question)[:2]),
    "chord quality": lambda question: _chord(question)[1].capitalize(),
    "chord inversion": lambda question: _chord(question)[2],
    "predominant rhythm": _frequent,
    "predominant rhythm of a part": _frequent,
    "busiest part": _largest(_notes_in),
    "widest part": _largest(_width),
    "fullest measure": _fullest,
    "last entry": lambda question: str(max(_entries(question))[0]),
    "first entry": _first_entry,
    "exact repetition": _repeats,
    "return of a measure": _returns,
    "highest note": _highest,
    "all parts present": lambda question: _yes(all(map(attrgetter("notes"), question.measures))),
    "metre changes": _of_parts(_metre_changes),
}
"""Kind of question → its answer; `ValueError` or `LookupError` if there is no single answer."""
