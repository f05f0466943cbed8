"""Short pieces by rule: functional harmony in phrases of four measures, a bass, a melody above it, and inner voices.

A plan gives the phrases, their keys and cadences. Each phrase takes a progression that ends in its cadence; the bass
goes by the progression; the melody is the cheapest way through the notes of the scale (dynamic programming) under the
rules of `_Melody`; inner voices take the nearest notes of the chord. The same task and chance give the same piece.

Heights are steps of the staff: 7 times the octave plus the letter from C = 0, so that middle C is 28. Times are in
whole notes.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Final, Literal, NamedTuple

from music_evals.notation.spelling import letter_of

Role = Literal["upper", "voice", "bass", "keyboard", "drum"]
Bass = Literal["long", "beats", "drum"]
Plan = Literal["binary", "ritornello", "song", "speech"]

MODES: Final[Mapping[str, int]] = {
    **{"lydian": 0, "major": -1, "mixolydian": -2, "dorian": -3, "minor": -4, "phrygian": -5, "locrian": -6}
}
"""Modes, and where on the line of fifths their scale begins, seen from the tonic."""

_LETTERS: Final = "CDEFGAB"
_SEMITONES: Final = (0, 2, 4, 5, 7, 9, 11)
_DEGREES: Final = ("I", "II", "III", "IV", "V", "VI", "VII")
_PROGRESSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "half": (
        "I | V6 | I IV | V",
        "I | VI | II6 | V",
        "I V6 | I I6 | IV II6 | V",
        "I IV | I6 | II6 | V",
    ),
    "full": (
        "I | IV | II6 V7 | I",
        "I | VI | II6 V | I",
        "I6 | IV | I V7 | I",
        "I V6 | VI | IV V7 | I",
        "I IV | VII6 I6 | II6 V7 | I",
    ),
}
"""Chords by measures: a 6 has the third in the bass, a 7 adds the seventh."""

_PLANS: Final[Mapping[Plan, tuple[tuple[str, ...], ...]]] = {
    "binary": (("a home half", "b away full"), ("c other full", "d home full")),
    "ritornello": (("r home full", "s away full solo", "r away full", "t other full solo", "r home full"),),
    "song": (("a home half", "b home full", "c away full solo", "b home full"),),
    "speech": (("a home half", "b home full"),),
}
"""Sections of phrases: a name (the same name, the same music but for key and joints), a key, a cadence, and whether
inner voices are silent. Several sections are each repeated."""

_SIMPLE: Final = tuple(tuple(map(Fraction, beat.split())) for beat in ("2", "1", "1/2 1/2", "3/4 1/4", "1/2 1/4 1/4"))
_COMPOUND: Final = tuple(tuple(map(Fraction, beat.split())) for beat in ("1", "1/3 1/3 1/3", "2/3 1/3", "1/2 1/6 1/3"))
"""Rhythms of a beat (or of two), in beats."""

_WINDOW: Final = 20  # semitones that a part moves in
_NEVER: Final = 1000.0
_LENGTHS: Final = tuple(
    (base * (Fraction(3, 2) if dot else 1), f"{name}{dot}")
    for base, name in [(Fraction(2), "\\breve"), *((Fraction(1, 2**power), str(2**power)) for power in range(8))]
    for dot in (".", "")
)


class Part(NamedTuple):
    """A staff to be filled.

    Args:
        role: upper and voice may lead; bass and keyboard are below; drum plays tonic and dominant alone.
        low: lowest comfortable pitch (MIDI).
        high: highest comfortable pitch (MIDI).
    """

    role: Role
    low: int
    high: int


class Metre(NamedTuple):
    """A time signature."""

    numerator: int
    denominator: int

    @property
    def length(self) -> Fraction:
        """Of a measure, in whole notes."""
        return Fraction(self.numerator, self.denominator)

    @property
    def beat(self) -> Fraction:
        """Length of a beat: dotted where the beats are in threes, and half a measure of a single beat.

        Example:
            >>> Metre(6, 8).beat, Metre(3, 8).beat, Metre(2, 2).beat
            (Fraction(3, 8), Fraction(1, 8), Fraction(1, 2))
        """
        if self.numerator == 1:
            return self.length / 2
        return Fraction(3 if self.compound else 1, self.denominator)

    @property
    def compound(self) -> bool:
        """Whether the beats are in threes."""
        return self.numerator > 3 and self.numerator % 3 == 0

    @property
    def beats(self) -> int:
        """How many beats a measure has."""
        return int(self.length / self.beat)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be composed.

    Args:
        tonic: on the line of fifths of `notation.spelling`.
        mode: one of `MODES`.
        metre: throughout.
        plan: the form.
        bass: how the bass moves: a note a chord, a note a beat, or repeated notes.
        pace: quarter notes a minute; the slower, the more notes a beat has.
        parts: from the top of the score, at least one.
    """

    tonic: int
    mode: str
    metre: Metre
    plan: Plan
    bass: Bass
    pace: int
    parts: tuple[Part, ...]


