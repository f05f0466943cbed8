"""Plays a tree of music through: when each note comes, in which voice and staff, and in which measure."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

from music_evals.baselines.lilybench.music import Check, Group, Key, Mark, Music, Pitch, Sound
from music_evals.baselines.lilybench.tokens import UnreadableScoreError

_MAX_ITEMS: Final = 300_000
_MAX_STEPS: Final = 600_000
_MAX_WHOLES: Final = 100_000
_MAX_DENOMINATOR: Final = 10**9
_MAX_REPEATS: Final = 10_000

_GROUPS_OF_STAVES: Final = frozenset(["PianoStaff", "GrandStaff", "StaffGroup", "ChoirStaff", "Score"])
_CONTEXTS: Final = ("context", "new_context")
_VOICES: Final = ("Voice", "CueVoice", "DrumVoice", "TabVoice", "VaticanaVoice", "MensuralVoice", "NullVoice", "Bottom")


class Place(NamedTuple):
    """A moment in the measures: the number of its measure and whole notes from its beginning."""

    measure: int
    position: Fraction


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a voice.

    Args:
        time: when, in whole notes from the beginning.
        what: a note, rest or skip, a bar check, or a problem.
        length: in whole notes, tuplets reckoned in; none for grace notes and what is no sound.
        pitches: of a note.
        staff: number of the staff.
        grace: whether it is a grace note.
    """

    time: Fraction
    what: Sound | Check | Mark
    length: Fraction
    pitches: tuple[Pitch, ...]
    staff: int
    grace: bool

    @property
    def end(self) -> Fraction:
        """When it ends."""
        return self.time + self.length


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Measures of one length, from a moment on."""

    start: Fraction
    measure: int
    position: Fraction
    length: Fraction
    timed: bool

    def position_at(self, time: Fraction) -> Fraction:
        """Whole notes since the first measure of the stretch began; in a cadenza no time passes."""
        return self.position + time - self.start if self.timed else self.position


@dataclass(frozen=True, slots=True)
class Strands:
    """Voices that go on side by side: when they start, and each one's number and end."""

    start: Fraction
    ends: tuple[tuple[int, Fraction], ...]


