"""Music as LilyPond writes it: a tree of notes, marks and what holds them, and what may be done to a tree."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from music_evals.baselines.lilybench.tokens import UnreadableScoreError

MAX_DEPTH: Final = 120
"""How deep music may be nested, variables included."""

_MAX_PARTS: Final = 500_000  # that one change of a tree may make
_MAX_OCTAVE: Final = 20
_SEMITONES: Final = (0, 2, 4, 5, 7, 9, 11)

SoundKind = Literal["note", "rest", "skip", "again"]
GroupKind = Literal[
    "sequence",
    "simultaneous",
    "voices",
    "context",
    "new_context",
    "scaled",
    "repeat",
    "alternatives",
    "grace",
    "absolute",
    "tagged",
    "unfolded",
]
MarkKind = Literal["key", "metre", "partial", "timing", "position", "measure_length", "staff", "problem"]
Problem = Literal["metadata", "word", "command", "sign"]


class Pitch(NamedTuple):
    """A note's pitch as LilyPond counts it.

    Args:
        step: 0 = C to 6 = B.
        alteration: in semitones; 1 is a sharp.
        octave: 0 from middle C upwards.
    """

    step: int
    alteration: Fraction
    octave: int

    @property
    def degree(self) -> int:
        """Height in steps of the staff, middle C being 0."""
        return self.step + 7 * self.octave

    @property
    def height(self) -> Fraction:
        """Height in semitones, middle C being 0."""
        return _SEMITONES[self.step] + self.alteration + 12 * self.octave


class Key(NamedTuple):
    """A key: its tonic (the octave counts for nothing) and the name of its mode, such as ``minor``."""

    tonic: Pitch
    mode: str


@dataclass(frozen=True, slots=True)
class Sound:
    """A note, chord, rest or skip; ``again`` is the chord or note before it.

    Args:
        offset: where it begins in the text.
        kind: which.
        pitches: as written; absolute ones once the tree around them has been through `relative`.
        length: in whole notes.
        tied: whether a tie leads on from it.
    """

    offset: int
    kind: SoundKind
    pitches: tuple[Pitch, ...]
    length: Fraction
    tied: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """A bar check."""

    offset: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What lasts no time.

    Args:
        offset: where it begins in the text.
        kind: what it sets; ``problem`` is a place that is no LilyPond.
        key: of a key.
        numbers: of a metre its numerator and denominator; else one figure.
        name: of a staff to go on in; of a problem its kind.
    """

    offset: int
    kind: MarkKind
    key: Key | None = None
    numbers: tuple[Fraction, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Music that holds music.

    Args:
        kind: how its parts are joined.
        parts: of a repeat the body and then its alternatives, as one part.
        ratio: of scaled music, by how much durations are multiplied.
        count: of a repeat.
        name: of a context its type and name, after a blank (``context`` may be one that is there already); of a repeat
            its kind; of tagged music its tags.
        depth: of nesting.
        sounds: whether a note, rest or skip is in it.
    """

    kind: GroupKind
    parts: tuple["Music", ...]
    ratio: Fraction = Fraction(1)
    count: int = 1
    name: str = ""
    depth: int = field(init=False, default=0)
    sounds: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Tell the depth, and refuse what is too deep."""
        depth = 1 + max((part.depth for part in self.parts if isinstance(part, Group)), default=0)
        if depth > MAX_DEPTH:
            raise UnreadableScoreError(f"the music is nested {depth} deep; accepted are at most {MAX_DEPTH} levels")
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "sounds", any(map(has_sound, self.parts)))


Music = Sound | Check | Mark | Group


def has_sound(music: Music) -> bool:
    """Whether music is, or holds, a note, rest or skip."""
    return music.sounds if isinstance(music, Group) else isinstance(music, Sound)


NOTHING: Final = Group("sequence", ())


def relative(music: Music, reference: Pitch) -> Music:
    """Make the pitches of relative music absolute.

    Every note is the nearest of its name to the note before, moved by the octaves written after it. Music that is
    absolute already is left alone.

    Args:
        music: the music.
        reference: the pitch before the first.

    Raises:
        UnreadableScoreError: the music is too long, or leaves every range.

    Example:
        >>> c, g = (Pitch(step, Fraction(0), -1) for step in (0, 4))
        >>> music = Group("sequence", tuple(Sound(0, "note", (pitch,), Fraction(1)) for pitch in (c, g, c)))
        >>> [part.pitches[0].octave for part in relative(music, Pitch(0, Fraction(0), 0)).parts]
        [0, -1, 0]
    """
    return _relative(music, reference, _Budget())[0]


def transposed(music: Music, start: Pitch, end: Pitch) -> Music:
    """Move pitches and keys by the interval from one pitch to another; the result counts as absolute."""

    def moved(pitch: Pitch) -> Pitch:
        octave, step = divmod(pitch.degree + end.degree - start.degree, 7)
        natural = Pitch(step, Fraction(0), octave)
        return natural._replace(alteration=pitch.height + end.height - start.height - natural.height)

    return Group("absolute", (_changed(music, moved, _Budget()),))


def shifted(music: Music, octaves: int) -> Music:
    """Move pitches by octaves; the result counts as absolute."""
    moved = _changed(music, lambda pitch: pitch._replace(octave=pitch.octave + octaves), _Budget())
    return Group("absolute", (moved,))


def filtered(music: Music, tags: frozenset[str], *, keep: bool) -> Music:
    """Keep of the tagged music only what bears one of the tags, or leave exactly that out."""
    return _filtered(music, tags, keep, _Budget())


class _Budget:
    """How many parts may still be made: variables within variables can make a short text very long."""

    def __init__(self) -> None:
        self._left = _MAX_PARTS

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise UnreadableScoreError(f"the music has more than {_MAX_PARTS} parts")


def _relative(music: Music, reference: Pitch, budget: _Budget) -> tuple[Music, Pitch]:
    budget.spend()
    if isinstance(music, Sound) and music.pitches:
        pitches: list[Pitch] = []
        last = reference
        for pitch in music.pitches:
            octave = last.octave + (last.step - pitch.step + 3) // 7
            # Written without octave marks a pitch is in the octave below middle C.
            last = pitch._replace(octave=octave + pitch.octave + 1)
            if abs(last.octave) > _MAX_OCTAVE:
                raise UnreadableScoreError(f"a note lies {last.octave} octaves from middle C")
            pitches.append(last)
        return replace(music, pitches=tuple(pitches)), pitches[0]
    if not isinstance(music, Group) or music.kind == "absolute":
        return music, reference
    parts: list[Music] = []
    for part in music.parts:
        changed, reference = _relative(part, reference, budget)
        parts.append(changed)
    return replace(music, parts=tuple(parts)), reference


def _changed(music: Music, moved: Callable[[Pitch], Pitch], budget: _Budget) -> Music:
    budget.spend()
    if isinstance(music, Sound) and music.pitches:
        return replace(music, pitches=tuple(map(moved, music.pitches)))
    if isinstance(music, Mark) and music.key is not None:
        return replace(music, key=music.key._replace(tonic=moved(music.key.tonic)))
    if isinstance(music, Group):
        return replace(music, parts=tuple(_changed(part, moved, budget) for part in music.parts))
    return music


def _filtered(music: Music, tags: frozenset[str], keep: bool, budget: _Budget) -> Music:
    budget.spend()
    if not isinstance(music, Group):
        return music
    if music.kind == "tagged" and tags.isdisjoint(music.name.split()) is keep:
        return NOTHING
    return replace(music, parts=tuple(_filtered(part, tags, keep, budget) for part in music.parts))