class _Pitch(NamedTuple):
    height: int
    sharps: int

    @property
    def midi(self) -> int:
        octave, letter = divmod(self.height, 7)
        return 12 * (octave + 1) + _SEMITONES[letter] + self.sharps

    @property
    def name(self) -> str:
        octave, letter = divmod(self.height, 7)
        marks = "'" * (octave - 3) if octave >= 3 else "," * (3 - octave)
        return _LETTERS[letter].lower() + ("is" * self.sharps if self.sharps > 0 else "es" * -self.sharps) + marks


class _Note(NamedTuple):
    start: Fraction
    length: Fraction
    pitch: _Pitch | None
    """None for a rest."""


class _Scale(NamedTuple):
    tonic: int
    mode: str

    @property
    def steps(self) -> list[int]:
        """Sharps of the letters C to B."""
        first = self.tonic + MODES[self.mode]
        sharps = {letter_of(note): (note + 1) // 7 for note in range(first, first + 7)}
        return [sharps[letter] for letter in _LETTERS]

    @property
    def letter(self) -> int:
        """Of the tonic."""
        return _LETTERS.index(letter_of(self.tonic))

    def moved(self, where: str) -> "_Scale":
        """The same key for home; away is the dominant, or the relative major of what is no major; other the third."""
        major = MODES[self.mode] >= MODES["mixolydian"]
        if where == "away":
            return _Scale(self.tonic + 1, "major") if major else _Scale(self.tonic - 3, "major")
        if where == "other":
            return _Scale(self.tonic + 3, "minor") if major else _Scale(self.tonic + 1, "minor")
        return self


@dataclass(frozen=True)
class _Chord:
    """A chord at a place; its letters are root, third, fifth, and perhaps seventh."""

    start: Fraction
    length: Fraction
    steps: tuple[int, ...]
    letters: tuple[int, ...]
    bass: int
    leading: int | None
    tonic: int
    phrase: "_Phrase"
    closes: bool
    """Whether it is the last one of its phrase."""

    def pitch(self, height: int) -> _Pitch:
        """The note of the scale at a height, as it is while the chord lasts."""
        return _Pitch(height, self.steps[height % 7])

    @cached_property
    def end(self) -> Fraction:
        return self.start + self.length


@dataclass(frozen=True, eq=False)
class _Phrase:
    name: str
    cadence: str
    solo: bool
    section: int
    start: Fraction
    last: bool


def compose(task: Task, random: Random) -> list[list[list[str]]]:
    """Compose a piece of 8 to 20 measures.

    Args:
        task: what.
        random: the source of chance.

    Returns:
        For each part its sections, and of each section the measures in LilyPond's absolute pitches and Dutch names.

    Example:
        >>> violin, cello = (Part("upper", 57, 86), Part("bass", 38, 67))
        >>> task = Task(1, "major", Metre(3, 4), "binary", "beats", 100, (violin, cello))
        >>> upper, bass = compose(task, Random(1))
        >>> [len(section) for section in upper], bass[0][0], upper[-1][-1], bass[-1][-1]
        ([8, 8], 'g,4 d,4 fis,4', "g''2.", 'g,2.')
    """
    chords = _harmony(task, random)
    lead, deep = _leader(task.parts), _deepest(task.parts)
    bass = _bass(task, task.parts[deep], chords, random)
    melody = _Melody(task, task.parts[lead], chords, bass, random).notes()
    voices: dict[int, list[_Note]] = {lead: melody}
    if deep != lead:
        voices[deep] = bass
    for place, part in enumerate(task.parts):
        if place in voices:
            continue
        if part.role == "drum":
            voices[place] = _drum(task, part, chords)
        elif part.role in ("bass", "keyboard"):
            voices[place] = _doubled(part, bass)
        else:
            voices[place] = _inner(task, part, chords, list(voices.values()))
    return [_written(task, voices[place], chords) for place in range(len(task.parts))]


def length_name(length: Fraction) -> str:
    """LilyPond's name of a length that one note can have.

    Raises:
        KeyError: no single note has it.

    Example:
        >>> length_name(Fraction(3, 8))
        '4.'
    """
    return dict(_LENGTHS)[length]


def _harmony(task: Task, random: Random) -> list[_Chord]:
    home = _Scale(task.tonic, task.mode)
    progressions: dict[tuple[str, str], str] = {}
    chords: list[_Chord] = []
    start = Fraction(0)
    sections = _PLANS[task.plan]
    for section, phrases in enumerate(sections):
        for place, described in enumerate(phrases):
            name, where, cadence, *solo = described.split()
            scale = home.moved(where)
            chosen = progressions.setdefault((name, cadence), random.choice(_PROGRESSIONS[cadence]))
            last = section == len(sections) - 1 and place == len(phrases) - 1
            phrase = _Phrase(name, cadence, bool(solo), section, start, last)
            measures = chosen.split(" | ")
            for number, measure in enumerate(measures):
                half = task.metre.beat * -(-task.metre.beats // 2)
                lengths = [half, task.metre.length - half] if " " in measure else [task.metre.length]
                for symbol, length in zip(measure.split(), lengths, strict=True):
                    chords.append(_chord(symbol, scale, start, length, phrase, number == len(measures) - 1))
                    start += length
    return chords


def _chord(symbol: str, scale: _Scale, start: Fraction, length: Fraction, phrase: _Phrase, closes: bool) -> _Chord:
    degree = _DEGREES.index(symbol.rstrip("67"))
    letters = tuple((scale.letter + degree + above) % 7 for above in ((0, 2, 4, 6) if "7" in symbol else (0, 2, 4)))
    steps, leading = scale.steps, None
    if degree in (4, 6):
        # Dominants have a leading note, whatever the mode.
        leading = (scale.letter + 6) % 7
        steps[leading] = (scale.tonic + 6) // 7
    bass = letters[1 if "6" in symbol else 0]
    return _Chord(start, length, tuple(steps), letters, bass, leading, scale.letter, phrase, closes)


def _leader(parts: Sequence[Part]) -> int:
    """The part with the melody: a voice, or the first that is not there for the bass."""
    leading: tuple[Role, ...] = ("voice", "upper", "bass", "keyboard", "drum")
    return min(range(len(parts)), key=lambda place: leading.index(parts[place].role))


def _deepest(parts: Sequence[Part]) -> int:
    """The part with the bass; it is the leader where there is no other."""
    lead = _leader(parts)
    others = [place for place, part in enumerate(parts) if place != lead and part.role != "drum"]
    low = [place for place in others if parts[place].role in ("bass", "keyboard")]
    return low[0] if low else min(others, key=lambda place: parts[place].low, default=lead)


def _heights(low: int, high: int) -> range:
    """Heights whose natural notes lie between two MIDI pitches."""
    inside = [height for height in range(70) if low <= _Pitch(height, 0).midi <= high]
    return range(inside[0], inside[-1] + 1)


def _upper_window(part: Part) -> range:
    return _heights(max(part.low, part.high - _WINDOW), part.high)


def _lower_window(part: Part) -> range:
    return _heights(part.low, min(part.high, part.low + _WINDOW))


def _bass(task: Task, part: Part, chords: Sequence[_Chord], random: Random) -> list[_Note]:
    window = _lower_window(part)
    at = window[len(window) // 2]
    roots: list[int] = []
    for chord in chords:
        choices = [height for height in window if height % 7 == chord.bass]
        at = min(choices, key=lambda height: (abs(height - at), height))
        roots.append(at)
    notes: list[_Note] = []
    whims: dict[tuple[str, Fraction], float] = {}
    for place, (chord, root) in enumerate(zip(chords, roots, strict=True)):
        after = roots[place + 1] if place + 1 < len(roots) else root
        if task.bass == "long" or (chord.closes and chord.phrase.last):
            notes.append(_Note(chord.start, chord.length, chord.pitch(root)))
            continue
        step = task.metre.beat / 2 if task.bass == "drum" and _divides(task) else task.metre.beat
        count = int(chord.length / step)
        for number in range(count):
            height = root
            if task.bass == "beats" and number:
                near = [h for h in window if h % 7 in chord.letters[:3] and 0 < abs(h - root) <= 4]
                passing = number == count - 1 and abs(after - root) == 2
                # A phrase that comes back has the same bass, where the octave is the same.
                spot = (chord.phrase.name, chord.start + number * step - chord.phrase.start)
                whim = whims.setdefault(spot, random.random())
                height = (root + after) // 2 if passing else near[int(whim * len(near))]
            notes.append(_Note(chord.start + number * step, step, chord.pitch(height)))
    return notes


def _divides(task: Task) -> bool:
    return not task.metre.compound and task.metre.beat >= Fraction(1, 4)


def _rhythm(task: Task, random: Random) -> list[Fraction]:
    """Lengths of the notes of a measure."""
    beat, metre = task.metre.beat, task.metre
    kinds = [
        kind
        for kind in (_COMPOUND if metre.compound else _SIMPLE)
        if min(kind) * beat >= Fraction(1, 16) or max(kind) >= 1
    ]
    # Quick movements go in plain notes, slow ones are ornamented.
    weights = [2.0 if len(kind) < 3 else 80 / task.pace for kind in kinds]
    lengths: list[Fraction] = []
    while (left := metre.length - sum(lengths, Fraction(0))) > 0:
        fitting = [(kind, weight) for kind, weight in zip(kinds, weights, strict=True) if sum(kind) * beat <= left]
        (kind,) = random.choices([kind for kind, _ in fitting], [weight for _, weight in fitting])
        lengths += [length * beat for length in kind]
    return lengths


class _Melody:
    """The cheapest melody over a bass.

    On the beat stands a note of the chord. Other notes are reached and left by step. No parallel fifths and octaves
    with the bass, no augmented steps and tritones; a leap of a fourth or fifth, the largest there are, turns back by a
    step or third. Leading notes rise, sevenths fall; the end is the tonic.
    """

    def __init__(self, task: Task, part: Part, chords: Sequence[_Chord], bass: Sequence[_Note], random: Random) -> None:
        self.window = _upper_window(part)
        self.phrase = 4 * task.metre.length
        self.random = random
        self.places = list(_places(task, chords, random))
        below = [_around(bass, start) for start, *_ in self.places]
        self.below = [(before.midi, now.midi) for before, now in below]
        self.midi = [{height: chord.pitch(height).midi for height in self.window} for _, _, chord, _ in self.places]

    def notes(self) -> list[_Note]:
        """The melody, note by note."""
        whims: dict[tuple[str, Fraction], list[float]] = {}
        paths: list[dict[tuple[int, int], tuple[float, tuple[int, int] | None]]] = []
        for place, (start, _, chord, _) in enumerate(self.places):
            # The same whims for the same place of a phrase, so that it comes back as it was.
            key = (chord.phrase.name, start - chord.phrase.start)
            whim = whims.setdefault(key, [3 * self.random.random() for _ in self.window])
            reached: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {}
            for height, liking in zip(self.window, whim, strict=True):
                own = liking + self._cost(place, height)
                if not place:
                    reached[height, 0] = (own, None)
                    continue
                for state, (cost, _) in paths[-1].items():
                    step = height - state[0]
                    if abs(step) > 4:
                        continue
                    leap = (step > 0) - (step < 0) if abs(step) > 2 else state[1] if step == 0 else 0
                    total = cost + own + self._step(place, state, height)
                    if (height, leap) not in reached or total < reached[height, leap][0]:
                        reached[height, leap] = (total, state)
            paths.append(reached)
        end = min(paths[-1], key=lambda last: paths[-1][last][0])
        notes = []
        for (start, length, chord, _), reached in zip(reversed(self.places), reversed(paths), strict=True):
            notes.append(_Note(start, length, chord.pitch(end[0])))
            end = reached[end][1] or end
        return notes[::-1]

    def _cost(self, place: int, height: int) -> float:
        """Of a note by itself."""
        start, length, chord, on_beat = self.places[place]
        inside = height % 7 in chord.letters
        cost = 0.0 if inside else 0.5
        if (on_beat or length > Fraction(1, 4)) and not inside:
            cost += _NEVER
        if chord.closes and chord.phrase.cadence == "full" and height % 7 != chord.tonic:
            cost += _NEVER if chord.phrase.last else 4
        # Phrases rise to their middle and fall back.
        along = float((start - chord.phrase.start) / self.phrase)
        wanted = self.window[0] + len(self.window) * (0.35 + 0.4 * math.sin(math.pi * along))
        return cost + 0.35 * abs(height - wanted)

    def _step(self, place: int, state: tuple[int, int], height: int) -> float:
        """Of a move from the note before."""
        earlier, chord = self.places[place - 1][2], self.places[place][2]
        old, leap = state
        step = height - old
        before, now = self.midi[place - 1][old], self.midi[place][height]
        size = abs(now - before)
        cost = (1.5, 0.0, 1.0, 2.0, 3.0)[abs(step)]
        outside = old % 7 not in earlier.letters or height % 7 not in chord.letters
        turns = step == 0 or (step * leap < 0 and abs(step) <= 2)
        if (outside and abs(step) != 1) or (leap and not turns) or size == 6 or (abs(step) == 1 and size > 2):
            cost += _NEVER
        if step == 0 and size:
            cost += 3
        below_before, below_now = self.below[place]
        if below_before != below_now and step:
            interval = (now - below_now) % 12
            if interval in (0, 7):
                cost += _NEVER if interval == (before - below_before) % 12 else 0
                # Open fifths and octaves in the same direction, by a leap.
                cost += 2 if (now > before) == (below_now > below_before) and abs(step) > 1 else 0
        if earlier is not chord and old % 7 == earlier.leading and step != 1:
            cost += 4
        if earlier is not chord and old % 7 in earlier.letters[3:] and step != -1:
            cost += 4
        return cost + (4 if place == len(self.places) - 1 and abs(step) != 1 else 0)


def _places(task: Task, chords: Sequence[_Chord], random: Random) -> Iterator[tuple[Fraction, Fraction, _Chord, bool]]:
    """Start and length of each note of the melody, its chord, and whether it stands on a beat."""
    motifs: dict[str, tuple[list[Fraction], list[Fraction]]] = {}
    measure = task.metre.length
    starts = [chord.start for chord in chords]
    for number in range(int(chords[-1].end / measure)):
        begin = number * measure
        chord = chords[bisect_right(starts, begin) - 1]
        motif = motifs.setdefault(chord.phrase.name, (_rhythm(task, random), _rhythm(task, random)))
        lengths = [measure] if chord.closes else motif[int((begin - chord.phrase.start) / measure) % 2]
        changes = [chord.start for chord in chords if begin < chord.start < begin + measure]
        edges = sorted({begin + sum(lengths[:place], Fraction(0)) for place in range(len(lengths))} | set(changes))
        for start, end in zip(edges, [*edges[1:], begin + measure], strict=True):
            on_beat = (start - begin) % task.metre.beat == 0
            yield start, end - start, chords[bisect_right(starts, start) - 1], on_beat


def _around(notes: Sequence[_Note], moment: Fraction) -> list[_Pitch]:
    """What sounds right before a moment, and at it; nothing where one of them is a rest."""
    place = bisect_right(notes, moment, key=lambda note: note.start) - 1
    before = place - 1 if place and notes[place].start == moment else place
    pitches = [note.pitch for note in (notes[before], notes[place]) if note.pitch]
    return pitches if len(pitches) == 2 else []


def _inner(task: Task, part: Part, chords: Sequence[_Chord], others: Sequence[list[_Note]]) -> list[_Note]:
    """The nearest notes of the chords, silent where the phrase is a solo."""
    window = _lower_window(part)
    at = _Pitch(window[len(window) * 2 // 3], 0)
    notes: list[_Note] = []
    for chord in chords:
        if chord.phrase.solo:
            notes.append(_Note(chord.start, chord.length, None))
            continue
        around = [pair for voice in others if (pair := _around(voice, chord.start))]
        choices = [chord.pitch(height) for height in window if height % 7 in chord.letters[:3]]
        at = min((_unfit(at, choice, chord, around), choice) for choice in choices)[1]
        repeated = task.bass == "drum" and not (chord.closes and chord.phrase.last)
        step = task.metre.beat if repeated else chord.length
        notes += [_Note(chord.start + number * step, step, at) for number in range(int(chord.length / step))]
    return notes


def _unfit(before: _Pitch, now: _Pitch, chord: _Chord, around: Sequence[list[_Pitch]]) -> float:
    """How far a voice would go to a pitch, what it would double, and whether in parallels with another voice."""
    letter = now.height % 7
    twice = sum(new.height % 7 == letter for _, new in around)
    doubled = twice * (8 if letter == chord.leading else 3 if letter == chord.letters[1] else 1.5)
    unison = 5 if any(new == now for _, new in around) else 0
    parallel = any(
        before != now and old != new and (now.midi - new.midi) % 12 == (before.midi - old.midi) % 12 in (0, 7)
        for old, new in around
    )
    return abs(now.height - before.height) + doubled + unison + (12 if parallel else 0)


def _doubled(part: Part, bass: Sequence[_Note]) -> list[_Note]:
    """The bass in the octave that suits a part."""
    window = _lower_window(part)

    def misses(octaves: int) -> int:
        return sum(note.pitch is not None and note.pitch.height + 7 * octaves not in window for note in bass)

    shift = 7 * min((0, -1, 1, -2, 2), key=misses)
    notes = []
    for note in bass:
        assert note.pitch is not None
        height = note.pitch.height + shift
        height += 7 * ((height < window[0]) - (height > window[-1]))
        notes.append(note._replace(pitch=note.pitch._replace(height=height)))
    return notes


def _drum(task: Task, part: Part, chords: Sequence[_Chord]) -> list[_Note]:
    """The key's tonic and dominant, where the chord has them."""
    home = _Scale(task.tonic, task.mode)
    window = _lower_window(part)
    notes: list[_Note] = []
    for chord in chords:
        letters = [letter for letter in (home.letter, (home.letter + 4) % 7) if letter in chord.letters]
        if chord.phrase.solo or not letters:
            notes.append(_Note(chord.start, chord.length, None))
            continue
        height = next(height for height in window if height % 7 == letters[0])
        beat = min(task.metre.beat, chord.length)
        notes.append(_Note(chord.start, beat, _Pitch(height, home.steps[height % 7])))
        if chord.length > beat:
            notes.append(_Note(chord.start + beat, chord.length - beat, None))
    return notes


def _written(task: Task, notes: Sequence[_Note], chords: Sequence[_Chord]) -> list[list[str]]:
    """Measures of each section; no note goes beyond its measure."""
    measure = task.metre.length
    sections: list[list[str]] = []
    of_measure = {chord.start // measure: chord.phrase.section for chord in chords}
    for number in range(int(chords[-1].end / measure)):
        inside = [note for note in notes if note.start // measure == number]
        if all(note.pitch is None for note in inside):
            text = f"R1*{task.metre.numerator}/{task.metre.denominator}"
        else:
            text = " ".join(_note(note) for note in inside)
        if of_measure[number] == len(sections):
            sections.append([])
        sections[-1].append(text)
    return sections


def _note(note: _Note) -> str:
    name = note.pitch.name if note.pitch else "r"
    pieces, left = [], note.length
    while left:
        length, written = next((length, written) for length, written in _LENGTHS if length <= left)
        pieces.append(name + written)
        left -= length
    return (" ~ " if note.pitch else " ").join(pieces)