@dataclass
class Timeline:
    """A score played through.

    Args:
        voices: number → what is in it, in the order of the text.
        keys: moment, staff and key.
        metres: moment and metre.
        strands: voices side by side.
        end: when the longest voice ends.
    """

    voices: dict[int, list[Item]] = field(default_factory=dict)
    keys: list[tuple[Fraction, int, Key]] = field(default_factory=list)
    metres: list[tuple[Fraction, tuple[int, int]]] = field(default_factory=list)
    strands: list[Strands] = field(default_factory=list)
    end: Fraction = Fraction(0)
    _stretches: list[_Stretch] = field(default_factory=list)

    def place(self, time: Fraction) -> Place:
        """Where a moment lies; the pickup is measure 0, and has negative positions."""
        stretch = self._stretch(time)
        position = stretch.position_at(time)
        if not stretch.timed or position < 0:
            return Place(stretch.measure - (position < 0 and stretch.measure == 1), position)
        count, position = divmod(position, stretch.length)
        return Place(stretch.measure + int(count), position)

    def measure_length(self, time: Fraction) -> Fraction:
        """How long measures are at a moment, in whole notes."""
        return self._stretch(time).length

    def is_timed(self, time: Fraction) -> bool:
        """Whether measures are counted at a moment: they are not in a cadenza."""
        return self._stretch(time).timed

    def key_at(self, time: Fraction, staff: int) -> Key | None:
        """The key in force in a staff; None where there was none yet."""
        keys = self._keys_of(staff)
        place = bisect_right(keys, time, key=lambda key: key[0])
        return keys[place - 1][1] if place else None

    @property
    def measures(self) -> int:
        """How many measures there are; a pickup is none, and an incomplete last one is one."""
        before = [stretch for stretch in self._stretches if stretch.start < self.end]
        if not before:
            return 0
        last = before[-1]
        position = last.position_at(self.end)
        if not last.timed:
            return last.measure
        return last.measure - 1 + -int(-position // last.length) if position > 0 else last.measure - 1

    def _stretch(self, time: Fraction) -> _Stretch:
        place = bisect_right(self._stretches, time, key=lambda stretch: stretch.start)
        return self._stretches[max(place - 1, 0)]

    def _keys_of(self, staff: int) -> list[tuple[Fraction, Key]]:
        if not hasattr(self, "_sorted_keys"):
            self._sorted_keys: dict[int, list[tuple[Fraction, Key]]] = {}
            for time, of, key in sorted(self.keys, key=lambda key: key[0]):
                self._sorted_keys.setdefault(of, []).append((time, key))
        return self._sorted_keys.get(staff, [])


def play(music: Music) -> Timeline:
    """Play music through.

    Repeats are played as written, each alternative once; those that are written out (``unfold``) or stand for their
    repetition (``percent``) are played as often as they say.

    Args:
        music: a score's.

    Raises:
        UnreadableScoreError: it is too long.

    Example:
        >>> notes = [Sound(0, "note", (), Fraction(1, 4))] * 9
        >>> played = play(Group("sequence", tuple(notes)))
        >>> played.measures, played.place(Fraction(9, 4))
        (3, Place(measure=3, position=Fraction(1, 4)))
    """
    player = _Player()
    player.timeline.end = player.play(music, _State(Fraction(0), player.new_voice(), player.new_staff()))
    player.finish()
    return player.timeline


class _State(NamedTuple):
    """Where and how music is played; `inside` is the type of the staff around it."""

    time: Fraction
    voice: int
    staff: int
    ratio: Fraction = Fraction(1)
    grace: bool = False
    unfold: bool = False
    inside: str = ""


class _Player:
    def __init__(self) -> None:
        self.timeline = Timeline()
        self._marks: list[tuple[Fraction, Mark]] = []
        self._steps = 0
        self._items = 0
        self._voices = 0
        self._staves = 0
        self._named: dict[tuple[int, str], int] = {}
        self._staff_names: dict[str, int] = {}
        self._moved: dict[int, int] = {}
        self._last: tuple[Pitch, ...] = ()

    def new_voice(self) -> int:
        self._voices += 1
        return self._voices

    def new_staff(self) -> int:
        self._staves += 1
        return self._staves

    def play(self, music: Music, state: _State) -> Fraction:
        """Play music and tell when it ends."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise UnreadableScoreError("the music repeats itself too often to be read")
        if isinstance(music, Sound):
            return self._sound(music, state)
        if isinstance(music, Check):
            self._add(state, Item(state.time, music, Fraction(0), (), state.staff, state.grace))
            return state.time
        if isinstance(music, Mark):
            self._mark(music, state)
            return state.time
        if music.kind == "scaled":
            state = state._replace(ratio=state.ratio * music.ratio)
            if max(state.ratio.denominator, state.ratio.numerator) > _MAX_DENOMINATOR:
                raise UnreadableScoreError(f"a duration is scaled by {state.ratio}")
            return self._in_turn(music.parts, state)
        if music.kind == "grace":
            self._in_turn(music.parts, state._replace(grace=True))
            return state.time
        if music.kind == "repeat":
            return self._in_turn(self._repeated(music, state), state)
        if music.kind == "unfolded":
            return self._in_turn(music.parts, state._replace(unfold=True))
        if music.kind in ("simultaneous", "voices"):
            return self._side_by_side(music, state)
        if music.kind in _CONTEXTS:
            return self._context(music, state)
        return self._in_turn(music.parts, state)

    def finish(self) -> None:
        """Lay the measures out, when all marks are known."""
        timeline = self.timeline
        now = _Stretch(Fraction(0), 1, Fraction(0), Fraction(1), timed=True)
        timeline._stretches.append(now)
        for time, mark in sorted(self._marks, key=lambda each: each[0]):
            position = now.position_at(time)
            measure = now.measure
            if now.timed and position >= now.length:
                count, position = divmod(position, now.length)
                measure += int(count)
            length, timed = now.length, now.timed
            value = mark.numbers[0]
            if mark.kind == "metre":
                length = value / mark.numbers[1]
                timeline.metres.append((time, (int(value), int(mark.numbers[1]))))
            elif mark.kind == "measure_length" and value > 0:
                length = value
            elif mark.kind == "partial":
                # A pickup comes ahead of measure 1; later on it is the rest of a measure that has begun.
                position = length - value if time else -value
            elif mark.kind == "position":
                position = value
            elif mark.kind == "timing":
                timed = bool(value)
            now = _Stretch(time, measure, position, length, timed)
            if timeline._stretches[-1].start == time:
                timeline._stretches.pop()
            timeline._stretches.append(now)

    def _in_turn(self, parts: Sequence[Music] | Iterator[Music], state: _State) -> Fraction:
        time = state.time
        for part in parts:
            time = self.play(part, state._replace(time=time))
        return time

    def _sound(self, sound: Sound, state: _State) -> Fraction:
        if sound.kind == "again":
            pitches = self._last
        else:
            pitches = sound.pitches if sound.kind == "note" else ()
            if sound.kind == "note" and not state.grace:
                self._last = pitches
        length = Fraction(0) if state.grace else sound.length * state.ratio
        end = state.time + length
        if end > _MAX_WHOLES or end.denominator > _MAX_DENOMINATOR:
            raise UnreadableScoreError(f"the note at offset {sound.offset} ends after {float(end):.0f} whole notes")
        staff = self._moved.get(state.voice, state.staff)
        self._add(state, Item(state.time, sound, length, pitches, staff, state.grace))
        return end

    def _add(self, state: _State, item: Item) -> None:
        self._items += 1
        if self._items > _MAX_ITEMS:
            raise UnreadableScoreError(f"the score has more than {_MAX_ITEMS} notes")
        self.timeline.voices.setdefault(state.voice, []).append(item)

    def _mark(self, mark: Mark, state: _State) -> None:
        if mark.kind == "key" and mark.key is not None:
            self.timeline.keys.append((state.time, self._moved.get(state.voice, state.staff), mark.key))
        elif mark.kind == "problem":
            self._add(state, Item(state.time, mark, Fraction(0), (), state.staff, state.grace))
        elif mark.kind == "staff":
            self._moved[state.voice] = self._staff(mark.name)
        elif mark.numbers and not state.grace:
            # Marks are few ahead of notes, but repeats may multiply them.
            self._items += 1
            if self._items > _MAX_ITEMS:
                raise UnreadableScoreError(f"the score has more than {_MAX_ITEMS} marks")
            self._marks.append((state.time, mark))

    def _repeated(self, music: Group, state: _State) -> Iterator[Music]:
        body, *rest = music.parts
        endings: tuple[Music, ...] = rest[0].parts if rest and isinstance(rest[0], Group) else ()
        if not (music.name in ("unfold", "percent") or state.unfold):
            return iter((body, *endings))
        inner = body.parts[-1] if isinstance(body, Group) and body.kind == "sequence" and body.parts else None
        if not endings and isinstance(body, Group) and isinstance(inner, Group) and inner.kind == "alternatives":
            endings, body = inner.parts, Group("sequence", body.parts[:-1])
        return self._unfolded(body, endings, min(music.count, _MAX_REPEATS))

    def _unfolded(self, body: Music, endings: tuple[Music, ...], count: int) -> Iterator[Music]:
        for turn in range(count):
            yield body
            if endings:
                # Where there are fewer endings than turns, the first serves for all that lack one.
                yield endings[max(0, turn - (count - len(endings)))]

    def _side_by_side(self, music: Group, state: _State) -> Fraction:
        ends: list[tuple[int, Fraction]] = []
        latest = state.time
        taken = music.kind == "voices"
        for part in music.parts:
            voice = state.voice
            sounding = isinstance(part, Sound) or (isinstance(part, Group) and part.sounds)
            if sounding and not (isinstance(part, Group) and part.kind in _CONTEXTS):
                if taken:
                    voice = self.new_voice()
                    if state.voice in self._moved:
                        self._moved[voice] = self._moved[state.voice]
                taken = True
            made = self._voices
            end = self.play(part, state._replace(voice=voice))
            if isinstance(part, Group) and part.kind in _CONTEXTS and self._voices > made:
                voice = made + 1
            latest = max(latest, end)
            if sounding:
                ends.append((voice, end))
        if len(ends) > 1:
            self.timeline.strands.append(Strands(state.time, tuple(ends)))
        return latest

    def _context(self, music: Group, state: _State) -> Fraction:
        kind, _, name = music.name.partition(" ")
        if kind in _VOICES:
            voice = self._named.get((state.staff, name)) if name else None
            if voice is None:
                voice = self.new_voice()
                if name:
                    self._named[state.staff, name] = voice
            state = state._replace(voice=voice)
        elif kind not in _GROUPS_OF_STAVES and kind and (name or music.kind == "new_context" or kind != state.inside):
            staff = self._staff(name) if name else self.new_staff()
            state = state._replace(staff=staff, voice=self.new_voice(), inside=kind)
        return self._in_turn(music.parts, state)

    def _staff(self, name: str) -> int:
        if name not in self._staff_names:
            self._staff_names[name] = self.new_staff()
        return self._staff_names[name]
