"""Which continuation belongs to the opening of a tune: questions from the traditional tunes that come with music21.

One continuation is the tune's own; three are what stands at the same place in other tunes of the same metre, unit note
length, kind of rhythm and key signature, which are asked about likewise. All are four whole measures of ABC, spelled
alike. None repeats a measure of the opening, the right one neither.

The tunes are read from three folders of music21's corpus, on the machine where the questions are made: ``ryansMammoth``
(*Ryan's Mammoth Collection*, Boston 1883), ``airdsAirs`` (James Aird's *Selection*, Glasgow 1778 to 1801; encoded by
Jack Campin) and ``oneills1850`` (*O'Neill's Music of Ireland*, Chicago 1903). The prints are out of copyright; the
encodings state no licence of their own, and music21's note (``corpus/license.txt``) says that its corpus is distributed
"with the permission of the encoders" and may carry restrictions on commercial use. ``essenFolksong`` is left out, whose
own note calls its legal status unclear and the permission non-commercial.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

from music21 import corpus

from music_evals.datasets_builders.questions.attack import OPTIONS_ALONE, refuse_guessable
from music_evals.datasets_builders.questions.items import Item
from music_evals.datasets_builders.questions.question_rows import LANGUAGES, Language, Question, places
from music_evals.notation.abc.tunes import (
    Event,
    Key,
    Measure,
    Tune,
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    spell,
    split_measures,
    split_tunes,
    total_duration,
)

COLLECTIONS: Final[Mapping[str, str]] = {"airdsAirs": "aird", "oneills1850": "oneill", "ryansMammoth": "ryan"}
"""Folder of music21's corpus → how a question's name says it."""

OPENINGS: Final = (4, 6, 8)  # whole measures that an opening may have; a pickup comes on top
CONTINUATION: Final = 4  # whole measures of a continuation
_LEAD_INS: Final[Mapping[Language, str]] = {
    "zh": "下面是一首曲调的开头（ABC 记谱法）。四个选项中，哪一个是它原本的后续？",
    "en": "This is the opening of a tune in ABC notation. Which of the four continuations belongs to it?",
}
# Two tunes that agree on more of their eighths than this, relative to their tonics, are taken for versions of one
# tune. Tunes of one metre and key agree on a fifth, as a rule.
_VERSION_SHARE: Final = 0.45
# A tune is dotted where this share of its notes are: strathspeys and hornpipes are, reels and polkas are not.
_DOTTED_SHARE: Final = 0.15
# Where fewer tunes are alike in all that options must share, none of them is asked about.
_FEWEST_ALIKE: Final = 12

_Pool = tuple[tuple[int, int], Fraction, bool, int, int]  # metre, unit, dotted or not, opening's length, sharps


@dataclass(frozen=True, eq=False)
class _Source:
    """The beginning of one tune, as far as it is regular."""

    name: str
    titles: frozenset[str]
    meter: tuple[int, int]
    unit: Fraction
    key: Key
    pickup: str
    measures: tuple[str, ...]
    events: tuple[tuple[Event, ...], ...]  # of each of the measures
    is_dotted: bool

    @cached_property
    def contour(self) -> list[list[int | None]]:
        """Contour of each of the measures."""
        return [_contour(measure, self.key) for measure in self.events]


class _Part(NamedTuple):
    """A tune and a place to cut it."""

    source: _Source
    length: int

    @property
    def name(self) -> str:
        return f"continuation-{self.source.name}-{self.length}"

    @property
    def opening(self) -> tuple[str, ...]:
        return self.source.measures[: self.length]

    @property
    def continuation(self) -> tuple[str, ...]:
        return self.source.measures[self.length : self.length + CONTINUATION]

    @property
    def asked(self) -> str:
        """The opening with a header and, where there is one, its pickup."""
        source = self.source
        header = f"X:1\nM:{source.meter[0]}/{source.meter[1]}\nL:{source.unit}\nK:{source.key.name}\n"
        return header + _lay_out((source.pickup, *self.opening) if source.pickup else self.opening)

    @property
    def pool(self) -> _Pool:
        """What the options of a question share."""
        source = self.source
        return source.meter, source.unit, source.is_dotted, self.length, source.key.sharps


def compose_continuations(count: int, seed: int) -> list[Question]:
    """Ask which of four continuations belongs to the opening of a tune; no two questions have the same opening.

    Each tune is asked about once before any is cut at another place: 4,819 questions on 2,795 tunes of music21 10.5.1.
    The seed decides which tunes, where they are cut, and what they are set against; fewer questions of one seed are the
    first of more. ValueError says how many there are, where more are asked for.

    Source: ZIQI-Eval (arXiv 2406.15885), music generation; the wording and the choice of distractors are our own.
    """
    if count < 0:
        raise ValueError(f"count is {count}; accepted are 0 or more questions")
    questions = list(islice(_questions(_parts(), seed), count))
    if len(questions) < count:
        raise ValueError(f"count is {count}; the tunes yield {len(questions)} questions with seed {seed}")
    return questions


@cache
def refuse_guessable_continuations() -> None:
    """Raise DatasetError where the right continuation can be told from the options alone; once a process.

    Guessers learn from the questions on a third of the tunes and are tried on those on the others, with no tune in
    common, so that none is known again. What is composed depends on this code and music21 alone, so the seed need not
    be that of a build.
    """
    learned, fresh = (
        _blind([part for part in _parts() if (crc32(part.source.name.encode()) % 3 == 0) is is_learned])
        for is_learned in (True, False)
    )
    refuse_guessable("continuations", learned, fresh, guessers=tuple(OPTIONS_ALONE))


def _blind(parts: Sequence[_Part]) -> list[Item]:
    """What a guesser may see of the questions on some parts: the options, in a drawn order."""
    questions = list(_questions(parts, 1_803))
    drawn = zip(questions, places(len(questions), "continuation"), strict=True)
    return [
        Item(one.kind, "", tuple(one.options("en", place)), one.right["en"], one.name, one.name) for one, place in drawn
    ]


def _questions(parts: Sequence[_Part], seed: int) -> Iterator[Question]:
    """Questions on parts, whose options are of these parts too."""
    pools: defaultdict[_Pool, list[_Part]] = defaultdict(list)
    for part in parts:
        pools[part.pool].append(part)
    for part in _order(parts, seed):
        wrong = _distractors(part, pools[part.pool], random.Random(f"{seed}/{part.name}"))
        if wrong is not None:
            text = {language: f"{lead_in}\n\n{part.asked}" for language, lead_in in _LEAD_INS.items()}
            right = dict.fromkeys(LANGUAGES, _lay_out(part.continuation))
            others = dict.fromkeys(LANGUAGES, tuple(_lay_out(other.continuation) for other in wrong))
            yield Question(part.name, "continuation", text, right, others)


def _order(parts: Sequence[_Part], seed: int) -> Iterator[_Part]:
    """Each tune cut at one place, then each that can be at a second, and so on."""
    rng = random.Random(f"{seed}/continuation")
    by_tune: defaultdict[str, list[_Part]] = defaultdict(list)
    for part in parts:
        by_tune[part.source.name].append(part)
    tunes = list(by_tune.values())
    for tune in tunes:
        rng.shuffle(tune)
    rng.shuffle(tunes)
    return (tune[number] for number in range(len(OPENINGS)) for tune in tunes if number < len(tune))


def _distractors(part: _Part, pool: Sequence[_Part], rng: random.Random) -> list[_Part] | None:
    """Three parts of other tunes in a pool, or None where there are no three."""
    chosen: list[_Part] = []
    for candidate in rng.sample(pool, len(pool)):
        if set(candidate.continuation) & set(part.opening):
            continue
        if not any(_are_versions(candidate, other) for other in (part, *chosen)):
            chosen.append(candidate)
            if len(chosen) == 3:
                return chosen
    return None


def _are_versions(first: _Part, second: _Part) -> bool:
    """Whether two parts are of one tune, or of two that are too much alike to tell apart."""
    one, other = first.source, second.source
    if one.name == other.name or one.titles & other.titles or first.continuation == second.continuation:
        return True
    for where in (slice(first.length), slice(first.length, first.length + CONTINUATION)):
        measures = zip(one.contour[where], other.contour[where], strict=True)
        eighths = [a == b for measure, likewise in measures for a, b in zip(measure, likewise, strict=True)]
        if sum(eighths) / len(eighths) > _VERSION_SHARE:
            return True
    return False


def _lay_out(measures: Sequence[str]) -> str:
    return " | ".join(measures) + " |"


@cache
def _parts() -> tuple[_Part, ...]:
    """All parts that are asked about."""
    parts: list[_Part] = []
    for part in (_Part(source, length) for source in _sources() for length in OPENINGS):
        # The right continuation must not be known by its repeats of the opening, nor by a tie from it.
        is_whole = len(part.continuation) == CONTINUATION and set(part.continuation).isdisjoint(part.opening)
        if is_whole and not part.opening[-1].endswith("-") and not part.continuation[-1].endswith("-"):
            parts.append(part)
    # Versions of one tune may open alike and go on otherwise: such an opening is asked about once.
    by_opening = {part.asked: part for part in reversed(parts)}
    alike = Counter(part.pool for part in by_opening.values())
    return tuple(part for part in parts if by_opening[part.asked] is part and alike[part.pool] >= _FEWEST_ALIKE)


def _sources() -> list[_Source]:
    """The tunes of the collections that are regular, each once, sorted by name."""
    paths = sorted(
        (path.parent.name, path.stem, path)
        for path in corpus.getCorePaths(fileExtensions=("abc",))
        if path.parent.name in COLLECTIONS
    )
    if {folder for folder, _, _ in paths} != set(COLLECTIONS):
        raise FileNotFoundError(f"music21 is installed without its corpus; needed are {', '.join(COLLECTIONS)} of it")
    sources: list[_Source] = []
    seen: set[tuple[object, ...]] = set()
    for folder, stem, path in paths:
        slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
        # Letters beyond ASCII stand in titles and remarks only; no byte is without a letter in this encoding.
        tunes = split_tunes(path.read_text(encoding="latin-1"))
        for number, tune in enumerate(tunes, start=1):
            place = f"-{number:03}" if len(tunes) > 1 else ""
            try:
                source = _read(f"{COLLECTIONS[folder]}-{slug}{place}", tune)
            except ValueError:
                continue  # a typing error, or something that a single voice in one key does not have
            # Some tunes were typed twice, or printed twice under two titles.
            notes = (source.meter, source.unit, source.key.sharps, source.measures)
            if len(source.measures) >= OPENINGS[0] + CONTINUATION and notes not in seen:
                seen.add(notes)
                sources.append(source)
    return sources


def _read(name: str, tune: Tune) -> _Source:
    """Read a tune up to its first irregular measure, or as far as is needed."""
    units = tune.values("L")
    meter = parse_meter("".join(tune.values("M")[-1:]))
    unit = parse_unit(units[-1] if units else None, meter)
    key = parse_key("".join(tune.values("K")[-1:]))
    if tune.values("V"):
        raise ValueError(f"{name} has several voices")
    pickup, measures = _regular_measures(tune, meter, unit, key)
    events = [event for measure in measures for event in measure]
    dotted = sum(event.duration.numerator == 3 for event in events)
    return _Source(
        name=name,
        titles=frozenset(map(_plain_title, tune.values("T"))) - {""},
        meter=meter,
        unit=unit,
        key=key,
        pickup=spell(pickup, meter, Fraction(*meter) - total_duration(pickup)),
        measures=tuple(spell(measure, meter) for measure in measures),
        events=tuple(measures),
        is_dotted=meter[0] % 3 != 0 and dotted > _DOTTED_SHARE * len(events),
    )


def _regular_measures(
    tune: Tune, meter: tuple[int, int], unit: Fraction, key: Key
) -> tuple[tuple[Event, ...], list[tuple[Event, ...]]]:
    """The pickup, and the whole measures of one voice after it in the tune's metre and key."""
    header = dict(tune.fields)
    pickup: tuple[Event, ...] = ()
    whole: list[tuple[Event, ...]] = []
    part: tuple[Event, ...] = ()  # of a measure that a double bar line divides
    full, needed = Fraction(*meter), OPENINGS[-1] + CONTINUATION
    for number, measure in enumerate(_as_played(split_measures(tune.body))):
        if any(field in "KLMV" and header.get(field) != value for field, value in measure.fields):
            break
        events = read_measure(measure.text, unit, meter, key.sharps)
        if any(len(event.pitches) > 1 for event in events):
            break
        duration = total_duration(part) + total_duration(events)
        if duration == full:
            whole.append((*part, *events))
            part = ()
        elif number == 0 and duration < full:
            pickup = events
        # An accidental would reach over what is a bar line in print.
        elif not part and duration < full and measure.bar != "|" and not re.search(r"[\^_=]", measure.text):
            part = events
        else:
            break
        if len(whole) == needed:
            break
    return pickup, whole


def _as_played(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Leave out the endings that lead to a repeat: what remains is the tune played once through, without repeats."""
    is_skipped = False
    for measure in measures:
        if measure.ending:
            is_skipped = measure.ending.startswith("1")
        if not is_skipped:
            yield measure
        if measure.bar.startswith((":", "||", "|]")):
            is_skipped = False


def _contour(events: Sequence[Event], key: Key) -> list[int | None]:
    """Pitch class above the tonic that sounds at each eighth of a measure; None for a rest."""
    contour: list[int | None] = []
    end = Fraction(0)
    for event in events:
        end += event.duration
        while len(contour) < 8 * end:
            contour.append((event.pitches[0] - key.tonic) % 12 if event.pitches else None)
    return contour


def _plain_title(title: str) -> str:
    """A title without its article, kind of dance and punctuation, to know the tune by in another collection."""
    words = re.findall(r"[a-z]+", re.split(r"--|[(\[]", title.lower().replace("'", ""))[0])
    return "".join(word for word in words if word not in ("a", "the"))
